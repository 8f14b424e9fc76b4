// A given number that is typed over: what the page shows meanwhile, and what is left in the end.

"use strict";

const DECIMALS = 6; // of a number that was stepped to

class Typing {
  constructor(model, name, at) {
    Object.assign(this, { model, name, at, array: model.arrays.get(name) });
    this.before = this.array.written?.[at] ?? `${this.array.values[at]}`;
    this.why = ""; // the text in the field is no number; empty where it is one
  }

  /** Take the text of the field; false where it is no number: the page shows the last one that was. */
  take(text) {
    this.why = whyNoNumber(text);
    if (!this.why) this.model.edit(this.name, this.at, text);
    return !this.why;
  }

  /** Nobody meant the beginning of a text that is no number: bring back what was there before it. */
  giveUp() {
    this.take(this.before);
  }

  /** The text of the number that is so much larger than the one shown. */
  stepped(by) {
    return `${Number((this.array.values[this.at] + by).toFixed(DECIMALS))}`;
  }
}
