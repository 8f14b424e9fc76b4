// @ts-check
// How a number that somebody worked out is judged: by the digits that they wrote, and with the
// mistake that gives it.

"use strict";

// Mistakes that give a wrong number.
const MOST_NAMED = 2;

class Judging {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
  }

  /**
   * @param {string} written
   * @param {number} value
   */
  verdict(written, value) {
    return judge(value, typed(written), this.model.data.judging);
  }

  /**
   * What made a number wrong, if that is a known mistake.
   *
   * @param {string} name
   * @param {number} at
   * @param {string} written
   */
  reason(name, at, written) {
    const isIt = (/** @type {number} */ value) => this.verdict(written, value) === "right";
    const made = this.model.mistakesThatGive(name, at, isIt).slice(0, MOST_NAMED);
    return made.length ? `This comes out if ${made.join(", or if ")}.` : "Try again, or show it.";
  }
}
