// What the token may do, and doing it: changes go through here, after a question.

import { ask, freshKey } from "./api.js";
import { byId, make, tell } from "./dom.js";
import { known } from "./store.js";

/** Why the token may not change this job, or null where it may. */
export function whyNotJob(job) {
  const { who } = known;
  if (!who) return "what your token may do is not known yet";
  if (who.scope === "admin") return null;
  if (who.scope === "read") return "your token may only read; this needs the scope submit";
  if (job && job.user !== who.user) {
    return `the job is of user ${job.user}; your token may change those of user ${who.user}`;
  }
  return null;
}

/** Why the token may not change nodes, or null where it may. */
export function whyNotNode() {
  const { who } = known;
  if (!who) return "what your token may do is not known yet";
  return who.scope === "admin" ? null : `your token has the scope ${who.scope}; this needs admin`;
}

/**
 * Asks whether to do something, does it, and stays open with the reason where that failed.
 * Resolves to what `act` returned, or to null where it was left.
 */
export function confirm({ title, text, yes, act, isGrave }) {
  const dialog = byId("confirm");
  const [button, problem] = [dialog.querySelector('[value="yes"]'), byId("confirm-problem")];
  byId("confirm-title").textContent = title;
  byId("confirm-text").replaceChildren(
    ...[text].flat().map((part) => (typeof part === "string" ? make("p", { text: part }) : part)),
  );
  button.textContent = yes;
  button.classList.toggle("grave", Boolean(isGrave));
  problem.textContent = "";
  button.disabled = false;
  return new Promise((resolve) => {
    let [result, isActing] = [null, false];
    const submit = async (event) => {
      if (event.submitter?.value !== "yes") return;
      event.preventDefault();
      if (isActing) return;
      [isActing, button.disabled, problem.textContent] = [true, true, ""];
      try {
        result = { value: await act() };
        dialog.close();
      } catch (error) {
        problem.textContent = `That was not done: ${error.message}.`;
      }
      [isActing, button.disabled] = [false, false];
    };
    const done = () => {
      dialog.removeEventListener("submit", submit);
      resolve(result);
    };
    dialog.addEventListener("submit", submit);
    dialog.addEventListener("close", done, { once: true });
    dialog.showModal();
    dialog.querySelector('[value="no"]').focus();
  });
}

const VERBS = {
  cancel: {
    title: "Cancel",
    done: "cancelled",
    grave: true,
    text: "Its tasks that run are stopped, and those that wait never start. This cannot be undone.",
  },
  hold: {
    title: "Hold",
    done: "held",
    text: "No more of its tasks start until it is released. Those that run go on.",
  },
  release: { title: "Release", done: "released", text: "Its tasks may start from now on." },
};

/** Asks, then cancels, holds or releases a job. */
export async function changeJob(verb, job) {
  const { title, text, done, grave } = VERBS[verb];
  const act = () => ask(verb, { method: "POST", body: { jobs: [String(job.id)] } });
  const name = `job ${job.id} (${job.name})`;
  const asked = { title: `${title} ${name}?`, text, yes: `${title} it`, act, isGrave: grave };
  if (await confirm(asked)) tell(`Job ${job.id} is ${done}.`);
}

/** Asks, then drains a node or lets it take work again. */
export async function changeNode(verb, node) {
  const isDrain = verb === "drain";
  const text = isDrain
    ? "Nothing more is started on it. What runs there goes on."
    : "It takes work again.";
  const path = `nodes/${encodeURIComponent(node.name)}/${verb}`;
  const asked = {
    title: `${isDrain ? "Drain" : "Resume"} ${node.name}?`,
    text,
    yes: isDrain ? "Drain it" : "Resume it",
    act: () => ask(path, { method: "POST", body: {} }),
    isGrave: isDrain,
  };
  if (await confirm(asked)) tell(`Node ${node.name} is ${isDrain ? "drained" : "resumed"}.`);
}

/** Asks, then submits a job. Repeated after a failure it is still the same submission. */
export async function submitJob(submission, told) {
  const key = freshKey();
  const act = () =>
    ask("jobs", {
      method: "POST",
      body: { jobs: [submission] },
      headers: { "Idempotency-Key": key },
    });
  const asked = { title: `Submit ${submission.job.name}?`, text: told, yes: "Submit it", act };
  const done = await confirm(asked);
  return done?.value.jobs[0] ?? null;
}

/** A button that says why it cannot be used, where it cannot. */
export function actButton(action, text, { why, act, isGrave, short }) {
  const id = `why-${action}`;
  const attributes = {
    text,
    "data-action": action,
    type: "button",
    class: isGrave ? "grave" : null,
    "aria-describedby": why ? id : null,
    title: why,
    disabled: Boolean(why),
    on: { click: act },
  };
  const button = make("button", attributes);
  // A tooltip alone would be out of reach of keys and fingers.
  const note = why && !short ? make("span", { class: "why-not", id, text: why }) : null;
  return [button, note];
}
