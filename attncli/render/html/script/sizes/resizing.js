// @ts-check
// Tokens, features and heads that are added and taken away: the buttons for it, and the page in
// other sizes.

"use strict";

class Resizing {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.sizes = page.model.sizes;
    /** The sizes that the tables have, and the words. */
    this.shown = this.sizes.version;
    this.parts = element("span", { class: "resize" });
  }

  // --- the page in these sizes

  /** Before the page looks for its matrices: let tables and sentences have these sizes. */
  fit() {
    const { page, sizes } = this;
    const { matrices, model } = page;
    if (sizes.version) {
      for (const table of /** @type {HTMLTableElement[]} */ (all(page.main, "table[data-array]"))) {
        const shown = matrices.source(table, table.dataset.array);
        if (shown) reshape(table, shown, model.data.labels);
      }
    }
    if (this.shown !== sizes.version) this.drawAgain();
    this.shown = sizes.version;
  }

  /** The pictures of words, which are drawn once for all numbers. */
  drawAgain() {
    const { page } = this;
    const { root, at } = page.query;
    page.query = new Query(page);
    page.query.at = at;
    // Others watch where it stands.
    root.replaceChildren(...page.query.root.childNodes);
    page.query.root = root;
    page.map.built = "";
  }

  /** After the page has found its matrices. */
  show() {
    for (const matrix of this.page.matrices.tables) this.offer(matrix);
    this.offerParts();
    if (this.sizes.version) saySizes(this.page);
  }

  // --- heads and entries

  /**
   * The sections of a layout with as many heads and entries as there are now.
   *
   * @param {Live["sections"]} sections
   * @returns {PlacedSection[]}
   */
  partsOf(sections) {
    let found = sections.map(([id, level, pieces]) => {
      return /** @type {PlacedSection} */ ({ id, level, pieces, of: null });
    });
    for (const letter of ["h", "b"]) {
      const dimension = this.sizes.data.letters[letter];
      if (dimension === undefined) continue;
      const [before, now] = [this.sizes.given[dimension], this.sizes.lengths[dimension]];
      const word = letter === "h" ? "head" : "entry";
      found = found.filter(({ id }) => partOf(id, word) < now);
      found = withCopies(
        found,
        letter,
        word,
        before - 1,
        range(now - before).map((at) => before + at),
      );
    }
    return found;
  }

  // --- buttons

  /**
   * Buttons at a given matrix, for its rows and columns.
   *
   * @param {Matrix} matrix
   */
  offer({ name, rule, table, labelled, editable, fixed }) {
    if (!editable || !labelled) return;
    const place = table.closest(".scroll, .product");
    if (place.nextElementSibling?.matches(".resize")) place.nextElementSibling.remove();
    const axes = [...rule.cell.keys()].filter((axis) => !(rule.cell[axis] in fixed)).slice(-2);
    /** @type {Map<number, string>} */
    const kinds = new Map();
    for (const axis of axes) {
      const isColumn = axis === rule.cell.length - 1 && axes.length > 1;
      const dimension = this.sizes.of(name, axis);
      const isWord = this.hasWords(dimension);
      kinds.set(dimension, isWord ? "word" : isColumn ? "column" : "row");
    }
    const pairs = [...kinds].map(([dimension, kind]) =>
      element("span", {}, ...this.pair(dimension, kind, table)),
    );
    place.after(element("div", { class: "resize", role: "group" }, ...pairs));
  }

  /**
   * Whether its places are called by words.
   *
   * @param {number} dimension
   */
  hasWords(dimension) {
    return this.page.model.data.naming.some(([how, at]) => how === "words" && at === dimension);
  }

  /** Buttons for heads and entries, which are no axes of one table. */
  offerParts() {
    const { letters } = this.sizes.data;
    const dimensions = [letters.h, letters.b].filter((each) => this.sizes.canMove(each));
    const buttons = dimensions.flatMap((each) =>
      this.pair(each, this.sizes.data.dimensions[each].name, null),
    );
    this.parts.replaceChildren(...buttons);
  }

  /**
   * @param {number} dimension
   * @param {string} what
   * @param {HTMLTableElement} table
   */
  pair(dimension, what, table) {
    const { sizes } = this;
    const { name } = sizes.data.dimensions[dimension];
    return [1, -1].map((by) => {
      const why = sizes.whyNot(dimension, sizes.lengths[dimension] + by);
      const text = `${by > 0 ? "+" : "−"} ${what}`;
      const label = `${text}: one ${name} ${by > 0 ? "more" : "less"}`;
      const take = () => (why ? this.refuse(why) : this.take(dimension, by, table, label));
      const made = button(text, take, { "aria-label": label, title: why || label });
      made.setAttribute("aria-disabled", String(Boolean(why)));
      return made;
    });
  }

  /** @param {string} why */
  refuse(why) {
    this.page.oneNumber.tell(`Not possible: ${why}.`);
  }

  /**
   * @param {number} dimension
   * @param {number} by
   * @param {HTMLTableElement} table
   * @param {string} label
   */
  take(dimension, by, table, label) {
    const { page, sizes } = this;
    const section = table?.closest("section")?.id;
    const place = this.chosenPlace(dimension, table);
    const why = by > 0 ? sizes.add(dimension) : sizes.remove(dimension, place);
    if (why) return this.refuse(why);
    this.changed();
    const again = all(page.root, ".resize button").filter(
      (each) => each.getAttribute("aria-label") === label,
    );
    const near = again.find((each) => each.closest("section")?.id === section);
    (near ?? again[0])?.focus({ preventScroll: true });
    page.say(`${sizes.lengths[dimension]} now`);
  }

  /**
   * The place of the number that was chosen last in a matrix; else the last place.
   *
   * @param {number} dimension
   * @param {HTMLTableElement} table
   */
  chosenPlace(dimension, table) {
    const { chosen } = this.page.oneNumber;
    const last = this.sizes.lengths[dimension] - 1;
    if (!table || chosen?.table.table !== table) return last;
    const { rule, start, name } = chosen.table;
    const axis = rule.cell.findIndex((_, at) => this.sizes.of(name, at) === dimension);
    return indexIn(rule.shape, start + chosen.at)[axis];
  }

  /** Show what follows after sizes, labels or whole matrices have changed. */
  changed() {
    const { page } = this;
    const { model } = page;
    const { mask, scaled } = model.setting;
    page.edits.compare();
    // A mistake that cannot be made in these sizes is given up.
    const isMade = model.mistakes().includes(model.mistake);
    model.choose(mask, scaled, isMade ? model.mistake : "");
    page.showAll();
  }
}

