// What happened and what is wrong: events as they came, and the rules of alerts.

import { byId, chip, make, setText, showState, swap } from "./dom.js";
import { fetchAlerts } from "./fetching.js";
import { ago, amount, count, inFull, several, toSecond } from "./format.js";
import { WindowedList } from "./list.js";
import { EVENTS_MAX, known, watch } from "./store.js";

const URGENCY = ["firing", "pending", "resolved", "inactive"];
const KINDS = ["job", "node", "policy", "alert", "log", "reset"];

function alertCard(alert) {
  const labels = Object.entries(alert.labels).map(([name, value]) => `${name}=${value}`);
  return make(
    "li",
    {
      class: "card alert",
      "data-alert": alert.name,
      "data-state": alert.state,
      "data-severity": alert.severity,
    },
    make(
      "div",
      { class: "bar" },
      chip(alert.state),
      make("h2", { text: alert.name }),
      make("span", { class: "severity", text: alert.severity }),
      make("span", { class: "grow" }),
      // Of a rule that never met anything wrong, no moment is known.
      alert.since
        ? make("time", {
            class: "muted num",
            title: inFull(alert.since),
            text: `for ${ago(alert.since).replace(" ago", "")}`,
          })
        : null,
    ),
    make("p", { text: alert.summary }),
    make(
      "p",
      {},
      make("code", { text: alert.rule }),
      labels.length ? make("span", { class: "muted", text: ` for ${labels.join(", ")}` }) : null,
      make("span", {
        class: "muted num",
        text: measured(alert),
      }),
    ),
  );
}

function measured(alert) {
  if (alert.value !== null) return `; measured ${amount(alert.value)}`;
  return alert.state === "inactive" ? "" : "; nothing measured";
}

function redrawAlerts() {
  const list = known.alerts;
  const how = known.fetched.get("alerts");
  if (!list) {
    if (how instanceof Error) showState("alerts", "error", `Alerts: ${how.message}.`, fetchAlerts);
    else showState("alerts", "loading", "Alerts are being fetched …");
    return;
  }
  const rank = (alert) => URGENCY.indexOf(alert.state);
  const sorted = [...list]
    .sort((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name))
    .slice(0, 500);
  const firing = list.filter((alert) => alert.state === "firing").length;
  setText(
    byId("alerts-count"),
    list.length ? `${count(firing)} of ${several(list.length, "alert")} firing` : "",
  );
  if (list.length) showState("alerts", "none");
  else showState("alerts", "empty", "No rule of an alert is set.");
  const key = JSON.stringify(sorted.map((alert) => [alert, ago(alert.since)]));
  swap(byId("alerts-list"), key, () => sorted.map(alertCard));
}

export const alerts = {
  name: "alerts",
  title: "Alerts",
  mount() {
    watch("alerts", redrawAlerts);
  },
  show() {
    redrawAlerts();
    fetchAlerts();
  },
  hide() {},
};

const asked = { text: "", kinds: new Set(KINDS) };
let list = null;
let shown = [];
let isSeen = false;

function words(event) {
  const { job, node, alert } = event;
  if (job) {
    const parts = [
      ["running", "run"],
      ["waiting", "wait"],
      ["done", "done"],
      ["failed", "failed"],
    ]
      .filter(([what]) => job[what] > 0)
      .map(([what, text]) => `${count(job[what])} ${text}`);
    return `job ${job.id} ${job.name} is ${job.state} (${parts.join(", ") || "no tasks left"})`;
  }
  if (node) return `node ${node.name} is ${node.state}, ${several(node.runs, "run")}`;
  if (alert) return `alert ${alert.name} is ${alert.state}: ${alert.rule}`;
  if (event.kind === "reset")
    return event.text ?? "more happened than was kept; all was fetched again";
  return event.kind === "policy" ? `policy ${event.text} is in force` : (event.text ?? "");
}

function target(event) {
  if (event.job) return `#/job/${event.job.id}`;
  if (event.node) return `#/fleet/${encodeURIComponent(event.node.name)}`;
  if (event.alert) return "#/alerts";
  return event.kind === "policy" ? "#/policy" : null;
}

function arrange() {
  if (!isSeen) return;
  const active = shown[list.active];
  shown = known.events
    .filter(
      (event) =>
        asked.kinds.has(event.kind) &&
        (!asked.text || words(event).toLowerCase().includes(asked.text)),
    )
    .reverse();
  if (active) list.active = shown.indexOf(active);
  list.setCount(shown.length);
  setText(
    byId("events-count"),
    `${count(shown.length)} of the last ${several(known.events.length, "event")}`,
  );
  if (shown.length) showState("events", "none");
  else if (known.events.length) showState("events", "empty", "No event is like that.");
  else
    showState(
      "events",
      "empty",
      "Nothing has happened since this page was opened. " +
        `The last ${EVENTS_MAX} events are kept here.`,
    );
}

function fill(row, index) {
  const event = shown[index];
  const [time, kind, text] = row.children;
  row.dataset.kind = event.kind;
  setText(time, toSecond(event.at));
  time.title = inFull(event.at);
  setText(kind, event.kind);
  setText(text, words(event));
  text.title = words(event);
}

export const events = {
  name: "events",
  title: "Events",
  mount() {
    const host = byId("events-rows");
    host.setAttribute("aria-label", "Events, the latest first");
    list = new WindowedList(host, {
      create: () =>
        make(
          "div",
          { class: "row event" },
          make("time", { class: "num" }),
          make("span", { class: "kind" }),
          make("span", { class: "text" }),
        ),
      fill,
      open: (index) => {
        const where = target(shown[index]);
        if (where) location.hash = where;
      },
    });
    byId("events-kinds").append(
      ...KINDS.map((kind) =>
        make("button", {
          type: "button",
          "data-kind": kind,
          "aria-pressed": "true",
          text: kind,
          on: {
            click: (event) => {
              const isOn = !asked.kinds.delete(kind);
              if (isOn) asked.kinds.add(kind);
              event.currentTarget.setAttribute("aria-pressed", String(isOn));
              arrange();
            },
          },
        }),
      ),
    );
    byId("events-text").addEventListener("input", (event) => {
      asked.text = event.target.value.trim().toLowerCase();
      arrange();
    });
    watch("events", arrange);
  },
  show() {
    isSeen = true;
    arrange();
  },
  hide() {
    isSeen = false;
  },
};
