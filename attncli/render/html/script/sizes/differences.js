// @ts-check
// What differs from the problem as it was given: numbers, sizes and words, and how an address says
// them.

"use strict";

class Differences {
  /** @param {Sizes} sizes */
  constructor(sizes) {
    this.sizes = sizes;
    this.model = sizes.model;
    /** What the problem as it was given has in these sizes: its first places, and zeros. */
    this.base = sizes.first;
  }

  findBase() {
    const { sizes } = this;
    const now = sizes.state();
    sizes.bring(sizes.first);
    sizes.move(new Map(now.lengths.map((each, at) => [at, toLength(sizes.given[at], each)])));
    this.base = sizes.state();
    sizes.bring(now);
  }

  // --- numbers

  /** Those that differ, by their places: "X.3" and what was written. */
  edited() {
    /** @type {Map<string, string>} */
    const found = new Map();
    for (const [name, array] of this.model.arrays)
      array.values.forEach((_, at) => {
        const text = cellInFile(array, at);
        if (text !== this.original(name, at)) found.set(`${name}.${at}`, text);
      });
    return found;
  }

  /**
   * What was given for a number, which is 0 where it is new.
   *
   * @param {string} name
   * @param {number} at
   */
  original(name, at) {
    return cellInFile(this.base.arrays.get(name), at);
  }

  /**
   * A place that was taken away and comes again has the numbers that it was given.
   *
   * @param {number[][]} origins
   */
  fillAgain(origins) {
    for (const [name, dimensions] of Object.entries(this.sizes.data.arrays)) {
      const array = this.model.arrays.get(name);
      array.values.forEach((_, at) => {
        const index = indexIn(array.shape, at);
        const isNew = index.some((place, axis) => origins[dimensions[axis]][place] < 0);
        const text = isNew && this.original(name, at);
        if (isNew && text !== cellInFile(array, at)) this.model.edit(name, at, text);
      });
    }
  }

  // --- sizes and words, in an address

  /** Sizes and labels that differ, as an address has them. */
  said() {
    const { sizes } = this;
    const said = sizes.areGiven() ? [] : [["sizes", sizes.lengths.join("-")]];
    const { naming, labels } = this.model.data;
    naming.forEach(([how], list) => {
      if (how !== "words") return;
      labels[list].forEach((text, at) => {
        if (text !== this.base.labels[list][at]) said.push([`word.${list}.${at}`, text]);
      });
    });
    return said;
  }

  /**
   * Take the sizes and labels that an address has, and given numbers with them; what comes back are
   * the keys that fit this problem.
   *
   * @param {URLSearchParams} said
   */
  hear(said) {
    const { sizes } = this;
    sizes.restore(sizes.first);
    const isTaken = this.hearLengths(said.get("sizes")?.split("-").map(Number) ?? []);
    const words = [...said].filter(([key, text]) => {
      const [list, at] = /^word\.(\d+)\.(\d+)$/.exec(key)?.slice(1).map(Number) ?? [];
      const isThere = this.model.data.labels[list]?.[at] !== undefined;
      return isThere && !sizes.rename(list, at, text);
    });
    return [...(isTaken ? ["sizes"] : []), ...words.map(([key]) => key)];
  }

  /**
   * Whether the problem can have these lengths, and has them now.
   *
   * @param {number[]} lengths
   */
  hearLengths(lengths) {
    const { data, given } = this.sizes;
    const can = (/** @type {number} */ length, /** @type {number} */ at) =>
      length === given[at] || (Number.isInteger(length) && length > 0 && length <= data.longest);
    if (lengths.length !== given.length || !lengths.every(can)) return false;
    /** @type {Map<number, number[]>} */
    const places = new Map();
    data.dimensions.forEach(({ sum, product }, at) => {
      if (!sum && !product) places.set(at, toLength(given[at], lengths[at]));
    });
    return !this.sizes.change(places);
  }
}
