// The fleet: sums over all of it, and a map of its nodes with their devices.

import { byId, icon, make, meter, setText, setVars, showState } from "./dom.js";
import { fetchNodes } from "./fetching.js";
import { amount, bytesOf, count, percent, several } from "./format.js";
import { WindowedList } from "./list.js";
import { hideNode, mountNode, showNode } from "./node.js";
import { known, timing, watch } from "./store.js";

const SUMS_MILLIS = 1000;
const DEVICES_SHOWN = 16;
/** What no event tells of (temperatures, watts) is asked for again after this. */
const AGAIN_MILLIS = 10_000;

const asked = { text: "", state: "", model: "" };
let list = null;
let shown = [];
let isSeen = false;
let summed = 0;
let summing = 0;

const used = (part) => (part.whole > 0 ? (part.whole - part.free) / part.whole : 0);

function fits(node) {
  if (asked.state && node.state !== asked.state) return false;
  if (asked.model && !node.devices.some((device) => device.model === asked.model)) return false;
  if (!asked.text) return true;
  return (
    node.name.toLowerCase().includes(asked.text) ||
    node.model.toLowerCase().includes(asked.text) ||
    node.devices.some((device) => device.model.toLowerCase().includes(asked.text))
  );
}

function arrange() {
  const active = shown[list.active]?.name;
  shown = [...known.nodes.values()].filter(fits);
  if (active !== undefined) list.active = shown.findIndex((node) => node.name === active);
  list.setCount(shown.length);
  setText(byId("fleet-count"), `${count(shown.length)} of ${several(known.nodes.size, "node")}`);
  tellState();
  sumUpSoon();
  if (timing.firstPaint === null && shown.length) {
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        timing.firstPaint ??= performance.now();
        performance.mark("motley:list");
      }),
    );
  }
}

function tellState() {
  const how = known.fetched.get("nodes");
  if (how instanceof Error && known.nodes.size === 0) {
    showState("nodes", "error", `Nodes: ${how.message}.`, fetchNodes);
  } else if (shown.length) showState("nodes", "none");
  else if (how === "loading" || how === undefined) {
    showState("nodes", "loading", "Nodes are being fetched …");
  } else
    showState("nodes", "empty", known.nodes.size ? "No node is like that." : "There is no node.");
}

function addTo(sums, name, part, kind) {
  const sum = sums.get(name) ?? { free: 0, whole: 0, kind };
  sum.free += part.free;
  sum.whole += part.whole;
  sums.set(name, sum);
}

function sumUpSoon() {
  if (summing) return;
  const left = Math.max(0, SUMS_MILLIS - (performance.now() - summed));
  if (left === 0) sumUp();
  else summing = setTimeout(sumUp, left);
}

function sumUp() {
  [summed, summing] = [performance.now(), 0];
  const [states, sums] = [{ up: 0, drained: 0, lost: 0 }, new Map()];
  for (const node of known.nodes.values()) {
    states[node.state] += 1;
    addTo(sums, "cores", node.cores, "cpu");
    addTo(sums, "memory", node.memory_bytes, "memory");
    for (const device of node.devices) addTo(sums, device.model, device.share, device.kind);
  }
  const health = make(
    "div",
    { class: "sum health" },
    // What there is none of would only draw the eye.
    ...Object.entries(states)
      .filter(([state, many]) => many > 0 || state === "up")
      .map(([state, many]) =>
        make(
          "span",
          { "data-state": state, class: "chip" },
          icon(state),
          make("span", { text: `${count(many)} ${state}` }),
        ),
      ),
  );
  const parts = [...sums].map(([name, sum]) => {
    const text =
      sum.kind === "memory"
        ? bytesOf(sum.free, sum.whole)
        : `${amount(sum.whole - sum.free)} of ${amount(sum.whole)}`;
    return make(
      "div",
      { class: "sum", "data-sum": name },
      make(
        "span",
        { class: "what" },
        make("b", { text: name }),
        sum.kind === "cpu" || sum.kind === "memory" ? null : make("i", { text: sum.kind }),
      ),
      make("span", { class: "how", text }),
      meter(used(sum), `${percent(used(sum))} used`),
    );
  });
  byId("fleet-sums").replaceChildren(health, ...parts);
  setModels([...sums.keys()].slice(2).sort());
}

function setModels(names) {
  const select = byId("fleet-model");
  if (names.join("\n") === select.dataset.names) return;
  select.dataset.names = names.join("\n");
  const options = names.map((name) => make("option", { text: name, value: name }));
  select.replaceChildren(select.firstElementChild, ...options);
  select.value = asked.model;
}

function bar(text) {
  const drawn = make("span", { class: "meter", "aria-hidden": "true" });
  return make("span", { class: "tile-bar" }, make("span", { text }), drawn, make("span"));
}

function create() {
  const head = [make("span", { class: "mark" }, icon("up")), make("b")];
  return make(
    "div",
    { class: "tile" },
    make("span", { class: "tile-name" }, ...head, make("span", { class: "tile-runs" })),
    bar("cores"),
    bar("memory"),
    make("span", { class: "tile-model" }),
    make("span", { class: "cells", "aria-hidden": "true" }),
    make("span", { class: "unseen" }),
  );
}

