// @ts-check
// What the line of one number says of it: its work, why it is as it is, and what it would be
// otherwise.

"use strict";

/**
 * The line of a number; while its field is open, why the text there is none.
 *
 * @param {Page} page
 * @param {Matrix} table
 * @param {number} at
 * @param {boolean} isChosen
 */
function saidOfNumber(page, table, at, isChosen) {
  const { edits, lines } = page;
  const field = edits.cell === table.cells[at] && edits.fieldIn(edits.cell);
  if (field?.why) return [`${field.why}. Escape brings back ${field.before}.`];
  const { name, rule, fixed, start } = table;
  const place = start + at;
  const { work, relation, result, remark } = lines.line(rule, place, fixed);
  const why = whyNumber(page, table, place, isChosen) || lines.said(remark, signed);
  const related = relation ? `${relation} ${result}` : result;
  const said = [signed(work), signed(related), why, withoutMistake(page, name, place)];
  return raised(said.filter(Boolean).join(" "));
}

/**
 * Of a number that is held, or hidden, what the remark of its line does not say.
 *
 * @param {Page} page
 * @param {Matrix} table
 * @param {number} place
 * @param {boolean} isChosen
 */
function whyNumber({ model }, { name, rule, fixed }, place, isChosen) {
  if (model.isHeld(name, place)) return whyHeld(model, rule, fixed, place);
  const isInfinite = model.steps.get(name).values[place] === -Infinity;
  const isMasked = isInfinite && !rule.hides && isOfHiddenKey(model, rule, place);
  if (!isChosen || !isMasked) return "";
  // It cannot be held.
  const { symbol } = model.steps.get(model.data.mask).rule;
  return `(the mask hides this key: click its cell in ${symbolName(symbol)} to show it)`;
}

/**
 * What the equation gives, and that a hidden key has no weight whatever its score.
 *
 * @param {Model} model
 * @param {Rule} rule
 * @param {Places} fixed
 * @param {number} at
 */
function whyHeld(model, rule, fixed, at) {
  const { name } = rule;
  const free = model.letGo(name, at);
  const line = new Lines(free).line(free.steps.get(name).rule, at, fixed);
  const given = [line.work, line.relation, line.result].filter(Boolean).join(" ");
  const isOfNoUse = name !== model.data.weights && isOfHiddenKey(model, rule, at);
  const hidden = isOfNoUse ? " The mask hides this key, so no weight follows from it." : "";
  return `held. The equation gives ${signed(given)}.${hidden}`;
}

/**
 * Whether a number is about a key that the mask hides from its query.
 *
 * @param {Model} model
 * @param {Rule} rule
 * @param {number} at
 */
function isOfHiddenKey(model, rule, at) {
  return rule.axes.at(-1) === "key" && model.hides(placesOf(rule, at));
}

/**
 * What the number is without the mistake, where that is another.
 *
 * @param {Page} page
 * @param {string} name
 * @param {number} place
 */
function withoutMistake(page, name, place) {
  if (!page.differs(name, place)) return "";
  const { sentences } = page.lines;
  const right = page.lines.text(sentences.node(page.right.text(name, place)));
  return signed(`(without the mistake ${right})`);
}
