// @ts-check
// How a mistake can be noticed, without the right numbers beside it: in one sentence, from the
// numbers that it gives here.

"use strict";

class Signs {
  /**
   * @param {Model} right
   * @param {Model} wrong
   */
  constructor(right, wrong) {
    this.right = right;
    this.wrong = wrong;
    const names = [...right.steps.keys()];
    this.differing = names.filter((name) => this.differs(name));
    const { rule, values } = right.steps.get(right.data.weights) ?? {};
    this.rule = rule;
    this.symbol = rule && symbolName(rule.symbol);
    this.rows = rule ? rowsOf(values, rule.shape) : [];
    this.wrongRows = rule ? rowsOf(wrong.steps.get(rule.name)?.values ?? values, rule.shape) : [];
  }

  /** @param {string} name */
  differs(name) {
    const before = this.right.steps.get(name).values;
    const after = this.wrong.steps.get(name)?.values;
    return !after || before.some((number, at) => !areNear(number, after[at]));
  }

  /** The first of all signs that there are. */
  sentence() {
    if (!this.differing.length) return "Nothing shows it: no number differs here.";
    if (!this.rule || !this.differing.includes(this.rule.name)) return this.besideWeights();
    return (
      this.impossible() ||
      this.sums() ||
      this.ofMask() ||
      this.turned() ||
      this.otherOrder() ||
      this.spread()
    );
  }

  /** What differs where the weights are right, or where there are none. */
  besideWeights() {
    const symbols = this.differing.map((name) =>
      symbolName(this.right.steps.get(name).rule.symbol),
    );
    const [first, ...others] = symbols;
    const beside = this.rule ? `${this.symbol} is right` : "compare it with the right one";
    if (!others.length) return `Only ${first} differs: ${beside}.`;
    return `${first} differs first, ${symbols.at(-1)} last: ${beside}.`;
  }

  /** Numbers that no weight can be. */
  impossible() {
    const all = this.wrongRows.flat();
    if (!all.every(Number.isFinite)) return `${this.symbol} has cells that are no numbers.`;
    if (all.some((weight) => weight < 0)) return `${this.symbol} has weights below 0.`;
    return "";
  }

  sums() {
    const { symbol, wrongRows: rows } = this;
    const before = this.rows.map(sumOf);
    if (rows.every((row, at) => areNear(sumOf(row), before[at]))) return "";
    const columns = rows[0].map((_, key) => sumOf(rows.map((row) => row[key])));
    const areColumns = rows.length === this.rule.shape.at(-2) && columns.every(isOne);
    if (areColumns) return `The columns of ${symbol} sum to 1, not its rows.`;
    const whole = sumOf(rows.flat());
    if (isOne(whole)) return `All of ${symbol} together sums to 1, not each row.`;
    const [first] = rows.map(sumOf).filter((sum, at) => !areNear(sum, before[at]));
    return `Rows of ${symbol} no longer sum to 1: one sums to ${formatNumber(first, this.right.data.precision)}.`;
  }

  /** Hidden keys with weights, and keys without that can be seen. */
  ofMask() {
    const hidden = (/** @type {number} */ at) => this.right.hides(placesOf(this.rule, at));
    const [before, after] = [this.rows.flat(), this.wrongRows.flat()];
    if (after.some((weight, at) => weight > 0 && !before[at] && hidden(at)))
      return `A key that the mask hides has a weight in ${this.symbol}.`;
    if (after.some((weight, at) => !weight && before[at] && !hidden(at)))
      return `A key that can be seen has no weight in ${this.symbol}.`;
    return "";
  }

  /** Scores whose rows are columns, or that are the same both ways. */
  turned() {
    const isSquare = (/** @type {Step} */ { rule }) =>
      isOfQueriesAndKeys(rule) && !rule.hides && rule.shape.at(-1) === rule.shape.at(-2);
    const { rule, values } = [...this.right.steps.values()].find(isSquare) ?? {};
    const others = rule && this.wrong.steps.get(rule.name)?.values;
    if (!others || !this.differing.includes(rule.name)) return "";
    const turned = others.map((_, at) => {
      const places = placesOf(rule, at);
      const [query, key] = rule.cell.slice(-2);
      return others[cellAt(rule, { ...places, [query]: places[key], [key]: places[query] })];
    });
    const isLike = (/** @type {Float64Array} */ some) =>
      some.every((number, at) => areNear(number, turned[at]));
    const symbol = symbolName(rule.symbol);
    if (isLike(values)) return `${symbol} has its rows as columns: it is transposed.`;
    if (isLike(others)) return `${symbol} is symmetric: its rows are its columns.`;
    return "";
  }

  otherOrder() {
    const changed = this.rows.filter(
      (row, at) => mostIn(row) !== mostIn(this.wrongRows[at]),
    ).length;
    if (!changed) return "";
    const count = this.rows.length;
    const which = changed === count ? "every row" : `${changed} of ${count} rows`;
    return `Another key has the largest weight in ${which} of ${this.symbol}.`;
  }

  /** Weights in the same order, which are closer together or further apart. */
  spread() {
    const by = this.rows.map((row, at) => Math.max(...this.wrongRows[at]) - Math.max(...row));
    const some = by.filter((each) => !areNear(each, 0));
    const largest = `the largest weight of each row of ${this.symbol}`;
    if (some.length && some.every((each) => each > 0))
      return `Attention is sharper: ${largest} is larger, in the same order.`;
    if (some.length && some.every((each) => each < 0))
      return `Attention is flatter: ${largest} is smaller, in the same order.`;
    return `The weights of ${this.symbol} differ, and the order in each row is the same.`;
  }
}

/**
 * The rows of a matrix, or of all matrices of heads and entries.
 *
 * @param {Float64Array} values
 * @param {number[]} shape
 */
function rowsOf(values, shape) {
  const width = shape.at(-1);
  return range(values.length / width).map((row) => [
    ...values.subarray(row * width, (row + 1) * width),
  ]);
}

/** @param {number[]} numbers */
const sumOf = (numbers) => numbers.reduce((sum, each) => sum + each, 0);

/** @param {number} sum */
const isOne = (sum) => areNear(sum, 1);

/** @param {number[]} row */
const mostIn = (row) => row.indexOf(Math.max(...row));

/**
 * Whether two numbers are the same but for their last bits.
 *
 * @param {number} one
 * @param {number} other
 */
function areNear(one, other) {
  if (one === other || (Number.isNaN(one) && Number.isNaN(other))) return true;
  return Math.abs(one - other) <= SHARED.alike_within * Math.max(1, Math.abs(one));
}
