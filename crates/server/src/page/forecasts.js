// What would start a waiting job, and when it is expected to: asked for rows that are seen.
//
// An explanation costs the daemon many plans, so at most two are asked for at once, none for a row
// that has scrolled away, and none twice while nothing about the job changed.

import { ask } from "./api.js";
import { known, touch } from "./store.js";

const AT_ONCE = 2;
const KEPT_MAX = 1000;
/** After this other jobs have come and gone, and the expected start is another. */
const FRESH_MILLIS = 60_000;

const kept = new Map();
const asked = new Set();
let seen = [];
let restUntil = 0;

const shape = (job) => [job.state, job.waiting, job.running, job.reason, job.priority].join("|");

/** What is known about this job: its page, a failure, or undefined while it is not. */
export function forecastOf(job) {
  const found = kept.get(job.id);
  return found?.shape === shape(job) ? found : undefined;
}

/** The jobs that are seen now: only these are asked about from here on. */
export function wantForecasts(jobs) {
  seen = jobs.filter((job) => job.state === "waiting").map((job) => job.id);
  next();
}

function isWanted(job) {
  if (!job || job.state !== "waiting" || asked.has(job.id)) return false;
  const found = forecastOf(job);
  return !found || performance.now() - found.at > FRESH_MILLIS;
}

function next() {
  if (document.hidden || performance.now() < restUntil) return;
  while (asked.size < AT_ONCE) {
    const id = seen.find((one) => isWanted(known.jobs.get(one)));
    if (id === undefined) return;
    look(known.jobs.get(id));
  }
}

async function look(job) {
  asked.add(job.id);
  const found = { shape: shape(job), at: performance.now() };
  try {
    const { page } = await ask(`jobs/${job.id}/explanation`);
    found.waits = page.waits;
    found.at = performance.now();
  } catch (error) {
    found.problem = error.message;
    if (error.status === 429 || error.status === 503 || error.status === 0) {
      const rest = Math.max(3000, error.retryMillis);
      restUntil = performance.now() + rest;
      setTimeout(next, rest + 10);
    }
  }
  asked.delete(job.id);
  kept.delete(job.id);
  kept.set(job.id, found);
  if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value);
  touch("forecasts", job.id);
  next();
}
