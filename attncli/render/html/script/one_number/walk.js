// @ts-check
// The sum of one number, term by term.

"use strict";

// The place before the first term, where a lecture asks what the number is.
const UNBEGUN = -1;

class Walk {
  /** @param {OneNumber} oneNumber */
  constructor(oneNumber) {
    this.oneNumber = oneNumber;
    this.page = oneNumber.page;
    /**
     * The part of the sum that was stepped to.
     *
     * @type {number}
     */
    this.term = null;
    /**
     * What is shown before the first term: the whole line, or in a lecture the question.
     *
     * @type {number}
     */
    this.unbegun = null;
    this.back = button("Back", () => this.step(-1), { "aria-keyshortcuts": "b" });
    const next = button("Next term", () => this.step(1), { "aria-keyshortcuts": "n" });
    const named = { role: "group", "aria-label": "Term by term" };
    this.root = element("div", named, this.back, next);
  }

  /** Whether the chosen number has terms to go through. */
  get isOffered() {
    return !this.root.hidden;
  }

  /** Whether there is no number to be seen yet: the last term has not been reached. */
  get isOpen() {
    return this.term !== null && this.term < this.parts().length - 1;
  }

  /** The parts of the sum of the chosen number. */
  parts() {
    const { table, at } = this.oneNumber.chosen;
    return this.page.lines.walk(table.rule, table.start + at, table.fixed);
  }

  /** The numbers of the term that was stepped to. */
  cells() {
    return this.parts()[this.term]?.cells ?? [];
  }

  /**
   * What the line says where somebody goes through the sum; null where nobody does.
   *
   * @param {boolean} isChosen Whether it is the line of the chosen number.
   */
  show(isChosen) {
    const parts = isChosen ? this.parts() : [];
    if (isChosen && this.term >= parts.length) this.term = null;
    this.root.hidden = !parts.length;
    this.back.disabled = this.term === null;
    return isChosen && this.term !== null ? this.said(parts) : null;
  }

  /**
   * The parts up to the one that was stepped to, and what they come to; those that follow are only
   * hinted at.
   *
   * @param {Term[]} parts
   */
  said(parts) {
    if (this.term === UNBEGUN) return [" = ?"];
    const { text, relation, total } = parts[this.term];
    const [kind] = this.oneNumber.chosen.table.rule.equation;
    const between = kind === "largest" ? ", " : " + ";
    const before = parts.slice(0, this.term);
    const said = before.flatMap((part) => raised(signed(part.text + between)));
    const part = element("mark", {}, ...raised(signed(text)));
    const sum = element("b", {}, signed(total));
    const rest = parts.length - 1 - this.term;
    return [" ", ...said, part, ` ${relation} `, sum, rest ? ` ·\u00a0${rest}\u00a0more` : ""];
  }

  /**
   * To the next part of the sum, or back to the one before it; before the first stands the whole
   * line.
   *
   * @param {number} by
   */
  step(by) {
    if (!this.oneNumber.chosen || !this.isOffered) return;
    const next = (this.term ?? UNBEGUN) + by;
    if (next < 0) this.term = this.unbegun;
    else this.term = next < this.parts().length ? next : null;
    this.oneNumber.rest();
    this.page.moving.show();
    this.page.present.keep();
  }
}
