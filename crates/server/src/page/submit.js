// Describing a job, asking what would happen to it, and submitting it.

import { ask } from "./api.js";
import { byId, make, swap, tell, unbuild } from "./dom.js";
import { several } from "./format.js";
import { submitJob, whyNotJob } from "./rights.js";
import { range, shellish, spanSeconds, split } from "./shell.js";
import { known, watch } from "./store.js";

const KEPT = "motley-directory";
const PATH = "PATH=/usr/local/bin:/usr/bin:/bin";

const FIELDS = [
  {
    id: "command",
    label: "Command",
    wide: true,
    required: true,
    mono: true,
    rows: 2,
    hint: "Split into words like a shell does; quotes keep words together.",
  },
  {
    id: "shell",
    label: "Run it through sh -c",
    type: "checkbox",
    hint: "For pipes, variables, wildcards and the like.",
  },
  {
    id: "directory",
    label: "Directory",
    wide: true,
    required: true,
    mono: true,
    placeholder: "/srv/project",
    hint: "Where it starts, on the node.",
  },
  { id: "name", label: "Name", placeholder: "that of the program" },
  { id: "tenant", label: "Tenant", placeholder: "default" },
  { id: "cpus", label: "Cores of one task", value: "1", mode: "decimal" },
  { id: "memory", label: "Memory of one task", placeholder: "4GiB" },
  { id: "gpus", label: "GPUs of one task", placeholder: "0", mode: "numeric" },
  { id: "model", label: "GPU model", placeholder: "any", list: "models" },
  {
    id: "share",
    label: "Share of each GPU",
    placeholder: "1",
    mode: "decimal",
    hint: "0.5 is half of one.",
  },
  {
    id: "array",
    label: "Array",
    placeholder: "1-100",
    hint: "One task for each number; it finds its own in MOTLEY_TASK_INDEX.",
  },
  {
    id: "time",
    label: "Time limit",
    placeholder: "1h30m",
    hint: "A task is stopped then, and planned to run so long.",
  },
  { id: "priority", label: "Priority", placeholder: "0", mode: "numeric" },
  { id: "held", label: "Hold it until it is released", type: "checkbox" },
  {
    id: "environment",
    label: "Environment",
    wide: true,
    mono: true,
    rows: 2,
    value: PATH,
    hint: "One NAME=value a line.",
  },
];

const field = (id) => byId(`f-${id}`);
const text = (id) => field(id).value.trim();

function input(one) {
  const attributes = {
    id: `f-${one.id}`,
    name: one.id,
    placeholder: one.placeholder,
    spellcheck: "false",
    class: one.mono ? "mono" : null,
    required: one.required,
    list: one.list,
    inputmode: one.mode,
    "aria-describedby": one.hint ? `h-${one.id}` : null,
    type: one.rows ? null : (one.type ?? "text"),
    rows: one.rows,
  };
  const element = make(one.rows ? "textarea" : "input", attributes);
  if (one.value) element.value = one.value;
  return element;
}

function row(one) {
  const hint = one.hint ? make("small", { id: `h-${one.id}`, text: one.hint }) : null;
  if (one.type === "checkbox") {
    return make(
      "div",
      { class: "field tick" },
      make("label", {}, input(one), ` ${one.label}`),
      hint,
    );
  }
  return make(
    "div",
    { class: one.wide ? "field wide-field" : "field" },
    make("label", { for: `f-${one.id}`, text: one.label }),
    input(one),
    hint,
  );
}

function need(id, isRight, what) {
  if (isRight) return;
  const error = new Error(what);
  error.field = id;
  throw error;
}

function within(id, read) {
  try {
    return read();
  } catch (error) {
    error.field = id;
    throw error;
  }
}

function number(id, fallback, isWhole) {
  const written = text(id);
  if (written === "") return fallback;
  const value = Number(written);
  const isRight = Number.isFinite(value) && (!isWhole || Number.isInteger(value));
  need(id, isRight, `${written} is no ${isWhole ? "whole " : ""}number`);
  return value;
}

function argumentsOf() {
  const line = field("command").value.trim();
  need("command", line !== "", "say what to run");
  if (field("shell").checked) return ["sh", "-c", line];
  const words = within("command", () => split(line));
  need("command", words.length > 0 && words[0] !== "", "say what to run");
  return words;
}

function alternative() {
  const cores = number("cpus", 1);
  need("cpus", cores > 0, "a task needs more than 0 cores");
  // Fractions are written as text, which the daemon reads exactly.
  const way = { cores: Number.isInteger(cores) ? cores : text("cpus") };
  if (text("memory")) way.memory = text("memory");
  const gpus = number("gpus", 0, true);
  need("gpus", gpus >= 0, "there are no fewer than 0 GPUs");
  need("gpus", gpus > 0 || !(text("model") || text("share")), "say how many GPUs");
  if (gpus === 0) return way;
  way.device = { kind: "gpu", count: gpus };
  if (text("share")) {
    const share = number("share", 1);
    need("share", share > 0 && share <= 1, "a share is above 0 and at most 1");
    way.device.share = text("share");
  }
  if (text("model")) way.device.models = [text("model")];
  return way;
}

