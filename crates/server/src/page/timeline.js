// The time line: a lane for each node with what ran, runs and is expected to run there.
//
// Only lanes that are seen are drawn, and of each only bars within the span that is looked at.
// Bars that overlap in time lie below each other; of very many the last line says how many more.

import { ask } from "./api.js";
import { byId, draw, make, setText, setVars, showState } from "./dom.js";
import { cores, moment, several, span, toSecond } from "./format.js";
import { WindowedList } from "./list.js";
import { known, watch } from "./store.js";

const AGAIN_MILLIS = 5000;
const DEPTH_MAX = 16;
const BARS_DRAWN_MAX = 400;
const BAR_HEIGHT = 11;
const LANE_PADDING = 8;
const LANE_LEAST = 30;
const SHORTEST = 60;
const LONGEST = 7 * 86400;
/** The first look. */
const FIRST_LEAST = 600;
const FIRST_MOST = 2 * 3600;
const TICKS = [10, 30, 60, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800];

let isSeen = false;
let list = null;
let told = null;
let fetchedFrom = Infinity;
let fetchedAt = 0;
let isFetching = false;
let lanes = [];
/** What is looked at, in seconds: how long, and how far its middle is from now. */
const look = { length: FIRST_MOST, middle: 0 };
let text = "";
let chosen = -1;
let drawnAt = 0;
/** Whether somebody, or the first list, has said how much is looked at. */
let isChosen = false;

const now = () => Date.now() / 1000;
const begin = () => now() + look.middle - look.length / 2;

// Lays bars that overlap below each other: each goes to the first line that is free.
function lay(bars, until) {
  const ends = [];
  return bars.map((bar) => {
    const to = bar.to ?? Math.max(until, bar.from);
    let line = ends.findIndex((end) => end <= bar.from);
    if (line < 0) line = ends.length < DEPTH_MAX ? ends.length : DEPTH_MAX - 1;
    ends[line] = Math.max(ends[line] ?? 0, to);
    return { bar, line, from: bar.from / 1e6, to: to / 1e6 };
  });
}

function fits(lane) {
  if (!text || lane.node.toLowerCase().includes(text)) return true;
  return lane.bars.some((bar) => bar.name.toLowerCase().includes(text) || String(bar.job) === text);
}

function arrange() {
  if (!told) return;
  const endless = (now() + LONGEST) * 1e6;
  lanes = told.lanes.filter(fits).map((lane) => {
    const laid = lay(lane.bars, endless);
    return {
      node: lane.node,
      laid,
      depth: laid.reduce((deep, one) => Math.max(deep, one.line + 1), 1),
    };
  });
  list.setHeights(
    lanes.map((lane) => Math.max(LANE_LEAST, lane.depth * BAR_HEIGHT + LANE_PADDING)),
  );
  const cut = told.is_cut ? "; more is known than is shown" : "";
  setText(byId("timeline-count"), `${several(lanes.length, "node")}${cut}`);
  if (lanes.length) showState("timeline", "none");
  else
    showState(
      "timeline",
      "empty",
      told.lanes.length ? "No lane is like that." : "Nothing ran lately.",
    );
  drawAxis();
}

function redraw() {
  if (!isSeen || !told) return;
  drawAxis();
  list.render(true);
}

function drawAxis() {
  drawnAt = now();
  const axis = byId("timeline-axis");
  const width = axis.clientWidth;
  const step = TICKS.find((one) => (one / look.length) * width >= 64) ?? TICKS.at(-1);
  const [from, parts] = [begin(), []];
  const shift = new Date().getTimezoneOffset() * 60;
  const first = Math.ceil((from - shift) / step) * step + shift;
  const place = (now() - from) / look.length;
  for (let at = first; at < from + look.length; at += step) {
    const isByNow = (Math.abs(at - now()) / look.length) * width < 40;
    // Nor is there room for words at the edge.
    const isCut = (1 - (at - from) / look.length) * width < 40;
    const tick = make("span", {
      text: isByNow || isCut ? "" : step < 60 ? toSecond(at * 1e6) : moment(at * 1e6),
    });
    setVars(tick, { at: (at - from) / look.length });
    parts.push(tick);
  }
  if (place > 0 && place < 1) {
    const mark = make("span", { class: "now", text: "now" });
    setVars(mark, { at: place });
    parts.push(mark);
  }
  axis.replaceChildren(...parts);
}

