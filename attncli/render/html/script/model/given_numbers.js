// @ts-check
// The numbers that a problem gives, as its data have them and as a file writes them.

"use strict";

/**
 * @param {ArrayData} array
 * @returns {Given}
 */
function readArray({ shape, written, numbers }) {
  const texts = written ? written.map(spelled) : null;
  const values = Float64Array.from((written ?? numbers).map(valueOf));
  return { shape, texts, written: written ? [...written] : null, values };
}

/**
 * The double of a number as it was written, or as it stands in the data.
 *
 * @param {string | number} written
 */
function valueOf(written) {
  return typeof written === "number" ? written : readNumber(written).value;
}

/**
 * The spelling of a number as it was written; that of an infinity too, which arrays of a mask may
 * hold.
 *
 * @param {string} written
 */
function spelled(written) {
  return readNumber(written)?.text ?? written;
}

/**
 * A number that nobody wrote, as a file has it.
 *
 * @param {number} value
 */
function spelledInFile(value) {
  return `${value}`.replace("Infinity", SHARED.infinity);
}

/**
 * @param {string} written
 * @returns {ScalarRead}
 */
function readScalar(written) {
  const found = readNumber(written);
  return { value: found.value, node: { text: found.text, value: found.exact } };
}
