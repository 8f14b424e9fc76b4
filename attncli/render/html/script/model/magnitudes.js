// @ts-check
// How large the numbers are that each cell is made of, and which small ones are only residues.

"use strict";

class Magnitudes {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Map<string, Float64Array>} */
    this.known = new Map();
  }

  /**
   * How large the numbers are that each cell of an array is made of.
   *
   * @param {string} name
   */
  of(name) {
    const step = this.model.steps.get(name);
    if (!step) return this.model.arrays.get(name).values.map(Math.abs);
    if (!this.known.has(name)) {
      const bound = step.given ? step.values.map(Math.abs) : this.bound(step.rule);
      this.known.set(
        name,
        bound.map((found, at) => this.within(found, step.values[at])),
      );
    }
    return this.known.get(name);
  }

  /**
   * @param {number} found
   * @param {number} value
   */
  within(found, value) {
    if (!Number.isFinite(value)) return 0;
    if (Number.isNaN(found)) return Number.MAX_VALUE;
    const most = Math.min(Math.max(found, Math.abs(value)), Number.MAX_VALUE);
    return most > 0 ? Math.max(most, this.model.data.residue.smallest) : 0;
  }

  /** @param {Rule} rule */
  bound(rule) {
    if (rule.softmax) return this.ofShares(rule);
    // The rule of a mistake has no magnitude.
    if (!rule.magnitude) return this.model.steps.get(rule.name).values.map(Math.abs);
    const found = new Float64Array(size(rule.shape));
    fillCells(rule, compiled(this.model, rule, rule.magnitude), found);
    return found;
  }

  /**
   * Of weights: as much as all logits of the row move them (`tracing/magnitudes.py` says why).
   *
   * @param {Rule} rule
   */
  ofShares(rule) {
    const { model } = this;
    const { epsilon, smallest } = model.data.residue;
    const weights = model.steps.get(rule.name).values.map(Math.abs);
    const [part, whole] = readsOf(rule.equation);
    const logits = this.of(this.logits(part)).map((each) => each * rule.softmax);
    const [parts, wholes] = [this.of(part), model.steps.get(whole)];
    const sums = new Float64Array(wholes.values.length);
    const largest = new Float64Array(wholes.values.length);
    const rows = Array.from(weights, (_, at) => cellAt(wholes.rule, placesOf(rule, at)));
    rows.forEach((row, at) => {
      sums[row] += weights[at] * logits[at];
      if (weights[at] > 0) largest[row] = Math.max(largest[row], logits[at]);
    });
    return weights.map((weight, at) => {
      const row = rows[at];
      if (weight <= 0) return parts[at] / Math.max(wholes.values[row], smallest);
      const others = sums[row] - weight * logits[at];
      const moved = (1 - weight) * logits[at] + others;
      return weight * (1 + moved * Math.exp(2 * epsilon * largest[row]));
    });
  }

  /**
   * What exponentials are of, without the largest number of each row.
   *
   * @param {string} exponentials
   */
  logits(exponentials) {
    const { steps } = this.model;
    const [inside] = readsOf(steps.get(exponentials).rule.equation);
    const [kind, , taken] = steps.get(inside).rule.equation ?? [];
    const isShifted = kind === "sub" && taken[0] === "finite";
    return isShifted ? readsOf(steps.get(inside).rule.equation)[0] : inside;
  }

  /** Set `shown` of each step: its numbers, with 0 for a residue that would be printed as 0.000. */
  leaveOutResidues() {
    const { data } = this.model;
    const steps = [...this.model.steps.values()];
    for (const step of steps) step.shown = step.values;
    const isLarge = Math.max(...steps.map((step) => step.values.length)) > data.residue.most;
    if (isLarge) return;
    const unseen = 0.5 * 10 ** -data.precision;
    /** @param {number} value */
    const isSmall = (value) => value !== 0 && Math.abs(value) < unseen;
    for (const step of steps) {
      if (step.texts || step.given || !step.values.some(isSmall)) continue;
      const bound = this.of(step.rule.name);
      step.shown = step.values.map((value, at) => {
        const isResidue = Math.abs(value) <= data.residue.noise * bound[at];
        return isResidue && Math.abs(value) < unseen ? 0 : value;
      });
    }
  }
}
