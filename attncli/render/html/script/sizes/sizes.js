// @ts-check
// Sizes: tokens, features and heads that are added and taken away, a whole matrix in the place of
// another, and labels. What others call:
//
//   model.sizes.add(dimension, at)                one place more, with zeros
//   model.sizes.remove(dimension, at)             one place less
//   model.sizes.take(name, texts, shape, start)   an array, or the part of it that begins at
//                                                 `start`, has these texts in this shape
//   model.sizes.rename(list, at, text)            a label of `model.data.labels[list]`
//   model.state(), model.restore(state)           all that a reader can change, sizes too
//
// The first four return "" or why they did nothing. After each of them, `model.work()` and
// `page.show()` show what follows. A dimension is a place in `model.data.sizes.dimensions`: Python
// (`page/live/sizes.py`) says which axes it is, `model.sizes.of(name, axis)` that of an array.
// Where numbers move to is in `origins.js`, what follows for rules in `rule_lengths.js`, what places
// are called in `labels.js`, and what differs from what was given in `differences.js`.

"use strict";

class Sizes {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.data = model.data.sizes;
    this.given = this.data.dimensions.map(({ size }) => size);
    this.lengths = [...this.given];
    // How often sizes and labels have changed.
    this.version = 0;
    this.first = this.state();
    this.labels = new Labels(this);
    this.rules = new RuleLengths(this);
    this.differences = new Differences(this);
  }

  // --- how long dimensions are

  /** Whether they are those of the problem as it was given. */
  areGiven() {
    return `${this.lengths}` === `${this.given}`;
  }

  /**
   * The dimension of an axis of an array that is given; -1 where it has none.
   *
   * @param {string} name
   * @param {number} axis
   */
  of(name, axis) {
    return this.data.arrays[name]?.at(axis) ?? -1;
  }

  /**
   * How far a letter runs that is known to all rules.
   *
   * @param {string} letter
   */
  ofLetter(letter) {
    return this.lengths[this.data.letters[letter]];
  }

  /** How many keys there are more than were given. */
  moreKeys() {
    const at = this.data.letters.j;
    return at === undefined ? 0 : this.lengths[at] - this.given[at];
  }

  /**
   * By how much a number has moved that follows from dimensions.
   *
   * @param {[dimension: number, by: number][]} follows
   */
  moved(follows) {
    return follows.reduce((sum, [at, by]) => sum + by * (this.lengths[at] - this.given[at]), 0);
  }

  /**
   * A number that the plan knows, such as d_k.
   *
   * @param {string} name
   * @param {string} written
   */
  scalar(name, written) {
    const moved = this.moved(this.data.scalars[name] ?? []);
    return moved ? `${Number(written) + moved}` : written;
  }

  // --- what can be changed

  /**
   * Why a dimension cannot be so long; "" where it can.
   *
   * @param {number} at
   * @param {number} length
   */
  whyNot(at, length) {
    const { name, fixed, fewest = 1, sum, product } = this.data.dimensions[at];
    if (sum || product) return `their number follows from others: it is ${this.lengths[at]}`;
    if (fixed) return fixed;
    if (length < fewest) return `there must be ${fewest === 1 ? "one" : fewest} ${name}`;
    return length > this.data.longest ? `${this.data.longest} are the most` : "";
  }

  /**
   * Whether a dimension is there, and can be longer or shorter.
   *
   * @param {number} [at]
   */
  canMove(at) {
    return at !== undefined && !this.whyNot(at, this.given[at] + 1);
  }

  /**
   * @param {string} name
   * @param {string} text
   */
  canStand(name, text) {
    const found = readNumber(typed(text));
    return found && (found.value !== -Infinity || !this.model.data.given.includes(name));
  }

  // --- what others call

  /**
   * @param {number} dimension
   * @param {number} at
   */
  add(dimension, at = this.lengths[dimension]) {
    const places = range(this.lengths[dimension]);
    return this.change(new Map([[dimension, places.toSpliced(at, 0, -1)]]));
  }

  /**
   * @param {number} dimension
   * @param {number} at
   */
  remove(dimension, at = this.lengths[dimension] - 1) {
    const places = range(this.lengths[dimension]);
    return this.change(new Map([[dimension, places.toSpliced(at, 1)]]));
  }

  /**
   * @param {string} name
   * @param {string[]} texts
   * @param {number[]} shape
   */
  take(name, texts, shape, start = 0) {
    const array = this.model.arrays.get(name);
    const lead = array.shape.length - shape.length;
    if (lead < 0) return `it has ${array.shape.length} axes, and not ${shape.length}`;
    if (!texts.every((text) => this.canStand(name, text))) return "not all of it are numbers";
    /** @type {Map<number, number[]>} */
    const places = new Map();
    for (const [axis, length] of shape.entries()) {
      const dimension = this.of(name, lead + axis);
      const others = places.get(dimension)?.length ?? length;
      if (others !== length) return `it must have as many rows as columns`;
      places.set(dimension, toLength(this.lengths[dimension], length));
    }
    const before = indexIn(array.shape, start).slice(0, lead);
    const why = this.change(places);
    if (why) return why;
    const first = placeIn([...array.shape.slice(0, lead), size(shape)], [...before, 0]);
    texts.forEach((text, at) => this.model.edit(name, first + at, text));
    return "";
  }

  /**
   * @param {number} list
   * @param {number} at
   * @param {string} text
   */
  rename(list, at, text) {
    const why = this.labels.rename(list, at, text);
    if (!why) this.version += 1;
    return why;
  }

  // --- other sizes

  /**
   * Of each of these dimensions, the places that the new ones come from; -1 for one that is new.
   *
   * @param {Map<number, number[]>} places
   */
  change(places) {
    for (const [at, { length }] of places) {
      if (length === this.lengths[at] && !places.get(at).includes(-1)) places.delete(at);
      else if (this.whyNot(at, length)) return this.whyNot(at, length);
    }
    if (!places.size) return "";
    const before = this.state();
    const origins = this.move(places);
    this.measure();
    if (this.cells() > this.data.most) {
      this.restore(before);
      return "there would be too many numbers";
    }
    this.model.held.clear();
    this.differences.findBase();
    this.differences.fillAgain(origins);
    return "";
  }

  /** How many numbers are worked out. */
  cells() {
    const rules = this.model.setting.plain.map((at) => this.model.rules[at]);
    return rules.reduce((sum, { shape, equation }) => sum + (equation ? size(shape) : 0), 0);
  }

  /**
   * Arrays and labels of other sizes.
   *
   * @param {Map<number, number[]>} places
   */
  move(places) {
    const origins = originsOf(this.data.dimensions, this.lengths, places);
    this.lengths = origins.map(({ length }) => length);
    for (const [name, dimensions] of Object.entries(this.data.arrays)) {
      const own = dimensions.map((at) => origins[at]);
      // A key that is new is seen.
      moveArray(this.model.arrays.get(name), own, this.data.seen.includes(name) ? 1 : 0);
    }
    this.labels.move(origins);
    return origins;
  }

  /** What follows from the sizes of arrays. */
  measure() {
    this.version += 1;
    this.model.prepared = {};
    this.rules.measure();
    this.labels.count();
    this.model.readScalars();
  }

  // --- all of it

  state() {
    const arrays = [...this.model.arrays].map(([name, array]) => [name, { ...array }]);
    for (const [, array] of arrays) copyNumbers(/** @type {Given} */ (array));
    const labels = this.model.data.labels.map((each) => [...each]);
    return { lengths: [...this.lengths], labels, arrays: new Map(/** @type {any} */ (arrays)) };
  }

  /** @param {ReturnType<Sizes["state"]>} state */
  restore(state) {
    const areOther = `${state.lengths}` !== `${this.lengths}`;
    this.version += 1;
    this.bring(state);
    if (!areOther) return;
    this.measure();
    this.differences.findBase();
  }

  /** @param {ReturnType<Sizes["state"]>} state */
  bring({ lengths, labels, arrays }) {
    this.lengths = [...lengths];
    for (const [name, array] of arrays)
      copyNumbers(Object.assign(this.model.arrays.get(name), array));
    labels.forEach((each, at) => {
      this.model.data.labels[at] = [...each];
    });
  }
}

/** @param {Given} array */
function copyNumbers(array) {
  array.values = array.values.slice();
  array.texts = array.texts?.slice() ?? null;
  array.written = array.written?.slice() ?? null;
}
