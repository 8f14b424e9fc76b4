// @ts-check
// A matrix that is too wide for a sheet of paper is printed in blocks of columns, one below the
// other, each with the names of its rows.

"use strict";

// With so many signs in a row, numbers can still be read on paper.
const WIDEST_ON_PAPER = 92;

class Paper {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** @type {HTMLElement[]} */
    this.blocks = [];
    addEventListener("beforeprint", () => this.begin());
    addEventListener("afterprint", () => this.end());
  }

  begin() {
    this.end();
    const tables = /** @type {HTMLTableElement[]} */ (
      all(this.page.main, ".scroll[role] > .matrix")
    );
    for (const table of tables) this.divide(table);
  }

  end() {
    for (const block of this.blocks) block.remove();
    this.blocks = [];
    for (const table of all(this.page.main, ".in-blocks")) table.classList.remove("in-blocks");
  }

  /** @param {HTMLTableElement} table */
  divide(table) {
    const signs = Number(table.parentElement.style.getPropertyValue("--n"));
    const columns = table.rows[0].cells.length - 1;
    const width = Math.ceil(columns / Math.ceil(signs / WIDEST_ON_PAPER));
    if (!(signs > WIDEST_ON_PAPER) || width < 1) return;
    const starts = range(Math.ceil(columns / width)).map((at) => 1 + at * width);
    const made = starts.map((start) => this.block(table, start, start + width));
    for (const block of made) block.style.setProperty("--n", `${signs / made.length}`);
    table.classList.add("in-blocks");
    table.parentElement.append(...made);
    this.blocks.push(...made);
  }

  /**
   * The columns of a table from a place to before another one.
   *
   * @param {HTMLTableElement} table
   * @param {number} start
   * @param {number} end
   */
  block(table, start, end) {
    const made = /** @type {HTMLTableElement} */ (table.cloneNode(true));
    made.classList.add("block");
    made.removeAttribute("data-array");
    for (const { cells } of made.rows)
      for (const cell of [...cells].filter((_, at) => at > 0 && (at < start || at >= end)))
        cell.remove();
    return made;
  }
}
