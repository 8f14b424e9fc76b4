// @ts-check
// The whole way from the input to the output as small shaded matrices, which follow each number and
// lead to their steps.

"use strict";

// In pixels: a wide page, which all columns share, and what is left free beside a narrow one.
const MAP_WIDTH = 752;
const PAGE_MARGINS = 40;
// From one column to the next, and where there is room for the shapes of matrices between them.
const [NARROWEST_COLUMN, WIDEST_COLUMN] = [30, 112];
const COLUMN_WITH_SHAPES = 64;
// The longer side of the largest matrix, its part of a narrow column, and the largest square.
const LARGEST_MATRIX = 42;
const MATRIX_IN_COLUMN = 0.64;
const LARGEST_SQUARE = 12;
// From a matrix to the one below it, with its name; below a matrix; and to an arrow that runs past.
const BETWEEN_MATRICES = 26;
const BELOW_MATRIX = 18;
const BESIDE_ARROW = 6;
// Matrices of other heads or entries.
const MOST_BEHIND = 2;
// So that a small number is no zero; and of −∞.
const FAINTEST_SHADE = 0.12;
const HIDDEN_SHADE = 0.45;
// In a row or column; more numbers share them.
const MOST_SQUARES = 16;
const ARROW_HEAD = "m-4-3.5l4 3.5l-4 3.5";

