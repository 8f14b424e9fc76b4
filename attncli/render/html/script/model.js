// A problem that is worked out again after each change: its plan for the settings chosen, and the numbers of all steps.
//
// Python writes the data (`page/live/data.py`): equations as nested lists, and what was given with the texts it was given in.

"use strict";

const size = (shape) => shape.reduce((a, b) => a * b, 1);
const NEVER_NEGATIVE = new Set(["exp", "sqrt", "abs"]);
const KEEPS_SIGN = new Set(["add", "mul", "div", "share", "max"]); // of numbers that are not negative

class Model {
  constructor(data) {
    this.data = data;
    this.leading = new Set([...data.letters.leading, data.letters.group]);
    this.arrays = new Map(Object.entries(data.arrays).map(([name, array]) => [name, this.read(array)]));
    this.rules = [];
    for (const rule of data.rules) {
      const { name, symbol, cell, shape, axes, labels } = this.rules[rule.instead] ?? rule;
      this.rules.push({ name, symbol, cell, shape, axes, labels, ...rule });
    }
    this.held = new Map(); // of a step: numbers by their places, which stay whatever the equation says
    this.choose(data.settings[0].mask, data.settings[0].scaled);
  }

  read({ shape, written, numbers }) {
    const texts = written ? written.map(spelled) : null;
    const values = Float64Array.from(written ?? numbers, (each) => (typeof each === "number" ? each : valueOf(each)));
    return { shape, texts, written: written ? [...written] : null, values };
  }

  /** Take a mask and a scale, by the words of the settings, and a mistake by its name, and work everything out. */
  choose(mask, scaled, mistake = "") {
    const found = this.data.settings.find((each) => each.mask === mask && each.scaled === scaled);
    if (!found) throw new RangeError(`no setting ${mask}, ${scaled}`);
    this.setting = found;
    this.mistake = mistake;
    this.scalars = new Map(Object.entries(found.scalars).map(([name, text]) => [name, readScalar(text)]));
    this.scalars.set("inf", { value: Infinity, node: { text: "inf", value: Infinity } });
    this.prepared = {};
    this.work();
  }

  /** Put a number that was typed in the place of a given one; false, and nothing changed, where the text is none. */
  edit(name, at, text) {
    const array = this.arrays.get(name);
    const written = typed(text);
    const found = readNumber(written);
    if (!found || (found.value === -Infinity && this.data.given.includes(name))) return false;
    if (!array.written) {
      array.written = Array.from(array.values, (value) => `${value}`.replace("Infinity", "inf"));
      array.texts = array.written.map(spelled);
    }
    array.values[at] = found.value;
    array.texts[at] = found.text;
    array.written[at] = written;
    return true;
  }

  // --- working out

  /** All steps again, in order. */
  work() {
    const { plain, shifted, logits } = this.setting;
    this.steps = new Map();
    this.instead = this.changes("plain");
    const softmax = plain.findIndex((at) => this.rules[at].name === logits) + 1;
    for (const at of plain.slice(0, softmax)) this.step(at);
    const inPlain = this.instead;
    this.instead = this.changes("shifted");
    const maxima = this.step(shifted[softmax]).values;
    this.shifted = this.mustShift(maxima);
    if (!this.shifted) {
      this.steps.delete(this.rules[shifted[softmax]].name);
      this.instead = inPlain;
    }
    for (const at of this.shifted ? shifted.slice(softmax + 1) : plain.slice(softmax)) this.step(at, this.shifted);
    this.magnitudes = new Map();
    this.withoutResidues();
  }

  /** The rules that the mistake has instead of others, by the names of their steps; none without a mistake. */
  changes(plan) {
    const mistake = this.data.mistakes.indexOf(this.mistake);
    const [, ...rules] = this.setting.mistakes[plan].find(([each]) => each === mistake) ?? [];
    return new Map(rules.map((at) => [this.rules[at].name, at]));
  }

  /** The same numbers and settings worked out with a mistake, or with "" without any. */
  with(mistake, held = this.held) {
    const other = Object.assign(Object.create(Model.prototype), this, { prepared: {}, mistake, held });
    other.work();
    return other;
  }

  /** The same without some numbers of a step: they are NaN, and all that is worked out from them. */
  without(name, places) {
    const held = new Map(this.held.get(name));
    for (const at of places) held.set(at, NaN);
    return this.with(this.mistake, new Map(this.held).set(name, held));
  }

