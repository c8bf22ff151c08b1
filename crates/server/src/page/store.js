// What the page knows of the daemon, and who shows it.
//
// In come lists and events; out go, at most once a frame, the topics that changed with the keys
// that did. Nothing here fetches or draws.

/** The most jobs that are remembered; of more, ended ones with low numbers are forgotten first. */
export const JOBS_MAX = 50_000;
/** The most events that are remembered. */
export const EVENTS_MAX = 500;

/** Everything that is known. */
export const known = {
  connection: { state: "connecting", text: "connecting" },
  who: null,
  status: null,
  policy: null,
  alerts: null,
  jobs: new Map(),
  nodes: new Map(),
  events: [],
  /** How fetching of a topic stands: `loading`, `ready`, or the Refusal that it met. */
  fetched: new Map(),
};

/** Figures for tests: how fast the page shows what it hears. */
export const timing = {
  firstPaint: null,
  lastUpdateMillis: null,
  longestUpdateMillis: 0,
  updates: 0,
  events: 0,
};

const HIDDEN_MILLIS = 1000;
const watchers = new Map();
let changed = new Map();
let isDue = false;
let heardAt = null;

/** Calls back with the set of changed keys, at most once a frame, when a topic changed. */
export function watch(topic, listener) {
  if (!watchers.has(topic)) watchers.set(topic, new Set());
  watchers.get(topic).add(listener);
}

/** Notes that a topic changed, for one key or for all. */
export function touch(topic, key = "*") {
  if (!changed.has(topic)) changed.set(topic, new Set());
  changed.get(topic).add(key);
  if (isDue) return;
  isDue = true;
  // Frames do not come to a tab that nobody sees; its title is still to be right.
  if (document.hidden) setTimeout(flush, HIDDEN_MILLIS);
  else requestAnimationFrame(flush);
}

function flush() {
  const [batch, since] = [changed, heardAt];
  [changed, isDue, heardAt] = [new Map(), false, null];
  for (const [topic, keys] of batch) {
    for (const listener of watchers.get(topic) ?? []) listener(keys);
  }
  if (since === null) return;
  const took = performance.now() - since;
  timing.updates += 1;
  timing.lastUpdateMillis = took;
  timing.longestUpdateMillis = Math.max(timing.longestUpdateMillis, took);
  performance.measure("motley:update", { start: since, duration: took });
  if (timing.updates % 200 === 0) performance.clearMeasures("motley:update");
}

// Jobs and nodes that events told of since a list was asked for: the list may be older than they.
const newer = { jobs: null, nodes: null };

/** A list is about to be fetched: from now on events win over what it says. */
export function beginList(topic) {
  newer[topic] = new Set();
}

/** Takes in one page of a list. */
export function takePage(topic, entries, key) {
  for (const entry of entries) {
    if (!newer[topic]?.has(entry[key])) known[topic].set(entry[key], entry);
    touch(topic, entry[key]);
  }
}

/** A list was fetched whole: what it did not name and no event told of is gone. */
export function endList(topic, listed) {
  for (const key of known[topic].keys()) {
    if (!listed.has(key) && !newer[topic]?.has(key)) known[topic].delete(key);
  }
  newer[topic] = null;
  if (topic === "nodes") inOrder(listed);
  touch(topic);
}

// Nodes have the order of the list, also those of which an event told before it came.
function inOrder(listed) {
  const old = known.nodes;
  const names = [...[...listed].filter((name) => old.has(name)), ...old.keys()];
  known.nodes = new Map(names.map((name) => [name, old.get(name)]));
}

function forgetSome() {
  if (known.jobs.size <= JOBS_MAX + 1000) return;
  const ended = [...known.jobs.values()].filter((job) => job.ended !== null);
  ended.sort((one, other) => one.id - other.id);
  for (const job of ended.slice(0, known.jobs.size - JOBS_MAX)) known.jobs.delete(job.id);
  touch("jobs");
}

function takeAlert(alert) {
  const name = (one) => `${one.name} ${JSON.stringify(Object.entries(one.labels).sort())}`;
  const others = (known.alerts ?? []).filter((one) => name(one) !== name(alert));
  known.alerts = [...others, alert];
  touch("alerts");
}

/** Takes in an event. */
export function takeEvent(event) {
  heardAt ??= performance.now();
  timing.events += 1;
  known.events.push(event);
  if (known.events.length > EVENTS_MAX) known.events.shift();
  touch("events");
  if (event.job) {
    known.jobs.set(event.job.id, event.job);
    newer.jobs?.add(event.job.id);
    touch("jobs", event.job.id);
    forgetSome();
  }
  if (event.node) {
    known.nodes.set(event.node.name, event.node);
    newer.nodes?.add(event.node.name);
    touch("nodes", event.node.name);
  }
  if (event.alert) takeAlert(event.alert);
}

/** Notes how fetching of a topic stands. */
export function setFetched(topic, how) {
  known.fetched.set(topic, how);
  touch("fetched", topic);
  touch(topic);
}

/** Sets the state of the connection. */
export function setConnection(state, text) {
  if (known.connection.state === state && known.connection.text === text) return;
  known.connection = { state, text };
  touch("connection");
}
