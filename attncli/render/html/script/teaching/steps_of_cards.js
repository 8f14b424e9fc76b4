// @ts-check
// The steps that the cards of the tour are about, whatever they are called in a problem.

"use strict";

/**
 * The queries or the keys that the scores read; of keys that are turned around, these themselves.
 *
 * @param {Model} model
 * @param {string} axis
 */
function readAlong(model, axis) {
  const { steps } = model;
  const scores = scoresOf(model);
  const reads = scores ? readsOf(scores.rule.equation) : [];
  const found = reads.map((name) => steps.get(name)).find((step) => isAlong(step, axis));
  const isTurned = found && isTurnedAround(found.rule);
  return isTurned ? steps.get(found.rule.equation[1]) : found;
}

/**
 * What the weights mix.
 *
 * @param {Model} model
 */
function mixedBy({ steps, data }) {
  const { rule } = steps.get(data.mixed) ?? {};
  const name = rule && readsOf(rule.equation).find((each) => each !== data.weights);
  return steps.get(name);
}

/** @param {Step} step */
const symbolOfStep = (step) => (step ? symbolName(step.rule.symbol) : "");

/** @param {Step} step */
const isOfPairs = ({ rule }) => isOfQueriesAndKeys(rule);

/**
 * Whether a step has numbers of queries, or of keys, and not of both.
 *
 * @param {Step} step
 * @param {string} axis
 */
function isAlong(step, axis) {
  const tokens = step?.rule.axes.filter((each) => each === "query" || each === "key") ?? [];
  return step?.rule.axes.length > 1 && tokens.join() === axis;
}

/**
 * The first step that reads both queries and keys.
 *
 * @param {Model} model
 */
function scoresOf({ steps }) {
  return [...steps.values()].find(({ rule }) => {
    const read = rule.equation ? readsOf(rule.equation).map((name) => steps.get(name)) : [];
    const isRead = (/** @type {string} */ axis) => read.some((step) => isAlong(step, axis));
    return isOfQueriesAndKeys(rule) && isRead("query") && isRead("key");
  });
}
