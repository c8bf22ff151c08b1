// The queue: all jobs, or those that are asked for, in the order that is asked for.

import { byId, chip, make, setChip, setText, setVars, showState } from "./dom.js";
import { fetchJobs, includeEnded, isEndedIncluded } from "./fetching.js";
import { forecastOf, wantForecasts } from "./forecasts.js";
import { ago, count, expected, inFull, shortCount } from "./format.js";
import { WindowedList } from "./list.js";
import { known, timing, touch, watch } from "./store.js";

/** Sorting ten thousand jobs at every frame would show nothing sooner and cost a lot. */
const ORDER_MILLIS = 250;
const AGES_MILLIS = 5000;
const STATES = ["running", "waiting", "held", "blocked", "failed", "cancelled", "done"];
const place = new Map(STATES.map((state, index) => [state, index]));
const SORTS = {
  id: (one, other) => one.id - other.id,
  submitted: (one, other) => one.submitted - other.submitted || one.id - other.id,
  priority: (one, other) => one.priority - other.priority || other.id - one.id,
  state: (one, other) => place.get(one.state) - place.get(other.state) || one.id - other.id,
};

const asked = { text: "", state: "", tenant: "", sort: "id", isDown: true };
let list = null;
let shown = [];
let ordered = 0;
let waiting = 0;
let isSeen = false;

function fits(job) {
  if (asked.state ? job.state !== asked.state : job.ended !== null && !isEndedIncluded())
    return false;
  if (asked.tenant && job.tenant !== asked.tenant) return false;
  if (!asked.text) return true;
  const { text } = asked;
  return (
    String(job.id).startsWith(text) ||
    job.name.toLowerCase().includes(text) ||
    job.command.toLowerCase().includes(text) ||
    Boolean(job.reason?.toLowerCase().includes(text))
  );
}

function order() {
  waiting = 0;
  ordered = performance.now();
  const active = shown[list.active]?.id;
  const turn = asked.isDown ? -1 : 1;
  const by = SORTS[asked.sort];
  shown = [...known.jobs.values()].filter(fits).sort((one, other) => turn * by(one, other));
  // The active row stays with its job, not with its place.
  if (active !== undefined) list.active = shown.findIndex((job) => job.id === active);
  list.setCount(shown.length);
  tellCount();
  setTenants();
  noteFirstPaint();
  settled();
}

function orderSoon() {
  if (waiting) return;
  const left = Math.max(0, ORDER_MILLIS - (performance.now() - ordered));
  if (left === 0) order();
  else waiting = setTimeout(order, left);
}

function tellCount() {
  const all = known.jobs.size;
  const how = known.fetched.get("jobs");
  const isLoading = how === "loading";
  const cut = known.isCut ? ` of the newest ${count(all)}` : "";
  setText(
    byId("queue-count"),
    `${count(shown.length)} shown${cut}${isLoading ? ", loading …" : ""}`,
  );
  if (how instanceof Error && all === 0)
    showState("jobs", "error", `Jobs: ${how.message}.`, fetchJobs);
  else if (shown.length) showState("jobs", "none");
  else if (isLoading || how === undefined) showState("jobs", "loading", "Being fetched …");
  else if (asked.text || asked.state || asked.tenant) {
    showState("jobs", "empty", "No job is like that.");
  } else showState("jobs", "empty", "Nothing waits and nothing runs.");
}

function setTenants() {
  const select = byId("queue-tenant");
  const names = [...new Set([...known.jobs.values()].map((job) => job.tenant))]
    .sort()
    .slice(0, 500);
  if (names.join("\n") === select.dataset.names) return;
  select.dataset.names = names.join("\n");
  const options = names.map((name) => make("option", { text: name, value: name }));
  select.replaceChildren(select.firstElementChild, ...options);
  select.value = asked.tenant;
}

function noteFirstPaint() {
  if (timing.firstPaint !== null || shown.length === 0 || !isSeen) return;
  // The second frame begins once the first has been painted.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      timing.firstPaint ??= performance.now();
      performance.mark("motley:list");
    }),
  );
}

function create() {
  const cell = (name, ...children) =>
    make("span", { class: `c-${name}`, role: "gridcell" }, ...children);
  const two = (name) => cell(name, make("span", { class: "one" }), make("span", { class: "two" }));
  return make(
    "div",
    { class: "row job" },
    cell("state", chip("waiting")),
    cell("id"),
    two("name"),
    cell("tenant"),
    cell("priority"),
    cell("tasks", make("span", { class: "one" }), make("span", { class: "meter" })),
    cell("submitted"),
    two("reason"),
    cell("expected"),
  );
}

