// The trade-off front: what other weights of the policy would make of the jobs that wait.

import { ask } from "./api.js";
import { byId, draw, heading, make, showState } from "./dom.js";
import { amount, several, span } from "./format.js";

const WIDEST = 640;
const NARROWEST = 300;
const EDGE = { left: 76, right: 18, top: 14, bottom: 44 };
const POINTS_MAX = 300;
/** Objectives of which more is better; of the others less is. */
const MORE = ["utilisation", "fragmentation"];

let told = null;
let axes = [0, 1];
let isBusy = false;
let chosen = 0;
/** How large the drawing is; its letters are then as large as others. */
let [width, height] = [WIDEST, WIDEST * 0.6];

const better = (objective) => (MORE.some((one) => objective.startsWith(one)) ? "more" : "less");

/** A figure of an objective in the unit that people know it by. */
function written(objective, value) {
  if (objective === "completion") return span(value);
  if (objective === "energy") return `${amount(value / 3.6e6)}\u00a0kWh`;
  return MORE.includes(objective) ? `${amount(value * 100)}\u00a0%` : amount(value);
}

function kindOf(point) {
  if (point.is_policy) return "policy";
  if (point.is_knee) return "knee";
  return point.is_on_front ? "front" : "other";
}

const WORDS = {
  policy: "policy in force",
  knee: "knee: little is gained by going further",
  front: "on the front",
  other: "no better than another",
};

function describe(point) {
  const values = told.objectives.map(
    (name, index) => `${name}: ${written(name, point.values[index])}`,
  );
  const words = [WORDS[kindOf(point)]];
  if (point.is_policy) words.push(point.is_on_front ? "on the front" : "not on the front");
  return `${point.label}: ${words.join(", ")}; ${values.join("; ")}.`;
}

function scale(values, from, to) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  const [least, most] = [low - room, high + room];
  return {
    place: (value) => from + ((value - least) / (most - least)) * (to - from),
    // The words of a tick need this much room.
    ticks: steps(least, most, Math.max(2, Math.min(5, Math.abs(to - from) / 85))),
  };
}

function steps(least, most, parts) {
  const raw = (most - least) / parts;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const found = [];
  for (let at = Math.ceil(least / step) * step; at <= most && found.length < 12; at += step) {
    found.push(at);
  }
  return found;
}

function shape(kind, x, y) {
  if (kind === "knee") return draw("path", { d: `M${x} ${y - 7}l7 7l-7 7l-7-7z` });
  if (kind === "policy") return draw("path", { d: `M${x} ${y - 8}l7 13h-14z` });
  if (kind === "front") return draw("circle", { cx: x, cy: y, r: 4.5 });
  return draw("rect", { x: x - 3.5, y: y - 3.5, width: 7, height: 7 });
}

function frame(across, up) {
  const [bottom, right] = [height - EDGE.bottom, width - EDGE.right];
  const inWords = (axis, tick) => written(told.objectives[axes[axis]], tick);
  const parts = [];
  for (const tick of across.ticks) {
    const x = across.place(tick);
    parts.push(
      draw("line", { class: "rule", x1: x, x2: x, y1: EDGE.top, y2: bottom }),
      draw("text", { x, y: bottom + 15, "text-anchor": "middle", text: inWords(0, tick) }),
    );
  }
  for (const tick of up.ticks) {
    const y = up.place(tick);
    parts.push(
      draw("line", { class: "rule", x1: EDGE.left, x2: right, y1: y, y2: y }),
      draw("text", { x: EDGE.left - 7, y: y + 3.5, "text-anchor": "end", text: inWords(1, tick) }),
    );
  }
  const label = (index) => {
    const [name, figure] = [told.objectives[axes[index]], told.figures[axes[index]]];
    return `${figure ?? name}, ${better(name)} is better`;
  };
  parts.push(
    draw("text", {
      class: "axis-name",
      x: (EDGE.left + right) / 2,
      y: height - 8,
      "text-anchor": "middle",
      text: label(0),
    }),
    draw("text", {
      class: "axis-name",
      transform: `translate(13 ${(EDGE.top + bottom) / 2}) rotate(-90)`,
      "text-anchor": "middle",
      text: label(1),
    }),
  );
  return parts;
}

function tellPoint(index) {
  chosen = index;
  byId("front-told").textContent = describe(told.points[index]);
  for (const part of byId("front-plot").querySelectorAll("[data-point]")) {
    const isChosen = Number(part.dataset.point) === index;
    part.classList.toggle("chosen", isChosen);
  }
}

function walk(event, points) {
  const steps_ = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
  if (!(event.key in steps_)) return;
  event.preventDefault();
  const across = points
    .map((point, index) => [point.values[axes[0]], index])
    .sort((one, other) => one[0] - other[0])
    .map(([, index]) => index);
  const at = across.indexOf(chosen) + steps_[event.key];
  tellPoint(across[Math.max(0, Math.min(across.length - 1, at))]);
}