function create() {
  return make(
    "div",
    { class: "lane" },
    make("span", { class: "lane-name" }),
    draw("svg", { class: "lane-bars", "aria-hidden": "true" }),
    make("span", { class: "unseen" }),
  );
}

function fill(row, index) {
  const lane = lanes[index];
  const [name, drawing, unseen] = row.children;
  row.dataset.lane = lane.node;
  setText(name, lane.node);
  name.title = lane.node;
  const width = drawing.clientWidth || byId("timeline-axis").clientWidth;
  const [from, scale] = [begin(), width / look.length];
  const shown = lane.laid.filter((one) => one.to >= from && one.from <= from + look.length);
  const bars = shown.slice(0, BARS_DRAWN_MAX).map((one) => drawBar(one, from, scale, width));
  const line = draw("line", {
    class: "now",
    x1: (now() - from) * scale,
    x2: (now() - from) * scale,
    y1: 0,
    y2: "100%",
  });
  drawing.replaceChildren(...bars, line);
  const many = (state) => lane.laid.filter((one) => one.bar.state === state).length;
  setText(
    unseen,
    `: ${several(many("running"), "run")} now, ` +
      `${many("ended")} ended, ${many("expected")} expected`,
  );
}

function drawBar({ bar, line, from: start, to: end }, from, scale, width) {
  const left = Math.max(-2, (start - from) * scale);
  const right = Math.min(width + 2, (end - from) * scale);
  const key = `${bar.job}.${bar.task}.${bar.from}`;
  const attributes = {
    class: `bar-${bar.state}`,
    x: left,
    y: LANE_PADDING / 2 + line * BAR_HEIGHT + 1,
    rx: 2,
    width: Math.max(2, right - left - 1),
    height: BAR_HEIGHT - 2,
    "data-bar": key,
    "data-job": bar.job,
    "data-chosen": key === chosen,
  };
  const shape = draw("rect", attributes);
  if (right - left < 46) return shape;
  const words = draw("text", {
    x: Math.max(3, left + 4),
    y: attributes.y + 7.5,
    class: "bar-text",
  });
  const room = Math.floor((right - Math.max(0, left) - 8) / 5.2);
  const whole = `${bar.job} ${bar.name}`;
  words.textContent = whole.length > room ? `${whole.slice(0, Math.max(1, room - 1))}…` : whole;
  return draw("g", {}, shape, words);
}

function describe(bar) {
  const ends = bar.to === null ? "no known end" : `to ${moment(bar.to)}`;
  const lasts = bar.to === null ? "" : `, ${span((bar.to - bar.from) / 1e6)}`;
  const devices = bar.devices.length ? `, device ${bar.devices.join(", ")}` : "";
  return (
    `Job ${bar.job} ${bar.name}, task ${bar.task}: ${bar.state}, ` +
    `from ${moment(bar.from)} ${ends}${lasts}; ${cores(bar.cores)}${devices}`
  );
}

const keyOf = (bar) => `${bar.job}.${bar.task}.${bar.from}`;

function tellBar(bar, node) {
  chosen = bar ? keyOf(bar) : -1;
  setText(
    byId("timeline-told"),
    bar
      ? `${describe(bar)}, on ${node}.`
      : "Point at a bar, or walk by arrow keys: up and down the nodes, left and right the bars.",
  );
}

function barOf(target) {
  const key = target.closest?.("[data-bar]")?.dataset.bar ?? target.previousSibling?.dataset?.bar;
  const row = target.closest?.(".lane");
  const lane = row ? lanes[row.index] : null;
  const found = key && lane?.laid.find((one) => keyOf(one.bar) === key);
  return found ? [found.bar, lane.node] : null;
}

function step(by) {
  const lane = lanes[list.active];
  if (!lane) return;
  const [from, to] = [begin(), begin() + look.length];
  const bars = lane.laid.filter((one) => one.to >= from && one.from <= to).map((one) => one.bar);
  if (bars.length === 0) {
    setText(byId("timeline-told"), `Nothing on ${lane.node} in what is shown.`);
    return;
  }
  const at = bars.findIndex((bar) => keyOf(bar) === chosen);
  const next = at < 0 ? (by > 0 ? 0 : bars.length - 1) : at + by;
  tellBar(bars[Math.max(0, Math.min(bars.length - 1, next))], lane.node);
  list.render(true);
}

