// Hearing from the daemon as things happen.
//
// A stream of server-sent events, read by hand because EventSource can send no token. It is opened
// again after any end, later and later; it goes on after the last event that was heard, and where
// that cannot be, everything is fetched again.

import { proof, refusal } from "./api.js";
import { fetchAll, fetchPolicy, fetchStatus } from "./fetching.js";
import { setConnection, takeEvent } from "./store.js";

const FIRST_WAIT_MILLIS = 500;
const LONGEST_WAIT_MILLIS = 10_000;
/** The daemon says something every 15 s; silence for longer than this means that it is gone. */
const SILENCE_MILLIS = 40_000;
/** A connection that lived for so long is a good one: the next wait is short again. */
const GOOD_MILLIS = 2000;
const REFUSALS_UNTIL_GONE = 3;
const REST_MILLIS = 60_000;
const BUFFER_MAX = 8 * 2 ** 20;

let lastId = null;
/** Ends of the stream since it last was good: how long to wait goes by them. */
let failures = 0;
/** Attempts in a row that met nobody: whether the daemon is gone goes by them. */
let refused = 0;
let stop = null;
let wake = null;
let dropped = null;
let isResting = false;
let resting = 0;

/** Starts to listen; ends when `leave` is called. */
export async function listen() {
  leave();
  const own = new AbortController();
  stop = own;
  [failures, refused, lastId] = [0, 0, null];
  while (!own.signal.aborted) {
    const began = performance.now();
    let problem = null;
    refused += 1;
    try {
      await connect(own.signal);
    } catch (error) {
      problem = error;
    }
    if (own.signal.aborted || problem?.status === 401) return;
    // A daemon that answers but gives no stream may still have lists, or say why not.
    if (problem?.status > 0 && lastId === null && failures === 0) fetchAll();
    failures = performance.now() - began > GOOD_MILLIS ? 1 : failures + 1;
    await pause(waitFor(problem), own.signal, problem);
  }
}

/** Ends listening. */
export function leave() {
  stop?.abort();
  stop = null;
}

function waitFor(error) {
  const doubled = FIRST_WAIT_MILLIS * 2 ** Math.min(10, failures - 1);
  const bounded = Math.min(LONGEST_WAIT_MILLIS, Math.max(doubled, error?.retryMillis ?? 0));
  // Chance keeps many open pages from coming back all at once.
  return bounded * (0.75 + Math.random() / 4);
}

function pause(length, signal, problem) {
  const gone = refused >= REFUSALS_UNTIL_GONE;
  const answers = problem?.status > 0 ? `no live updates (${problem.title}), retrying` : null;
  const text = answers ?? (gone ? "daemon gone, retrying" : "reconnecting");
  if (isResting) setConnection("resting", "resting while hidden");
  else setConnection(gone ? "gone" : "reconnecting", text);
  return new Promise((resolve) => {
    const timer = isResting ? 0 : setTimeout(resolve, length);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", wake, { once: true });
  });
}

/** Tries again at once where the page waits to. */
export function hurry() {
  clearTimeout(resting);
  isResting = false;
  wake?.();
}

/**
 * Lets the stream go once nobody has seen the tab for a while: a browser has six connections to a
 * daemon in all, and six forgotten tabs would hold them. It goes on where it was when seen again.
 */
export function restSoon() {
  clearTimeout(resting);
  resting = setTimeout(() => {
    isResting = true;
    dropped?.();
  }, REST_MILLIS);
}

async function connect(signal) {
  const own = new AbortController();
  const end = () => own.abort();
  signal.addEventListener("abort", end, { once: true });
  dropped = end;
  let silence = setTimeout(end, SILENCE_MILLIS);
  try {
    const headers = { Accept: "text/event-stream", ...proof() };
    if (lastId !== null) headers["Last-Event-ID"] = lastId;
    const response = await fetch("/v1/events", { headers, signal: own.signal, cache: "no-store" });
    if (!response.ok) throw await refusal(response);
    const isNew = lastId === null;
    refused = 0;
    setConnection("live", "live");
    if (isNew || failures > 0) fetchAll();
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const take = parser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE_MILLIS);
      take(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", end);
    own.abort();
  }
}

/** Cuts text into events as it comes. */
export function parser(deliver = hear) {
  let buffer = "";
  let fields = { data: [] };
  return (text) => {
    buffer += text;
    if (buffer.length > BUFFER_MAX) throw new Error("a line of the stream has no end");
    const lines = buffer.split(/\r\n|\n|\r(?!$)/);
    buffer = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (fields.data.length) deliver(fields);
        fields = { data: [] };
        continue;
      }
      const colon = line.indexOf(":");
      const [name, rest] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1)];
      const value = rest.startsWith(" ") ? rest.slice(1) : rest;
      if (name === "data") fields.data.push(value);
      else if (name === "id") fields.id = value;
      else if (name === "event") fields.event = value;
    }
  };
}

const epoch = (id) => id?.slice(0, id.lastIndexOf("-"));

function hear({ event, id, data }) {
  let told;
  try {
    told = JSON.parse(data.join("\n"));
  } catch {
    return;
  }
  const isOther = lastId !== null && id !== undefined && epoch(id) !== epoch(lastId);
  if (id !== undefined) lastId = id;
  takeEvent(told);
  // Another epoch is another daemon: what was missed between the two cannot be known.
  if (event === "reset" || told.kind === "reset" || isOther) fetchAll();
  else if (told.kind === "policy") {
    fetchPolicy();
    fetchStatus();
  }
}
