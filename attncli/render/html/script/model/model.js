// @ts-check
// A problem that is worked out again after each change: its plan for the settings chosen, and the
// numbers of all steps.
//
// Python writes the data (`page/live/data.py`): equations as nested lists, and what was given with
// the texts it was given in.

"use strict";

// The scale of a setting whose scale is slid.
const SLID = "number";

class Model {
  /** @param {LiveData} data */
  constructor(data) {
    this.data = data;
    this.leading = new Set([...data.letters.leading, data.letters.group]);
    const arrays = Object.entries(data.arrays);
    this.arrays = new Map(arrays.map(([name, array]) => [name, readArray(array)]));
    /** @type {(Rule & { instead?: number })[]} */
    this.rules = [];
    for (const rule of data.rules) {
      // The rule of a mistake says only what differs.
      const { name, symbol, title, cell, shape, axes, labels } = this.rules[rule.instead] ?? rule;
      this.rules.push(
        /** @type {Rule} */ ({ name, symbol, title, cell, shape, axes, labels, ...rule }),
      );
    }
    /**
     * Of a step: numbers by their places, which stay whatever the equation says.
     *
     * @type {Map<string, Map<number, number>>}
     */
    this.held = new Map();
    /**
     * The rules that the mistake has instead of others, by the names of their steps.
     *
     * @type {Map<string, number>}
     */
    this.instead = new Map();
    /**
     * The scale that was slid to, as it is written.
     *
     * @type {string}
     */
    this.scale = "1";
    /**
     * Whether the softmax is shifted, where this does not follow from the numbers.
     *
     * @type {boolean}
     */
    this.isShifted = undefined;
    this.sizes = new Sizes(this);
    this.choose(data.settings[0].mask, data.settings[0].scaled);
  }

  /** All that a reader can change, to be brought back by `restore`. */
  state() {
    const { mask, scaled } = this.setting;
    const held = [...this.held].map(([name, numbers]) => [name, new Map(numbers)]);
    const { mistake, sizes, scale } = this;
    return {
      mask,
      scaled,
      scale,
      mistake,
      held: new Map(/** @type {any} */ (held)),
      ...sizes.state(),
    };
  }

  /** @param {ReturnType<Model["state"]>} state */
  restore(state) {
    this.sizes.restore(state);
    this.scale = state.scale;
    this.held = new Map([...state.held].map(([name, numbers]) => [name, new Map(numbers)]));
    this.choose(state.mask, state.scaled, state.mistake);
  }

  /**
   * Take a mask and a scale, by the words of the settings, and a mistake by its name, and work
   * everything out.
   *
   * @param {string} mask
   * @param {Scaled} scaled
   */
  choose(mask, scaled, mistake = "") {
    const isChosen = (/** @type {Setting} */ each) => each.mask === mask && each.scaled === scaled;
    const found = this.data.settings.find(isChosen);
    if (!found) throw new RangeError(`no setting ${mask}, ${scaled}`);
    this.setting = found;
    this.mistake = mistake;
    this.readScalars();
    /** @type {Record<string, { values: Float64Array, work: Work<any> }>} */
    this.prepared = {};
    this.work();
  }

  /** The numbers that equations call by a name, as they are in these sizes. */
  readScalars() {
    /** @type {Map<string, ScalarRead>} */
    this.scalars = new Map();
    for (const [name, text] of Object.entries(this.setting.scalars))
      this.scalars.set(name, readScalar(this.sizes.scalar(name, text)));
    if (this.setting.scaled === SLID) this.scalars.set("scale", readScalar(this.scale));
    const infinity = { text: SHARED.infinity, value: Infinity };
    this.scalars.set(infinity.text, { value: Infinity, node: infinity });
  }

  /**
   * Put a number that was typed in the place of a given one; false, and nothing changed, where the
   * text is none.
   *
   * @param {string} name
   * @param {number} at
   * @param {string} text
   */
  edit(name, at, text) {
    const array = this.arrays.get(name);
    const written = typed(text);
    const found = readNumber(written);
    if (!found) return false;
    if (found.value === -Infinity && this.data.given.includes(name)) return false;
    if (!array.written) {
      array.written = Array.from(array.values, spelledInFile);
      array.texts = array.written.map(spelled);
    }
    array.values[at] = found.value;
    array.texts[at] = found.text;
    array.written[at] = written;
    return true;
  }

  /**
   * A step, or an array of the mask, by its name.
   *
   * @param {string} name
   * @returns {Step | Given}
   */
  array(name) {
    return this.steps.get(name) ?? this.arrays.get(name);
  }

