// One node: what it has, how its devices are, what runs there, and draining it.

import { ask } from "./api.js";
import { byId, chip, icon, heading, make, meter, swap, unbuild } from "./dom.js";
import { ago, amount, bytesOf, cores, count, percent, several } from "./format.js";
import { actButton, changeNode, whyNotNode } from "./rights.js";
import { known, watch } from "./store.js";

const RUNS_MILLIS = 5000;
const RUNS_SHOWN = 200;

let name = null;
let runs = null;
let fetched = 0;

const used = (part) => (part.whole > 0 ? (part.whole - part.free) / part.whole : 0);

function line(label, part, text) {
  return make(
    "div",
    { class: "line" },
    make("span", { text: label }),
    meter(used(part), `${label}: ${percent(used(part))} used`),
    make("span", { class: "num", text }),
  );
}

const SENSORS = [
  ["celsius", "Heat", (value) => `${amount(value)} °C`],
  ["watts", "Power", (value) => `${amount(value)} W`],
  ["busy", "Busy", percent],
];

function deviceRow(device, index, sensed) {
  const hasMemory = device.memory_bytes.whole > 0;
  const held = device.share.whole - device.share.free;
  const sensor = ([name, , text]) =>
    make("td", { class: "num", text: device[name] === undefined ? "–" : text(device[name]) });
  return make(
    "tr",
    { "data-device": index },
    make(
      "th",
      { scope: "row", class: "num" },
      `${index} ${device.model}`,
      make("small", { text: ` ${device.kind}` }),
    ),
    make(
      "td",
      { class: "num" },
      meter(used(device.share), `share: ${percent(used(device.share))} used`),
      `${amount(held)}/${amount(device.share.whole)}`,
    ),
    make("td", {
      class: "num",
      text: hasMemory ? bytesOf(device.memory_bytes.free, device.memory_bytes.whole) : "–",
    }),
    ...sensed.map(sensor),
  );
}

function deviceTable(node) {
  if (node.devices.length === 0) return make("p", { class: "hint", text: "It has no devices." });
  // What cannot be read here at all gets no column.
  const sensed = SENSORS.filter(([what]) => node.devices.some((one) => one[what] !== undefined));
  const heads = ["Device", "Share", "Memory", ...sensed.map(([, title]) => title)];
  return make(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": "Devices" },
    make(
      "table",
      { class: "devices" },
      heading(heads),
      make("tbody", {}, ...node.devices.map((device, index) => deviceRow(device, index, sensed))),
    ),
  );
}

function runList() {
  if (runs === null) return make("p", { class: "hint", text: "Its runs are being fetched …" });
  if (runs instanceof Error)
    return make("p", { class: "hint", text: `Its runs: ${runs.message}.` });
  if (runs.length === 0) return make("p", { class: "hint", text: "Nothing runs there." });
  return make(
    "ul",
    { class: "plain" },
    ...runs
      .slice(0, RUNS_SHOWN)
      .map((bar) =>
        make(
          "li",
          {},
          make("a", { href: `#/job/${bar.job}`, text: `${bar.job} ${bar.name}` }),
          ` task ${bar.task}, ${cores(bar.cores)}` +
            (bar.devices.length ? `, device ${bar.devices.join(", ")}` : ""),
          make("span", { class: "muted", text: `, for ${ago(bar.from).replace(" ago", "")}` }),
        ),
      ),
  );
}

function actions(node) {
  const why = whyNotNode();
  const isUp = node.state === "up";
  const act = (verb) => () => changeNode(verb, node);
  const lost = node.state === "lost" ? "it is lost; it comes back by itself" : null;
  return make(
    "div",
    { class: "actions" },
    ...(isUp
      ? actButton("drain", "Drain", { why, act: act("drain"), isGrave: true })
      : actButton("resume", "Resume", { why: why ?? lost, act: act("resume") })),
  );
}

function build(node) {
  return [
    make(
      "div",
      { class: "bar" },
      make("h2", { id: "node-title", tabindex: -1, text: node.name }),
      chip(node.state),
      make("span", { class: "grow" }),
      make(
        "a",
        {
          class: "button quiet",
          href: "#/fleet",
          "data-action": "close-node",
          "aria-label": "Close",
        },
        icon("close"),
      ),
    ),
    actions(node),
    line(
      "cores",
      node.cores,
      `${amount(node.cores.whole - node.cores.free)} of ${amount(node.cores.whole)}`,
    ),
    line("memory", node.memory_bytes, bytesOf(node.memory_bytes.free, node.memory_bytes.whole)),
    make("p", { class: "muted", text: `Processors: ${node.model}` }),
    make("h3", { text: several(node.devices.length, "device") }),
    deviceTable(node),
    make("h3", { text: `${count(node.runs)} running here` }),
    runList(),
  ];
}

function redraw() {
  const host = byId("node");
  if (name === null || host.hidden) return;
  const node = known.nodes.get(name);
  if (!node) {
    const how = known.fetched.get("nodes");
    const text = how === "ready" ? `There is no node ${name}.` : "Nodes are being fetched …";
    swap(host, text, () => [
      make("p", { class: "hint", text }),
      make("a", { href: "#/fleet", text: "Close" }),
    ]);
    return;
  }
  const key = JSON.stringify([node, runs instanceof Error ? runs.message : runs, known.who]);
  swap(host, key, () => build(node));
}

async function fetchRuns() {
  if (name === null || performance.now() - fetched < RUNS_MILLIS / 2) return;
  fetched = performance.now();
  const wanted = name;
  let found;
  try {
    const { lanes, now } = await ask(`timeline?since=${Math.round((Date.now() - 60_000) * 1000)}`);
    const lane = lanes.find((one) => one.node === wanted);
    found = (lane?.bars ?? []).filter((bar) => bar.state === "running" && bar.from <= now);
  } catch (error) {
    found = error;
  }
  if (name !== wanted) return;
  runs = found;
  redraw();
}

/** Shows a node beside the map. */
export function showNode(wanted) {
  const host = byId("node");
  const isOther = name !== wanted;
  if (isOther) [name, runs, fetched] = [wanted, null, 0];
  host.hidden = false;
  redraw();
  fetchRuns();
  if (isOther) host.querySelector("#node-title")?.focus({ preventScroll: true });
}

/** Hides it. */
export function hideNode() {
  const host = byId("node");
  [name, runs] = [null, null];
  host.hidden = true;
  unbuild(host);
}

/** Keeps it up to date. */
export function mountNode() {
  watch("nodes", (keys) => {
    if (keys.has("*") || keys.has(name)) redraw();
    if (keys.has(name)) fetchRuns();
  });
  watch("who", redraw);
  setInterval(() => {
    if (name !== null && !document.hidden && byId("node").offsetParent) fetchRuns();
  }, RUNS_MILLIS);
}
