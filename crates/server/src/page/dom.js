// Building what is shown. Text only ever enters as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name === "on") {
      for (const [what, listener] of Object.entries(value))
        element.addEventListener(what, listener);
    } else if (name === "vars") setVars(element, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined),
  );
  return element;
}

/** An element with attributes, listeners (`on`), style variables (`vars`) and children. */
export function make(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/** The same within a drawing. */
export function draw(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), attributes, children);
}

/** Sets style variables, which the style sheet turns into lengths and places. */
export function setVars(element, values) {
  for (const [name, value] of Object.entries(values)) {
    element.style.setProperty(`--${name}`, String(value));
  }
}

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** The head of a table; a column without a name gets no header. */
export function heading(names) {
  const cell = (text) => (text === "" ? make("td") : make("th", { scope: "col", text }));
  return make("thead", {}, make("tr", {}, ...names.map(cell)));
}

/** The icon of a state. */
export function icon(name) {
  return draw("svg", { class: "icon", "aria-hidden": "true" }, draw("use", { href: `#i-${name}` }));
}

/** A state as shape, colour and word. */
export function chip(state) {
  return make(
    "span",
    { class: "chip", "data-state": state },
    icon(state),
    make("span", { text: state }),
  );
}

/** Changes a chip in place. */
export function setChip(element, state) {
  if (element.dataset.state === state) return;
  element.dataset.state = state;
  element.querySelector("use").setAttribute("href", `#i-${state}`);
  element.lastChild.textContent = state;
}

/** Sets text where it differs, so that nothing is laid out again for nothing. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A bar of which a part, from 0 to 1, is filled. */
export function meter(part, label) {
  const bar = make("span", { class: "meter", role: "img", "aria-label": label });
  setVars(bar, { part: clamp(part) });
  return bar;
}

/** A number between 0 and 1. */
export function clamp(part) {
  return Number.isFinite(part) ? Math.min(1, Math.max(0, part)) : 0;
}

const built = new WeakMap();

/** Builds the content of `host` again where `key` differs, and keeps the focus where it was. */
export function swap(host, key, build) {
  if (built.get(host) === key) return false;
  built.set(host, key);
  const held = host.contains(document.activeElement) ? document.activeElement : null;
  const hook = held?.id
    ? `#${CSS.escape(held.id)}`
    : held?.dataset?.action
      ? `[data-action="${CSS.escape(held.dataset.action)}"]`
      : null;
  host.replaceChildren(...[build()].flat(Infinity).filter((child) => child !== null));
  if (hook) host.querySelector(hook)?.focus({ preventScroll: true });
  return true;
}

/** Forgets what was built, so that the next `swap` builds. */
export const unbuild = (host) => built.delete(host);

/** Says in a panel that there is nothing, that it is being fetched, or that this failed. */
export function showState(topic, kind, text = "", again = null) {
  const host = document.querySelector(`.state[data-for="${topic}"]`);
  const key = `${kind}|${text}`;
  host.hidden = kind === "none";
  host.dataset.kind = kind;
  host.closest("[data-panel]").setAttribute("aria-busy", String(kind === "loading"));
  swap(host, key, () => [
    make("p", { text, role: kind === "error" ? "alert" : null }),
    again
      ? make("button", { text: "Try again", "data-action": "again", on: { click: again } })
      : null,
  ]);
}

let quiet = 0;

/** Tells what was done, for a while, to eyes and to readers. */
export function tell(text, kind = "done") {
  const host = byId("told");
  host.textContent = text;
  host.dataset.kind = kind;
  host.classList.add("on");
  clearTimeout(quiet);
  quiet = setTimeout(() => host.classList.remove("on"), 6000);
}
