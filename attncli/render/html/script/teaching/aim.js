// @ts-check
// What is aimed at in the end of the tour: a key that one given number can make a query look at most.

"use strict";

const CHANGES = [1, 2, 4, 8, 16, 32, 64, 128].flatMap((by) => [by, -by]);
const MOST_TRIED = 200;

class Aim {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    this.found = { of: "", key: -1, cell: /** @type {Cell} */ (null), by: 0 };
  }

  /**
   * The key with the least weight that can be reached, and the number to change; it stays the same
   * until another query is chosen.
   *
   * @param {TourCards} cards
   */
  of(cards) {
    const { of, shares, best } = cards;
    if (this.found.of === of) return this.found;
    this.found = { of, key: -1, cell: null, by: 0 };
    const others = range(shares.length).filter((key) => shares[key] && key !== best);
    // That a word looks at itself is less of a surprise.
    const isOwn = (/** @type {number} */ key) => Number(cards.words[key] === cards.who.textContent);
    others.sort((a, b) => isOwn(a) - isOwn(b) || shares[a] - shares[b]);
    for (const key of others) {
      const [own, other] = this.numbersBehind(cards, key);
      const found = this.firstOf(own, cards, key) ?? this.firstOf(other, cards, key);
      if (found) return (this.found = { of, key, ...found });
    }
    return this.found;
  }

  /**
   * Of some given numbers the first with which the query looks at the key most, and by how much it is
   * then larger.
   *
   * @param {Cell[]} cells
   * @param {TourCards} cards
   * @param {number} key
   */
  firstOf(cells, cards, key) {
    const changes = CHANGES.slice(0, MOST_TRIED / cells.length);
    for (const by of changes) {
      const cell = cells.find((each) => this.reaches(cards, key, each, by));
      if (cell) return { cell, by };
    }
    return null;
  }

  /**
   * The given numbers that keys follow from: those that are of this key alone, and others.
   *
   * @param {TourCards} cards
   * @param {number} key
   */
  numbersBehind(cards, key) {
    /** @type {[own: Cell[], others: Cell[]]} */
    const found = [[], []];
    for (const name of this.behind(readAlong(cards.model, "key")?.rule)) {
      const { rule, given, values } = this.model.steps.get(name);
      const isOfTokens = ["query", "key"].includes(rule.axes.at(-2));
      const width = rule.shape.at(-1);
      const [, first] = cards.cell({ rule }, key);
      const places = range(isOfTokens ? width : values.length);
      const cells = places.map((at) => [name, isOfTokens ? first + at : at]);
      const isThere = key < rule.shape.at(-2) || !isOfTokens;
      if (given && isThere) found[isOfTokens ? 0 : 1].push(.../** @type {Cell[]} */ (cells));
    }
    return found;
  }

  /**
   * A step and all that it is worked out from.
   *
   * @param {Rule} rule
   * @returns {string[]}
   */
  behind(rule) {
    if (!rule) return [];
    const reads = rule.equation ? readsOf(rule.equation) : [];
    const steps = reads.flatMap((name) => this.behind(this.model.steps.get(name)?.rule));
    return [...new Set([rule.name, ...steps])];
  }

  /**
   * Whether the query looks at the key most, with a number that is so much larger.
   *
   * @param {TourCards} cards
   * @param {number} key
   * @param {Cell} cell
   * @param {number} by
   */
  reaches(cards, key, [name, at], by) {
    const { values } = this.model.arrays.get(name);
    const before = values[at];
    values[at] += by;
    this.model.work();
    const [, start] = cards.cell(cards.weights, cards.query);
    const weights = this.page.query.weights().values;
    const most = weights.subarray(start, start + cards.shares.length);
    const isMost = most.every((weight, other) => other === key || weight < most[key]);
    values[at] = before;
    this.model.work();
    return isMost;
  }
}
