// @ts-check
// The weights of one query as one bar of its keys.

"use strict";

/**
 * The word of a query and its bar: of the one that a cell at this place is about, or of the one that
 * was chosen.
 *
 * @param {Query} query
 * @param {Places} place
 */
function weightsBar(query, place) {
  const { page, keys } = query;
  const { rule, values } = query.weights();
  const { sections } = page;
  const at = place[rule.cell.at(-2)] ?? query.at;
  const leading = rule.cell.slice(0, -2);
  const before = leading.map((letter) => place[letter] ?? sections.place[letter] ?? 0);
  const start = placeIn(rule.shape, [...before, at, 0]);
  const weights = keys.map((_, key) => values[start + key]);
  query.hues.share(weights);
  const said = keys.map((part, key) => `${wordOf(part)} ${page.printed(rule.name, start + key)}`);
  const word = query.words[at].textContent;
  const isNamedByCell = query.axes.every(({ letter }) => letter in place);
  const whose = isNamedByCell ? "" : sections.whose({ ...sections.place, ...place });
  const name = `Weights of ${whose}${word}: ${said.join(", ")}`;
  const parts = sharesOf(query, weights, said, whyNowhere(query, start, weights));
  return [
    element("b", {}, whose, label(word)),
    element("div", { role: "img", "aria-label": name }, ...parts),
  ];
}

/**
 * What stands in such a bar: a part as wide as each weight, and their sum where it is not 1.
 *
 * @param {Query} query
 * @param {number[]} weights
 * @param {string[]} said
 * @param {string} nowhere Why there are none.
 */
function sharesOf(query, weights, said, nowhere) {
  const seen = nowhere ? [] : [...weights.keys()].filter((key) => weights[key] > 0);
  if (!seen.length) return [element("em", {}, nowhere || "has no weight above 0")];
  const grow = (/** @type {number} */ share) => `flex-grow: ${share}`;
  /** @type {HTMLElement[]} */
  const parts = seen.map((key) => {
    const attributes = { title: said[key], style: grow(weights[key]) };
    return query.part(key, "span", attributes, label(said[key]));
  });
  const sum = seen.reduce((total, key) => total + weights[key], 0);
  if (sum < 1 - SHARED.tie) parts.push(element("span", { class: "rest", style: grow(1 - sum) }));
  if (Math.abs(sum - 1) > SHARED.tie)
    parts.push(element("em", {}, `sum ${formatNumber(sum, query.model.data.precision)}`));
  return parts;
}

/**
 * The bar of the weights that a query has in another model, whose parts are not named.
 *
 * @param {Query} query
 * @param {Model} model
 * @param {number} at
 */
function barOfModel(query, model, at) {
  const { keys, page } = query;
  const { rule, values } = model.steps.get(model.data.weights);
  const start = placeIn(rule.shape, [...page.sections.leading(rule), at, 0]);
  const weights = keys.map((_, key) => values[start + key]);
  const texts = keys.map((_, key) => signed(model.text(rule.name, start + key)));
  const said = keys.map((part, key) => `${wordOf(part)} ${texts[key]}`);
  const nowhere = weights.every(Number.isFinite) ? "" : "no numbers";
  const parts = sharesOf(query, weights, texts, nowhere);
  const name = `${query.words[at].textContent}: ${said.join(", ")}`;
  const bar = element("div", { role: "img", "aria-label": name }, ...parts);
  return element("div", { class: "shares" }, bar);
}