  /** The same where one number is worked out again that is held. */
  letGo(name, at) {
    const others = [...this.held.get(name)].filter(([place]) => place !== at);
    return this.with(this.mistake, new Map(this.held).set(name, new Map(others)));
  }

  /** Hold a number, whatever its equation says; or let it go, where there is none. */
  hold(name, at, number) {
    const held = this.held.get(name) ?? new Map();
    if (number === undefined) held.delete(at);
    else held.set(at, number);
    if (held.size) this.held.set(name, held);
    else this.held.delete(name);
  }

  /** The least and the most that an equation can give: weights are shares, and no power of e is below 0. */
  limits(name) {
    if (name === this.data.weights) return [0, 1];
    const below = (node) => {
      if (typeof node === "number") return node < 0;
      if (typeof node === "string") return !(this.scalars.get(node)?.value >= 0);
      const [kind, ...parts] = node;
      if (NEVER_NEGATIVE.has(kind)) return false;
      if (kind === "@") return this.limits(parts[0])[0] < 0;
      if (kind === "sum" || kind === "largest") return below(parts[1]);
      if (kind === "pow") return below(parts[0]);
      return !KEEPS_SIGN.has(kind) || parts.some(below);
    };
    const { equation } = this.steps.get(name)?.rule ?? {};
    return [equation && !below(equation) ? 0 : -Infinity, Infinity];
  }

  /** The mistakes that can be made in this setting, in their order. */
  mistakes() {
    const { plain, shifted } = this.setting.mistakes;
    const known = new Set([...plain, ...shifted].map(([each]) => each));
    return this.data.mistakes.filter((_, at) => known.has(at));
  }

  /** The mistakes that put a number in a place of a step of which this is true. */
  mistakesThatGive(name, at, isIt) {
    return this.mistakes().filter((mistake) => {
      const values = this.with(mistake).steps.get(name)?.values ?? [];
      return at < values.length && isIt(values[at]);
    });
  }

  /** The first step that a mistake works out otherwise. */
  firstChanged(mistake) {
    const { plain, shifted } = this.setting.mistakes;
    const [, first] = [...plain, ...shifted].find(([at]) => this.data.mistakes[at] === mistake);
    return this.rules[first].name;
  }

  /** Whether exponentials of rows with these largest scores overflow, or all of a row would be printed as 0. */
  mustShift(maxima) {
    const { steepness, highest, lowest } = this.data.shift;
    const exponents = Array.from(maxima, (value) => value * steepness).filter(Number.isFinite);
    return exponents.some((value) => value > highest) || Math.min(...exponents) < lowest;
  }

  /** Work out one rule; one that reads the exponentials reads others where the softmax `isShifted`. */
  step(at, isShifted = false) {
    at = this.instead.get(this.rules[at].name) ?? at;
    const rule = this.rules[at];
    if (!rule.equation) {
      const given = this.arrays.get(rule.name);
      this.steps.set(rule.name, { rule, values: given.values, texts: given.texts, given: true });
      return this.steps.get(rule.name);
    }
    const { values, work } = (this.prepared[`${at} ${isShifted}`] ??= this.prepare(rule));
    this.fill(rule, work, values);
    for (const [place, number] of this.held.get(rule.name) ?? []) values[place] = number;
    const texts = rule.copies ? this.copied(rule) : null;
    this.steps.set(rule.name, { rule, values, texts, given: false });
    return this.steps.get(rule.name);
  }

  prepare(rule) {
    return { values: new Float64Array(size(rule.shape)), work: this.compiled(rule, rule.equation) };
  }

  /** Every cell of a rule by a function of its place. */
  fill(rule, work, values) {
    const place = new Int32Array(16);
    const { shape } = rule;
    for (let at = 0; at < values.length; at++) {
      values[at] = work(place);
      for (let axis = shape.length - 1; axis >= 0; axis--) {
        if (++place[axis] < shape[axis]) break;
        place[axis] = 0;
      }
    }
  }

  /** The terms of the sum that a rule is, by a function of the place of a cell; null where it is another. */
  terms(rule) {
    const [kind, letter, body] = rule.equation;
    if (kind !== "sum") return null;
    const own = { ...rule, cell: [...rule.cell, letter], shape: [...rule.shape, rule.runs[letter]] };
    const work = this.compiled(own, body);
    const place = new Int32Array(16);
    return (at) => {
      place.set(this.index(rule.shape, at));
      return Array.from({ length: rule.runs[letter] }, (_, term) => ((place[rule.cell.length] = term), work(place)));
    };
  }

