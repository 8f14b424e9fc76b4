// @ts-check
// The outlines of one number: around it, around its copies, and around what it is worked out from.

"use strict";

class Outlines {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** @type {HTMLElement[]} */
    this.cells = [];
  }

  /**
   * @param {Matrix} table
   * @param {number} place
   */
  show({ name, rule, fixed, editable }, place) {
    const { model, lines } = this.page;
    const { sentences } = lines;
    this.add([name, place], "chosen");
    for (const copy of model.copiesOf(name, place)) this.add(copy, "partner");
    // What is held is worked out from nothing.
    if (editable || model.isHeld(name, place)) return;
    sentences.put(rule.equation, placesOf(rule, place), rule.runs, fixed, (...cell) => {
      this.add(cell, rule.copies ? "partner" : "operand");
      return sentences.number(...cell);
    });
  }

  /**
   * @param {Cell} cell
   * @param {string} kind
   */
  add([name, at], kind) {
    for (const table of this.page.matrices.tables) {
      const cell = table.name === name && table.cells[at - table.start];
      if (!cell) continue;
      cell.classList.add(kind);
      this.cells.push(cell);
    }
  }

  clear() {
    for (const cell of this.cells) cell.classList.remove("operand", "chosen", "term", "partner");
    this.cells = [];
  }
}
