// @ts-check
// From where to where a number can be slid that is held: around what its equation gives, as far as
// that could be for any numbers before it. Which functions give nothing below 0, Python knows
// (`signs_that_count` in `page/live/trees.py`).

"use strict";

// To both sides of the number.
const LEAST_REACH = 3;

/**
 * The ends of the slider of a number that is held, and what the equation gives there.
 *
 * @param {Model} model
 * @param {string} name
 * @param {number} at
 */
function sliderRange(model, name, at) {
  const free = model.letGo(name, at).steps.get(name);
  const [computed, held] = [free.values[at], model.held.get(name).get(at)];
  const reach = Math.max(LEAST_REACH, Math.ceil(Math.abs(computed) * 2));
  const low = Math.floor(Math.min(computed, held));
  const high = Math.ceil(Math.max(computed, held));
  const { least, most } = attainable(model, free.rule);
  return {
    least: nearestFinite(Math.min(low, Math.max(least, low - reach))),
    most: nearestFinite(Math.max(high, Math.min(most, high + reach))),
    computed,
  };
}

/** @param {number} value */
const nearestFinite = (value) => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));

/**
 * The least and the most that the equation of a step can give: no power of e is below 0, and shares
 * of what is not below 0 are at most 1.
 *
 * @param {Model} model
 * @param {Rule} rule
 */
function attainable(model, { equation, divides }) {
  const isBounded = equation && !mayBeNegative(model, equation);
  return { least: isBounded ? 0 : -Infinity, most: isBounded && divides ? 1 : Infinity };
}

/**
 * @param {Model} model
 * @param {Tree} node
 * @returns {boolean}
 */
function mayBeNegative(model, node) {
  if (typeof node === "number") return node < 0;
  if (typeof node === "string") return !(model.scalars.get(node)?.value >= 0);
  const [kind, ...parts] = node;
  if (kind === "@") {
    const step = model.steps.get(parts[0]);
    return !step || attainable(model, step.rule).least < 0;
  }
  if (kind === "sum" || kind === "largest") return mayBeNegative(model, parts[1]);
  const signs = model.data.functions[kind]?.signs_that_count;
  if (!signs) return true;
  const counts = (/** @type {number} */ at) => signs[at] ?? signs.at(-1);
  return parts.some((part, at) => counts(at) && mayBeNegative(model, part));
}
