// @ts-check
// The number of a step that a lecture goes through: its terms come one by one, and until the last one
// nobody sees what it is.

"use strict";

class LectureNumber {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /**
     * The one that stands for the chosen word.
     *
     * @type {HTMLTableCellElement}
     */
    this.usual = null;
  }

  // --- which number

  /**
   * Choose the one that stands for the chosen word in a section, with its question or with all terms.
   *
   * @param {string} id
   */
  choose(id, isTold = false) {
    const { matrices, oneNumber, query, worked } = this.page;
    const isIt = (/** @type {Matrix} */ { table, labelled, editable }) =>
      labelled && !editable && sectionOf(table).id === id;
    const table = matrices.tables.find(isIt);
    this.leave();
    if (!table || this.page.asked) return;
    const places = worked.standing(table);
    const word = Math.min(query.at, places.length - 1);
    const at = places[word] - table.start;
    this.usual = table.cells[at];
    oneNumber.choose({ table, at, cell: this.usual });
    this.tell(isTold ? Infinity : 0);
  }

  leave() {
    const { oneNumber } = this.page;
    this.usual = null;
    oneNumber.chosen = null;
    oneNumber.leave();
  }

  // --- how much of it is told

  /**
   * So many terms of it, as far as it has them.
   *
   * @param {number} terms
   */
  tell(terms) {
    const { oneNumber } = this.page;
    const { walk } = oneNumber;
    if (!walk.isOffered) return;
    walk.term = Math.min(terms, walk.parts().length) + UNBEGUN;
    oneNumber.rest();
    this.hideResult();
  }

  /**
   * To the next term, or to the one before; false where there is none.
   *
   * @param {number} by
   */
  step(by) {
    const { oneNumber } = this.page;
    const { walk } = oneNumber;
    // The pointer may lie on another number.
    oneNumber.rest();
    const hasBefore = walk.term !== null && walk.term > UNBEGUN;
    // What is asked for is not told.
    const isWalked = !this.page.asked && (by > 0 || hasBefore);
    if (isWalked) walk.step(by);
    return isWalked && !(by > 0 && walk.term === null);
  }

  hideResult() {
    const { main, oneNumber, matrices } = this.page;
    for (const cell of all(main, ".untold")) cell.classList.remove("untold");
    const { chosen, walk } = oneNumber;
    if (!chosen || !walk.isOpen) return;
    const { name, start } = chosen.table;
    const place = start + chosen.at;
    for (const table of matrices.tables)
      if (table.name === name) table.cells[place - table.start]?.classList.add("untold");
  }

  // --- in an address

  /** The number, where it is not the one of the word, and how many of its terms are told. */
  said() {
    const { chosen, walk } = this.page.oneNumber;
    if (!chosen) return [];
    const { table, at, cell } = chosen;
    const isUsual = cell === this.usual;
    const number = isUsual ? [] : [["number", `${table.name}.${table.start + at}`]];
    const parts = walk.parts().length;
    const told = walk.term === null ? parts : walk.term - UNBEGUN;
    // The question of the word is where every screen begins.
    const isBegun = parts > 0 && (told > 0 || !isUsual);
    return isBegun ? [...number, ["term", `${told}`]] : number;
  }

  /**
   * Take what an address says of it, as far as it fits this screen.
   *
   * @param {URLSearchParams} said
   */
  hear(said) {
    const { oneNumber, matrices, asked } = this.page;
    if (asked) return;
    const found = matrices.at(...splitKey(said.get("number") ?? ""));
    if (found) oneNumber.choose(found);
    const terms = Number(said.get("term") ?? NaN);
    if (Number.isInteger(terms) && terms >= 0) this.tell(terms);
  }
}
