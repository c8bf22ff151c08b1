// What a task prints, followed as it comes. Of each stream the last 256 KiB are kept here.

import { ask, withQuery } from "./api.js";
import { byId, make, setText } from "./dom.js";
import { bytes } from "./format.js";

const KEPT_MAX = 256 * 1024;
const AGAIN_MILLIS = 1000;
/** A task that prints nothing is asked less and less often, down to this. */
const LATER_MILLIS = 5000;
/** Parts of a long log are fetched without waiting, but not without end. */
const PARTS_AT_ONCE = 64;
/** Less than this in one part means that what was printed so far is here. */
const SHORT_PART = 4096;
const DRAW_MILLIS = 250;
const STREAMS = ["output", "errors"];

let followed = null;
let drawn = 0;

function freshStream() {
  return {
    from: 0,
    attempt: null,
    kept: "",
    cut: false,
    dropped: null,
    ended: false,
    problem: null,
    decoder: new TextDecoder(),
  };
}

/** Follows the log of a job; its first task until another is chosen. */
export function followLog(job, task = null) {
  leaveLog();
  const stop = new AbortController();
  const streams = Object.fromEntries(STREAMS.map((name) => [name, freshStream()]));
  followed = { job, task, stop, streams, shown: "output", isAtEnd: true };
  build();
  for (const name of STREAMS) follow(followed, name);
}

/** Stops following. */
export function leaveLog() {
  followed?.stop.abort();
  followed = null;
}

/** Offers the tasks of a job that are known to have run. */
export function setLogTasks(view) {
  const field = byId("log-task");
  if (!field || !followed) return;
  field.closest("label").hidden = view.tasks === 1;
  if (followed.task === null && document.activeElement !== field && field.value === "") {
    const first = view.failures?.[0]?.[0] ?? view.runs?.[0]?.task;
    if (first !== undefined && view.tasks > 1) {
      followLog(String(view.id), first);
      byId("log-task").value = first;
      byId("log-task").closest("label").hidden = false;
    }
  }
}

// The daemon hands bytes as letters with their numbers; what they spell is UTF-8, as a rule.
function decode(stream, letters) {
  const raw = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return stream.decoder.decode(raw, { stream: true });
}

async function follow(own, name) {
  const stream = own.streams[name];
  const { signal } = own.stop;
  let length = AGAIN_MILLIS;
  while (!signal.aborted && !(stream.ended && stream.isWhole)) {
    const before = stream.from;
    await fetchParts(own, name);
    if (signal.aborted) return;
    draw();
    if (stream.ended && stream.isWhole) return;
    const isQuiet = stream.from === before || document.hidden;
    length = isQuiet ? Math.min(LATER_MILLIS, length * 1.5) : AGAIN_MILLIS;
    await new Promise((resolve) => setTimeout(resolve, length));
  }
}

async function fetchParts(own, name) {
  const stream = own.streams[name];
  const { signal } = own.stop;
  try {
    for (let part = 0; part < PARTS_AT_ONCE; part += 1) {
      const { attempt, from } = stream;
      const query = { task: own.task, stream: name, from, attempt };
      const path = `jobs/${encodeURIComponent(own.job)}/output`;
      const found = await ask(withQuery(path, query), { signal });
      const isOver = found.next <= stream.from;
      stream.isWhole = isOver && found.latest === found.attempt;
      const text = decode(stream, found.bytes);
      Object.assign(stream, { from: found.next, dropped: found.dropped, ended: found.ended });
      stream.problem = null;
      stream.attempt = found.attempt;
      keep(stream, text);
      if (isOver && !stream.isWhole) {
        beginAttempt(stream, found.attempt + 1);
        continue;
      }
      if (stream.isWhole || found.bytes.length < SHORT_PART) return;
      if (performance.now() - drawn > DRAW_MILLIS) draw();
    }
  } catch (error) {
    if (!signal.aborted) stream.problem = error.message;
  }
}

// A task that was started again prints anew, from its first byte on.
function beginAttempt(stream, attempt) {
  const line = `${stream.kept && !stream.kept.endsWith("\n") ? "\n" : ""}— attempt ${attempt} —\n`;
  Object.assign(stream, { attempt, from: 0, dropped: null, decoder: new TextDecoder() });
  keep(stream, line);
}

function keep(stream, text) {
  stream.kept += plain(text);
  if (stream.kept.length <= KEPT_MAX) return;
  stream.cut = true;
  const from = stream.kept.indexOf("\n", stream.kept.length - KEPT_MAX);
  stream.kept = stream.kept.slice(from < 0 ? -KEPT_MAX : from + 1);
}

// Colours and cursor movements of terminals would show as noise.
function plain(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "").replace(/\r\n/g, "\n");
}

function choose(name) {
  followed.shown = name;
  for (const button of byId("job-log").querySelectorAll("[data-stream]")) {
    button.setAttribute("aria-pressed", String(button.dataset.stream === name));
  }
  followed.isAtEnd = true;
  draw();
}

function build() {
  const host = byId("job-log");
  const task = make("input", {
    id: "log-task",
    type: "number",
    min: 0,
    inputmode: "numeric",
    placeholder: "first",
    on: {
      change: (event) => {
        const wanted = event.target.value;
        followLog(followed.job, wanted === "" ? null : Number(wanted));
        byId("log-task").value = wanted;
        byId("log-task").closest("label").hidden = false;
      },
    },
  });
  const pick = (name, text) =>
    make(
      "button",
      {
        type: "button",
        "data-stream": name,
        "aria-pressed": String(name === "output"),
        on: { click: () => choose(name) },
      },
      text,
      make("span", { class: "size", "data-size": name }),
    );
  const text = make("pre", { id: "log-text", tabindex: 0, "aria-label": "What the task printed" });
  text.addEventListener(
    "scroll",
    () => {
      if (followed) followed.isAtEnd = text.scrollHeight - text.scrollTop - text.clientHeight < 24;
    },
    { passive: true },
  );
  host.replaceChildren(
    make(
      "div",
      { class: "bar" },
      make("h2", { text: "Log" }),
      make(
        "span",
        { class: "actions", role: "group", "aria-label": "Stream" },
        pick("output", "Output"),
        pick("errors", "Errors"),
      ),
      make("label", { class: "check", hidden: true }, "task ", task),
    ),
    make("p", { id: "log-told", class: "hint" }),
    text,
  );
}

function draw() {
  const text = byId("log-text");
  if (!followed || !text) return;
  drawn = performance.now();
  const stream = followed.streams[followed.shown];
  for (const name of STREAMS) {
    const { from } = followed.streams[name];
    setText(byId("job-log").querySelector(`[data-size="${name}"]`), from ? ` ${bytes(from)}` : "");
  }
  if (text.textContent !== stream.kept) text.textContent = stream.kept;
  setText(byId("log-told"), status(stream));
  byId("log-told").dataset.ended = String(stream.ended);
  if (followed.isAtEnd) text.scrollTop = text.scrollHeight;
}

function status(stream) {
  if (stream.problem) return `Not read: ${stream.problem}.`;
  const parts = [];
  if (stream.cut) parts.push(`the last ${bytes(KEPT_MAX)} are shown`);
  if (stream.dropped) parts.push(`${bytes(stream.dropped)} were not kept by the daemon`);
  if (stream.from === 0) parts.push(stream.ended ? "it printed nothing" : "nothing so far");
  parts.push(stream.ended ? "the job has ended" : followed.isAtEnd ? "following" : "scrolled back");
  const told = parts.join("; ");
  return `${told.charAt(0).toUpperCase()}${told.slice(1)}.`;
}