  /** The texts of a step that only copies numbers as they were written; null where one was not written. */
  copied(rule) {
    const read = readsOf(rule.equation).map((name) => (this.steps.get(name) ?? this.arrays.get(name)).texts);
    if (read.includes(null)) return null;
    const texts = new Array(size(rule.shape));
    const cell = this.compiled(rule, rule.equation, (array) => array.texts);
    this.fill(rule, cell, texts);
    return texts.map((text) => `${text}`);
  }

  /** A tree as a function of a place, whose letters have slots in the order of the cell. */
  compiled(rule, tree, numbers = (array) => array.values) {
    const slots = new Map(rule.cell.map((letter, at) => [letter, at]));
    const compile = (node) => {
      if (typeof node === "number") return () => node;
      if (typeof node === "string") {
        if (slots.has(node)) return ((slot) => (place) => place[slot])(slots.get(node));
        const { value } = this.scalars.get(node);
        return () => value;
      }
      const [kind, ...parts] = node;
      if (kind === "#") return ((value) => () => value)(valueOf(parts[0]));
      if (kind === "@") return this.reader(parts[0], parts.slice(1).map(compile), numbers);
      if (kind === "sum" || kind === "largest") {
        const [letter, body] = parts;
        const [before, slot] = [slots.get(letter), slots.size + rule.cell.length];
        slots.set(letter, slot);
        const inside = compile(body);
        if (before === undefined) slots.delete(letter);
        else slots.set(letter, before);
        return reduction(kind, slot, rule.runs[letter], inside);
      }
      const made = parts.map(compile);
      if (kind === "where") return (place) => (made[0](place) ? made[1](place) : made[2](place));
      const apply = FLOATS[kind];
      if (made.length === 1) return (place) => apply(made[0](place));
      if (made.length === 2) return (place) => apply(made[0](place), made[1](place));
      return (place) => made.map((each) => each(place)).reduce(apply);
    };
    return compile(tree);
  }

  /** A cell of an array, or of the magnitudes of one: its numbers are those at the time of reading. */
  reader(name, indices, numbers) {
    const own = name.startsWith("|") ? name.slice(1, -1) : name;
    const array = this.steps.get(own) ?? this.arrays.get(own);
    const shape = array.rule ? array.rule.shape : array.shape;
    const strides = shape.map((_, axis) => size(shape.slice(axis + 1)));
    const values = own === name ? numbers(array) : this.magnitude(own);
    if (indices.length === 1) return (place) => values[indices[0](place)];
    if (indices.length === 2) {
      const [[row, column], [stride]] = [indices, strides];
      return (place) => values[row(place) * stride + column(place)];
    }
    return (place) => values[indices.reduce((at, index, axis) => at + index(place) * strides[axis], 0)];
  }

  // --- what is printed

  /** What is printed for a cell of a step, or of an array of the mask: as it was written, or rounded. */
  text(name, at) {
    const array = this.steps.get(name) ?? this.arrays.get(name);
    const text = array.texts?.[at];
    if (text !== undefined) {
      const [, decimals = ""] = text.split(".");
      if (decimals.length <= Math.max(this.data.given_decimals, this.data.precision)) return text;
    }
    return formatNumber((array.shown ?? array.values)[at], this.data.precision);
  }

  /** Set `shown` of each step: its numbers, with 0 for a residue that would be printed as 0.000. */
  withoutResidues() {
    const { noise, most } = this.data.residue;
    const unseen = 0.5 * 10 ** -this.data.precision;
    const steps = [...this.steps.values()];
    for (const step of steps) step.shown = step.values;
    if (Math.max(...steps.map((step) => step.values.length)) > most) return;
    for (const step of steps) {
      if (step.texts || step.given || !step.values.some((value) => value !== 0 && Math.abs(value) < unseen)) continue;
      const bound = this.magnitude(step.rule.name);
      step.shown = step.values.map((value, at) => (Math.abs(value) < unseen && Math.abs(value) <= noise * bound[at] ? 0 : value));
    }
  }

  /** How large the numbers are that each cell of an array is made of. */
  magnitude(name) {
    if (!this.magnitudes.has(name)) {
      const step = this.steps.get(name);
      const { smallest } = this.data.residue;
      if (!step) return this.arrays.get(name).values.map(Math.abs);
      const bound = step.given ? step.values.map(Math.abs) : this.bound(step.rule);
      this.magnitudes.set(name, bound.map((found, at) => {
        const value = step.values[at];
        if (!Number.isFinite(value)) return 0;
        found = found === found ? Math.min(Math.max(found, Math.abs(value)), Number.MAX_VALUE) : Number.MAX_VALUE;
        return found > 0 ? Math.max(found, smallest) : 0;
      }));
    }
    return this.magnitudes.get(name);
  }

