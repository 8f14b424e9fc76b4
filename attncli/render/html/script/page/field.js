// @ts-check
// A field over a given number. What is no number stays in it, marked, with the reason beside it;
// the page goes on with the number from before.

"use strict";

// Pixels between a matrix and the reason, and what a reason needs beside it.
const GAP = 10;
const ROOM_OF_REASON = 120;

class Field {
  /**
   * @param {Page} page
   * @param {Found} found
   * @param {string} [text]
   */
  constructor(page, { table, at, cell }, text) {
    this.page = page;
    this.table = table;
    this.cell = cell;
    this.name = table.name;
    this.at = table.start + at;
    this.key = `${this.name}.${this.at}`;
    this.typing = new Typing(page.model, this.name, this.at);
    this.label = page.lines.title(table.rule, this.at, table.fixed);
    this.isClosed = false;
    this.input = element("input", {
      value: text ?? this.typing.before,
      "aria-label": this.label,
      inputmode: "text",
      autocomplete: "off",
      spellcheck: "false",
    });
    const id = `attncli-why-${this.key}`;
    this.reason = element("p", { class: "why", id, hidden: true });
    this.input.setAttribute("aria-describedby", id);
    // To the left, where there is room.
    this.input.classList.toggle("late", (at % table.width) * 2 >= table.width);
    // Over its text, so that the matrix keeps its shape.
    cell.append(this.input);
    // Behind the frame that the matrix is scrolled in, or the product that it is a factor of.
    const place = table.table.closest(".scroll, .product");
    const buttons = place.nextElementSibling?.matches(".resize") && place.nextElementSibling;
    (buttons || place).after(this.reason);
    this.fit();
    this.listen();
  }

  listen() {
    this.input.addEventListener("input", () => this.take(this.input.value));
    this.input.addEventListener("focus", () => {
      this.page.edits.cell = this.cell;
      this.mark();
    });
    this.input.addEventListener("blur", () => this.leave());
    this.input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (this.takes(event)) event.preventDefault();
    });
  }

  /** What is wrong with the text; empty where it is a number. */
  get why() {
    return this.typing.why;
  }

  get before() {
    return signed(this.typing.before);
  }

  fit() {
    this.input.style.setProperty("--typed", `${this.input.value.length}`);
  }

  /** @param {string} text */
  take(text) {
    this.fit();
    const isNumber = this.typing.take(text);
    this.mark();
    if (isNumber) this.page.edits.changed(this.name, this.at);
    else this.page.oneNumber.rest();
  }

  /**
   * Mark what is no number, and say why: beside the matrix, or below it, where it needs room. While
   * somebody types, the line at the bottom says it, so that nothing moves with every key.
   */
  mark() {
    this.input.setAttribute("aria-invalid", String(Boolean(this.why)));
    this.reason.hidden = !this.why;
    if (!this.why) return;
    this.reason.textContent = this.why;
    const host = this.reason.parentElement.getBoundingClientRect();
    const table = this.table.table.getBoundingClientRect();
    const room = host.right - table.right - GAP;
    const isBeside = this.table.labelled && room >= ROOM_OF_REASON;
    this.reason.classList.toggle("below", !isBeside);
    this.reason.hidden = !isBeside && document.activeElement === this.input;
    if (!isBeside) return;
    const left = table.right + GAP - host.left;
    const top = this.cell.getBoundingClientRect().top - host.top;
    this.reason.style.left = `${left}px`;
    this.reason.style.maxWidth = `${host.width - left}px`;
    this.reason.style.top = `${this.belowOthers(top)}px`;
  }

  /**
   * Where a reason has room from a height on: below one that stands there already.
   *
   * @param {number} top
   */
  belowOthers(top) {
    const reasons = all(this.reason.parentElement, ":scope > .why:not([hidden], .below)");
    const others = reasons.filter((each) => each !== this.reason && each.offsetTop <= top);
    return Math.max(top, ...others.map((each) => each.offsetTop + each.offsetHeight));
  }

  /**
   * Whether a key does more than to write.
   *
   * @param {KeyboardEvent} event
   */
  takes({ key, shiftKey }) {
    if (key === "Tab") return this.page.edits.goOn(this, shiftKey ? -1 : 1);
    if (key === "Escape") this.cancel();
    if (key === "Enter" && !this.why) this.close();
    if (this.isClosed) {
      this.cell.focus();
      return true;
    }
    if (key !== "ArrowUp" && key !== "ArrowDown") return false;
    const by = shiftKey ? 0.1 : 1;
    this.input.value = this.typing.stepped(key === "ArrowUp" ? by : -by);
    this.take(this.input.value);
    return true;
  }

  /** Bring the number from before back. */
  cancel() {
    this.take(this.typing.before);
    this.close();
  }

  /** The focus goes on: a number is kept, and what is none stays to be mended. */
  leave() {
    // Sections that change their places take the field out and put it back.
    if (this.isClosed || this.page.sections.isArranging) return;
    if (!this.why) return this.close();
    this.page.edits.cell = null;
    this.typing.giveUp();
    this.page.edits.changed(this.name, this.at);
    this.page.oneNumber.notice(`${this.why}. ${this.label} stays ${this.before}.`);
  }

  close() {
    this.remove();
    this.page.oneNumber.notice("");
    this.page.show();
  }

  /** Take it away, without a word. */
  remove() {
    this.isClosed = true;
    this.page.edits.fields.delete(this.key);
    if (this.page.edits.cell === this.cell) this.page.edits.cell = null;
    this.reason.remove();
    // A cell whose number has not changed is not written again.
    this.input.remove();
  }
}