  /** @param {string} name */
  shapeOf(name) {
    return this.steps.get(name)?.rule.shape ?? this.arrays.get(name).shape;
  }

  // --- working out

  /** All steps again, in order. */
  work() {
    const { plain, shifted, logits, maxima } = this.setting;
    /** @type {Map<string, Step>} */
    this.steps = new Map();
    this.instead = this.changes("plain");
    const softmax = plain.findIndex((at) => this.rules[at].name === logits) + 1;
    for (const at of plain.slice(0, softmax)) this.step(at);
    this.shifted = false;
    if (maxima) {
      const inPlain = this.instead;
      this.instead = this.changes("shifted");
      const at = shifted.find((each) => this.rules[each].name === maxima);
      this.shifted = this.mustShift(this.step(at).values);
      // Its place is behind other steps, if at all.
      this.steps.delete(maxima);
      if (!this.shifted) this.instead = inPlain;
    }
    const rest = this.shifted ? shifted : plain;
    for (const at of rest.slice(softmax)) this.step(at, this.shifted);
    this.magnitudes = new Magnitudes(this);
    this.magnitudes.leaveOutResidues();
  }

  /**
   * Whether exponentials of rows with these largest scores overflow, or all of a row would be
   * printed as 0.
   *
   * @param {Float64Array} maxima
   */
  mustShift(maxima) {
    if (this.isShifted !== undefined) return this.isShifted;
    const { steepness, terms, lowest } = this.data.shift;
    // The more exponentials are added up, the smaller is the largest of them that fits.
    const more = Math.log(terms + this.sizes.moreKeys()) - Math.log(terms);
    const highest = this.data.shift.highest - more;
    const exponents = Array.from(maxima, (value) => value * steepness).filter(Number.isFinite);
    return exponents.some((value) => value > highest) || Math.min(...exponents) < lowest;
  }

  /**
   * Work out one rule; one that reads the exponentials reads others where the softmax `isShifted`.
   *
   * @param {number} at
   */
  step(at, isShifted = false) {
    at = this.instead.get(this.rules[at].name) ?? at;
    const rule = this.rules[at];
    const made = rule.equation ? this.worked(rule, `${at} ${isShifted}`) : this.given(rule);
    this.steps.set(rule.name, made);
    return made;
  }

  /**
   * @param {Rule} rule
   * @returns {Step}
   */
  given(rule) {
    const { values, texts } = this.arrays.get(rule.name);
    return { rule, values, texts, given: true };
  }

  /**
   * @param {Rule} rule
   * @param {string} key
   * @returns {Step}
   */
  worked(rule, key) {
    this.prepared[key] ??= {
      values: new Float64Array(size(rule.shape)),
      work: compiled(this, rule, rule.equation),
    };
    const { values, work } = this.prepared[key];
    fillCells(rule, work, values);
    for (const [place, number] of this.held.get(rule.name) ?? []) values[place] = number;
    const texts = rule.copies ? this.copied(rule) : null;
    return { rule, values, texts, given: false };
  }

  /**
   * The texts of a step that only copies numbers as they were written; null where one was not
   * written.
   *
   * @param {Rule} rule
   * @returns {string[]}
   */
  copied(rule) {
    const read = readsOf(rule.equation).map((name) => this.array(name).texts);
    if (read.includes(null)) return null;
    const texts = new Array(size(rule.shape));
    const cell = compiled(this, rule, rule.equation, (array) => array.texts);
    fillCells(rule, cell, texts);
    return texts.map((text) => `${text}`);
  }

  // --- the same problem otherwise

  /**
   * The same numbers and settings worked out with a mistake, or with "" without any.
   *
   * @param {string} mistake
   * @returns {Model}
   */
  with(mistake, held = this.held, isShifted = this.isShifted) {
    const other = Object.create(Model.prototype);
    Object.assign(other, this, { prepared: {}, mistake, held, isShifted });
    other.work();
    return other;
  }

  /**
   * The same numbers in another setting, without a mistake, and without what is held.
   *
   * @param {Setting} setting
   * @returns {Model}
   */
  inSetting(setting) {
    const other = Object.create(Model.prototype);
    Object.assign(other, this, { setting, prepared: {}, mistake: "", held: new Map() });
    other.readScalars();
    other.work();
    return other;
  }

  /**
   * The same without some numbers of steps: they are NaN, and all that is worked out from them.
   *
   * @param {[string, number[]][]} cells
   */
  without(cells) {
    const held = new Map(this.held);
    for (const [name, places] of cells) {
      const numbers = new Map(held.get(name));
      for (const at of places) numbers.set(at, NaN);
      held.set(name, numbers);
    }
    // What is missing says nothing of the softmax: it has the steps that it has with all numbers.
    return this.with(this.mistake, held, this.shifted);
  }

