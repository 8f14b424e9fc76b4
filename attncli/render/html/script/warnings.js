// What attncli warns of in these numbers, in its words: queries that see no key, and numbers that no double can hold.

"use strict";

const MOST_LISTED = 4; // queries, or heads and entries, in one sentence

/** The warnings about the numbers of a model, a sentence each. */
const warningsOf = (model) => [...withoutKeys(model), ...overflows(model)];

function* withoutKeys(model) {
  const { rule } = model.steps.get(model.data.weights);
  const width = rule.shape.at(-1);
  const rows = Array.from({ length: size(rule.shape) / width }, (_, row) => row * width);
  const blind = rows.filter((at) => model.seesNoKey(rule, model.place(rule, at)));
  const labels = rule.labels.map((at) => model.data.labels[at]);
  for (const [who, where, are] of namedRows(labels, blind.map((at) => model.index(rule.shape, at).slice(0, -1)))) {
    const [see, whose] = are > 1 ? ["see", "their weights and their outputs are"] : ["sees", "its weights and its output are"];
    yield `${who} ${see} no key${where}: ${whose} 0${where && " there"}`;
  }
}

/** Of every step that has such numbers though all that it reads has none. */
function* overflows(model) {
  const lost = new Set();
  for (const [name, { rule, values }] of model.steps) {
    if (values.every(Number.isFinite)) continue;
    const bad = [...values.keys()].filter((at) => !Number.isFinite(values[at]) && !mayHide(model, rule, at, values[at]));
    if (!bad.length) continue;
    if (!readsOf(rule.equation).some((each) => lost.has(each))) yield overflow(model, name, bad);
    lost.add(name);
  }
}

/** Whether a number is the −∞ of a key that the mask hides, or of a query that sees none. */
function mayHide(model, rule, at, value) {
  const mask = model.steps.get(model.data.mask);
  if (!mask || value !== -Infinity) return false;
  if (rule === mask.rule) return true;
  const { rule: weights } = model.steps.get(model.data.weights);
  const [rows, all] = [rule.axes.at(-1) === "query", rule.axes.at(-2) === "query" && rule.axes.at(-1) === "key"];
  const isLike = (shape) => rule.shape.join() === shape.join();
  if (all && isLike(weights.shape)) return model.hides(model.place(rule, at));
  return rows && isLike(weights.shape.slice(0, -1)) && model.seesNoKey(weights, model.place(rule, at));
}

function overflow(model, name, bad) {
  const { rule, values } = model.steps.get(name);
  if (!rule.shape.length) return `${name} does not fit into float64`;
  const where = model.index(rule.shape, bad[0]).map((at, axis) => model.data.labels[rule.labels[axis]][at]);
  const undefinedOnes = values.filter(Number.isNaN).length;
  const [are, does] = bad.length > 1 ? ["are", "do"] : ["is", "does"];
  let said = `${does} not fit into float64`;
  if (undefinedOnes === bad.length) said = `${are} NaN, because intermediate results do not fit into float64`;
  else if (undefinedOnes) said += `, ${grouped(undefinedOnes)} of them NaN`;
  return `${name}: ${grouped(bad.length)} of ${grouped(values.length)} cells ${said} (the first at ${name}[${where.join()}])`;
}

const grouped = (count) => count.toLocaleString("en-US");

/** Queries by name, in which heads and entries, and how many they are; those of the same places together. */
function namedRows(labels, rows) {
  const [leading, queries] = [labels.slice(0, -2), labels.at(-2)];
  const places = groupedBy(rows, (row) => row.at(-1), (row) => row.slice(0, -1));
  const together = groupedBy([...places], ([, found]) => JSON.stringify(found), (each) => each);
  return [...together.values()].map((alike) => {
    const names = alike.map(([query]) => `"${queries[query]}" (row ${query})`);
    const [[, found]] = alike;
    return [`${names.length > 1 ? "queries" : "query"} ${atMost(names, "others")}`, placesNamed(leading, found), names.length];
  });
}

function groupedBy(items, key, value) {
  const found = new Map();
  for (const item of items) found.set(key(item), [...(found.get(key(item)) ?? []), value(item)]);
  return found;
}

/** In which heads and entries: an entry with all its heads goes by its own name, and all entries by none. */
function placesNamed(leading, places) {
  if (!leading.length) return "";
  const last = leading.at(-1).length;
  const within = [...groupedBy(places, (place) => JSON.stringify(place.slice(0, -1)), (place) => place.at(-1))];
  const outer = within.map(([key, inner]) => [JSON.parse(key), inner]);
  if (outer.every(([, inner]) => inner.length === last)) return placesNamed(leading.slice(0, -1), outer.map(([key]) => key));
  const whole = outer.flatMap(([key, inner]) => (inner.length === last ? [key] : inner.map((each) => [...key, each])));
  return ` in ${atMost(whole.map((place) => place.map((at, axis) => leading[axis][at]).join(", ")), "more")}`;
}

/** a, b and c; of many names only the first, and how many others there are. */
function atMost(names, others) {
  const few = names.length <= MOST_LISTED;
  const shown = few ? names.slice(0, -1) : names.slice(0, MOST_LISTED - 1);
  const last = few ? names.at(-1) : `${grouped(names.length - shown.length)} ${others}`;
  return shown.length ? `${shown.join(", ")} and ${last}` : last;
}
