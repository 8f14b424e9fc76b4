// @ts-check
// The shaded squares of a matrix on the map, which follow its numbers: the fuller, the farther a
// number is from 0.

"use strict";

// So that a small number is no zero; and of −∞.
const FAINTEST_SHADE = 0.12;
const HIDDEN_SHADE = 0.45;

class Squares {
  /**
   * @param {Stop} stop
   * @param {boolean} isOfWeights Whether each column has the colour of its key.
   */
  constructor({ rows, columns, square }, isOfWeights) {
    this.rows = rows;
    this.columns = columns;
    /**
     * What each square shows now.
     *
     * @type {string[]}
     */
    this.filled = [];
    this.parts = range(rows * columns).map((at) => {
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

  /**
   * @param {Float64Array} values
   * @param {number} rows
   * @param {number} columns
   */
  shade(values, rows, columns) {
    const full = largestSize(values) || 1;
    this.shared(values, rows, columns).forEach((value, at) => {
      const opacity = opacityOf(value, full);
      const now = `${opacity} ${value < 0}`;
      if (this.filled[at] === now) return;
      this.filled[at] = now;
      const part = this.parts[at];
      part.setAttribute("fill-opacity", opacity);
      part.classList.toggle("below", value < 0);
      part.classList.toggle("nothing", value === -Infinity);
    });
  }

  /**
   * Of the numbers that share a square, the one farthest from 0; −∞ where there is nothing else.
   *
   * @param {Float64Array} values
   * @param {number} rows
   * @param {number} columns
   */
  shared(values, rows, columns) {
    const found = new Float64Array(this.parts.length).fill(NaN);
    values.forEach((value, at) => {
      const row = Math.floor((Math.floor(at / columns) * this.rows) / rows);
      const column = Math.floor(((at % columns) * this.columns) / columns);
      const square = row * this.columns + column;
      if (isFarther(value, found[square])) found[square] = value;
    });
    return found;
  }
}

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
