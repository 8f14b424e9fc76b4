// @ts-check
// The matrices on the way from the input to the output, and which of them each is worked out from.

"use strict";

/**
 * The matrices of the map, in order: without learned weights, vectors, and what only turns another
 * around. Of those that come from nowhere, the given ones are there that have tokens, and masks and
 * distances.
 *
 * @param {Model} model
 * @returns {Stop[]}
 */
function wayOf({ steps, leading }) {
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
    const isKnown = from.length > 0 || hasTokens(rule, given);
    const isShown = isMatrix(rule, leading) && !isTurned && isKnown;
    behind.set(name, isShown ? [name] : from);
    const stops = from.map((each) => found.get(each));
    if (isShown) found.set(name, { name, rule, from: stops, given });
  }
  return [...found.values()];
}

/**
 * Whether a step has two axes, beside those of heads and entries.
 *
 * @param {Rule} rule
 * @param {Model["leading"]} leading
 */
function isMatrix(rule, leading) {
  return rule.cell.filter((letter) => !leading.has(letter)).length === 2;
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
