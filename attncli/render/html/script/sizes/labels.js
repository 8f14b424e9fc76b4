// @ts-check
// What the places of dimensions are called: by words, which a reader can change, or counted. The
// lists of labels are `model.data.labels`.

"use strict";

class Labels {
  /** @param {Sizes} sizes */
  constructor(sizes) {
    this.sizes = sizes;
    this.data = sizes.model.data;
  }

  // --- words

  /**
   * Call a place of a list otherwise, and the same place of all other lists. What comes back is ""
   * or why this was not done.
   *
   * @param {number} list
   * @param {number} at
   * @param {string} text
   */
  rename(list, at, text) {
    const { labels, naming } = this.data;
    const word = text.trim().replace(/\s+/g, " ");
    const [how, dimension] = naming[list];
    if (how !== "words") return "they are counted, and have no words";
    if (!word) return "a label has one sign at least";
    const before = labels[list][at];
    const place = this.basis(dimension, at);
    naming.forEach(([other, of], each) => {
      if (other !== "words") return;
      labels[each] = labels[each].map((text, here) => {
        const isIt = each === list ? here === at : this.basis(of, here) === place;
        return isIt && text === before ? word : text;
      });
    });
    return "";
  }

  /**
   * Which place it is, also where it is one of several dimensions side by side.
   *
   * @param {number} dimension
   * @param {number} at
   * @returns {string}
   */
  basis(dimension, at) {
    const { sum } = this.sizes.data.dimensions[dimension] ?? {};
    if (!sum) return `${dimension} ${at}`;
    const [first, second] = sum;
    const length = this.sizes.lengths[first];
    return at < length ? this.basis(first, at) : this.basis(second, at - length);
  }

  /**
   * Words move with their places, and new places get new words.
   *
   * @param {number[][]} origins
   */
  move(origins) {
    const { labels, naming } = this.data;
    const words = naming.flatMap(([how], at) => (how === "words" ? labels[at] : []));
    const used = new Set(words);
    /**
     * The words of new places, which are the same in every list.
     *
     * @type {Map<string, string>}
     */
    const fresh = new Map();
    naming.forEach(([how, dimension], at) => {
      if (how !== "words" || dimension < 0) return;
      labels[at] = origins[dimension].map((from, place) => {
        if (from >= 0) return labels[at][from];
        const basis = this.basis(dimension, place);
        const given = this.sizes.first.labels[at][place];
        if (!fresh.has(basis)) fresh.set(basis, freshWord(used, given));
        return fresh.get(basis);
      });
    });
  }

  /**
   * A title that begins with the words that were given, with those that there are now.
   *
   * @param {string} given
   * @param {(words: string) => string} spelled
   */
  titled(given, spelled = (words) => words) {
    const { tokens, labels } = this.data;
    const words = (/** @type {string[][]} */ each) => spelled(each[tokens.tokens].join(" "));
    const [before, now] = [words(this.sizes.first.labels), words(labels)];
    const isOfWords = given === before || given.startsWith(`${before}: `);
    return isOfWords ? now + given.slice(before.length) : given;
  }

  // --- counted

  /** Those of features, heads and positions, as many as there are now. */
  count() {
    const { labels, naming } = this.data;
    for (const { shape, labels: lists, instead } of this.sizes.model.rules) {
      // The rule of a mistake may stand for arrays that do not fit.
      if (instead === undefined)
        lists.forEach((at, axis) => {
          const [how] = naming[at];
          if (how === "words") return;
          labels[at] = range(shape[axis]).map((place) => this.counted(how, at, place));
        });
    }
  }

  /**
   * @param {string} how
   * @param {number} list
   * @param {number} place
   */
  counted(how, list, place) {
    if (how !== "joined") return how === "d" ? `d${place + 1}` : how.replace("{}", `${place}`);
    const [, dimension] = this.data.naming[list];
    const { product } = this.sizes.data.dimensions[dimension];
    // Of a dimension that is as it was given.
    if (!product) return this.data.labels[list][place];
    const width = this.sizes.lengths[product[1]];
    return `h${Math.floor(place / width)} d${(place % width) + 1}`;
  }
}

/**
 * The next word that is not used: the one that was given, or a, b, c, …
 *
 * @param {Set<string>} used
 * @param {string} [given]
 */
function freshWord(used, given = "a") {
  const letters = range(LETTERS).map((at) => String.fromCharCode(97 + at));
  const more = range(used.size + 1).map((at) => `t${at + 1}`);
  const word = [given, ...letters, ...more].find((each) => !used.has(each));
  used.add(word);
  return word;
}
