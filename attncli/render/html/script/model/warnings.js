// @ts-check
// What attncli warns of in these numbers, in its words: queries that see no key, and numbers that no
// double can hold.

"use strict";

/**
 * The warnings about the numbers of a model, a sentence each.
 *
 * @param {Model} model
 */
const warningsOf = (model) => [...model.data.unread, ...withoutKeys(model), ...overflows(model)];

/** @param {Model} model */
function* withoutKeys(model) {
  const { rule } = model.steps.get(model.setting.pairs) ?? {};
  if (!rule) return;
  const width = rule.shape.at(-1);
  const rows = range(size(rule.shape) / width).map((row) => row * width);
  const blind = rows.filter((at) => model.seesNoKey(placesOf(rule, at)));
  const indices = blind.map((at) => indexIn(rule.shape, at).slice(0, -1));
  const labels = rule.labels.map((at) => model.data.labels[at]);
  for (const { who, where, count } of namedRows(labels, indices)) {
    const see = count > 1 ? "see" : "sees";
    const are =
      count > 1 ? "their weights and their outputs are" : "its weights and its output are";
    const there = where && " there";
    const followed = model.data.plain ? `: ${are} 0${there}` : "";
    yield `${who} ${see} no key${where}${followed}`;
  }
}

/**
 * Of every step that has such numbers though all that it reads has none.
 *
 * @param {Model} model
 */
function* overflows(model) {
  /** @type {Set<string>} */
  const lost = new Set();
  /** The signs of infinities that equations have in them, and of what is made of these. */
  /** @type {Map<string, Set<number>>} */
  const meant = new Map();
  for (const [name, { rule, values }] of model.steps) {
    const read = rule.equation ? readsOf(rule.equation) : [];
    const signs = new Set([
      ...(rule.meant ?? []),
      ...read.flatMap((each) => [...(meant.get(each) ?? [])]),
    ]);
    meant.set(name, signs);
    const unknown = [...values.keys()].filter(
      (at) => !Number.isFinite(values[at]) && !signs.has(Math.sign(values[at])),
    );
    const bad = unknown.filter((at) => !mayHide(model, rule, at, values[at]));
    if (!bad.length) continue;
    const isFirst = !readsOf(rule.equation).some((each) => lost.has(each));
    if (isFirst) yield overflow(model, name, bad);
    lost.add(name);
  }
}

/**
 * Whether a number is the −∞ of a key that the mask hides, or of a query that sees none.
 *
 * @param {Model} model
 * @param {Rule} rule
 * @param {number} at
 * @param {number} value
 */
function mayHide(model, rule, at, value) {
  const mask = model.steps.get(model.data.mask);
  if (!mask || value !== -Infinity) return false;
  if (rule === mask.rule) return true;
  const places = placesOf(rule, at);
  if (isOfQueriesAndKeys(rule)) return model.hides(places);
  return rule.axes.at(-1) === "query" && model.seesNoKey(places);
}

/** @param {Rule} rule */
const isOfQueriesAndKeys = ({ axes }) => axes.at(-2) === "query" && axes.at(-1) === "key";

/**
 * @param {Model} model
 * @param {string} name
 * @param {number[]} bad
 */
function overflow(model, name, bad) {
  const { rule, values } = model.steps.get(name);
  const why = model.data.has_own ? whyNotFinite(model, rule, bad[0]) : "";
  if (why) return atFault(model, name, bad, why);
  if (!rule.shape.length) return `${name} does not fit into float64`;
  const labels = rule.labels.map((at) => model.data.labels[at]);
  const where = indexIn(rule.shape, bad[0]).map((at, axis) => labels[axis][at]);
  const count = `${grouped(bad.length)} of ${grouped(values.length)} cells`;
  const said = whyUnknown(bad.length, values.filter(Number.isNaN).length);
  return `${name}: ${count} ${said} (the first at ${name}[${where.join()}])`;
}

/**
 * How many cells are infinite or NaN, and why the first one is.
 *
 * @param {Model} model
 * @param {string} name
 * @param {number[]} bad
 * @param {string} why
 */
