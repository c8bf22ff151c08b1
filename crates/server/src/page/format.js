// Figures and moments as people read them.

const GIB = 2 ** 30;
const whole = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const seconds = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** 12345 as 12,345. */
export const count = (number) => whole.format(number);

/** A count short enough for a badge. */
export function shortCount(number) {
  if (number < 10000) return count(number);
  return number < 1e6 ? `${Math.floor(number / 1000)}k` : `${(number / 1e6).toFixed(1)}M`;
}

/** An amount with no more digits than it needs. */
export function amount(number) {
  if (!Number.isFinite(number)) return "–";
  const size = Math.abs(number);
  if (size >= 1e6)
    return Number(number.toPrecision(4)).toLocaleString("en", { notation: "compact" });
  if (size >= 1000) return count(Math.round(number));
  return String(Number(number.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 3)));
}

/** Bytes in the unit that fits. */
export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let [size, step] = [number, 0];
  while (Math.abs(size) >= 1024 && step < units.length - 1) [size, step] = [size / 1024, step + 1];
  return `${amount(Number(size.toFixed(size >= 100 ? 0 : 1)))} ${units[step]}`;
}

/** Used and whole of some memory, in one unit. */
export function bytesOf(free, all) {
  if (all < GIB) return `${bytes(all - free)} of ${bytes(all)}`;
  const [unit, name] = all >= 2 * 1024 * GIB ? [1024 * GIB, "TiB"] : [GIB, "GiB"];
  return `${amount(Number(((all - free) / unit).toFixed(1)))} of ${amount(Number((all / unit).toFixed(1)))} ${name}`;
}

/** A span of seconds in at most two units. */
export function span(length) {
  let left = Math.max(0, Math.round(length));
  if (left < 60) return `${left} s`;
  const parts = [];
  for (const [size, unit] of [
    [86400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ]) {
    const many = Math.floor(left / size);
    left -= many * size;
    if (many > 0) parts.push(`${many} ${unit}`);
    else if (parts.length) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

/** Processor time, of which short tasks use less than a second. */
export const spent = (length) => (length < 10 ? `${amount(length)} s` : span(length));

/** A moment as seen from now, in one unit, for narrow columns. */
export function ago(micros, now = Date.now()) {
  const passed = now / 1000 - micros / 1e6;
  const size = Math.abs(passed);
  const text =
    size < 60
      ? `${Math.floor(size)} s`
      : size < 3600
        ? `${Math.floor(size / 60)} min`
        : size < 86400 * 2
          ? `${Math.floor(size / 3600)} h`
          : `${Math.floor(size / 86400)} d`;
  return passed < -1 ? `in ${text}` : `${text} ago`;
}

/** A moment as the clock and, on another day, the calendar have it. */
export function moment(micros) {
  const date = new Date(micros / 1000);
  const today = new Date().toDateString() === date.toDateString();
  return today ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

/** A moment to the second. */
export const toSecond = (micros) => seconds.format(new Date(micros / 1000));

/** A moment in full. */
export const inFull = (micros) => exact.format(new Date(micros / 1000));

/** A part of one as percent. */
export const percent = (part) => `${Math.round(part * 100)} %`;

/** Milliseconds with three digits that matter. */
export function millis(number) {
  return number >= 100 ? count(Math.round(number)) : String(Number(number.toPrecision(3)));
}

/** One thing or several: `1 node`, `2 nodes`. */
export const several = (many, noun) => `${count(many)} ${noun}${many === 1 ? "" : "s"}`;

/** An amount of cores: `1 core`, `0.5 cores`. */
export const cores = (number) => `${amount(number)} ${number === 1 ? "core" : "cores"}`;

/** An amount of a reason in its unit. */
export function inUnit(value, unit) {
  if (unit === "bytes") return bytes(value);
  if (unit === "millicores") return cores(value / 1000);
  if (unit === "thousandths") return amount(value / 1000);
  if (unit === "yes-or-no") return value ? "yes" : "no";
  return count(value);
}

/** A forecast of the explanation, short: when a task is expected to start. */
export function expected(forecast, now = Date.now() / 1000) {
  if (!forecast) return "not known";
  if (forecast.kind === "never") return "never, as it is";
  const left = forecast.seconds - now;
  const at = moment(forecast.seconds * 1e6);
  if (forecast.kind === "after") return `after ${at}`;
  return left <= 1 ? "at any moment" : `in ${span(left)}, ${at}`;
}
