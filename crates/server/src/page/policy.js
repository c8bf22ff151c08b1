// The policy in force with the weights that hold at the moment, and how long a turn takes.

import { byId, heading, make, setText, setVars, showState, swap } from "./dom.js";
import { fetchPolicy, fetchStatus } from "./fetching.js";
import { count, millis, several } from "./format.js";
import { known, watch } from "./store.js";

const PHASES = {
  collect: "observe, and seal the snapshot",
  match: "reconcile, find what is feasible, score it",
  decide: "search, explain, check",
  write: "write the journal to the disk",
  order: "hand the orders over",
  start: "from the order until the process runs",
  whole: "the whole turn",
};

function tell(topic, what, fetch) {
  const how = known.fetched.get(topic);
  if (known[topic]) return false;
  if (how instanceof Error) showState(what, "error", `${how.message}.`, fetch);
  else showState(what, "loading", "Being fetched …");
  return true;
}

function tierOf(tier, index) {
  const all = tier.weights.reduce((sum, one) => sum + one.weight, 0) || 1;
  const rows = tier.weights.map((one) => {
    const bar = make("span", { class: "meter", role: "presentation" });
    setVars(bar, { part: one.weight / all });
    return make(
      "tr",
      { "data-objective": one.objective },
      make("th", { scope: "row", text: one.objective }),
      make("td", {}, bar),
      make("td", { class: "num", text: `${((100 * one.weight) / all).toFixed(1)} %` }),
      make("td", { class: "num muted", text: count(one.weight) }),
    );
  });
  const caption =
    index === 0 ? "Tier 1, which goes first" : `Tier ${index + 1}, which breaks its ties`;
  return make(
    "div",
    { class: "card" },
    make(
      "table",
      { class: "weights" },
      make("caption", { text: caption }),
      heading(["Objective", "", "Part", "Weight"]),
      make("tbody", {}, ...rows),
    ),
  );
}

function redrawPolicy() {
  if (tell("policy", "policy", fetchPolicy)) return;
  showState("policy", "none");
  const { name, tiers, text } = known.policy;
  setText(byId("policy-count"), `${name}, ${several(tiers.length, "tier")}`);
  swap(byId("policy-body"), JSON.stringify(known.policy), () => [
    make(
      "div",
      { class: "columns" },
      make(
        "div",
        { class: "column" },
        tiers.length ? tiers.map(tierOf) : make("p", { class: "hint", text: "It weighs nothing." }),
      ),
      make(
        "div",
        { class: "column" },
        make(
          "div",
          { class: "card" },
          make("h2", { text: "Its file" }),
          make("pre", { id: "policy-text", tabindex: 0, "aria-label": "The policy as TOML", text }),
        ),
      ),
    ),
  ]);
}

function phaseRow(phase, most) {
  const bar = make("span", {
    class: "range",
    role: "img",
    "aria-label": `half within ${millis(phase.p50_ms)} ms, 95 % within ${millis(phase.p95_ms)} ms`,
  });
  const at = (value) => Math.sqrt(Math.min(1, value / most));
  setVars(bar, {
    mean: at(phase.mean_ms),
    half: at(phase.p50_ms),
    most: at(phase.p95_ms),
    far: at(phase.p99_ms),
  });
  bar.append(make("i"), make("i"), make("i"));
  const figures = [phase.mean_ms, phase.p50_ms, phase.p95_ms, phase.p99_ms, phase.max_ms];
  return make(
    "tr",
    { "data-phase": phase.phase, class: phase.phase === "whole" ? "sum-row" : null },
    make(
      "th",
      { scope: "row" },
      phase.phase,
      make("small", { class: "muted", text: PHASES[phase.phase] ?? "" }),
    ),
    ...figures.map((value) => make("td", { class: "num", text: millis(value) })),
    make("td", { class: "num muted", text: count(phase.count) }),
    make("td", { class: "range-cell" }, bar),
  );
}

function redrawPhases() {
  if (tell("status", "phases", fetchStatus)) return;
  const { phases = [] } = known.status;
  setText(byId("phases-count"), phases.length ? "milliseconds since the daemon began" : "");
  if (phases.length === 0) {
    swap(byId("phases-body"), "none", () => []);
    showState("phases", "empty", "No turn has been measured yet.");
    return;
  }
  showState("phases", "none");
  const most = Math.max(0.001, ...phases.map((phase) => phase.p99_ms));
  const heads = ["Phase", "Mean", "p50", "p95", "p99", "Most", "Turns", ""];
  swap(byId("phases-body"), JSON.stringify(phases), () =>
    make(
      "div",
      { class: "card wide", tabindex: 0, role: "group", "aria-label": "Phases" },
      make(
        "table",
        { class: "phases" },
        heading(heads),
        make("tbody", {}, ...phases.map((phase) => phaseRow(phase, most))),
      ),
      make("p", {
        class: "hint bars-told",
        text:
          "Bars: to p50, to p95 and to p99, on a scale of square roots; " +
          "the upright line is the mean.",
      }),
    ),
  );
}

export const policy = {
  name: "policy",
  title: "Policy",
  mount() {
    watch("policy", redrawPolicy);
  },
  show() {
    redrawPolicy();
    fetchPolicy();
  },
  hide() {},
};

export const phases = {
  name: "phases",
  title: "Phases",
  mount() {
    watch("status", redrawPhases);
  },
  show: redrawPhases,
  hide() {},
};
