// The page: which part is shown, the header, the token, and the keys.

import { forgetToken, hasToken, isHeld, onUnknownToken, useToken } from "./api.js";
import { byId, chip, make, setText, swap, tell } from "./dom.js";
import { fetchStatus } from "./fetching.js";
import { fleet } from "./fleet.js";
import { shortCount, several, count } from "./format.js";
import { front } from "./front.js";
import { alerts, events } from "./happenings.js";
import { job } from "./job.js";
import { hurry, leave, listen, restSoon } from "./live.js";
import { policy, phases } from "./policy.js";
import { queue } from "./queue.js";
import { confirm } from "./rights.js";
import { known, timing, watch } from "./store.js";
import { submitting } from "./submit.js";
import { timeline } from "./timeline.js";

const STATUS_MILLIS = 5000;
const CHORD_MILLIS = 1200;
const THEMES = ["system", "light", "dark"];
const JUMPS = {
  f: "fleet",
  q: "queue",
  n: "submit",
  t: "timeline",
  s: "phases",
  p: "policy",
  o: "front",
  a: "alerts",
  e: "events",
};
const KEYS = [
  ["/", "to the filter"],
  ["g then f", "Fleet"],
  ["g then q", "Queue"],
  ["g then n", "Submit"],
  ["g then t", "Time line"],
  ["g then s", "Phases"],
  ["g then p", "Policy"],
  ["g then o", "Front"],
  ["g then a", "Alerts"],
  ["g then e", "Events"],
  ["↑ ↓ or j k", "along a list"],
  ["Enter", "opens what is active"],
  ["[ ] 0 − +", "move and zoom the time line"],
  ["Esc", "closes, empties the filter, goes back"],
  ["?", "this"],
];

const panels = new Map(
  [fleet, queue, job, submitting, timeline, phases, policy, front, alerts, events].map((panel) => [
    panel.name,
    panel,
  ]),
);
let current = null;

function takeTokenOfAddress() {
  const found = /^#token=([^&]*)(?:&(.*))?$/.exec(location.hash);
  if (!found) return false;
  // The token is not to stay in the address, where it would be copied, kept and shown.
  history.replaceState(null, "", found[2] ? `#${found[2]}` : "#/fleet");
  let secret = "";
  try {
    secret = decodeURIComponent(found[1]);
  } catch {
    // With a lone percent sign it is none, which is said below.
  }
  if (!isToken(secret)) {
    tell("The address has no token that could be one; it is not used.");
    return false;
  }
  if (hasToken() && !isHeld(secret)) {
    // A link of somebody else is not to put their rights in the place of one's own unseen.
    const title = "Use the token of this address?";
    const text = "Another is in use. What you do from then on is done as whoever the new one is of.";
    const act = () => {
      takeUp(secret);
      begin();
    };
    confirm({ title, text, yes: "Use it", act });
    return false;
  }
  takeUp(secret);
  return true;
}

// A token is sent in a header, which holds no other letters.
const isToken = (secret) => /^[\x21-\x7e]+$/.test(secret);

function takeUp(secret) {
  useToken(secret);
  known.who = null;
  known.fetched.clear();
}

function place() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const argument = rest.join("/");
  let plain = argument;
  try {
    plain = decodeURIComponent(argument);
  } catch {
    // A name with a lone percent sign is taken as it is.
  }
  const isWhole = panels.has(name) && (name !== "job" || plain);
  return isWhole ? [panels.get(name), plain] : [fleet, ""];
}