function plot(points) {
  const values = (axis) => points.map((point) => point.values[axes[axis]]);
  const across = scale(values(0), EDGE.left, width - EDGE.right);
  const up = scale(values(1), height - EDGE.bottom, EDGE.top);
  const place = (point) => [across.place(point.values[axes[0]]), up.place(point.values[axes[1]])];
  const picture = draw(
    "svg",
    {
      id: "front-plot",
      viewBox: `0 0 ${width} ${height}`,
      tabindex: 0,
      role: "application",
      "aria-label": "Outcomes; the arrow keys walk them, the table lists them",
      "aria-describedby": "front-told",
    },
    ...frame(across, up),
  );
  // With more than two objectives a line through the front would only seem to mean something.
  if (told.objectives.length === 2) {
    const front = points
      .filter((point) => point.is_on_front)
      .sort((one, other) => one.values[axes[0]] - other.values[axes[0]]);
    const path = front.map((point) => place(point).join(" ")).join("L");
    if (front.length > 1) picture.append(draw("path", { class: "front-line", d: `M${path}` }));
  }
  points
    .map((point, index) => [point, index])
    .sort(
      ([one], [other]) =>
        Number(one.is_policy || one.is_knee) - Number(other.is_policy || other.is_knee),
    )
    .forEach(([point, index]) => {
      const mark = draw(
        "g",
        {
          class: `point ${kindOf(point)}`,
          "data-point": index,
          on: { pointerenter: () => tellPoint(index), click: () => tellPoint(index) },
        },
        shape(kindOf(point), ...place(point)),
      );
      mark.prepend(
        draw("circle", { class: "halo", cx: place(point)[0], cy: place(point)[1], r: 11 }),
      );
      picture.append(mark);
    });
  picture.addEventListener("keydown", (event) => walk(event, points));
  return picture;
}

function legend() {
  return make(
    "ul",
    { class: "legend" },
    ...Object.entries(WORDS).map(([kind, text]) =>
      make(
        "li",
        {},
        draw(
          "svg",
          { viewBox: "0 0 18 18", class: "legend-mark", "aria-hidden": "true" },
          draw("g", { class: `point ${kind}` }, shape(kind, 9, 9)),
        ),
        text,
      ),
    ),
  );
}

function axisSelect(axis, label) {
  const select = make(
    "select",
    {
      id: `front-${axis}`,
      on: {
        change: (event) => {
          axes[axis] = Number(event.target.value);
          redraw();
          byId(`front-${axis}`).focus();
        },
      },
    },
    ...told.objectives.map((text, value) => make("option", { value, text })),
  );
  select.value = String(axes[axis]);
  return make("label", {}, `${label} `, select);
}

function table(points) {
  const heads = ["Outcome", ...told.objectives, ""];
  return make(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": "Outcomes" },
    make(
      "table",
      { id: "front-table" },
      heading(heads),
      make(
        "tbody",
        {},
        ...points.map((point) =>
          make(
            "tr",
            { "data-kind": kindOf(point) },
            make("th", { scope: "row", text: point.label }),
            ...point.values.map((value, index) =>
              make("td", { class: "num", text: written(told.objectives[index], value) }),
            ),
            make("td", { text: WORDS[kindOf(point)].split(":")[0] }),
          ),
        ),
      ),
    ),
  );
}

// A third of the body for what stands beside the drawing, where that is.
function measure() {
  const all = byId("front-body").clientWidth;
  width = Math.round(Math.max(NARROWEST, Math.min(WIDEST, (all > 800 ? all / 2 : all) - 50)));
  height = Math.round(width * (width < 420 ? 0.85 : 0.6));
}

function redraw() {
  const body = byId("front-body");
  measure();
  if (!told || told.points.length === 0) {
    body.replaceChildren();
    if (told) showState("front", "empty", "Nothing waits, so there is nothing to trade.");
    return;
  }
  showState("front", "none");
  const points = told.points.slice(0, POINTS_MAX);
  const isFlat = told.objectives.length < 2;
  const drawn = isFlat
    ? []
    : [
        make("div", { class: "actions" }, axisSelect(0, "Across"), axisSelect(1, "Up")),
        plot(points),
        make("p", { id: "front-told", class: "told", "aria-live": "polite" }),
        legend(),
      ];
  body.replaceChildren(
    make(
      "div",
      { class: "columns" },
      make(
        "div",
        { class: "column" },
        make(
          "div",
          { class: "card" },
          make("p", {
            class: "hint",
            text: `Made of ${several(told.jobs, "job")} that wait. ` + "None of it was done.",
          }),
          ...drawn,
          told.notes.length
            ? make("ul", { class: "plain hint" }, ...told.notes.map((text) => make("li", { text })))
            : null,
        ),
      ),
      make(
        "div",
        { class: "column" },
        make("div", { class: "card" }, make("h2", { text: "As a table" }), table(points)),
      ),
    ),
  );
  if (!isFlat)
    tellPoint(
      Math.max(
        0,
        points.findIndex((point) => point.is_policy),
      ),
    );
}

async function compute() {
  if (isBusy) return;
  isBusy = true;
  byId("front-again").disabled = true;
  if (!told) showState("front", "loading", "Other weights are being tried on the backlog …");
  byId("front-body").setAttribute("aria-busy", "true");
  try {
    told = await ask("front");
    if (Math.max(...axes) >= told.objectives.length)
      axes = [0, Math.min(1, told.objectives.length - 1)];
    redraw();
  } catch (error) {
    byId("front-body").replaceChildren();
    told = null;
    showState("front", "error", `The front was not computed: ${error.message}.`, compute);
  }
  isBusy = false;
  byId("front-again").disabled = false;
  byId("front-body").removeAttribute("aria-busy");
}

export const front = {
  name: "front",
  title: "Front",
  mount() {
    byId("front-again").addEventListener("click", compute);
    let before = 0;
    new ResizeObserver(([{ contentRect }]) => {
      if (told && contentRect.width && contentRect.width !== before) redraw();
      before = contentRect.width;
    }).observe(byId("front-body"));
  },
  show() {
    compute();
  },
  hide() {},
};