  /**
   * The same where one number is worked out again that is held.
   *
   * @param {string} name
   * @param {number} at
   */
  letGo(name, at) {
    const others = [...this.held.get(name)].filter(([place]) => place !== at);
    return this.with(this.mistake, new Map(this.held).set(name, new Map(others)));
  }

  // --- numbers that are held

  /**
   * Hold a number, whatever its equation says; or let it go, where there is none.
   *
   * @param {string} name
   * @param {number} at
   * @param {number} [number]
   */
  hold(name, at, number) {
    const held = this.held.get(name) ?? new Map();
    if (number === undefined) held.delete(at);
    else held.set(at, number);
    if (held.size) this.held.set(name, held);
    else this.held.delete(name);
  }

  /**
   * @param {string} name
   * @param {number} at
   */
  isHeld(name, at) {
    return this.held.get(name)?.has(at) ?? false;
  }

  // --- mistakes

  /**
   * The rules that the mistake has instead of others, by the names of their steps; none without a
   * mistake.
   *
   * @param {"plain" | "shifted"} plan
   * @returns {Map<string, number>}
   */
  changes(plan) {
    const mistake = this.data.mistakes.indexOf(this.mistake);
    const { [plan]: own, plain } = this.setting.mistakes;
    // Most mistakes are the same in both plans.
    const [, ...rules] = [...own, ...plain].find(([each]) => each === mistake) ?? [];
    return new Map(rules.map((at) => [this.rules[at].name, at]));
  }

  /** The mistakes that can be made in this setting, in their order. */
  mistakes() {
    const { plain, shifted } = this.setting.mistakes;
    const { unfit } = this.sizes.rules;
    const made = [...plain, ...shifted].filter(
      ([, ...rules]) => !rules.some((at) => unfit.has(at)),
    );
    const known = new Set(made.map(([each]) => each));
    return this.data.mistakes.filter((_, at) => known.has(at));
  }

  /**
   * The mistakes that put a number in a place of a step of which this is true.
   *
   * @param {string} name
   * @param {number} at
   * @param {(value: number) => boolean} isIt
   */
  mistakesThatGive(name, at, isIt) {
    return this.mistakes().filter((mistake) => {
      const step = this.with(mistake).steps.get(name);
      return step && at < step.values.length && isIt(step.values[at]);
    });
  }

  // --- what is printed, and where

  /**
   * What is printed for a cell of a step, or of an array of the mask: as it was written, or rounded.
   *
   * @param {string} name
   * @param {number} at
   */
  text(name, at) {
    const { texts } = this.array(name);
    const text = texts?.[at];
    if (text !== undefined) {
      const [, decimals = ""] = text.split(".");
      const most = Math.max(this.data.given_decimals, this.data.precision);
      if (decimals.length <= most) return text;
    }
    return formatNumber(this.shown(name)[at], this.data.precision);
  }

  /**
   * The numbers of a step as they are shown, or those of an array of the mask.
   *
   * @param {string} name
   */
  shown(name) {
    return this.steps.get(name)?.shown ?? this.array(name).values;
  }

  /**
   * The cells of steps that only copy this one, as Kᵀ copies K.
   *
   * @param {string} name
   * @param {number} at
   * @returns {Cell[]}
   */
  copiesOf(name, at) {
    const place = indexIn(this.shapeOf(name), at);
    return [...this.steps.values()].flatMap(({ rule }) => {
      const [kind, of, ...letters] = rule.equation ?? [];
      if (kind !== "@" || of !== name) return [];
      if (!rule.cell.every((letter) => letters.includes(letter))) return [];
      const index = rule.cell.map((letter) => place[letters.indexOf(letter)]);
      return [/** @type {Cell} */ ([rule.name, placeIn(rule.shape, index)])];
    });
  }

  /**
   * Whether the mask hides the key of a cell from its query.
   *
   * @param {Places} places
   */
  hides(places) {
    const mask = this.steps.get(this.data.mask);
    if (!mask) return false;
    const index = mask.rule.cell.map((letter) => places[letter]);
    return mask.values[placeIn(mask.rule.shape, index)] === -Infinity;
  }

  /**
   * Whether the query of a place is blind: it sees no key at all.
   *
   * @param {Places} places
   */
  seesNoKey(places) {
    const mask = this.steps.get(this.data.mask);
    if (!mask) return false;
    const { cell, shape } = mask.rule;
    return range(shape.at(-1)).every((key) => this.hides({ ...places, [cell.at(-1)]: key }));
  }
}