class FlowMap {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    // A reader of the screen, and the keyboard, have the list of contents for this.
    this.root = element("figure", { class: "map", "aria-hidden": "true" });
    this.built = "";
    window.addEventListener("resize", () => this.show());
  }

  /** The pixels that there are for it. */
  room() {
    return Math.min(MAP_WIDTH, window.innerWidth - PAGE_MARGINS);
  }

  // --- where every matrix stands

  /**
   * The matrices on the way, in order: without learned weights, vectors, and what only turns another
   * around. Of those that come from nowhere, the given ones are there that have tokens, and masks
   * and distances.
   *
   * @returns {Stop[]}
   */
  way() {
    const { steps } = this.model;
    const last = [...steps.keys()].at(-1);
    /** @type {Map<string, Stop>} */
    const found = new Map();
    /**
     * Of every step, those on the map that it is worked out from.
     *
     * @type {Map<string, string[]>}
     */
    const behind = new Map();
    for (const [name, { rule, given }] of steps) {
      const read = rule.equation ? readsOf(rule.equation) : [];
      const from = [...new Set(read.flatMap((each) => behind.get(each) ?? []))];
      const isTurned = isTurnedAround(rule) && name !== last;
      const isShown =
        this.isMatrix(rule) && !isTurned && (from.length > 0 || hasTokens(rule, given));
      behind.set(name, isShown ? [name] : from);
      const stops = from.map((each) => found.get(each));
      if (isShown) found.set(name, { name, rule, from: stops, given });
    }
    return [...found.values()];
  }

  /** @param {Rule} rule */
  isMatrix(rule) {
    return rule.cell.filter((letter) => !this.model.leading.has(letter)).length === 2;
  }

  /**
   * A column to the right of all that a matrix is worked out from, and beside these.
   *
   * @param {Stop[]} way
   */
  layOut(way) {
    placeInColumns(way);
    const columns = Math.max(...way.map(({ column }) => column)) + 1;
    for (let column = 0; column < columns; column++)
      placeInRows(way.filter((each) => each.column === column));
    const top = Math.min(...way.map(({ row }) => row));
    const apart = Math.min(WIDEST_COLUMN, this.room() / columns);
    this.apart = Math.max(NARROWEST_COLUMN, apart);
    this.box = Math.min(LARGEST_MATRIX, this.apart * MATRIX_IN_COLUMN);
    for (const each of way) {
      const [rows, columns] = each.rule.shape.slice(-2);
      each.rows = Math.min(rows, MOST_SQUARES);
      each.columns = Math.min(columns, MOST_SQUARES);
      each.square = Math.min(LARGEST_SQUARE, this.box / Math.max(each.rows, each.columns));
      each.x = this.apart * (each.column + 0.5);
      each.y = (this.box + BETWEEN_MATRICES) * (each.row - top) + this.box / 2 + 2;
    }
  }

  // --- what is drawn

  build() {
    const way = this.way();
    this.root.hidden = !way.length;
    /** @type {Box[]} */
    this.boxes = [];
    if (!way.length) return;
    this.layOut(way);
    const width = Math.max(...way.map(({ x }) => x)) + this.apart / 2;
    const lowest = Math.max(...way.map(({ y }) => y));
    const height = lowest + this.box / 2 + BELOW_MATRIX + 2 * BESIDE_ARROW;
    const picture = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    for (const to of way)
      for (const from of to.from)
        picture.append(drawn("path", { class: "edge", d: this.arrow(from, to, way) }));
    this.boxes = way.map((each) => this.boxOf(each));
    const style = `width: ${width}px; height: ${height}px`;
    const links = this.boxes.map(({ link }) => link);
    this.root.replaceChildren(element("div", { style }, picture, ...links));
  }

  /**
   * @param {Stop} stop
   * @returns {Box}
   */
  boxOf(stop) {
    const { rule, square, x, y } = stop;
    const [width, height] = [stop.columns * square, stop.rows * square];
    const squares = this.squaresOf(stop);
    const others = Math.min(MOST_BEHIND, size(rule.shape.slice(0, -2)) - 1);
    const behind = range(others).map((at) => {
      const by = 3 * (others - at);
      return drawn("rect", { class: "behind", width, height, x: by, y: -by });
    });
    const back = drawn("rect", { class: "back", width, height });
    const edge = drawn("rect", { class: "frame", width, height });
    const frame = drawn("rect", { class: "row", width: width + 2, height: square + 2, x: -1 });
    const attributes = { width, height, overflow: "visible" };
    const svg = drawn("svg", attributes, ...behind, back, ...squares, edge, frame);
    const [left, top] = [x - this.apart / 2, y - height / 2];
    const style = `left: ${left}px; top: ${top}px; width: ${this.apart}px`;
    const link = element("a", { tabindex: "-1", href: "#", style }, svg, this.nameOf(rule));
    return { ...stop, link, squares, frame, filled: [] };
  }

  /** @param {Stop} stop */
  squaresOf({ name, rule, rows, columns, square }) {
    const isOfWeights = name === this.model.data.weights && columns === rule.shape.at(-1);
    return range(rows * columns).map((at) => {
      const [row, column] = [Math.floor(at / columns), at % columns];
      return drawn("rect", {
        x: column * square,
        y: row * square,
        width: square,
        height: square,
        class: isOfWeights ? `hue-${column}` : "",
        "fill-opacity": 0,
      });
    });
  }

  /** @param {Rule} rule */
  nameOf({ symbol, shape }) {
    const names = this.model.data.mathml.names[symbol];
    const name = element("span", {}, math(names?.[0] ?? `<mi>${symbolName(symbol)}</mi>`));
    const hasRoom = this.apart >= COLUMN_WITH_SHAPES;
    return element("small", {}, name, hasRoom ? ` ${shape.slice(-2).join("×")}` : "");
  }

  /**
   * An arrow from one matrix to another; one that leads past others runs where there is room, above
   * or below them.
   *
   * @param {Stop} from
   * @param {Stop} to
   * @param {Stop[]} way
   */
  arrow(from, to, way) {
    const start = from.x + (from.columns * from.square) / 2 + 3;
    const end = to.x - (to.columns * to.square) / 2 - 5;
    const bend = (this.apart - this.box) / 2;
    const passed = way.filter(({ column }) => column > from.column && column < to.column);
    const before = `C${end - bend}`;
    const curve = (/** @type {number} */ y) =>
      `${before} ${y} ${end - bend} ${to.y} ${end} ${to.y}${ARROW_HEAD}`;
    if (!passed.length) return `M${start} ${from.y}${curve(from.y)}`;
    const lane = this.lane(from, passed);
    const out = `C${start + bend} ${from.y} ${start} ${lane} ${start + bend} ${lane}`;
    return `M${start} ${from.y}${out}H${to.x - this.apart * 0.9}${curve(lane)}`;
  }

  /**
   * The nearest height at which an arrow runs past other matrices.
   *
   * @param {Stop} from
   * @param {Stop[]} passed
   */
  lane(from, passed) {
    const above = this.box / 2 + BESIDE_ARROW;
    const below = this.box / 2 + BELOW_MATRIX + BESIDE_ARROW;
    const isFree = (/** @type {number} */ lane) =>
      lane > 0 && passed.every(({ y }) => lane <= y - above || lane >= y + below);
    const lanes = [from.y, ...passed.flatMap(({ y }) => [y - above, y + below])].filter(isFree);
    const [nearest] = lanes.sort((a, b) => Math.abs(a - from.y) - Math.abs(b - from.y));
    return nearest;
  }

  // --- shades

  /**
   * All shades again, of the head and the entry that are shown; the row of the query that was chosen
   * has a frame.
   */
  show() {
    // A mistake may read other matrices.
    const now = `${this.page.sections.arranged} ${this.room()} ${this.model.mistake}`;
    if (this.built !== now) this.build();
    this.built = now;
    for (const box of this.boxes) {
      this.shade(box);
      this.frame(box);
      box.link.setAttribute("href", `#${this.sectionOf(box) ?? ""}`);
    }
  }

  /** @param {Box} box */
  shade(box) {
    const { squares, filled } = box;
    const { rule, values } = this.page.told.steps.get(box.name);
    const [rows, columns] = rule.shape.slice(-2);
    const start = placeIn(rule.shape, [...this.page.sections.leading(rule), 0, 0]);
    const own = values.subarray(start, start + rows * columns);
    const shares = this.farthest(box, own, rows, columns);
    const full = largestSize(own) || 1;
    shares.forEach((value, at) => {
      const opacity = opacityOf(value, full);
      const now = `${opacity} ${value < 0}`;
      if (filled[at] === now) return;
      filled[at] = now;
      squares[at].setAttribute("fill-opacity", opacity);
      squares[at].classList.toggle("below", value < 0);
      squares[at].classList.toggle("nothing", value === -Infinity);
    });
  }

  /**
   * Of the numbers that share a square, the one farthest from 0; −∞ where there is nothing else.
   *
   * @param {Box} box
   * @param {Float64Array} values
   * @param {number} rows
   * @param {number} columns
   */
  farthest(box, values, rows, columns) {
    const found = new Float64Array(box.squares.length).fill(NaN);
    values.forEach((value, at) => {
      const row = Math.floor((Math.floor(at / columns) * box.rows) / rows);
      const column = Math.floor(((at % columns) * box.columns) / columns);
      const square = row * box.columns + column;
      if (isFarther(value, found[square])) found[square] = value;
    });
    return found;
  }

  /** @param {Box} box */
  frame(box) {
    const { query } = this.page;
    const isOfQueries = box.rule.axes.at(-2) === "query" && query.isDrawn;
    const row = Math.floor((query.at * box.rows) / box.rule.shape.at(-2));
    box.frame.setAttribute("visibility", isOfQueries ? "visible" : "hidden");
    box.frame.setAttribute("y", `${row * box.square - 1}`);
  }

  /**
   * The section that is shown of a matrix.
   *
   * @param {Box} box
   */
  sectionOf({ name }) {
    const isIt = (/** @type {Matrix} */ each) =>
      each.name === name && each.labelled && !each.table.closest(".away");
    return this.page.matrices.tables.find(isIt)?.table.closest("section[id]").id;
  }
}