function atFault(model, name, bad, why) {
  const { rule, values } = model.steps.get(name);
  const unknown = bad.filter((at) => Number.isNaN(values[at])).length;
  const ofSome = unknown ? "infinite or NaN" : "infinite";
  const what = unknown === bad.length ? "NaN" : ofSome;
  if (!rule.shape.length) return `in ${name}, the number is ${what}: ${why}`;
  const labels = rule.labels.map((at) => model.data.labels[at]);
  const where = indexIn(rule.shape, bad[0]).map((at, axis) => labels[axis][at]);
  const cells = `${grouped(bad.length)} of ${grouped(values.length)} ${values.length === 1 ? "cell" : "cells"}`;
  const is = bad.length > 1 ? "are" : "is";
  return `in ${name}, ${cells} ${is} ${what}. The first is ${name}[${where.join()}]: ${why}`;
}

/**
 * @param {number} count
 * @param {number} undefinedOnes
 */
function whyUnknown(count, undefinedOnes) {
  const [are, does] = count > 1 ? ["are", "do"] : ["is", "does"];
  if (undefinedOnes === count)
    return `${are} NaN, because intermediate results do not fit into float64`;
  const ofThem = undefinedOnes ? `, ${grouped(undefinedOnes)} of them NaN` : "";
  return `${does} not fit into float64${ofThem}`;
}

/**
 * 12,345.
 *
 * @param {number} count
 */
const grouped = (count) => count.toLocaleString("en-US");

/**
 * Queries by name, in which heads and entries, and how many they are; those of the same places
 * together.
 *
 * @param {string[][]} labels
 * @param {number[][]} rows
 */
function namedRows(labels, rows) {
  const [leading, queries] = [labels.slice(0, -2), labels.at(-2)];
  const places = groupedBy(
    rows,
    (row) => row.at(-1),
    (row) => row.slice(0, -1),
  );
  const together = groupedBy(
    [...places],
    ([, found]) => JSON.stringify(found),
    (each) => each,
  );
  return [...together.values()].map((alike) => {
    const names = alike.map(([query]) => `"${queries[query]}" (row ${query})`);
    const [[, found]] = alike;
    const who = `${names.length > 1 ? "queries" : "query"} ${atMost(names, "others")}`;
    return { who, where: placesNamed(leading, found), count: names.length };
  });
}

/**
 * @template Item, Key, Value
 * @param {Item[]} items
 * @param {(item: Item) => Key} key
 * @param {(item: Item) => Value} value
 */
function groupedBy(items, key, value) {
  /** @type {Map<Key, Value[]>} */
  const found = new Map();
  for (const item of items) found.set(key(item), [...(found.get(key(item)) ?? []), value(item)]);
  return found;
}

/**
 * In which heads and entries: an entry with all its heads goes by its own name, and all entries by
 * none.
 *
 * @param {string[][]} leading
 * @param {number[][]} places
 * @returns {string}
 */
function placesNamed(leading, places) {
  if (!leading.length) return "";
  const last = leading.at(-1).length;
  const within = groupedBy(
    places,
    (place) => JSON.stringify(place.slice(0, -1)),
    (place) => place.at(-1),
  );
  /** @type {[number[], number[]][]} */
  const outer = [...within].map(([key, inner]) => [JSON.parse(key), inner]);
  const isWhole = outer.every(([, inner]) => inner.length === last);
  if (isWhole)
    return placesNamed(
      leading.slice(0, -1),
      outer.map(([key]) => key),
    );
  const named = outer.flatMap(([key, inner]) =>
    inner.length === last ? [key] : inner.map((each) => [...key, each]),
  );
  const names = named.map((place) => place.map((at, axis) => leading[axis][at]).join(", "));
  return ` in ${atMost(names, "more")}`;
}

/**
 * a, b and c; of many names only the first, and how many others there are.
 *
 * @param {string[]} names
 * @param {string} others
 */
function atMost(names, others) {
  const most = SHARED.most_queries_named;
  const areFew = names.length <= most;
  const shown = names.slice(0, areFew ? -1 : most - 1);
  const rest = `${grouped(names.length - shown.length)} ${others}`;
  const last = areFew ? names.at(-1) : rest;
  return shown.length ? `${shown.join(", ")} and ${last}` : last;
}