function fill(row, index) {
  const job = shown[index];
  const [state, id, name, tenant, priority, tasks, submitted, reason, start] = row.children;
  row.dataset.job = job.id;
  row.dataset.state = job.state;
  setChip(state.firstChild, job.state);
  setText(id, String(job.id));
  setText(name.firstChild, job.name);
  setText(name.lastChild, job.command);
  setText(tenant, job.tenant);
  setText(priority, String(job.priority));
  const over = job.done + job.failed + job.cancelled;
  const what = job.running ? `${shortCount(job.running)} run, ` : "";
  setText(
    tasks.firstChild,
    job.tasks === 1 ? "1 task" : `${what}${shortCount(over)}/${shortCount(job.tasks)}`,
  );
  setVars(tasks.lastChild, { part: over / job.tasks, second: (over + job.running) / job.tasks });
  tasks.lastChild.hidden = job.tasks === 1;
  setText(submitted, ago(job.submitted));
  if (row.shown !== job.id) submitted.title = inFull(job.submitted);
  row.shown = job.id;
  fillForecast(job, reason, start);
}

function fillForecast(job, reason, start) {
  const why =
    job.reason ?? (job.failures?.[0] ? `task ${job.failures[0][0]}: ${job.failures[0][1]}` : "");
  setText(reason.firstChild, why);
  reason.firstChild.title = why;
  const found = job.state === "waiting" ? forecastOf(job) : null;
  reason.lastChild.dataset.change = found?.waits?.remedies[0]?.kind ?? "";
  setText(reason.lastChild, change(job, found));
  setText(start, startOf(job, found));
}

function change(job, found) {
  if (job.state !== "waiting") return "";
  if (!found) return "…";
  if (found.problem) return `not explained: ${found.problem}`;
  if (!found.waits) return "it starts now";
  const [first, ...others] = found.waits.remedies;
  if (!first) return "no single change would start it";
  return others.length ? `${first.text} (or ${others.length} other)` : first.text;
}

function startOf(job, found) {
  if (job.state === "running") return "runs";
  if (job.ended !== null) return `ended ${ago(job.ended)}`;
  if (job.state !== "waiting") return "–";
  if (!found || found.problem) return "…";
  return found.waits ? expected(found.waits.expected.declared) : "now";
}

function settled() {
  if (!isSeen) return;
  const [first, last] = list.seen();
  wantForecasts(shown.slice(first, last));
}

function changed(keys) {
  if (!isSeen) return;
  if (keys.has("*") || keys.size > 200) {
    orderSoon();
    return;
  }
  // What is seen is shown at once; the order follows a little later.
  for (const [index, row] of list.rows) {
    const job = known.jobs.get(shown[index]?.id);
    if (!job || !keys.has(job.id)) continue;
    shown[index] = job;
    fill(row, index);
  }
  orderSoon();
}

function sortBy(what) {
  if (asked.sort === what) asked.isDown = !asked.isDown;
  else Object.assign(asked, { sort: what, isDown: what !== "state" });
  markSort();
  order();
}

function markSort() {
  for (const button of document.querySelectorAll("#queue-grid [data-sort]")) {
    const isOn = button.dataset.sort === asked.sort;
    const value = asked.isDown ? "descending" : "ascending";
    button.parentElement.setAttribute("aria-sort", isOn ? value : "none");
  }
}

function askFor(wanted) {
  Object.assign(asked, wanted);
  if (["done", "failed", "cancelled"].includes(asked.state) && !isEndedIncluded()) {
    byId("queue-ended").checked = true;
    includeEnded(true);
  }
  byId("queue-rows").scrollTop = 0;
  order();
}

function mount() {
  const grid = byId("queue-grid");
  grid.setAttribute("aria-label", "Jobs");
  list = new WindowedList(byId("queue-rows"), {
    create,
    fill,
    settled,
    keyHost: grid,
    role: "grid",
    rowRole: "row",
    open: (index) => {
      location.hash = `#/job/${shown[index].id}`;
    },
  });
  for (const button of grid.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => sortBy(button.dataset.sort));
  }
  byId("queue-text").addEventListener("input", (event) => {
    askFor({ text: event.target.value.trim().toLowerCase() });
  });
  byId("queue-state").addEventListener("change", (event) => askFor({ state: event.target.value }));
  byId("queue-tenant").addEventListener("change", (event) =>
    askFor({ tenant: event.target.value }),
  );
  byId("queue-ended").addEventListener("change", (event) => {
    includeEnded(event.target.checked);
    order();
  });
  markSort();
  watch("jobs", changed);
  watch("forecasts", (keys) => {
    for (const [index, row] of list.rows) if (keys.has(shown[index]?.id)) fill(row, index);
  });
  setInterval(() => {
    if (isSeen && !document.hidden) {
      list.render(true);
      settled();
    }
  }, AGES_MILLIS);
}

export const queue = {
  name: "queue",
  title: "Queue",
  mount,
  show() {
    isSeen = true;
    order();
    if (known.fetched.get("jobs") instanceof Error) fetchJobs();
    touch("fetched");
  },
  hide() {
    isSeen = false;
    wantForecasts([]);
  },
};
