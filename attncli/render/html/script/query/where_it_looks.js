// @ts-check
// Where a query looks most, in words that follow its name.

"use strict";

/**
 * @param {Query} query
 * @param {number} start Where its weights begin.
 */
function whereItLooks(query, start) {
  const { rule, values } = query.weights();
  const weights = query.keys.map((_, key) => values[start + key]);
  const nowhere = whyNowhere(query, start, weights);
  if (nowhere) return [` ${nowhere}.`];
  const most = Math.max(...weights);
  const share = percent(most);
  const first = query.keys.filter((_, key) => most - weights[key] <= SHARED.tie * most);
  const isSeen = (/** @type {number} */ key) =>
    weights[key] || !query.model.hides(placesOf(rule, start + key));
  const seen = [...weights.keys()].filter(isSeen);
  if (first.length === seen.length && first.length > 1) {
    const areAll = first.length === query.keys.length;
    const which = areAll ? "all keys" : `the ${first.length} keys that it sees`;
    return [` looks at ${which} alike (${share} each).`];
  }
  const isOnlyOne = weights.filter(Boolean).length === 1;
  if (isOnlyOne) return [" looks at ", boldWord(first[0]), " alone."];
  const each = first.length > 1 ? " each" : "";
  return [" looks most at ", ...keysListed(first), ` (${share}${each}).`];
}

/**
 * Why a query looks nowhere, in words that follow its name; empty where it looks somewhere.
 *
 * @param {Query} query
 * @param {number} start Where its weights begin.
 * @param {number[]} weights
 */
function whyNowhere({ model }, start, weights) {
  if (!weights.every(Number.isFinite)) {
    if (model.mistake) return "has weights that are no numbers";
    return "has scores that do not fit into float64, so its weights are unknown";
  }
  if (weights.some(Boolean)) return "";
  const { rule } = model.steps.get(model.data.weights);
  const isBlind = model.seesNoKey(placesOf(rule, start));
  return isBlind ? "sees no key" : "gives every key the weight 0";
}

/**
 * a, b and c.
 *
 * @param {HTMLElement[]} keys
 */
function keysListed(keys) {
  return keys.flatMap((key, at) => {
    if (at === 0) return [boldWord(key)];
    return [at < keys.length - 1 ? ", " : " and ", boldWord(key)];
  });
}

/** @param {Node} part What stands for a word. */
const boldWord = (part) => element("b", {}, label(wordOf(part)));

/** @param {Node} part */
const wordOf = (part) => part.firstChild.textContent;
