// @ts-check
// One number: its line at the bottom of the window says how it is worked out, and outlines show from
// what.

"use strict";

// In pixels.
const LOW = 416;

class OneNumber {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    /**
     * The number that was clicked, or has the focus.
     *
     * @type {Found}
     */
    this.chosen = null;
    this.outlines = new Outlines(page);
    this.walk = new Walk(this);
    this.held = new HeldNumber(this);
    this.line = element("p", { "aria-live": "polite" });
    this.close = button("×", () => this.dismiss(), {
      class: "close",
      "aria-keyshortcuts": "Escape",
      "aria-label": "Close",
    });
    this.shares = element("div", { class: "shares" });
    this.noticed = element("p", { class: "notice" });
    this.noticed.hidden = true;
    const { slider, button: hold } = this.held;
    this.root = element(
      "aside",
      { class: "one-number", "aria-label": "How a number is worked out" },
      this.noticed,
      element("div", {}, this.line, this.walk.root, this.close),
      element("div", {}, this.shares, slider.root, hold, page.pasting.button),
    );
    this.root.hidden = true;
  }

  // --- what is shown

  /**
   * Show how a number is worked out, and outline what it is worked out from.
   *
   * @param {Matrix} table
   * @param {number} at
   */
  show(table, at) {
    this.leave();
    const { name, rule, fixed, start, editable } = table;
    const place = start + at;
    const isChosen = this.chosen?.table === table && this.chosen.at === at;
    const walked = this.walk.show(isChosen);
    const title = label(this.page.lines.title(rule, place, fixed));
    const said = walked ?? [" ", ...saidOfNumber(this.page, table, at, isChosen)];
    this.line.replaceChildren(element("b", {}, title), ...said);
    this.page.pasting.button.hidden = !isChosen || !editable;
    this.close.hidden = !isChosen;
    this.held.show(table, place, isChosen);
    this.showShares(rule, place);
    if (this.model.isHeld(name, place)) this.held.slider.tell(title.textContent, this.follows());
    this.root.hidden = false;
    this.outlines.show(table, place);
    if (walked) for (const cell of this.walk.cells()) this.outlines.add(cell, "term");
  }

  /**
   * @param {Rule} rule
   * @param {number} place
   */
  showShares(rule, place) {
    const { query } = this.page;
    if (!query.isDrawn) return;
    this.shares.replaceChildren(...weightsBar(query, query.placeOf(rule, place)));
  }

  /** What follows from the number, in words. */
  follows() {
    return first(this.shares, "[role=img]")?.getAttribute("aria-label") ?? "";
  }

  /** Show the number that was chosen, and none where there is none. */
  rest() {
    if (this.chosen) this.show(this.chosen.table, this.chosen.at);
    else this.leave();
  }

  /** Show no number any more. */
  leave() {
    this.outlines.clear();
    this.root.hidden = true;
  }

  // --- which number

  /** @param {Found} found */
  choose(found) {
    const { table, at, cell } = found;
    this.chosen = found;
    this.walk.term = null;
    if (this.noticed.matches(".calm")) this.notice("");
    const place = table.start + at;
    this.page.query.follow(table.rule, place);
    if (table.labelled)
      for (const each of table.cells) each.setAttribute("tabindex", each === cell ? "0" : "-1");
    this.show(table, at);
    // In a low window, the line would lie over its number.
    if (innerHeight < LOW) cell.scrollIntoView({ block: "nearest" });
  }

  dismiss() {
    this.notice("");
    this.chosen?.cell.blur();
    this.chosen = null;
    this.leave();
  }

  /**
   * Whether a key that was pressed at a number is one of this.
   *
   * @param {KeyboardEvent} event
   * @param {Found} found
   */
  takes({ key }, { table }) {
    if (key === "n" && !table.editable) this.walk.step(1);
    else if (key === "b" && !table.editable) this.walk.step(-1);
    else if (key === "h" && this.held.isOffered) this.held.holdAndSlide();
    else if (key === "Escape") this.dismiss();
    else return false;
    return true;
  }

  // --- what was done

  /**
   * Say what became of a number that was typed; with "" nothing any more.
   *
   * @param {string} text
   */
  notice(text) {
    this.noticed.textContent = text;
    this.noticed.hidden = !text;
    this.noticed.classList.remove("calm");
    if (text) this.page.say(text);
  }

  /**
   * Say what was done, which is no fault.
   *
   * @param {string} text
   */
  tell(text) {
    this.notice(text);
    this.noticed.classList.add("calm");
  }
}
