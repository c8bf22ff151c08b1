// Long lists of which only what is seen is in the document.
//
// Every line has a known height, so that a place in the list is arithmetic. Rows are made once and
// filled again as the list moves. One row is active; the keys move it, and readers are told of it.

import { setVars } from "./dom.js";

const SPARE_LINES = 3;

/**
 * A list in `scroller`. `parts` are: `create()` makes an empty row, `fill(row, index)` fills it,
 * `open(index)` is what Enter and a click do, `keyHost` holds the focus (by default the scroller),
 * `role` and `rowRole` name it for readers, `settled()` is called when it stopped moving.
 */
export class WindowedList {
  constructor(scroller, parts) {
    Object.assign(this, { scroller, parts, count: 0, columns: 1, active: -1, lineHeight: 32 });
    this.keyHost = parts.keyHost ?? scroller;
    this.spacer = scroller.appendChild(document.createElement("div"));
    this.spacer.className = "spacer";
    this.spacer.setAttribute("role", "presentation");
    this.rows = new Map();
    this.spare = [];
    this.offsets = null;
    this.keyHost.tabIndex = 0;
    this.keyHost.setAttribute("role", parts.role ?? "listbox");
    scroller.addEventListener("scroll", () => this.moved(), { passive: true });
    this.keyHost.addEventListener("keydown", (event) => this.key(event));
    this.keyHost.addEventListener("focus", () => this.focused());
    this.spacer.addEventListener("click", (event) => this.clicked(event));
    new ResizeObserver(() => this.measure()).observe(scroller);
  }

  /** Reads from the style sheet how high a line is and how wide an entry at least. */
  measure() {
    const style = getComputedStyle(this.scroller);
    const height = Number.parseFloat(style.getPropertyValue("--line"));
    const least = Number.parseFloat(style.getPropertyValue("--least"));
    if (height) this.lineHeight = height;
    const width = this.scroller.clientWidth;
    this.columns = least ? Math.max(1, Math.floor(width / least)) : 1;
    this.setCount(this.count);
  }

  /** Gives every line its own height, in pixels; the list has one column then. */
  setHeights(heights) {
    this.offsets = new Float64Array(heights.length + 1);
    heights.forEach((height, line) => {
      this.offsets[line + 1] = this.offsets[line] + height;
    });
    this.setCount(heights.length);
  }

  setCount(count) {
    this.count = count;
    if (this.active >= count) this.active = count - 1;
    const lines = Math.ceil(count / this.columns);
    const height = this.offsets ? this.offsets[count] : lines * this.lineHeight;
    this.spacer.style.setProperty("height", `${height}px`);
    if (this.parts.role === "grid") this.keyHost.setAttribute("aria-rowcount", String(count + 1));
    this.render(true);
  }

  top(line) {
    return this.offsets ? this.offsets[line] : line * this.lineHeight;
  }

  lineAt(place) {
    if (!this.offsets) return Math.floor(place / this.lineHeight);
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.offsets[middle] <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The first entry that is seen, and the one after the last. */
  seen() {
    const { scrollTop, clientHeight } = this.scroller;
    const first = this.lineAt(scrollTop) * this.columns;
    const last = (this.lineAt(scrollTop + clientHeight) + 1) * this.columns;
    return [Math.max(0, first), Math.min(this.count, last)];
  }

  moved() {
    if (!this.isDue) {
      this.isDue = true;
      requestAnimationFrame(() => {
        this.isDue = false;
        this.render(false);
      });
    }
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.parts.settled?.(), 180);
  }

  /** Shows what is seen; fills rows that stay only where `isChanged`. */
  render(isChanged) {
    if (this.scroller.clientHeight === 0) return;
    const [first, last] = this.seen();
    const spare = SPARE_LINES * this.columns;
    const [from, to] = [Math.max(0, first - spare), Math.min(this.count, last + spare)];
    for (const [index, row] of this.rows) {
      if (index < from || index >= to) {
        this.rows.delete(index);
        row.hidden = true;
        this.spare.push(row);
      }
    }
    for (let index = from; index < to; index += 1) this.show(index, isChanged);
    this.mark();
  }

  show(index, isChanged) {
    let row = this.rows.get(index);
    const isNew = !row;
    if (isNew) {
      row = this.spare.pop() ?? this.createRow();
      row.hidden = false;
      this.rows.set(index, row);
    }
    const [line, column] = [Math.floor(index / this.columns), index % this.columns];
    const place = `${this.top(line)}|${column}|${this.columns}|${this.offsets?.[line + 1]}`;
    if (row.place !== place) {
      row.place = place;
      const vars = { top: `${this.top(line)}px`, column, columns: this.columns };
      if (this.offsets) vars.height = `${this.offsets[line + 1] - this.offsets[line]}px`;
      setVars(row, vars);
    }
    if (!isNew && !isChanged) return;
    row.index = index;
    const offset = this.parts.role === "grid" ? 2 : 1;
    row.setAttribute(
      this.parts.role === "grid" ? "aria-rowindex" : "aria-posinset",
      index + offset,
    );
    if (this.parts.role !== "grid") row.setAttribute("aria-setsize", this.count);
    this.parts.fill(row, index);
  }

  createRow() {
    const row = this.parts.create();
    this.made = (this.made ?? 0) + 1;
    row.id = `${this.scroller.id}-${this.made}`;
    row.setAttribute("role", this.parts.rowRole ?? "option");
    this.spacer.append(row);
    return row;
  }

  mark() {
    for (const [index, row] of this.rows) {
      const isActive = index === this.active;
      row.classList.toggle("active", isActive);
      row.setAttribute("aria-selected", String(isActive));
    }
    const row = this.rows.get(this.active);
    if (row) this.keyHost.setAttribute("aria-activedescendant", row.id);
    else this.keyHost.removeAttribute("aria-activedescendant");
  }

  /** Makes an entry the active one and brings it into sight. */
  activate(index) {
    if (this.count === 0) return;
    this.active = Math.max(0, Math.min(this.count - 1, index));
    const line = Math.floor(this.active / this.columns);
    const [top, bottom] = [this.top(line), this.top(line + 1)];
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.scroller.scrollTop = bottom - clientHeight;
    this.render(false);
    this.parts.activated?.(this.active);
  }

  focused() {
    if (this.active < 0) this.activate(this.seen()[0]);
  }

  clicked(event) {
    const row = event.target.closest(".spacer > *");
    if (!row || row.index === undefined) return;
    this.active = row.index;
    this.mark();
    this.parts.open?.(row.index, event);
  }

  key(event) {
    if (event.target !== this.keyHost || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.parts.key?.(event, this.active)) return;
    const lines = Math.max(1, Math.floor(this.scroller.clientHeight / this.lineHeight) - 1);
    const steps = {
      ArrowDown: this.columns,
      ArrowUp: -this.columns,
      j: this.columns,
      k: -this.columns,
      PageDown: lines * this.columns,
      PageUp: -lines * this.columns,
      Home: -this.count,
      End: this.count,
    };
    if (this.columns > 1) Object.assign(steps, { ArrowRight: 1, ArrowLeft: -1 });
    if (event.key in steps) this.activate(this.active + steps[event.key]);
    else if (event.key === "Enter" && this.active >= 0) this.parts.open?.(this.active, event);
    else return;
    event.preventDefault();
  }
}
