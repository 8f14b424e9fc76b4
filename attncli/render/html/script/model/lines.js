// @ts-check
// A cell worked out on a line: its equation with its numbers put in, and what they come to.

"use strict";

class Lines {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.words = model.data.words;
    this.relation = new Relation(model.data);
    this.sentences = new Sentences(model, this.relation);
    const symbol = (/** @type {string} */ name) => model.steps.get(name)?.rule.symbol ?? name;
    this.plain = new Notation(model.data, symbol);
    this.mathml = new MathML(model.data, symbol);
  }

  /** @param {Sentence} node */
  text(node) {
    return this.plain.text(node);
  }

  /**
   * The text of a cell's number.
   *
   * @param {string} name
   * @param {number} at
   */
  numberText(name, at) {
    return this.text(this.sentences.number(name, at));
  }

  /**
   * A cell of a step, whose texts may be empty. `fixed` has the letters that the page of a head or
   * of an entry has fixed.
   *
   * @param {Rule} rule
   * @param {number} at
   * @param {Places} fixed
   * @returns {WorkedLine}
   */
  line(rule, at, fixed = {}) {
    const { model, relation, sentences } = this;
    const tree = rule.equation;
    const places = placesOf(rule, at);
    const label = this.label(rule, places, fixed);
    const result = sentences.number(rule.name, at);
    if (!tree) return this.only(label, this.text(result), "given");
    if (model.isHeld(rule.name, at)) return this.only(label, this.text(result), "held");
    if (rule.hides) return this.only(label, "", ...this.visibility(tree, places, fixed));
    // The query is blind.
    const isNothing = model.shown(rule.name)[at] === 0;
    if (rule.divides && isNothing && isOfQueriesAndKeys(rule) && model.seesNoKey(places))
      return this.only(label, this.text(result), this.words.no_key);
    const put = (/** @type {PutNumber} */ number) =>
      sentences.put(tree, places, rule.runs, fixed, number);
    const shown = withoutSignOfZero(put((...cell) => sentences.number(...cell)));
    if (isNumber(shown)) return this.only(label, this.text(result));
    const inFull = () => put((...cell) => sentences.numberInFull(...cell));
    if (model.steps.has(rule.name) && relation.needsLookup(tree)) {
      const [chain, last] = new LookupStages(this).of(shown, inFull());
      if (last) return this.whole(label, chain, last, result, inFull);
    }
    return this.whole(label, shown, shown, result, inFull);
  }

  /**
   * @param {string} label
   * @param {string} result
   * @param {Remark} remark
   * @returns {WorkedLine}
   */
  only(label, result, ...remark) {
    return { label, work: "", relation: "", result, remark };
  }

  /**
   * @param {string} label
   * @param {Sentence} work
   * @param {Sentence} last
   * @param {PrintedNumber} result
   * @param {() => Sentence} inFull
   * @returns {WorkedLine}
   */
  whole(label, work, last, result, inFull) {
    if (this.relation.dividesByNothing(last)) {
      const { no_divisor, divisor_is_0 } = this.words;
      const remark = this.dividesByZero(inFull()) ? divisor_is_0 : no_divisor;
      return this.only(label, this.text(result), remark);
    }
    const relation = this.relation.sign(last, result);
    return { label, work: this.text(work), relation, result: this.text(result), remark: [] };
  }

  /**
   * Whether a divisor is 0 with all its digits.
   *
   * @param {Sentence} node
   * @returns {boolean}
   */
  dividesByZero(node) {
    if (!isCall(node)) return false;
    const [kind, ...parts] = node;
    const isDivision = kind === "div" || kind === "share";
    if (isDivision && this.sentences.float(parts[1]) === 0) return true;
    return parts.some((part) => this.dividesByZero(part));
  }

  /**
   * A remark as one text; `written` says how its formulas are.
   *
   * @param {Remark} remark
   */
  said(remark, written = (/** @type {string} */ text) => text) {
    const texts = remark.map((part) =>
      typeof part === "string" ? part : written(this.text(part.formula)),
    );
    return texts.join("");
  }

  /**
   * Which cell: I → love for a query and a key, I, d2 for a feature.
   *
   * @param {Rule} rule
   * @param {Places} places
   * @param {Places} fixed
   */
  label(rule, places, fixed) {
    const free = [...rule.cell.keys()].filter((axis) => !(rule.cell[axis] in fixed));
    if (!free.length) return symbolName(rule.symbol);
    const { labels } = this.model.data;
    const words = free.map((axis) => labels[rule.labels[axis]][places[rule.cell[axis]]]);
    const axes = free.map((axis) => rule.axes[axis]);
    const pair = axes.findIndex((axis, at) => axis === "query" && axes[at + 1] === "key");
    const isLast = pair >= axes.length - 3;
    if (pair >= 0 && isLast) words.splice(pair, 2, `${words[pair]} → ${words[pair + 1]}`);
    return words.join(", ");
  }

  /**
   * What a cell is called on the page: the symbol of its step, and which cell.
   *
   * @param {Rule} rule
   * @param {number} at
   * @param {Places} fixed
   */
  title(rule, at, fixed = {}) {
    return `${symbolName(rule.symbol)}: ${this.label(rule, placesOf(rule, at), fixed)}`;
  }

  /**
   * The parts that the number of a cell is made of one after the other, those of a sum or of a
   * maximum, each with what the parts so far come to. None where there are no parts.
   *
   * @param {Rule} rule
   * @param {number} at
   * @param {Places} fixed
   * @returns {Term[]}
   */
  walk(rule, at, fixed = {}) {
    const { model, sentences } = this;
    if (!rule.equation || model.isHeld(rule.name, at)) return [];
    const put = (/** @type {PutNumber} */ number) =>
      sentences.put(rule.equation, placesOf(rule, at), rule.runs, fixed, number);
    const withCells = put((...cell) => ({ ...sentences.number(...cell), cell }));
    const [kind, ...parts] = [withCells].flat();
    if ((kind !== "add" && kind !== "max") || parts.length < 2) return [];
    const apply = FLOATS[kind];
    const full = put((...cell) => sentences.numberInFull(...cell)).slice(1);
    const floats = full.map((/** @type {Sentence} */ each) => sentences.float(each));
    return parts.map((part, last) => {
      const value = floats
        .slice(0, last + 1)
        .reduce((/** @type {any} */ a, /** @type {any} */ b) => apply(a, b));
      const isWhole = last === parts.length - 1;
      const total = isWhole ? sentences.number(rule.name, at) : sentences.rounded(value);
      const sofar = last ? [kind, ...parts.slice(0, last + 1)] : part;
      return {
        text: this.text(withoutSignOfZero(part)),
        relation: this.relation.sign(withoutSignOfZero(sofar), total),
        total: this.text(total),
        cells: cellsOf(part),
      };
    });
  }

  /**
   * The equation of a step in MathML, with the problem's own settings in it.
   *
   * @param {Rule} rule
   */
  formula({ name, cell, equation }) {
    const left = this.mathml.text(["@", name, ...cell]);
    const right = this.mathml.text(this.sentences.withSettings(equation, {}, {}));
    return `${left} ${this.mathml.forms.equals} ${right}`;
  }

  // --- what a mask hides, in words

  /**
   * @param {Call} tree
   * @param {Places} places
   * @param {Places} fixed
   * @returns {Remark}
   */
  visibility([, condition, visible, hidden], places, fixed) {
    const { sentences, relation, words } = this;
    const put = (/** @type {Tree} */ node) =>
      sentences.put(node, places, {}, fixed, (...cell) => sentences.number(...cell));
    /** @type {Call[]} */
    const conditions = condition[0] === "and_" ? condition.slice(1) : [condition];
    const facts = conditions.map((each) => {
      const numbers = put(each);
      const holds = relation.exactValue(numbers) === true;
      return { holds, said: this.fact(each, numbers, places, fixed, holds) };
    });
    const isSeen = facts.every(({ holds }) => holds);
    const verdict = isSeen ? words.visible : words.hidden;
    const follows = { formula: put(isSeen ? visible : hidden) };
    return [...facts.flatMap(({ said }) => [...said, ", "]), verdict, follows];
  }

  /**
   * The same without indices that stand for one entry or head, as a page of one shows it.
   *
   * @param {any} tree
   * @param {Places} fixed
   * @returns {any}
   */
  withoutFixed(tree, fixed) {
    if (!isCall(tree)) return tree;
    const [kind, ...parts] = tree;
    if (kind !== "@") return [kind, ...parts.map((part) => this.withoutFixed(part, fixed))];
    const [name, ...indices] = parts;
    const free = indices.filter((index) => !this.sentences.isFixed(index, fixed));
    return ["@", name, ...free];
  }

  /**
   * One condition of a mask: whether it holds, and with which numbers.
   *
   * @param {Call} condition
   * @param {any} numbers
   * @param {Places} places
   * @param {Places} fixed
   * @param {boolean} holds
   * @returns {Remark}
   */
  fact(condition, numbers, places, fixed, holds) {
    const [, cell, other] = condition;
    if (isCall(cell) && cell[0] === "@" && isNumber(other) && numbers.length === 3) {
      const [, name, ...all] = cell;
      const free = all.filter((index) => !this.sentences.isFixed(index, fixed));
      const indices = free.map((index) => this.sentences.position(index, places));
      if (indices.length)
        return [{ formula: ["@", name, ...indices] }, " = ", { formula: numbers[1] }];
    }
    const settled = this.sentences.withSettings(condition, fixed, places);
    const formula = this.withoutFixed(settled, fixed);
    return [{ formula }, ": ", { formula: numbers }, holds ? this.words.true : this.words.false];
  }
}