  bound(rule) {
    if (rule.divides) return this.boundOfShares(rule);
    if (!rule.magnitude) return this.steps.get(rule.name).values.map(Math.abs); // of a mistake
    const found = new Float64Array(size(rule.shape));
    this.fill(rule, this.compiled(rule, rule.magnitude), found);
    return found;
  }

  /** Of weights: as much as all logits of the row move them (`tracing/magnitudes.py` says why). */
  boundOfShares(rule) {
    const { epsilon, smallest } = this.data.residue;
    const weights = this.steps.get(rule.name).values.map(Math.abs);
    const logits = this.magnitude(this.setting.logits).map((each) => each * Math.abs(this.data.shift.steepness));
    const [part, whole] = readsOf(rule.equation);
    const [parts, wholes] = [this.magnitude(part), this.steps.get(whole).values];
    const width = rule.shape.at(-1);
    return weights.map((weight, at) => {
      const row = Math.floor(at / width);
      if (weight <= 0) return parts[at] / Math.max(wholes[row], smallest);
      let [sum, largest] = [0, 0];
      for (let other = row * width; other < (row + 1) * width; other++) {
        sum += weights[other] * logits[other];
        if (weights[other] > 0) largest = Math.max(largest, logits[other]);
      }
      const others = sum - weight * logits[at];
      return weight * (1 + ((1 - weight) * logits[at] + others) * Math.exp(2 * epsilon * largest));
    });
  }

  // --- places

  /** The place of a cell in the numbers of an array. */
  at(shape, index) {
    return index.reduce((at, each, axis) => at * shape[axis] + each, 0);
  }

  /** The indices of a cell, from its place in the numbers of an array. */
  index(shape, at) {
    const index = new Array(shape.length);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      index[axis] = at % shape[axis];
      at = Math.floor(at / shape[axis]);
    }
    return index;
  }

  /** Where the cell of each letter is, from its place in the numbers of a step. */
  place(rule, at) {
    const cell = this.index(rule.shape, at);
    return Object.fromEntries(rule.cell.map((letter, axis) => [letter, cell[axis]]));
  }

  /** The cells of steps that only copy this one, as Kᵀ copies K: pairs of a name and a place. */
  copiesOf(name, at) {
    const array = this.steps.get(name);
    const cell = this.index(array.rule.shape, at);
    return [...this.steps.values()].flatMap(({ rule }) => {
      const [kind, of, ...letters] = rule.equation ?? [];
      if (kind !== "@" || of !== name || !rule.cell.every((letter) => letters.includes(letter))) return [];
      return [[rule.name, this.at(rule.shape, rule.cell.map((letter) => cell[letters.indexOf(letter)]))]];
    });
  }

  /** Whether the mask hides the key of a cell from its query. */
  hides(place) {
    const mask = this.steps.get(this.data.mask);
    if (!mask) return false;
    return mask.values[this.at(mask.rule.shape, mask.rule.cell.map((letter) => place[letter]))] === -Infinity;
  }

  /** Whether the query of a row of weights sees no key at all. */
  seesNoKey(rule, place) {
    const last = rule.cell.at(-1);
    return Array.from({ length: rule.shape.at(-1) }, (_, key) => this.hides({ ...place, [last]: key })).every(Boolean);
  }
}

/** The arrays that an equation reads, in the order of their first mention. */
const readsOf = (tree) =>
  Array.isArray(tree) ? [...new Set([...(tree[0] === "@" ? [tree[1]] : []), ...tree.slice(1).flatMap(readsOf)])] : [];
const valueOf = (written) => readNumber(written).value;

/** The spelling of a number as it was written; that of an infinity too, which arrays of a mask may hold. */
const spelled = (written) => readNumber(written)?.text ?? written;

function readScalar(written) {
  const found = readNumber(written);
  return { value: found.value, node: { text: found.text, value: found.exact } };
}

function reduction(kind, slot, length, inside) {
  if (kind === "sum")
    return (place) => {
      let total = 0;
      for (place[slot] = 0; place[slot] < length; place[slot]++) total += inside(place);
      return total;
    };
  return (place) => {
    let largest = -Infinity;
    for (place[slot] = 0; place[slot] < length; place[slot]++) {
      const value = inside(place);
      if (value !== value) return NaN;
      if (value > largest) largest = value;
    }
    return largest;
  };
}