/**
 * Whether a step only turns another around, as Kᵀ does.
 *
 * @param {Rule} rule
 */
function isTurnedAround(rule) {
  return rule.copies && rule.equation.slice(2).every((index) => rule.cell.includes(index));
}

/**
 * Whether a matrix that comes from nowhere has tokens on its axes; on both, if it is not given.
 *
 * @param {Rule} rule
 * @param {boolean} given
 */
function hasTokens(rule, given) {
  const axes = rule.axes.slice(-2).filter((axis) => axis === "query" || axis === "key");
  return axes.length > (given ? 0 : 1);
}

/** @param {Stop[]} way */
function placeInColumns(way) {
  for (const each of way) each.column = Math.max(-1, ...each.from.map(({ column }) => column)) + 1;
  for (const each of way) {
    const readers = way.filter(({ from }) => from.includes(each)).map(({ column }) => column);
    const isAdded = !each.from.length && !each.given;
    if (isAdded && readers.length) each.column = Math.min(...readers) - 1;
  }
}

/**
 * The matrices of a column: beside what they are worked out from, and above these what is added.
 *
 * @param {Stop[]} here
 */
function placeInRows(here) {
  const isFirst = here.some(({ column }) => column === 0);
  const added = here.filter((each) => !isFirst && !each.from.length);
  const worked = here.filter((each) => isFirst || each.from.length);
  const heights = isFirst ? [0] : worked.map(heightBeside);
  const middle = isFirst ? 0 : average(heights);
  worked.forEach((each, at) => {
    each.row = middle + at - (worked.length - 1) / 2;
  });
  added.forEach((each, at) => {
    each.row = (worked[0]?.row ?? 0) - added.length + at;
  });
}

/** @param {Stop} stop */
function heightBeside({ from }) {
  const worked = from.filter((each) => each.given || each.from.length);
  // Not beside what is only added.
  const sources = worked.length ? worked : from;
  const nearest = Math.max(...sources.map(({ column }) => column));
  return average(sources.filter(({ column }) => column === nearest).map(({ row }) => row));
}

/** @param {number[]} numbers */
const average = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/** @param {Float64Array} values */
function largestSize(values) {
  return values.reduce(
    (most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most),
    0,
  );
}

/**
 * Whether a number comes in the place of the one before it, which is NaN where there was none.
 *
 * @param {number} value
 * @param {number} before
 */
function isFarther(value, before) {
  if (Number.isNaN(value)) return false;
  if (value === -Infinity) return Number.isNaN(before);
  return before === -Infinity || !(Math.abs(value) <= Math.abs(before));
}

/**
 * @param {number} value
 * @param {number} full
 */
function opacityOf(value, full) {
  if (value === -Infinity) return `${HIDDEN_SHADE}`;
  if (!value) return "0";
  return Math.max(FAINTEST_SHADE, Math.min(1, Math.abs(value) / full)).toFixed(2);
}
