// @ts-check
// Where every matrix stands on the map, how large its squares are, and where arrows run.

"use strict";

/**
 * In pixels: a wide page, which all columns share; what is left free beside a narrow one; from one
 * column to the next; the longer side of the largest matrix, and the largest square; from a matrix to
 * the one below it, with its name; below a matrix; and to an arrow that runs past. `squares` are in a
 * row or column: more numbers share them. It is no taller than `tallest`, in a narrow
 * window and in a wide one.
 */
const LARGE_MAP = {
  width: 752,
  margins: 40,
  columns: [30, 112],
  matrix: 42,
  square: 12,
  between: 38,
  below: 30,
  aside: 6,
  squares: 16,
  isNamed: true,
  tallest: [Infinity, Infinity],
};
/** In the strip, where it has no names. */
const SMALL_MAP = {
  width: 270,
  margins: 40,
  columns: [12, 40],
  matrix: 15,
  square: 6,
  between: 6,
  below: 2,
  aside: 2,
  squares: 8,
  isNamed: false,
  tallest: [50, 64],
};
// In pixels: of a window that is no wider, the strip is lower.
const NARROW_WINDOW = 640;
// A matrix's part of a narrow column.
const MATRIX_IN_COLUMN = 0.64;
const SMALLEST_MATRIX = 5;
const ARROW_HEAD = "m-4-3.5l4 3.5l-4 3.5";

class MapLayout {
  /**
   * @param {Stop[]} way Gets its places.
   * @param {typeof LARGE_MAP} size
   * @param {number} room The pixels that there are for its width.
   */
  constructor(way, size, room) {
    this.way = way;
    this.size = size;
    placeInColumns(way);
    const count = Math.max(...way.map(({ column }) => column)) + 1;
    for (let column = 0; column < count; column++)
      placeInRows(way.filter((each) => each.column === column));
    const [narrowest, widest] = size.columns;
    /** From the middle of a column to that of the next one. */
    this.apart = Math.max(narrowest, Math.min(widest, room / count));
    const top = Math.min(...way.map(({ row }) => row));
    const rows = Math.max(...way.map(({ row }) => row)) - top;
    const tallest = size.tallest[Number(window.innerWidth > NARROW_WINDOW)];
    const free = tallest - rows * size.between - size.below - 2 * size.aside;
    const low = Math.max(SMALLEST_MATRIX, free / (rows + 1));
    /** The longer side of the largest matrix. */
    this.box = Math.min(size.matrix, this.apart * MATRIX_IN_COLUMN, low);
    for (const each of way) this.measure(each, top);
    this.width = Math.max(...way.map(({ x }) => x)) + this.apart / 2;
    const lowest = Math.max(...way.map(({ y }) => y));
    this.height = lowest + this.box / 2 + size.below + 2 * size.aside;
  }

  /**
   * @param {Stop} stop
   * @param {number} top
   */
  measure(stop, top) {
    const { square, between, squares } = this.size;
    const [rows, columns] = stop.rule.shape.slice(-2);
    stop.rows = Math.min(rows, squares);
    stop.columns = Math.min(columns, squares);
    stop.square = Math.min(square, this.box / Math.max(stop.rows, stop.columns));
    stop.x = this.apart * (stop.column + 0.5);
    stop.y = (this.box + between) * (stop.row - top) + this.box / 2 + 2;
  }

  // --- arrows

  /** One from each matrix to each that is worked out from it. */
  arrows() {
    return this.way.flatMap((to) => to.from.map((from) => this.arrow(from, to)));
  }

  /**
   * An arrow that leads past other matrices runs where there is room, above or below them.
   *
   * @param {Stop} from
   * @param {Stop} to
   */
  arrow(from, to) {
    const start = from.x + (from.columns * from.square) / 2 + 3;
    const end = to.x - (to.columns * to.square) / 2 - 5;
    const bend = (this.apart - this.box) / 2;
    const passed = this.way.filter(({ column }) => column > from.column && column < to.column);
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
    const { aside, below } = this.size;
    const [up, down] = [this.box / 2 + aside, this.box / 2 + below + aside];
    const isFree = (/** @type {number} */ lane) =>
      lane > 0 && passed.every(({ y }) => lane <= y - up || lane >= y + down);
    const lanes = [from.y, ...passed.flatMap(({ y }) => [y - up, y + down])].filter(isFree);
    const [nearest] = lanes.sort((a, b) => Math.abs(a - from.y) - Math.abs(b - from.y));
    return nearest;
  }
}

/**
 * A column to the right of all that a matrix is worked out from; what is only added stands before
 * what reads it.
 *
 * @param {Stop[]} way
 */
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