function describe() {
  const words = argumentsOf();
  const array = text("array")
    ? within("array", () => range(text("array")))
    : { first: 0, tasks: 1 };
  // Through a shell, the first word of the line says more than `sh` would.
  const own = field("shell").checked ? words[2].split(/\s+/)[0].replace(/["'\\]/g, "") : words[0];
  const job = { name: text("name") || own.split("/").pop() || "job", tasks: array.tasks };
  if (text("tenant")) job.tenant = text("tenant");
  const priority = number("priority", null, true);
  if (priority !== null) job.priority = priority;
  const limit = text("time") ? within("time", () => spanSeconds(text("time"))) : null;
  need("time", limit === null || limit > 0, "a time limit is above 0");
  if (limit !== null) job.work = limit;
  job.alternative = [alternative()];
  const directory = text("directory");
  need("directory", directory.startsWith("/"), "write the directory from the root, like /tmp");
  const lines = field("environment")
    .value.split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const wrong = lines.find((line) => !/^[^=\s]+=/.test(line));
  need("environment", !wrong, `${wrong} is not like NAME=value`);
  return {
    job,
    arguments: words,
    directory,
    environment: lines,
    first: array.first,
    time_limit: limit === null ? null : Math.round(limit * 1e6),
    held: field("held").checked,
  };
}

function complain(error) {
  const problem = byId("submit-problem");
  problem.textContent = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
  for (const one of FIELDS) field(one.id).removeAttribute("aria-invalid");
  if (!error.field) return;
  field(error.field).setAttribute("aria-invalid", "true");
  field(error.field).focus();
}

function read() {
  byId("submit-problem").textContent = "";
  for (const one of FIELDS) field(one.id).removeAttribute("aria-invalid");
  try {
    return describe();
  } catch (error) {
    complain(error);
    return null;
  }
}

async function plan() {
  const submission = read();
  if (!submission) return;
  const [host, button] = [byId("submit-plan"), byId("submit-ask")];
  button.disabled = true;
  host.hidden = false;
  host.setAttribute("aria-busy", "true");
  unbuild(host);
  swap(host, "asking", () => make("p", { class: "hint", text: "Being planned …" }));
  try {
    const told = await ask("plan", { method: "POST", body: submission });
    swap(host, "told", () => [
      make("h2", { text: "What would happen" }),
      make("pre", { id: "submit-told", tabindex: 0, text: told.text }),
    ]);
  } catch (error) {
    host.hidden = true;
    complain(error);
  }
  host.removeAttribute("aria-busy");
  button.disabled = false;
}

async function submit(event) {
  event.preventDefault();
  const submission = read();
  if (!submission || whyNotJob(null)) return;
  const { job } = submission;
  const told = [
    make("p", {}, make("code", { text: submission.arguments.join(" ") })),
    `${several(job.tasks, "task")} in ${submission.directory}${submission.held ? ", held" : ""}.`,
    make("pre", { class: "small", tabindex: 0, text: JSON.stringify(job, null, 2) }),
  ];
  const number_ = await submitJob(submission, told);
  if (number_ === null) return;
  remember(submission.directory);
  tell(`Job ${number_} is submitted.`);
  location.hash = `#/job/${number_}`;
}

function remember(directory) {
  try {
    localStorage.setItem(KEPT, directory);
  } catch {
    // Then it is typed again next time.
  }
}

function remembered() {
  try {
    return localStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

function hintShell() {
  const found = field("shell").checked ? null : shellish(field("command").value);
  byId("h-command").textContent = found
    ? `${found} is passed on as it is: only a shell would read it. Tick the box to use one.`
    : FIELDS[0].hint;
  byId("h-command").classList.toggle("warn", Boolean(found));
}

function showRights() {
  const why = whyNotJob(null);
  byId("submit-go").disabled = Boolean(why);
  byId("submit-why").textContent = why ?? "";
}

function setModels() {
  const devices = [...known.nodes.values()].flatMap((node) => node.devices);
  const names = new Set(devices.filter((one) => one.kind === "gpu").map((one) => one.model));
  swap(byId("models"), [...names].sort().join(), () =>
    [...names].sort().map((name) => make("option", { value: name })),
  );
}

export const submitting = {
  name: "submit",
  title: "Submit",
  mount() {
    byId("submit").append(
      make("div", { class: "fields" }, ...FIELDS.map(row)),
      make("datalist", { id: "models" }),
      make("p", { id: "submit-problem", role: "alert" }),
      make(
        "div",
        { class: "buttons" },
        make("button", {
          type: "button",
          id: "submit-ask",
          "data-action": "plan",
          text: "What would happen?",
          on: { click: plan },
        }),
        make("button", {
          id: "submit-go",
          class: "main",
          "data-action": "submit",
          text: "Submit …",
          "aria-describedby": "submit-why",
        }),
        make("span", { id: "submit-why", class: "why-not" }),
      ),
    );
    byId("submit").noValidate = true;
    byId("submit").addEventListener("submit", submit);
    field("directory").value = remembered();
    field("command").addEventListener("input", hintShell);
    field("shell").addEventListener("change", hintShell);
    watch("who", showRights);
    showRights();
  },
  show() {
    setModels();
    showRights();
  },
  hide() {},
};
