// Fetching lists and pages into the store: whole at the start and after doubt, and again on a
// schedule where no event tells of a change.

import { ask, withQuery } from "./api.js";
import { JOBS_MAX, beginList, endList, known, setFetched, takePage, touch } from "./store.js";

const FIRST_PAGE = 500;
const PAGE = 2000;
const NODES_PAGE = 1000;
const PAGES_MAX = 100;

const underWay = new Map();
let withEnded = false;

/** Runs one fetch of a topic at a time; asked again meanwhile, it runs once more. */
async function alone(topic, work) {
  if (underWay.has(topic)) {
    underWay.set(topic, "again");
    return;
  }
  underWay.set(topic, "once");
  try {
    if (known.fetched.get(topic) !== "ready") setFetched(topic, "loading");
    await work();
    setFetched(topic, "ready");
  } catch (error) {
    setFetched(topic, error);
  } finally {
    const again = underWay.get(topic) === "again";
    underWay.delete(topic);
    if (again) alone(topic, work);
  }
}

/** Fetches the jobs, the newest first, page by page. */
export function fetchJobs() {
  return alone("jobs", async () => {
    const listed = new Set();
    beginList("jobs");
    let [below, limit] = [null, FIRST_PAGE];
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const query = { limit, below, ended: withEnded ? "true" : null };
      const found = await ask(withQuery("jobs", query));
      for (const job of found.jobs) listed.add(job.id);
      takePage("jobs", found.jobs, "id");
      if (found.next === null || listed.size >= JOBS_MAX) break;
      [below, limit] = [found.next, PAGE];
    }
    known.isCut = listed.size >= JOBS_MAX;
    endList("jobs", listed);
  });
}

/** Lists ended jobs too, from now on. */
export function includeEnded(wanted) {
  if (wanted === withEnded) return;
  withEnded = wanted;
  known.fetched.delete("jobs");
  fetchJobs();
}

/** Whether ended jobs are listed. */
export const isEndedIncluded = () => withEnded;

/** Fetches the nodes. */
export function fetchNodes() {
  return alone("nodes", async () => {
    const listed = new Set();
    beginList("nodes");
    let from = 0;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const found = await ask(withQuery("nodes", { from, limit: NODES_PAGE }));
      for (const node of found.nodes) listed.add(node.name);
      takePage("nodes", found.nodes, "name");
      if (found.next === null) break;
      from = found.next;
    }
    endList("nodes", listed);
  });
}

function one(topic, path) {
  return () =>
    alone(topic, async () => {
      known[topic] = await ask(path);
      touch(topic);
    });
}

export const fetchStatus = one("status", "status");
export const fetchWho = one("who", "whoami");
export const fetchPolicy = one("policy", "policy");
export const fetchAlerts = one("alerts", "alerts");

/** Fetches everything that events keep up to date, the smallest first. */
export function fetchAll() {
  return Promise.all([
    fetchWho(),
    fetchStatus(),
    fetchNodes(),
    fetchJobs(),
    fetchPolicy(),
    fetchAlerts(),
  ]);
}
