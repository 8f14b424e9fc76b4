// @ts-check
// How long the axes and sums of all rules are in these sizes, and which mistakes cannot be made in
// them.

"use strict";

class RuleLengths {
  /** @param {Sizes} sizes */
  constructor(sizes) {
    this.sizes = sizes;
    this.model = sizes.model;
    /** The rules as they were given, whose lengths are not known from arrays. */
    this.before = this.model.rules.map(({ shape, runs }) => ({ shape, runs }));
    /**
     * The rules of mistakes that cannot be made in these sizes.
     *
     * @type {Set<number>}
     */
    this.unfit = new Set();
  }

  measure() {
    this.unfit.clear();
    for (const { plain, shifted, mistakes } of this.model.data.settings) {
      this.measurePlan(plain, mistakes.plain);
      this.measurePlan(shifted, mistakes.shifted);
    }
  }

  /**
   * @param {number[]} plan
   * @param {number[][]} mistakes
   */
  measurePlan(plan, mistakes) {
    /** @type {Map<string, number[]>} */
    const shapes = new Map();
    for (const [name, { shape }] of this.model.arrays) shapes.set(name, shape);
    for (const at of plan) this.measureRule(at, shapes);
    const areGiven = this.sizes.areGiven();
    for (const [, ...rules] of mistakes) {
      const own = new Map(shapes);
      const fit = rules.map((at) => this.measureRule(at, own) && !this.hasLengths(at));
      if (!areGiven && fit.includes(false)) for (const at of rules) this.unfit.add(at);
    }
  }

  /**
   * False where the arrays that it reads do not fit together.
   *
   * @param {number} at
   * @param {Map<string, number[]>} shapes
   */
  measureRule(at, shapes) {
    const rule = this.model.rules[at];
    const { shape, runs } = this.before[at];
    if (!rule.equation) {
      rule.shape = this.model.arrays.get(rule.name).shape;
      return true;
    }
    const read = readLengths(rule.equation, shapes);
    const length = (/** @type {string} */ letter, /** @type {number} */ before) =>
      this.ofRule(rule.name, letter, before) ??
      this.sizes.ofLetter(letter) ??
      read.lengths.get(letter) ??
      before;
    rule.shape = rule.cell.map((letter, axis) => length(letter, shape[axis]));
    const sums = Object.entries(runs).map(([letter, before]) => [letter, length(letter, before)]);
    rule.runs = Object.fromEntries(sums);
    shapes.set(rule.name, rule.shape);
    return read.fit;
  }

  /**
   * A length that a rule knows from elsewhere.
   *
   * @param {string} name
   * @param {string} letter
   * @param {number} before
   */
  ofRule(name, letter, before) {
    const follows = this.sizes.data.rules[`${name} ${letter}`];
    return follows && before + this.sizes.moved(follows);
  }

  /**
   * Whether the equation of a mistake has lengths in it as numbers, so that it cannot follow.
   *
   * @param {number} at
   */
  hasLengths(at) {
    const { instead } = this.model.data.rules[at];
    // It may be a step of another setting.
    if (instead === undefined) return false;
    const own = new Set(numbersIn(this.model.rules[instead].equation));
    return numbersIn(this.model.rules[at].equation).some((number) => !own.has(number));
  }
}

/**
 * How far letters run, by the arrays that an equation reads, and whether these fit together. What a
 * `where` chooses between may be a part of the whole.
 *
 * @param {Tree} tree
 * @param {Map<string, number[]>} shapes
 */
function readLengths(tree, shapes) {
  /** @type {Map<string, number>} */
  const lengths = new Map();
  let fit = true;
  const read = (/** @type {Tree} */ node, /** @type {boolean} */ isChosen) => {
    if (!isCall(node)) return;
    const [kind, ...parts] = node;
    if (kind === "@")
      parts.slice(1).forEach((letter, axis) => {
        const length = shapes.get(parts[0])?.[axis];
        if (typeof letter !== "string" || length === undefined) return;
        const known = lengths.get(letter);
        if (known === undefined) lengths.set(letter, length);
        else if (known !== length && !isChosen) fit = false;
      });
    else if (kind === "where") {
      read(parts[0], isChosen);
      if (isChosen) parts.slice(1).forEach((part) => read(part, true));
    } else parts.forEach((part) => read(part, isChosen));
  };
  read(tree, false);
  read(tree, true);
  return { lengths, fit };
}

/**
 * The numbers of an equation that may be lengths: not the 1 of 1 − x, nor the 2 of powers of 2.
 *
 * @param {Tree} tree
 * @returns {number[]}
 */
function numbersIn(tree, isCompared = false) {
  if (typeof tree === "number") return tree > 1 || (tree === 1 && isCompared) ? [tree] : [];
  if (!isCall(tree)) return [];
  const [kind, ...parts] = tree;
  if (kind === "pow") return numbersIn(parts[1]);
  return parts.flatMap((part) => numbersIn(part, kind === "eq"));
}
