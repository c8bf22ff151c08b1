// Asking the daemon. In go paths and bodies; out come values, or a Refusal that says why not.

const WAIT_MILLIS = 30_000;
const KEPT = "motley-token";

let token = null;
const unknown = new Set();

/** Why something was not done. A status of 0 means that the daemon could not be reached. */
export class Refusal extends Error {
  constructor(status, title, detail, retryMillis = 0) {
    super(detail || title);
    Object.assign(this, { status, title, retryMillis });
  }
}

function remembered() {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** Uses this token from now on, for as long as the tab lives. */
export function useToken(secret) {
  token = secret;
  try {
    sessionStorage.setItem(KEPT, secret);
  } catch {
    // Without storage the token is asked for again after a reload.
  }
}

/** Forgets the token. */
export function forgetToken() {
  token = null;
  try {
    sessionStorage.removeItem(KEPT);
  } catch {
    // It was never kept.
  }
}

/** Whether there is a token, here or from before a reload. */
export function hasToken() {
  token ??= remembered();
  return Boolean(token);
}

/** Whether this is the token in use. */
export const isHeld = (secret) => hasToken() && token === secret;

/** The header that proves who asks. */
export const proof = () => ({ Authorization: `Bearer ${token}` });

/** Calls back when the daemon does not know the token. */
export const onUnknownToken = (listener) => unknown.add(listener);

/** Turns an answer that is no success into a Refusal. */
export async function refusal(response) {
  let told = {};
  try {
    told = await response.json();
  } catch {
    // A proxy may answer with something else than JSON.
  }
  const later = Number(response.headers.get("Retry-After")) * 1000 || 0;
  const title = told.title || response.statusText || `status ${response.status}`;
  const found = new Refusal(response.status, title, told.detail, later);
  if (response.status === 401) for (const listener of unknown) listener(found);
  return found;
}

function deadline(signal) {
  const limit = AbortSignal.timeout(WAIT_MILLIS);
  return signal ? AbortSignal.any([signal, limit]) : limit;
}

/** Asks, and returns what was answered. */
export async function ask(path, { method = "GET", body, headers = {}, signal } = {}) {
  const sent = { Accept: "application/json", ...proof(), ...headers };
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(`/v1/${path}`, {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: deadline(signal),
      cache: "no-store",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(0, "no answer", "the daemon does not answer; is it running?");
  }
  if (!response.ok) throw await refusal(response);
  try {
    return await response.json();
  } catch {
    throw new Refusal(0, "no answer", "the answer ended early or is not JSON");
  }
}

/** A path with a query, without what is not set. */
export function withQuery(path, query) {
  const set = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  return set.length ? `${path}?${new URLSearchParams(set)}` : path;
}

/** A key that makes a repeated submission the same one. */
export function freshKey() {
  // randomUUID is missing where the page came over plain HTTP from another machine.
  if (crypto.randomUUID) return crypto.randomUUID();
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