function fill(tile, index) {
  const node = shown[index];
  const [head, cores, memory, model, cells, unseen] = tile.children;
  const [mark, name, runs] = head.children;
  if (tile.shown === node) return;
  tile.shown = node;
  tile.dataset.node = node.name;
  tile.dataset.state = node.state;
  mark.querySelector("use").setAttribute("href", `#i-${node.state}`);
  setText(name, node.name);
  setText(runs, node.state === "up" ? several(node.runs, "run") : node.state);
  setBar(
    cores,
    node.cores,
    `${amount(node.cores.whole - node.cores.free)}/${amount(node.cores.whole)}`,
  );
  setBar(memory, node.memory_bytes, percent(used(node.memory_bytes)));
  fillCells(cells, node.devices);
  setText(model, devicesOf(node));
  // What the drawing shows, for those who do not see it.
  setText(unseen, `, ${node.state}${usedDevices(node)}`);
}

function setBar(bar, part, text) {
  setVars(bar.children[1], { part: used(part) });
  setText(bar.children[2], text);
}

function devicesOf(node) {
  if (node.devices.length === 0) return `no devices · ${node.model}`;
  const many = new Map();
  for (const device of node.devices) many.set(device.model, (many.get(device.model) ?? 0) + 1);
  const text = [...many].map(([model, number]) => `${number} × ${model}`).join(", ");
  const more = node.devices.length - DEVICES_SHOWN;
  return more > 0 ? `${text} (${more} not drawn)` : text;
}

function usedDevices(node) {
  if (node.devices.length === 0) return "";
  const sum = node.devices.reduce(
    (total, device) => total + device.share.whole - device.share.free,
    0,
  );
  return `, ${amount(sum)} of ${node.devices.length} in use`;
}

function fillCells(cells, devices) {
  const many = Math.min(DEVICES_SHOWN, devices.length);
  while (cells.children.length > many) cells.lastChild.remove();
  while (cells.children.length < many) {
    cells.append(make("span", { class: "cell" }));
  }
  for (let index = 0; index < many; index += 1) {
    const [device, cell] = [devices[index], cells.children[index]];
    // Most cells are as they were; writing to them again would be laid out again.
    if (cell.shown === device) continue;
    cell.shown = device;
    setVars(cell, { share: used(device.share), memory: used(device.memory_bytes) });
    cell.dataset.full =
      device.share.free <= 0 ? "full" : device.share.free < device.share.whole ? "part" : "free";
    cell.dataset.hot = device.celsius >= 85 ? "hot" : "";
    cell.title =
      `${index} ${device.model} (${device.kind}): ` +
      `share ${amount(device.share.whole - device.share.free)}` +
      ` of ${amount(device.share.whole)}${sensors(device)}`;
  }
}

function sensors(device) {
  return (
    (device.celsius === undefined ? "" : `, ${amount(device.celsius)} °C`) +
    (device.watts === undefined ? "" : `, ${amount(device.watts)} W`) +
    (device.busy === undefined ? "" : `, ${percent(device.busy)} busy`)
  );
}

function changed(keys) {
  if (!isSeen) return;
  if (!keys.has("*") && keys.size <= 100 && !asked.state) {
    for (const [index, tile] of list.rows) {
      const node = known.nodes.get(shown[index]?.name);
      if (!node || !keys.has(node.name)) continue;
      shown[index] = node;
      fill(tile, index);
    }
    sumUpSoon();
  } else arrange();
}

function askFor(wanted) {
  Object.assign(asked, wanted);
  byId("fleet-map").scrollTop = 0;
  arrange();
}

function mount() {
  const host = byId("fleet-map");
  host.setAttribute("aria-label", "Nodes");
  list = new WindowedList(host, {
    create,
    fill,
    open: (index) => {
      location.hash = `#/fleet/${encodeURIComponent(shown[index].name)}`;
    },
  });
  byId("fleet-text").addEventListener("input", (event) => {
    askFor({ text: event.target.value.trim().toLowerCase() });
  });
  byId("fleet-state").addEventListener("change", (event) => askFor({ state: event.target.value }));
  byId("fleet-model").addEventListener("change", (event) => askFor({ model: event.target.value }));
  watch("nodes", changed);
  mountNode();
  setInterval(() => {
    if (isSeen && !document.hidden && known.connection.state === "live") fetchNodes();
  }, AGAIN_MILLIS);
}

export const fleet = {
  name: "fleet",
  title: "Fleet",
  mount,
  show(name) {
    isSeen = true;
    arrange();
    sumUp();
    if (name) showNode(name);
    else hideNode();
  },
  hide() {
    isSeen = false;
  },
  /** Esc closes the details of a node. */
  escape() {
    if (byId("node").hidden) return false;
    location.hash = "#/fleet";
    byId("fleet-map").focus();
    return true;
  },
};