const MOVES = {
  earlier: { text: "◀", label: "Earlier", key: "[", act: () => move(-0.5) },
  now: { text: "Now", label: "Back to now", key: "0", act: () => move(null) },
  later: { text: "▶", label: "Later", key: "]", act: () => move(0.5) },
  out: { text: "−", label: "Zoom out", key: "-", act: () => zoom(2) },
  in: { text: "+", label: "Zoom in", key: "+", act: () => zoom(0.5) },
};

function move(by) {
  look.middle = by === null ? 0 : look.middle + by * look.length;
  look.middle = Math.max(-30 * 86400, Math.min(30 * 86400, look.middle));
  if (begin() < fetchedFrom) fetchTimeline();
  redraw();
}

function zoom(by) {
  isChosen = true;
  look.length = Math.max(SHORTEST, Math.min(LONGEST, look.length * by));
  if (begin() < fetchedFrom) fetchTimeline();
  redraw();
  setText(byId("timeline-told"), `${span(look.length)} are shown.`);
}

function key(event, active) {
  const found = Object.values(MOVES).find(
    (one) => one.key === event.key || (one.key === "+" && event.key === "="),
  );
  if (found) found.act();
  else if (event.key === "ArrowRight") step(1);
  else if (event.key === "ArrowLeft") step(-1);
  else if (event.key === "Enter" && chosen !== -1) {
    const bar = lanes[active]?.laid.find((one) => keyOf(one.bar) === chosen)?.bar;
    if (bar) location.hash = `#/job/${bar.job}`;
  } else return false;
  event.preventDefault();
  return true;
}

async function fetchTimeline() {
  if (isFetching) return;
  isFetching = true;
  const from = Math.min(begin(), now() - 3600);
  try {
    told = await ask(`timeline?since=${Math.max(0, Math.floor(from * 1e6))}`);
    lookAtAll();
    [fetchedFrom, fetchedAt] = [from, performance.now()];
    if (isSeen) arrange();
  } catch (error) {
    if (!told) showState("timeline", "error", `Time line: ${error.message}.`, fetchTimeline);
  }
  isFetching = false;
}

// What happened in the last minutes would be a heap of slivers in a look at hours.
function lookAtAll() {
  const begun = told.lanes.flatMap((lane) => lane.bars.map((bar) => bar.from / 1e6));
  if (isChosen || begun.length === 0) return;
  isChosen = true;
  const past = begun.reduce((first, one) => Math.min(first, one), now());
  look.length = Math.max(FIRST_LEAST, Math.min(FIRST_MOST, 3 * (now() - past)));
}

function mount() {
  const host = byId("timeline-lanes");
  host.setAttribute("aria-label", "Nodes over time");
  list = new WindowedList(host, {
    create,
    fill,
    key,
    activated: () => tellBar(null),
    open: (index, event) => {
      const found = barOf(event.target);
      if (found) location.hash = `#/job/${found[0].job}`;
    },
  });
  host.addEventListener("pointerover", (event) => {
    const found = barOf(event.target);
    if (found) tellBar(...found);
  });
  byId("timeline-actions").append(
    ...Object.entries(MOVES).map(([name, { text: words, label, key: by, act }]) =>
      make("button", {
        type: "button",
        "data-action": `timeline-${name}`,
        text: words,
        "aria-label": label,
        title: `${label} (${by})`,
        on: { click: act },
      }),
    ),
  );
  byId("timeline-text").addEventListener("input", (event) => {
    text = event.target.value.trim().toLowerCase();
    arrange();
  });
  new ResizeObserver(redraw).observe(byId("timeline-axis"));
  watch("jobs", () => {
    if (isSeen && performance.now() - fetchedAt > AGAIN_MILLIS / 2) fetchTimeline();
  });
  setInterval(() => {
    if (!isSeen || document.hidden) return;
    if (performance.now() - fetchedAt > AGAIN_MILLIS && known.connection.state === "live")
      fetchTimeline();
    // The line of now moves too slowly to be seen in most spans; it is drawn where it is seen.
    else if (((now() - drawnAt) / look.length) * byId("timeline-axis").clientWidth >= 1) redraw();
  }, 1000);
}

export const timeline = {
  name: "timeline",
  title: "Time line",
  mount,
  show() {
    isSeen = true;
    tellBar(null);
    if (told) arrange();
    else showState("timeline", "loading", "The time line is being fetched …");
    fetchTimeline();
  },
  hide() {
    isSeen = false;
  },
};
