// @ts-check
// Places of numbers in arrays, whose numbers stand row after row.

"use strict";

/** @param {number[]} shape */
const size = (shape) => shape.reduce((a, b) => a * b, 1);

/** @param {number} length */
const range = (length) => Array.from({ length }, (_, at) => at);

/**
 * The place of a cell in the numbers of an array.
 *
 * @param {number[]} shape
 * @param {number[]} index
 */
function placeIn(shape, index) {
  return index.reduce((at, each, axis) => at * shape[axis] + each, 0);
}

/**
 * The indices of a cell, from its place in the numbers of an array.
 *
 * @param {number[]} shape
 * @param {number} at
 */
function indexIn(shape, at) {
  const index = new Array(shape.length);
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index[axis] = at % shape[axis];
    at = Math.floor(at / shape[axis]);
  }
  return index;
}

/**
 * Where the cell of each letter is, from its place in the numbers of a step.
 *
 * @param {Rule} rule
 * @param {number} at
 * @returns {Places}
 */
function placesOf(rule, at) {
  const index = indexIn(rule.shape, at);
  return Object.fromEntries(rule.cell.map((letter, axis) => [letter, index[axis]]));
}

/**
 * The same the other way round: the place of the cell where each letter is; 0 for those that are
 * not named.
 *
 * @param {Rule} rule
 * @param {Places} places
 */
function cellAt(rule, places) {
  const index = rule.cell.map((letter) => places[letter] ?? 0);
  return placeIn(rule.shape, index);
}

const LETTERS = 26;

/** A place to work out a cell at: with room for its letters, and for those of sums in sums. */
const newPlace = () => new Int32Array(2 * LETTERS);

/**
 * Every cell of a rule by a function of its place.
 *
 * @param {Rule} rule
 * @param {Work<any>} work
 * @param {any[] | Float64Array} values
 */
function fillCells({ shape }, work, values) {
  const place = newPlace();
  for (let at = 0; at < values.length; at++) {
    values[at] = work(place);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      if (++place[axis] < shape[axis]) break;
      place[axis] = 0;
    }
  }
}
