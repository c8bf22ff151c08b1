// One job: how it stands, what may be done with it, where it runs, why, and what it prints.

import { ask } from "./api.js";
import { byId, chip, heading, make, setText, setVars, showState, swap, unbuild } from "./dom.js";
import { ago, bytes, count, inFull, moment, several, spent } from "./format.js";
import { followLog, leaveLog, setLogTasks } from "./log.js";
import { actButton, changeJob, whyNotJob } from "./rights.js";
import { known, watch } from "./store.js";
import { buildPlaced, buildWhy } from "./why.js";

/** What runs is looked at by the daemon every five seconds. */
const AGAIN_MILLIS = 5000;
const SOON_MILLIS = 300;

let id = null;
let view = null;
let told = null;
let soon = 0;
let turn = 0;

const hosts = ["facts", "why", "placed", "runs", "failures"].map((part) => `job-${part}`);

function fact(label, ...value) {
  return [make("dt", { text: label }), make("dd", {}, ...value)];
}

function progress(job) {
  const states = ["done", "running", "waiting", "failed", "cancelled"];
  const bar = make("div", {
    class: "stack",
    role: "img",
    "aria-label": states
      .filter((state) => job[state])
      .map((state) => `${count(job[state])} ${state}`)
      .join(", "),
  });
  const words = make("div", { class: "stack-words" });
  for (const state of states.filter((one) => job[one] > 0)) {
    const part = make("span", { "data-state": state });
    setVars(part, { grow: job[state] / job.tasks });
    bar.append(part);
    const word = chip(state);
    word.lastChild.textContent = `${count(job[state])} ${state}`;
    words.append(word);
  }
  return [bar, words];
}

function buildFacts(job) {
  const used = job.used
    ? `${spent(job.used.cpu_seconds)} of processors; ` +
      `at most ${bytes(job.used.memory_bytes)} by one task`
    : "not measured so far";
  return [
    ...progress(job),
    make(
      "dl",
      { class: "facts" },
      ...fact("Command", make("code", { text: job.command || "not known" })),
      ...fact("Tasks", several(job.tasks, "task")),
      ...fact("Tenant", job.tenant),
      ...fact("User", String(job.user)),
      ...fact("Priority", String(job.priority)),
      ...fact(
        "Submitted",
        make("time", { text: `${inFull(job.submitted)} (${ago(job.submitted)})` }),
      ),
      ...(job.ended === null ? [] : fact("Ended", `${inFull(job.ended)} (${ago(job.ended)})`)),
      ...(job.ended === null ? [] : fact("Status", String(job.status))),
      ...fact("Used by ended tasks", used),
    ),
  ];
}

function buildRuns(job) {
  const head = make("h2", { text: job.runs?.length ? `Runs (${count(job.running)})` : "Runs" });
  if (!job.runs?.length)
    return [head, make("p", { class: "hint", text: "Nothing of it runs now." })];
  const heads = ["Task", "Node", "With", "Since", "Used"];
  const rows = job.runs.map((run) =>
    make(
      "tr",
      { "data-task": run.task },
      make("td", {
        class: "num",
        text: run.attempt ? `${run.task} (attempt ${run.attempt})` : run.task,
      }),
      make(
        "td",
        {},
        make("a", { href: `#/fleet/${encodeURIComponent(run.node)}`, text: run.node }),
      ),
      make("td", { text: run.grant }),
      make("td", { class: "num", text: moment(run.since), title: inFull(run.since) }),
      make("td", {
        class: "num",
        text: run.used ? `${spent(run.used.cpu_seconds)}, ${bytes(run.used.memory_bytes)}` : "–",
      }),
    ),
  );
  const more = job.running - job.runs.length;
  return [
    head,
    make(
      "div",
      { class: "wide tall", tabindex: 0, role: "group", "aria-label": "Runs" },
      make("table", {}, heading(heads), make("tbody", {}, ...rows)),
    ),
    more > 0
      ? make("p", { class: "hint", text: `${count(more)} more run and are not listed.` })
      : null,
  ];
}

function buildFailures(job) {
  return [
    make("h2", { text: "Failures" }),
    make(
      "ul",
      { class: "plain" },
      ...job.failures.map(([task, how]) =>
        make("li", {}, make("b", { text: `task ${task}` }), `: ${how}`),
      ),
    ),
  ];
}

