// @ts-check
// Where the places of a dimension in its new size come from: the origins of a dimension are, for each
// of its places, the one that it was before, and -1 for one that is new.

"use strict";

/**
 * The first places, and new ones behind them.
 *
 * @param {number} before
 * @param {number} length
 */
const toLength = (before, length) => range(length).map((at) => (at < before ? at : -1));

/**
 * Those of all dimensions, in their order: some are changed, others stay, and others follow.
 *
 * @param {Dimension[]} dimensions
 * @param {number[]} before How long each was.
 * @param {Map<number, number[]>} changed
 */
function originsOf(dimensions, before, changed) {
  const origins = before.map((length, at) => changed.get(at) ?? range(length));
  // One that follows stands behind those that it follows from.
  dimensions.forEach(({ sum, product }, at) => {
    if (sum) origins[at] = sideBySide(sum, origins, before);
    if (product) origins[at] = ofEach(product, origins, before);
  });
  return origins;
}

/**
 * Of dimensions that stand one behind the other.
 *
 * @param {number[]} parts
 * @param {number[][]} origins
 * @param {number[]} before
 */
function sideBySide([first, second], origins, before) {
  const behind = origins[second].map((at) => (at < 0 ? -1 : before[first] + at));
  return [...origins[first], ...behind];
}

/**
 * The same of all features of each head.
 *
 * @param {number[]} factors
 * @param {number[][]} origins
 * @param {number[]} before
 */
function ofEach([first, second], origins, before) {
  return origins[first].flatMap((head) =>
    origins[second].map((at) => (head < 0 || at < 0 ? -1 : head * before[second] + at)),
  );
}

/**
 * Give an array the size of its axes' origins, and the numbers that stood there.
 *
 * @param {Given} array
 * @param {number[][]} origins
 * @param {number} fill What stands in a new place.
 */
function moveArray(array, origins, fill) {
  const shape = origins.map(({ length }) => length);
  const from = range(size(shape)).map((at) => {
    const index = indexIn(shape, at).map((place, axis) => origins[axis][place]);
    return index.includes(-1) ? -1 : placeIn(array.shape, index);
  });
  array.shape = shape;
  array.values = Float64Array.from(from, (at) => (at < 0 ? fill : array.values[at]));
  array.texts &&= from.map((at) => (at < 0 ? `${fill}` : array.texts[at]));
  array.written &&= from.map((at) => (at < 0 ? `${fill}` : array.written[at]));
}
