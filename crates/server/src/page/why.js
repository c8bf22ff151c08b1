// What the explanation of a job says: why it waits, what would start it, and why it went where it
// went. `docs/explain.md` describes the page that comes in.

import { heading, make, meter } from "./dom.js";
import {
  amount,
  bytes,
  cores,
  count,
  expected,
  inUnit,
  moment,
  percent,
  several,
  span,
} from "./format.js";

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The card that says why tasks wait. */
export function buildWhy(view, told) {
  const head = make("h2", { text: "Why it waits" });
  const reason = view.reason ? make("p", { class: "reason", text: sentence(view.reason) }) : null;
  if (told === null) {
    return [head, reason, make("p", { class: "hint", text: "Being explained …" })];
  }
  if (told instanceof Error) {
    const text = `It could not be explained: ${told.message}.`;
    return [head, reason, make("p", { class: "hint", role: "alert", text })];
  }
  const { waits, remarks } = told.page;
  if (!waits) return [head, reason, remarkList(remarks), asText(told.text)];
  return [
    head,
    make("p", { class: "reason", text: sentence(waits.reason.text) }),
    waits.reason.is_lasting
      ? make("p", { class: "warn", text: "No node of the fleet could ever run it as it is." })
      : null,
    remedyList(waits),
    forecast(waits.expected),
    fallen(waits.reason),
    nearest(waits.nearest),
    remarkList(remarks),
    asText(told.text),
  ];
}

function remedyList(waits) {
  const list = waits.remedies.map((remedy) =>
    make("li", { "data-remedy": remedy.kind }, sentence(remedy.text)),
  );
  const rest = waits.remedies_complete
    ? null
    : make("p", { class: "hint", text: "Not every change was tried; there may be others." });
  return [
    make("h3", { text: "Smallest changes, each by itself" }),
    list.length
      ? make("ul", { class: "plain ticks" }, ...list)
      : make("p", { class: "hint", text: "No single change would start one more task now." }),
    rest,
  ];
}

function forecast(expectation) {
  const past = expectation.past;
  return [
    make("h3", { text: "Expected start" }),
    make("p", {
      class: "when",
      "data-expected": expectation.declared.kind,
      text: sentence(expected(expectation.declared)),
    }),
    make("p", { class: "hint", text: sentence(expectation.text) }),
    past && past.runs > 20
      ? null
      : make("p", {
          class: "hint",
          text: past
            ? `Only ${several(past.runs, "run")} ended so far to judge declared durations by.`
            : "No run has ended yet to judge declared durations by.",
        }),
  ];
}

function fallen(reason) {
  const rows = (reason.alternatives ?? []).flatMap((alternative) =>
    alternative.fell_out.map((one) => ({ ...one, alternative: alternative.alternative })),
  );
  if (rows.length === 0) return null;
  const all = Math.max(
    1,
    ...(reason.alternatives ?? []).map((alternative) =>
      alternative.fell_out.reduce((sum, one) => sum + one.nodes, 0),
    ),
  );
  const several_ = reason.alternatives.length > 1;
  const heads = [...(several_ ? ["Alternative"] : []), "Lacks", "Nodes", "Asked", "Best offered"];
  const body = rows.map((one) =>
    make(
      "tr",
      {},
      several_ ? make("td", { class: "num", text: one.alternative }) : null,
      make("th", { scope: "row", text: one.constraint.replaceAll("-", " ") }),
      make(
        "td",
        {},
        meter(one.nodes / all, `${one.nodes} nodes`),
        make("span", { class: "num", text: count(one.nodes) }),
      ),
      make("td", { class: "num", text: inUnit(one.asked, one.unit) }),
      make("td", { class: "num", text: inUnit(one.offered, one.unit) }),
    ),
  );
  return [make("h3", { text: "Where nodes fall out first" }), table(heads, body)];
}

function nearest(groups) {
  if (!groups?.length) return null;
  return [
    make("h3", { text: "Nearest misses" }),
    make("ul", { class: "plain" }, ...groups.map((group) => make("li", { text: group.text }))),
  ];
}

function remarkList(remarks) {
  if (!remarks?.length) return null;
  return make("ul", { class: "plain hint" }, ...remarks.map((text) => make("li", { text })));
}

/** The page as it would be printed. */
export function asText(text) {
  return make(
    "details",
    {},
    make("summary", { text: "As text" }),
    make("pre", { tabindex: 0, text }),
  );
}

function table(heads, rows) {
  return make(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": heads.join(", ") },
    make("table", {}, heading(heads), make("tbody", {}, ...rows)),
  );
}

/** The card that says where tasks went, and why there. */
export function buildPlaced(page) {
  const more = page.placed_count - page.placed.length;
  return [
    make("h2", { text: "Why it went there" }),
    ...page.placed.map(placement),
    more > 0 ? make("p", { class: "hint", text: `${count(more)} earlier placements.` }) : null,
  ];
}

function devicesOf(placed) {
  return placed.devices.map((device) => {
    const slot = device.first_slot === null ? "" : `, from slot ${device.first_slot}`;
    const memory = device.memory_bytes ? `, ${bytes(device.memory_bytes)}` : "";
    return `device ${device.index}: ${amount(device.share)}${memory}${slot}`;
  });
}

function placement(placed) {
  const other = placed.runner_up;
  const granted = [
    cores(placed.cores),
    ...(placed.memory_bytes ? [bytes(placed.memory_bytes)] : []),
    ...devicesOf(placed),
  ];
  const attempt = placed.attempt ? `, attempt ${placed.attempt}` : "";
  const lasts =
    placed.duration_seconds === null
      ? "without end"
      : `for ${span(placed.duration_seconds)} as declared`;
  return make(
    "article",
    { class: "placed", "data-placed": placed.task },
    make(
      "h3",
      {},
      `Task ${placed.task}${attempt} on `,
      make("a", { href: `#/fleet/${encodeURIComponent(placed.node)}`, text: placed.node }),
      make("span", {
        class: "muted",
        text: ` ${placed.model}, ${moment(placed.at_seconds * 1e6)}`,
      }),
    ),
    make("p", { class: "muted", text: `${granted.join("; ")}; ${lasts}` }),
    scores(placed, other),
    make("p", {
      class: "hint",
      text:
        `${several(placed.nodes, "node")} could take it. ` +
        (other ? `Runner-up: ${other.node} (${other.model}).` : "There was no runner-up."),
    }),
  );
}

function scores(placed, other) {
  const names = Object.keys(placed.score.objectives);
  const mark = (value) => (value === undefined ? "–" : value.toFixed(2));
  const row = (name, own, second, isSum) =>
    make(
      "tr",
      { class: isSum ? "sum-row" : null },
      make("th", { scope: "row", text: name }),
      make(
        "td",
        {},
        meter(own, `${name}: ${percent(own)}`),
        make("span", { class: "num", text: mark(own) }),
      ),
      other
        ? make(
            "td",
            {},
            meter(second, `${name} of the runner-up: ${percent(second)}`),
            make("span", { class: "num", text: mark(second) }),
          )
        : null,
    );
  const tiers = placed.score.tiers.map((own, tier) =>
    row(`tier ${tier + 1}`, own, other?.score.tiers[tier], true),
  );
  const parts = names.map((name) =>
    row(name, placed.score.objectives[name], other?.score.objectives[name], false),
  );
  return table(["Score", placed.node, ...(other ? [other.node] : [])], [...tiers, ...parts]);
}
