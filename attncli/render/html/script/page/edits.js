// @ts-check
// Given numbers that are typed over, and cells of the mask that are clicked.

"use strict";

// Of what was changed, so much is listed.
const MOST_CHANGES_LISTED = 3;
const HOW_TO_CHANGE =
  "Click a given number, or a word beside it, and type: 2, 1/3 or sqrt(2). Point at any number to see how it is worked out.";

class Edits {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    /**
     * Of given numbers, by "X.3": the texts that were typed.
     *
     * @type {Map<string, string>}
     */
    this.texts = new Map();
    /**
     * The cell that is being typed over.
     *
     * @type {HTMLElement}
     */
    this.cell = null;
    /**
     * The open fields, by "X.3": the one with the focus, and those whose texts are no numbers.
     *
     * @type {Map<string, Field>}
     */
    this.fields = new Map();
    addEventListener("resize", () => {
      for (const field of this.fields.values()) field.mark();
    });
  }

  // --- numbers

  /**
   * Let a given number be typed over, or begin with a first sign.
   *
   * @param {Found} found
   * @param {string} [text]
   */
  open(found, text) {
    const known = this.fieldIn(found.cell);
    const field = known ?? this.put(found, text);
    field.input.focus();
    if (text === undefined) return field.input.select();
    field.input.value = text;
    field.input.setSelectionRange(text.length, text.length);
    field.take(text);
  }

  /**
   * A field over a number; one that it has elsewhere gives way.
   *
   * @param {Found} found
   * @param {string} [text]
   */
  put(found, text) {
    this.fields.get(`${found.table.name}.${found.table.start + found.at}`)?.remove();
    const field = new Field(this.page, found, text);
    this.fields.set(field.key, field);
    return field;
  }

  /**
   * From a field to the next number of its matrix, or the one before, as in a spreadsheet; false
   * where there is none.
   *
   * @param {Field} field
   * @param {number} by
   */
  goOn(field, by) {
    const { matrices } = this.page;
    const cells = all(field.cell.closest("table"), "tbody td");
    const next = cells[cells.indexOf(field.cell) + by];
    if (!next) return false;
    const { table, at } = matrices.find(next);
    if (!field.why) field.close();
    // Other numbers may have other sections.
    this.open(matrices.find(next) ?? matrices.at(table.name, table.start + at));
    return true;
  }

  /** @param {HTMLElement} cell */
  fieldIn(cell) {
    return [...this.fields.values()].find((field) => field.cell === cell);
  }

  /** What is no number, with the places where it stands. */
  unread() {
    const wrong = [...this.fields.values()].filter((field) => field.why);
    return wrong.map(({ key, input }) => [key, input.value]);
  }

  /**
   * Put texts that are no numbers where they stood; also where other sections have come.
   *
   * @param {string[][]} texts
   */
  putUnread(texts) {
    for (const [key, text] of texts) {
      const found = this.page.matrices.at(...splitKey(key));
      if (!found) continue;
      const field = this.put(found, text);
      field.typing.take(text);
      field.mark();
    }
  }

  /** Fields in sections that gave way to others go with them to these. */
  connect() {
    const lost = [...this.fields.values()].filter(({ cell }) => !this.page.main.contains(cell));
    const texts = lost.map(({ key, input }) => [key, input.value]);
    for (const field of lost) field.remove();
    this.putUnread(texts);
  }

  /**
   * Work everything out again after a number was edited.
   *
   * @param {string} name
   * @param {number} at
   */
  changed(name, at) {
    this.keep(name, at);
    this.model.work();
    this.page.show();
  }

  /**
   * Know what was typed for a number, where that is not what it was.
   *
   * @param {string} name
   * @param {number} at
   */
  keep(name, at) {
    const { written } = this.model.arrays.get(name);
    const original = this.model.sizes.differences.original(name, at);
    if (written[at] === original) this.texts.delete(`${name}.${at}`);
    else this.texts.set(`${name}.${at}`, written[at]);
  }

  /** Every given number again, as the problem has it. */
  forget() {
    const { differences } = this.model.sizes;
    for (const field of this.fields.values()) field.remove();
    for (const key of this.texts.keys()) {
      const [name, at] = splitKey(key);
      this.model.edit(name, at, differences.original(name, at));
    }
    this.texts.clear();
  }

  /** Zeros, and ones where row and column are alike, for all given numbers: to begin with nothing. */
  clear() {
    const { arrays, data, held } = this.model;
    held.clear();
    for (const name of data.given) {
      const { shape, values } = arrays.get(name);
      for (const at of values.keys()) this.model.edit(name, at, startingText(shape, at));
    }
    this.compare();
    this.model.work();
  }

  /** See which numbers differ, after a whole matrix has changed. */
  compare() {
    this.texts = this.model.sizes.differences.edited();
  }

  reset() {
    this.forget();
    this.page.blanks.take([]);
    this.model.sizes.restore(this.model.sizes.first);
    const { mask, scaled } = this.page.live.data.settings[0];
    this.page.set(mask, scaled, "");
    this.page.say("as it was given");
  }

  // --- the mask

  /**
   * Let a query see a key, or hide it; in all heads and entries that share the mask which is shown.
   *
   * @param {Found} found
   */
  toggle({ table, at }) {
    const { model } = this;
    const { mask: before, clicks: mask, scaled } = model.setting;
    const { rule, values } = model.steps.get(model.data.mask);
    const own = this.ruleOfMask(mask);
    const clicked = table.start + at;
    const willBeSeen = values[clicked] === -Infinity;
    model.arrays.get(model.data.own).values.forEach((_, place) => {
      const shown = cellAt(rule, placesOf(own, place));
      if (shown === clicked) this.setKeep(place, willBeSeen);
      else if (before !== mask) this.setKeep(place, values[shown] !== -Infinity);
    });
    this.page.set(mask, scaled);
    const isStillHidden = model.steps.get(model.data.mask).values[clicked] === -Infinity;
    if (willBeSeen && isStillHidden)
      this.page.say(
        "The numbers that the problem adds hide this key. In a mask of your own it can be seen.",
      );
  }

  /**
   * The cell of the mask that follows from a place of a mask of one's own; -1 without a mask.
   *
   * @param {number} at
   */
  cellOfMask(at) {
    const { steps, setting, data } = this.model;
    const { rule } = steps.get(data.mask) ?? {};
    return rule ? cellAt(rule, placesOf(this.ruleOfMask(setting.clicks), at)) : -1;
  }

  /** @param {string} mask */
  ruleOfMask(mask) {
    const { settings, mask: name } = this.model.data;
    const { plain } = settings.find((each) => each.mask === mask);
    return this.model.rules[plain.find((at) => this.model.rules[at].name === name)];
  }

  /**
   * @param {number} at
   * @param {boolean} isSeen
   */
  setKeep(at, isSeen) {
    const { own } = this.page.live.data;
    this.model.edit(own, at, isSeen ? "1" : "0");
    if (isSeen) this.texts.delete(`${own}.${at}`);
    else this.texts.set(`${own}.${at}`, "0");
  }

  // --- what was changed, in words

  /** What differs from the problem as it was given; or what can be done, where nothing does. */
  said() {
    const sizes = this.model.sizes.differences.said().length ? [["sizes or labels"]] : [];
    const changes = [...sizes, ...this.typedNumbers(), ...this.heldNumbers()];
    const { blanks } = this.page;
    if (blanks.unknown.length) return blanks.whyNot();
    const asked = [...this.linkToMask(), ...blanks.said()];
    if (!changes.length && asked.length) return asked;
    if (!changes.length) return [this.page.misfits ? MISFITS : HOW_TO_CHANGE];
    const listed = changes.slice(0, MOST_CHANGES_LISTED);
    const parted = listed.flatMap((each, at) => (at ? ["; ", ...each] : each));
    const more = changes.length - listed.length;
    const also = more ? `; and ${more} more` : "";
    return [...asked, "Changed: ", ...parted, also];
  }

  /** The way to the cells of a mask of one's own, which may stand far below. */
  linkToMask() {
    const { model } = this;
    const { mask, clicks } = model.setting;
    const [section] = this.page.sections.ofStep(model.data.mask);
    if (mask !== clicks || !section) return [];
    const link = element("a", { href: `#${section.id}` }, "Click the cells of the mask");
    return [link, " to hide keys. "];
  }

  typedNumbers() {
    const changes = [...this.texts].map(([key, text]) => this.change(...splitKey(key), text));
    return changes.filter(Boolean);
  }

  heldNumbers() {
    const held = [...this.model.held];
    return held.flatMap(([name, numbers]) =>
      [...numbers.keys()].map((at) => {
        const text = this.page.lines.numberText(name, at);
        return this.change(name, at, `${text}, held`);
      }),
    );
  }

  /**
   * @param {string} name
   * @param {number} at
   * @param {string} text
   * @returns {(Node | string)[]}
   */
  change(name, at, text) {
    const { rule } = this.model.steps.get(name) ?? {};
    return rule && [label(this.page.lines.title(rule, at)), ` = ${signed(text)}`];
  }
}

/**
 * What an array of this shape begins with at a place, as the arrays of `attncli new` do.
 *
 * @param {number[]} shape
 * @param {number} at
 */
function startingText(shape, at) {
  if (shape.length < 2) return "0";
  const [row, column] = indexIn(shape, at).slice(-2);
  return row === column ? "1" : "0";
}
