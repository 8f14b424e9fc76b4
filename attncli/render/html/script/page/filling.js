// @ts-check
// What stands in the cells of matrices: their numbers, with points below each other, and their marks.

"use strict";

/** @typedef {{ product: HTMLElement, tables: Matrix[] }} Product */
/** @typedef {{ texts: string[], decimals: number[], most: number[] }} ColumnsOfTexts */

class Filling {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    /**
     * Cells whose numbers have just changed.
     *
     * @type {Set<HTMLElement>}
     */
    this.moved = new Set();
  }

  /**
   * All numbers again.
   *
   * @param {Matrix[]} tables
   * @param {Product[]} products
   */
  show(tables, products) {
    /** @type {Map<string, ColumnsOfTexts>} */
    this.texts = new Map();
    this.calm();
    this.moved.clear();
    for (const table of tables) this.fill(table);
    for (const cell of this.moved) cell.classList.add("moved");
    for (const product of products) this.fit(product);
  }

  /** Let no cell stand out any more because it has changed. */
  calm() {
    for (const cell of this.moved) cell.classList.remove("moved");
  }

  /** @param {Matrix} matrix */
  fill(matrix) {
    const { name, rule, start, cells, editable, table, filled } = matrix;
    const { texts, decimals, most } = this.columns(matrix);
    const { values } = this.model.steps.get(name);
    const hides = this.marksHidden(matrix);
    cells.forEach((cell, at) => {
      const place = start + at;
      const marks = {
        hidden: hides && this.model.hides(placesOf(rule, place)),
        held: this.model.isHeld(name, place),
        changed: this.page.differs(name, place),
        asked: texts[at] === "?",
        edited: editable && this.page.edits.texts.has(`${name}.${place}`),
      };
      const shift = this.shift(texts[at], decimals[at], most[tableColumn(matrix, at)]);
      const isOpen = cell === this.page.edits.cell;
      const now = [texts[at], shift, isOpen, ...Object.values(marks)].join();
      // Most cells do not change, and a page has many.
      if (filled[at] === now) return;
      const isOther = filled[at] && !filled[at].startsWith(`${texts[at]},`);
      if (isOther) this.moved.add(cell);
      filled[at] = now;
      cell.style.setProperty("--d", shift ? `${shift}` : "");
      if (cell.matches(".share"))
        cell.style.setProperty("--share", shareOf(texts[at], values[place]));
      for (const [mark, holds] of Object.entries(marks)) cell.classList.toggle(mark, holds);
      if (!isOpen) this.write(cell, texts[at], marks.hidden);
    });
    table.classList.toggle("clickable", name === this.model.data.mask);
  }

  /**
   * @param {HTMLElement} cell
   * @param {string} text
   * @param {boolean} isHidden
   */
  write(cell, text, isHidden) {
    const field = this.page.edits.fieldIn(cell);
    cell.replaceChildren(text, ...(field ? [field.input] : []));
    if (isHidden && !text.endsWith(SHARED.infinity_sign))
      cell.append(element("i", {}, this.page.live.hidden));
  }

  /**
   * The texts of a matrix, with how many decimals each has, and the most in its column.
   *
   * @param {Matrix} matrix
   */
  columns(matrix) {
    const { name, start, cells, turned } = matrix;
    const key = `${name} ${start} ${turned}`;
    if (!this.texts.has(key)) {
      const texts = cells.map((_, at) => this.page.printed(name, start + at));
      const decimals = texts.map((text) => text.split(".")[1]?.length ?? 0);
      this.texts.set(key, { texts, decimals, most: mostOfColumns(decimals, matrix) });
    }
    return this.texts.get(key);
  }

  /**
   * How far a number stands from the right, so that points stand below each other.
   *
   * @param {string} text
   * @param {number} decimals
   * @param {number} most
   */
  shift(text, decimals, most) {
    const missing = most - decimals;
    if (!missing || text.endsWith(SHARED.infinity_sign)) return 0;
    return decimals ? missing : missing + this.page.live.point;
  }

  /**
   * Whether hidden keys are marked: in steps of queries by keys, from the mask on. An operand beside
   * others has its numbers alone.
   *
   * @param {Matrix} matrix
   */
  marksHidden({ rule, labelled }) {
    const names = [...this.model.steps.keys()];
    const mask = names.indexOf(this.model.data.mask);
    const isFromMaskOn = mask >= 0 && names.indexOf(rule.name) >= mask;
    return labelled && isFromMaskOn && isOfQueriesAndKeys(rule);
  }

  /**
   * Let a product stand alone where its numbers are too wide to stand beside what is multiplied.
   *
   * @param {Product} product
   */
  fit({ product, tables }) {
    const { gap, around, widest } = this.page.live.product;
    const labels = all(product, ".factor:last-child tbody th");
    const longest = Math.max(0, ...labels.map((each) => each.textContent.length));
    const widths = tables.map((matrix) => {
      const { name, start, cells } = matrix;
      const texts = cells.map((_, at) => this.page.lines.sentences.number(name, start + at).text);
      const columns = mostOfColumns(
        texts.map((text) => text.length),
        matrix,
      );
      return around + columns.reduce((sum, each) => sum + each + gap, 0);
    });
    const whole = widths.reduce((sum, each) => sum + each, longest);
    product.classList.toggle("wide", whole > widest);
  }
}

/**
 * The largest number in each column of a table.
 *
 * @param {number[]} numbers
 * @param {Matrix} matrix
 */
function mostOfColumns(numbers, matrix) {
  const most = new Array(matrix.width).fill(0);
  numbers.forEach((number, at) => {
    const column = tableColumn(matrix, at);
    most[column] = Math.max(most[column], number);
  });
  return most;
}

/**
 * How much of its cell a weight fills.
 *
 * @param {string} text
 * @param {number} value
 */
function shareOf(text, value) {
  if (text === "?" || Number.isNaN(value)) return "0";
  return `${Math.min(1, Math.max(0, value))}`;
}
