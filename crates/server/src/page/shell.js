// Reading what people type: command lines, spans and ranges. Pure.

/** Splits a command line into words as a shell does: quotes, backslashes, and nothing else. */
export function split(line) {
  const words = [];
  let [word, quote] = [null, null];
  for (let place = 0; place < line.length; place += 1) {
    const letter = line[place];
    if (quote === "'") {
      if (letter === "'") quote = null;
      else word += letter;
    } else if (quote === '"') {
      const isEscape = letter === "\\" && '"\\$`'.includes(line[place + 1] ?? " ");
      if (letter === '"') quote = null;
      else if (isEscape) word += line[(place += 1)];
      else word += letter;
    } else if (letter === "'" || letter === '"') [word, quote] = [word ?? "", letter];
    else if (letter === "\\") {
      if (place + 1 >= line.length) throw new Error("the command ends with a lone backslash");
      word = (word ?? "") + line[(place += 1)];
    } else if (/\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + letter;
  }
  if (quote) throw new Error(`the command has a ${quote} without its other`);
  if (word !== null) words.push(word);
  return words;
}

/** What only a shell would understand in a command line, or null. */
export function shellish(line) {
  const bare = line.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/g, "");
  const found = /([|&;<>()*?$`])|(?:^|\s)(~)/.exec(bare) ?? /"[^"]*([$`])[^"]*"/.exec(line);
  return found ? (found[1] ?? found[2]) : null;
}

const UNITS = { d: 86400, h: 3600, m: 60, min: 60, s: 1 };

/** Seconds of a span such as `90s`, `1h30m`, `2d`, `1-06:00:00` or `01:30:00`. */
export function spanSeconds(text) {
  const clock = /^(?:(\d+)-)?(\d+):(\d{1,2}):(\d{1,2})$/.exec(text.trim());
  if (clock) {
    const [days, hours, minutes, seconds] = clock.slice(1).map((part) => Number(part ?? 0));
    return days * 86400 + hours * 3600 + minutes * 60 + seconds;
  }
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)\s*(d|h|min|m|s)/g)];
  const isWhole =
    parts.map((part) => part[0]).join("") === text.replace(/\s+(?=\d)|^\s+|\s+$/g, "");
  if (parts.length === 0 || !isWhole) {
    throw new Error(`${text} is no span; write it like 90s, 1h30m or 1-06:00:00`);
  }
  return parts.reduce((sum, [, many, unit]) => sum + Number(many) * UNITS[unit], 0);
}

/** The first number and how many there are of a range such as `1-100`, or `7`. */
export function range(text) {
  const found = /^\s*(\d+)(?:\s*-\s*(\d+))?\s*$/.exec(text);
  if (!found) throw new Error(`${text} is no range; write it like 1-100`);
  const first = Number(found[1]);
  const last = Number(found[2] ?? found[1]);
  if (last < first) throw new Error(`${text}: the first is higher than the last`);
  if (last > 4_294_967_295) throw new Error(`${text}: the highest number is 4294967295`);
  return { first, tasks: last - first + 1 };
}
