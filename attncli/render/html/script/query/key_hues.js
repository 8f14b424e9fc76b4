// @ts-check
// Which keys of a query have colours, and which colour each has.

"use strict";

// Of so many keys a query has colours, where it has too many for all of them.
const MOST_COLORED = 8;

class KeyHues {
  /** @param {boolean} areEnough Whether every key has its own. */
  constructor(areEnough) {
    this.areEnough = areEnough;
    /**
     * The keys that have colours, in the order of these, where not all have one.
     *
     * @type {number[]}
     */
    this.colored = [];
  }

  /**
   * Give colours to the keys of a query with the largest weights, where there are not enough for all.
   *
   * @param {number[]} weights
   */
  share(weights) {
    if (this.areEnough) return;
    const seen = [...weights.keys()].filter((key) => weights[key] >= SHARED.half_a_tenth_percent);
    seen.sort((one, other) => weights[other] - weights[one]);
    this.colored = seen.slice(0, MOST_COLORED);
  }

  /** @param {number} key */
  has(key) {
    return this.areEnough || this.colored.includes(key);
  }

  /** @param {number} key */
  of(key) {
    if (!this.has(key)) return "hue-none";
    return `hue-${this.areEnough ? key : this.colored.indexOf(key)}`;
  }
}