function route() {
  if (takeTokenOfAddress()) begin();
  if (!hasToken()) {
    askForToken("");
    return;
  }
  const [panel, argument] = place();
  const isOther = current !== panel;
  if (isOther) current?.hide();
  const isFirst = current === null;
  current = panel;
  for (const section of document.querySelectorAll("[data-panel]")) {
    section.hidden = section.dataset.panel !== panel.name;
  }
  for (const link of document.querySelectorAll("[data-nav]")) {
    const isHere = link.dataset.nav === (panel === job ? "queue" : panel.name);
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${panel.title} – Motley`;
  panel.show(argument);
  if (isOther && !isFirst) focusPanel(panel);
}

// Whoever comes by keys goes on in the new part, and in a list where it was left.
function focusPanel(panel) {
  const section = document.querySelector(`[data-panel="${panel.name}"]`);
  const list = section.querySelector("[aria-activedescendant]");
  (list ?? section.querySelector("h1")).focus({ preventScroll: true });
}

function askForToken(reason) {
  current?.hide();
  current = null;
  leave();
  for (const section of document.querySelectorAll("[data-panel]")) {
    section.hidden = section.dataset.panel !== "login";
  }
  setText(byId("login-reason"), reason);
  byId("leave").hidden = true;
  document.body.dataset.login = "needed";
  byId("token").value = "";
  byId("token").focus();
}

function begin() {
  document.body.dataset.login = "done";
  byId("leave").hidden = false;
  listen();
  route();
}

function mountLogin() {
  onUnknownToken((refusal) => {
    if (!hasToken()) return;
    forgetToken();
    known.who = null;
    askForToken(`The daemon did not take the token: ${refusal.message}`);
  });
  byId("login-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const secret = byId("token").value.trim();
    if (!isToken(secret)) {
      setText(byId("login-reason"), "A token has letters, digits and signs, and no space.");
      return;
    }
    takeUp(secret);
    begin();
  });
  byId("leave").addEventListener("click", () => {
    forgetToken();
    askForToken("");
  });
}

function showConnection() {
  const { state, text } = known.connection;
  byId("connection").dataset.state = state;
  setText(byId("connection").querySelector(".words"), text);
}

function showStatus() {
  const { status } = known;
  if (!status) return;
  setText(byId("policy-name"), status.policy);
  byId("policy-name").title =
    `Motley ${status.version}, process ${status.pid}, ${status.directory}`;
  const order = ["running", "waiting", "held", "blocked"];
  const some = order.filter((state) => status.jobs[state] > 0);
  swap(byId("counts"), JSON.stringify([status.jobs, status.running]), () => [
    ...some.map((state) => {
      const part = chip(state);
      part.lastChild.replaceChildren(
        shortCount(status.jobs[state]),
        make("span", { text: ` ${state}` }),
      );
      return make("li", { "data-count": state, title: `${count(status.jobs[state])} jobs` }, part);
    }),
    make("li", { class: "muted", "data-count": "tasks" }, several(status.running, "run")),
  ]);
  const notes = byId("notes");
  notes.hidden = status.notes.length === 0;
  setText(notes.querySelector("summary"), several(status.notes.length, "note"));
  swap(notes.querySelector("ul"), status.notes.join("\n"), () =>
    status.notes.map((text) => make("li", { text })),
  );
}

function showWho() {
  const { who } = known;
  setText(byId("scope"), who?.scope ?? "");
  byId("scope").title = who ? `The token's scope is ${who.scope}; it is of user ${who.user}` : "";
}

function showBadges() {
  const open = [...(known.alerts ?? [])].filter((alert) => alert.state === "firing").length;
  setText(byId("badge-alerts"), open ? String(open) : "");
  byId("badge-alerts").dataset.state = open ? "firing" : "";
  const lost = [...known.nodes.values()].filter((node) => node.state === "lost").length;
  setText(byId("badge-fleet"), lost ? `${lost} lost` : "");
  const waiting = known.status?.jobs.waiting ?? 0;
  setText(byId("badge-queue"), waiting ? shortCount(waiting) : "");
}

function mountTheme() {
  const root = document.documentElement;
  const button = byId("theme");
  const show = () => {
    const now = root.dataset.theme ?? "system";
    setText(button.lastElementChild, now);
    button.setAttribute("aria-label", `Theme: ${now}. Change it`);
  };
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "system") + 1) % THEMES.length];
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      localStorage.setItem("motley-theme", next);
    } catch {
      // Then it holds until the page is left.
    }
    show();
  });
  show();
}

function escape(target) {
  if (target.matches?.("[data-filter]") && target.value) {
    target.value = "";
    target.dispatchEvent(new Event("input"));
    return true;
  }
  if (target.matches?.("input, select, textarea")) {
    target.blur();
    return true;
  }
  return current?.escape?.() ?? false;
}

let chord = 0;

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
    return;
  if (event.key === "Escape") {
    if (escape(event.target)) event.preventDefault();
    return;
  }
  if (event.target.matches?.("input, select, textarea") || !current) return;
  const isSecond = performance.now() - chord < CHORD_MILLIS;
  chord = 0;
  if (isSecond && event.key in JUMPS) location.hash = `#/${JUMPS[event.key]}`;
  else if (event.key === "g") {
    chord = performance.now();
    return;
  } else if (event.key === "/") {
    document.querySelector(`[data-panel="${current.name}"] [data-filter]`)?.focus();
  } else if (event.key === "?") byId("keys").showModal();
  else return;
  event.preventDefault();
}

function mount() {
  window.motley = timing;
  mountTheme();
  mountLogin();
  byId("keys")
    .querySelector("dl")
    .append(
      ...KEYS.flatMap(([keys, what]) => [
        make("dt", {}, make("kbd", { text: keys })),
        make("dd", { text: what }),
      ]),
    );
  byId("help").addEventListener("click", () => byId("keys").showModal());
  // The link's address would be taken for a part of the page.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  for (const panel of panels.values()) panel.mount();
  watch("connection", showConnection);
  watch("status", showStatus);
  watch("status", showBadges);
  watch("who", showWho);
  watch("alerts", showBadges);
  watch("nodes", showBadges);
  addEventListener("hashchange", route);
  addEventListener("keydown", key);
  addEventListener("online", hurry);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      restSoon();
      return;
    }
    hurry();
    if (hasToken() && known.connection.state === "live") fetchStatus();
  });
  setInterval(() => {
    if (current && !document.hidden && known.connection.state === "live") fetchStatus();
  }, STATUS_MILLIS);
}

mount();
takeTokenOfAddress();
if (hasToken()) begin();
else askForToken("");