function buildActions(job) {
  const ended = job.ended === null ? null : `it is ${job.state}`;
  const why = ended ?? whyNotJob(job);
  const isHeld = job.state === "held" || Boolean(job.reason?.startsWith("held"));
  const act = (verb) => () => changeJob(verb, job);
  const short = true;
  return [
    ...(isHeld
      ? actButton("release", "Release", { why, act: act("release"), short })
      : actButton("hold", "Hold", { why, act: act("hold"), short })),
    ...actButton("cancel", "Cancel", { why, act: act("cancel"), isGrave: true, short }),
    why ? make("span", { class: "why-not", id: "why-cancel", text: why }) : null,
  ].filter(Boolean);
}

function redraw() {
  if (!view) return;
  showState("job", "none");
  byId("job-body").hidden = false;
  setText(byId("job-title"), `${view.id} ${view.name}`);
  document.title = `${view.id} ${view.name} – Motley`;
  swap(byId("job-state"), view.state, () => chip(view.state));
  const who = known.who ? `${known.who.scope}|${known.who.user}` : "";
  swap(byId("job-actions"), `${view.id}|${view.state}|${view.reason}|${who}`, () =>
    buildActions(view),
  );
  swap(byId("job-facts"), JSON.stringify([{ ...view, runs: 0 }, ago(view.submitted)]), () =>
    buildFacts(view),
  );
  swap(byId("job-runs"), JSON.stringify([view.runs, view.running]), () => buildRuns(view));
  byId("job-failures").hidden = !view.failures?.length;
  if (view.failures?.length) {
    swap(byId("job-failures"), JSON.stringify(view.failures), () => buildFailures(view));
  }
  redrawTold();
}

function redrawTold() {
  const waits = told?.page?.waits;
  const isWorth = view.state === "waiting" || Boolean(waits) || Boolean(view.reason);
  byId("job-why").hidden = !isWorth && !(told instanceof Error);
  const key = JSON.stringify([told instanceof Error ? told.message : told, view.reason]);
  swap(byId("job-why"), key, () => buildWhy(view, told));
  const placed = told?.page?.placed ?? [];
  byId("job-placed").hidden = placed.length === 0;
  if (placed.length) swap(byId("job-placed"), JSON.stringify(placed), () => buildPlaced(told.page));
}

async function fetchJob() {
  const [wanted, mine] = [id, turn];
  try {
    const found = await ask(`jobs/${encodeURIComponent(wanted)}`);
    if (mine !== turn) return;
    const isOther =
      !view || ["state", "running", "waiting", "reason"].some((what) => view[what] !== found[what]);
    view = found;
    redraw();
    setLogTasks(view);
    if (isOther || told === null) fetchTold();
  } catch (error) {
    if (mine !== turn) return;
    if (view && error.status !== 404) return;
    byId("job-body").hidden = true;
    byId("job-actions").replaceChildren();
    const text =
      error.status === 404
        ? `There is no job ${wanted}. It may have been forgotten.`
        : `Job ${wanted}: ${error.message}.`;
    showState("job", "error", text, fetchJob);
  }
}

async function fetchTold() {
  const mine = turn;
  try {
    const found = await ask(`jobs/${view.id}/explanation`);
    if (mine === turn) told = found;
  } catch (error) {
    if (mine === turn) told = error;
  }
  if (mine === turn) redrawTold();
}

function fetchSoon() {
  if (soon) return;
  soon = setTimeout(() => {
    soon = 0;
    if (id !== null) fetchJob();
  }, SOON_MILLIS);
}

function clear() {
  turn += 1;
  [view, told] = [null, null];
  for (const host of [...hosts, "job-actions", "job-state"].map(byId)) {
    unbuild(host);
    host.replaceChildren();
  }
  leaveLog();
}

function changed(keys) {
  if (id === null || !(keys.has("*") || keys.has(Number(id)))) return;
  const heard = known.jobs.get(Number(id));
  if (view && heard) {
    // What the event says is shown at once; runs and reasons are asked for.
    view = { ...heard, runs: view.runs, failures: heard.failures ?? view.failures };
    redraw();
  }
  fetchSoon();
}

export const job = {
  name: "job",
  title: "Job",
  mount() {
    watch("jobs", changed);
    watch("who", redraw);
    setInterval(() => {
      if (id !== null && !document.hidden && view && view.ended === null) fetchJob();
    }, AGAIN_MILLIS);
  },
  show(wanted) {
    if (wanted === id && view) return;
    clear();
    id = wanted;
    setText(byId("job-title"), `Job ${id}`);
    byId("job-body").hidden = true;
    showState("job", "loading", `Job ${id} is being fetched …`);
    fetchJob();
    followLog(id);
  },
  hide() {
    clear();
    id = null;
  },
  escape() {
    location.hash = "#/queue";
    return true;
  },
};
