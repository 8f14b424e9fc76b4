// @ts-check
// What is found for some words: sections of pages that have all of them, the best first.

"use strict";

/**
 * A page as the index has it: address, title, group, and sections (anchor, heading, text).
 *
 * @typedef {[string, string, string, [string, string, string][]]} IndexedPage
 */

/**
 * @typedef {object} Found
 * @property {string} address
 * @property {string} page
 * @property {string} heading of the section; empty for the page itself
 * @property {[string, boolean][]} excerpt in pieces, each with whether it was asked for
 */

const Search = {
  MOST: 30,
  // What was decided and what was changed is seldom what somebody looks for.
  LATE: ["Decisions", "Build"],

  /**
   * @param {string} asked
   * @param {IndexedPage[]} index
   * @returns {Found[]}
   */
  find(asked, index) {
    const words = Search.words(asked);
    if (!words.length) return [];
    const found = [];
    for (const page of index) {
      for (const [at, section] of page[3].entries()) {
        const worth = Search.worth(words, page, section);
        if (worth) found.push({ worth, page, section, isWhole: at === 0 });
      }
    }
    found.sort((one, other) => other.worth - one.worth);
    return found.slice(0, Search.MOST).map((each) => Search.shown(each, words));
  },

  /** @param {string} text */
  words(text) {
    return text.toLowerCase().split(/\s+/).filter(Boolean);
  },

  /**
   * How good a section is for these words; 0 where one of them is missing.
   *
   * @param {string[]} words
   * @param {IndexedPage} page
   * @param {[string, string, string]} section
   */
  worth(words, [, title, group], [, heading, text]) {
    let sum = 0;
    for (const word of words) {
      const inHeading = Search.fit(word, heading);
      const inTitle = Search.fit(word, title);
      const inText = Search.fit(word, text);
      if (!inHeading && !inTitle && !inText) return 0;
      sum += 8 * inHeading + 3 * inTitle + inText;
    }
    return Search.LATE.includes(group) ? sum / 3 : sum;
  },

  /**
   * 0 for a word that a text does not have, 3 for a whole word, 2 for the beginning of one.
   *
   * @param {string} word
   * @param {string} text
   */
  fit(word, text) {
    const lower = text.toLowerCase();
    let best = 0;
    let at = lower.indexOf(word);
    while (at >= 0 && best < 3) {
      const begins = !Search.isLetter(lower[at - 1]);
      const ends = !Search.isLetter(lower[at + word.length]);
      best = Math.max(best, begins ? (ends ? 3 : 2) : 1);
      at = lower.indexOf(word, at + 1);
    }
    return best;
  },

  /** @param {string | undefined} sign */
  isLetter(sign) {
    return sign !== undefined && /[\p{L}\p{N}]/u.test(sign);
  },

  /**
   * What is shown of a section that was found.
   *
   * @param {{ page: IndexedPage, section: [string, string, string], isWhole: boolean }} found
   * @param {string[]} words
   * @returns {Found}
   */
  shown({ page, section, isWhole }, words) {
    const [address, title] = page;
    const [anchor, heading, text] = section;
    return {
      address: isWhole ? address : `${address}#${anchor}`,
      page: title,
      heading: isWhole ? "" : heading,
      excerpt: Search.pieces(Search.around(text, words), words),
    };
  },

  /**
   * Some of a text, around the first of the words in it.
   *
   * @param {string} text
   * @param {string[]} words
   */
  around(text, words) {
    const lower = text.toLowerCase();
    const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
    const first = Math.min(...places, text.length);
    const start = places.length ? Math.max(0, text.lastIndexOf(" ", Math.max(0, first - 50))) : 0;
    const some = text.slice(start, start + 180).trim();
    const before = start > 0 ? "… " : "";
    return before + some + (start + 180 < text.length ? " …" : "");
  },

  /**
   * A text cut where words that were asked for begin and end.
   *
   * @param {string} text
   * @param {string[]} words
   * @returns {[string, boolean][]}
   */
  pieces(text, words) {
    const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const cuts = text.split(new RegExp(`(${escaped.join("|")})`, "gi"));
    return cuts.map((piece, at) => [piece, at % 2 === 1]);
  },
};