/** @typedef {{ id: string, level: number, pieces: number[] | null, of: { id: string, swap: (text: string) => string } }} PlacedSection */

/**
 * The head or the entry that a section is of; -1 where it is of none.
 *
 * @param {string} id
 * @param {string} word
 */
function partOf(id, word) {
  const found = new RegExp(`(?<![a-z])${word}-(\\d+)`).exec(id);
  return found ? Number(found[1]) : -1;
}

/**
 * The sections with those of further heads, which are like those of the last one.
 *
 * @param {PlacedSection[]} sections
 * @param {string} letter
 * @param {string} word
 * @param {number} last
 * @param {number[]} more
 */
function withCopies(sections, letter, word, last, more) {
  /** @type {PlacedSection[]} */
  const found = [];
  sections.forEach((section, at) => {
    found.push(section);
    const isOfLast = partOf(section.id, word) === last;
    const goesOn = sections[at + 1] && partOf(sections[at + 1].id, word) === last;
    if (!isOfLast || goesOn) return;
    const first =
      sections.slice(0, at + 1).findLastIndex((each) => partOf(each.id, word) !== last) + 1;
    for (const place of more)
      for (const each of sections.slice(first, at + 1))
        found.push(copyOf(each, letter, word, last, place));
  });
  return found;
}

/**
 * @param {PlacedSection} section
 * @param {string} letter
 * @param {string} word
 * @param {number} last
 * @param {number} place
 */
function copyOf({ id, level, pieces, of }, letter, word, last, place) {
  const title = new RegExp(`\\b(${word}[ -])${last}\\b`, "gi");
  const at = new RegExp(`\\b${letter}=${last}\\b`);
  const swap = (/** @type {string} */ text) =>
    (of?.swap(text) ?? text).replace(title, `$1${place}`).replace(at, `${letter}=${place}`);
  return { id: swap(id), level, pieces, of: { id: of?.id ?? id, swap } };
}
