// @ts-check
// The matrices of the page: which numbers each of them shows, and how its cells are marked.

"use strict";

class Matrices {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    /** @type {Matrix[]} */
    this.tables = [];
    /** @type {Map<HTMLTableElement, Matrix>} */
    this.byTable = new Map();
    /** @type {Product[]} */
    this.products = [];
    this.filling = new Filling(page);
    this.pointedOut = "";
  }

  // --- what is there

  connect() {
    const tables = /** @type {HTMLTableElement[]} */ (all(this.page.main, "table[data-array]"));
    this.tables = tables.map((table) => this.known(table)).filter(Boolean);
    this.byTable = new Map(this.tables.map((each) => [each.table, each]));
    this.products = all(this.page.main, ".product").map((product) => {
      return { product, tables: this.tables.filter(({ table }) => product.contains(table)) };
    });
  }

  /**
   * What a table shows; null where it has other numbers than the model.
   *
   * @param {HTMLTableElement} table
   * @returns {Matrix}
   */
  known(table) {
    const found = this.source(table, table.dataset.array);
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    const turned = table.hasAttribute("data-turned");
    const cells = turned ? columnByColumn(rows) : rows.flatMap(numbersOf);
    if (!found || cells.length !== found.length) return null;
    const labelled = Boolean(first(table, "caption.unseen"));
    const symbol = symbolOf(first(table, ".name math, caption math").firstElementChild);
    const width = rows[0].cells.length - 1;
    /** @type {Matrix} */
    const known = { ...found, table, symbol, cells, labelled, filled: [], width, turned };
    this.prepare(known);
    this.tint(known);
    return known;
  }

  /**
   * Which step is shown at an element: its rule, where its numbers begin, and how many there are.
   *
   * @param {HTMLElement} at
   * @param {string} name
   * @returns {Shown}
   */
  source(at, name) {
    const step = this.model.steps.get(name);
    if (!step) return null;
    const fixed = placeOf(at.closest("[data-place]"));
    const { rule, given } = step;
    // Fixed letters come before all others.
    const own = rule.cell.filter((letter) => letter in fixed);
    const length = size(rule.shape.slice(own.length));
    const before = placeIn(
      rule.shape.slice(0, own.length),
      own.map((letter) => fixed[letter]),
    );
    return { name, rule, fixed, start: before * length, length, editable: given };
  }

  /** @param {Matrix} matrix */
  prepare({ name, table, cells, labelled, editable }) {
    cells.forEach((cell, at) => {
      const isEntrance = labelled && at === 0;
      cell.setAttribute("tabindex", isEntrance ? "0" : "-1");
    });
    // An operand beside others has its name in a caption, as no grid may.
    if (labelled) table.setAttribute("role", "grid");
    if (labelled && !editable) table.setAttribute("aria-readonly", "true");
    table.classList.toggle("given", editable);
    if (labelled && name === this.model.data.mask) this.explainClicks(table);
    table.closest(".scroll")?.removeAttribute("tabindex");
  }

  /** @param {HTMLTableElement} table */
  explainClicks({ parentElement }) {
    if (parentElement.nextElementSibling?.matches(".clicks")) return;
    const said = "Click a cell: with 0 the query sees the key, with −∞ it does not.";
    parentElement.after(element("p", { class: "legend clicks" }, said));
  }

  /**
   * Every key in the colour of its ribbons: its name, and its weights, which are filled by their
   * sizes.
   *
   * @param {Matrix} matrix
   */
  tint({ name, rule, table, cells, labelled, width }) {
    const { weights } = this.model.data;
    const hue = (/** @type {number} */ key, /** @type {number} */ keys) =>
      keys > SHARED.most_told_apart ? "key" : `hue-${key}`;
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    const heads = [
      { axis: rule.axes.at(-1), names: [...table.tHead.rows[0].cells].slice(1) },
      { axis: rule.axes.at(-2), names: rows.map((row) => row.cells[0]) },
    ];
    for (const { axis, names } of heads)
      if (labelled && axis === "key")
        names.forEach((head, key) => head.classList.add("key", hue(key, names.length)));
    if (name === weights)
      cells.forEach((cell, at) => cell.classList.add("share", hue(at % width, width)));
  }

  /** All numbers again. */
  show() {
    this.filling.show(this.tables, this.products);
  }

  // --- what is pointed at

  /**
   * The number that an element stands in.
   *
   * @param {Element} target
   * @returns {Found}
   */
  find(target) {
    const cell = target.closest?.("td");
    const table = cell && this.byTable.get(cell.closest("table"));
    const at = table ? table.cells.indexOf(cell) : -1;
    return at < 0 ? null : { table, at, cell };
  }

  /**
   * Where a number of a step stands in its own matrix.
   *
   * @param {string} name
   * @param {number} place
   * @returns {Found}
   */
  at(name, place) {
    const isIt = (/** @type {Matrix} */ { name: each, labelled, start, cells }) =>
      each === name && labelled && place >= start && place < start + cells.length;
    const table = this.tables.find(isIt);
    if (!table) return null;
    const at = place - table.start;
    return { table, at, cell: table.cells[at] };
  }

  /**
   * To the number beside one, above or below it.
   *
   * @param {Found} found
   * @param {string} key
   */
  move({ table, at }, key) {
    const { width, cells, turned } = table;
    const [down, right] = ARROWS[key];
    const [row, column] = [tableRow(table, at) + down, tableColumn(table, at) + right];
    const rows = cells.length / width;
    if (column < 0 || column >= width || row < 0 || row >= rows) return;
    cells[turned ? column * rows + row : row * width + column].focus();
  }

  /**
   * Mark the matrices that the symbol under the pointer names, in a formula or in a sentence.
   *
   * @param {Element} target
   */
  pointOut(target) {
    const symbol = this.symbolAt(target);
    if (symbol === this.pointedOut) return;
    this.pointedOut = symbol;
    for (const each of this.tables) each.table.classList.toggle("named", each.symbol === symbol);
  }

  /**
   * The largest part of a formula around an element that is the symbol of a matrix, whatever its
   * indices.
   *
   * @param {Element} target
   */
  symbolAt(target) {
    const around = [];
    const isInside = (/** @type {Element} */ node) =>
      node.closest?.("math") && node.localName !== "math";
    for (let node = target; isInside(node); node = node.parentElement) around.unshift(node);
    const symbols = new Set(this.tables.map((each) => each.symbol));
    return around.map(symbolOf).find((each) => symbols.has(each)) ?? "";
  }
}

/**
 * The column of a table that a number of its step stands in: that of its row, where the table is
 * turned.
 *
 * @param {Matrix} matrix
 * @param {number} at
 */
function tableColumn({ cells, width, turned }, at) {
  return turned ? Math.floor(at / (cells.length / width)) : at % width;
}

/**
 * The row of a table that it stands in.
 *
 * @param {Matrix} matrix
 * @param {number} at
 */
function tableRow({ cells, width, turned }, at) {
  return turned ? at % (cells.length / width) : Math.floor(at / width);
}

/** @param {HTMLTableRowElement} row */
function numbersOf(row) {
  return [...row.cells].slice(1);
}

/**
 * The cells of a table in the order of a step whose rows are its columns.
 *
 * @param {HTMLTableRowElement[]} rows
 */
function columnByColumn(rows) {
  const cells = rows.map(numbersOf);
  return cells[0].flatMap((_, column) => cells.map((row) => row[column]));
}
