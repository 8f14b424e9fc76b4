// @ts-check
// A given number that is typed over: what the page shows meanwhile, and what is left in the end.

"use strict";

// Decimals of a number that was stepped to.
const STEPPED_DECIMALS = 6;

class Typing {
  /**
   * @param {Model} model
   * @param {string} name
   * @param {number} at
   */
  constructor(model, name, at) {
    this.model = model;
    this.name = name;
    this.at = at;
    this.array = model.arrays.get(name);
    this.before = this.array.written?.[at] ?? `${this.array.values[at]}`;
    // Why the text in the field is no number; empty where it is one.
    this.why = "";
  }

  /**
   * Take the text of the field; false where it is no number: the page shows the last one that was.
   *
   * @param {string} text
   */
  take(text) {
    this.why = whyNoNumber(text);
    if (!this.why) this.model.edit(this.name, this.at, text);
    return !this.why;
  }

  /** Nobody meant the beginning of a text that is no number: bring back what was there before it. */
  giveUp() {
    this.model.edit(this.name, this.at, this.before);
  }

  /**
   * The text of the number that is so much larger than the one shown.
   *
   * @param {number} by
   */
  stepped(by) {
    const number = this.array.values[this.at] + by;
    return `${Number(number.toFixed(STEPPED_DECIMALS))}`;
  }
}
