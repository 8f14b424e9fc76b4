// A cell worked out on a line: its equation with its numbers put in, and `=` only where these numbers give it.
//
// In a sentence a number is { text, value }, with null for the value of a root; a call is an array, ["add", a, b].

"use strict";

const whole = (number) => ({ text: `${number}`, value: fraction(BigInt(number)) });
const NEAR = 10n ** 40n; // in relation to this, numbers that are closer are the same

class Lines {
  constructor(model) {
    this.model = model;
    this.nodes = new Map();
    ({ functions: this.functions, notation: this.notation, words: this.words } = model.data);
    const symbol = (name) => this.model.steps.get(name)?.rule.symbol ?? name;
    this.plain = new Notation(model.data, symbol);
    this.mathml = new MathML(model.data, symbol);
  }

  text(node) {
    return this.plain.text(node);
  }

  /**
   * A cell of a step as { label, work, relation, result, remark }, whose texts may be empty. A remark is a list of texts
   * and of { formula }. `fixed` has the letters that the page of a head or of an entry has fixed.
   */
  line(rule, at, fixed = {}) {
    const place = this.model.place(rule, at);
    const label = this.label(rule, place, fixed);
    const tree = rule.equation;
    const step = this.model.steps.get(rule.name);
    if (!tree) return this.only(label, this.text(this.number(rule.name, at)), "given");
    if (this.model.held.get(rule.name)?.has(at)) return this.only(label, this.text(this.number(rule.name, at)), "held");
    if (rule.hides && isCall(tree)) return this.only(label, "", ...this.visibility(tree, place, fixed));
    const result = this.number(rule.name, at);
    if (rule.divides && this.model.seesNoKey(rule, place)) return this.only(label, this.text(result), this.words.no_key);
    const shown = this.withoutSignOfZero(this.substitute(tree, place, rule.runs, fixed, (...cell) => this.number(...cell)));
    if (isNumber(shown)) return this.only(label, this.text(result));
    if (step && this.needsLookup(tree)) {
      const truth = this.substitute(tree, place, rule.runs, fixed, (...cell) => this.numberInFull(...cell));
      const [chain, last] = this.stages(shown, truth);
      if (last) return this.whole(label, chain, last, result);
    }
    return this.whole(label, shown, shown, result);
  }

  only(label, result, ...remark) {
    return { label, work: "", relation: "", result, remark };
  }

  whole(label, work, last, result) {
    if (this.dividesByNothing(last)) return this.only(label, this.text(result), this.words.no_divisor);
    const relation = this.gives(last, result) ? this.notation.equals : this.notation.nearly;
    return { label, work: this.text(work), relation, result: this.text(result), remark: [] };
  }

  /** A remark as one text; `written` says how its formulas are. */
  said(remark, written = (text) => text) {
    return remark.map((part) => (part.formula ? written(this.text(part.formula)) : part)).join("");
  }

  /** Which cell: I → love for a query and a key, I, d2 for a feature. */
  label(rule, place, fixed) {
    const free = rule.cell.map((letter, axis) => axis).filter((axis) => !(rule.cell[axis] in fixed));
    if (!free.length) return symbolName(rule.symbol);
    const words = free.map((axis) => this.model.data.labels[rule.labels[axis]][place[rule.cell[axis]]]);
    const axes = free.map((axis) => rule.axes[axis]);
    const pair = axes.findIndex((axis, at) => axis === "query" && axes[at + 1] === "key");
    if (pair >= 0 && pair >= axes.length - 3) words.splice(pair, 2, `${words[pair]} → ${words[pair + 1]}`);
    return words.join(", ");
  }

  /**
   * The parts that the number of a cell is made of one after the other, those of a sum or of a maximum, each with what
   * the parts so far come to: [{ text, relation, total, cells }]. `cells` are the names and places of its numbers. None
   * where there are no parts.
   */
  walk(rule, at, fixed = {}) {
    if (!rule.equation || this.model.held.get(rule.name)?.has(at)) return [];
    const put = (number) => this.substitute(rule.equation, this.model.place(rule, at), rule.runs, fixed, number);
    const [kind, ...parts] = [put((...cell) => ({ ...this.number(...cell), cell }))].flat();
    if ((kind !== "add" && kind !== "max") || parts.length < 2) return [];
    const full = put((...cell) => this.numberInFull(...cell)).slice(1);
    return parts.map((part, last) => {
      const value = full.slice(0, last + 1).map((each) => this.float(each)).reduce(FLOATS[kind]);
      const isWhole = last === parts.length - 1;
      const total = isWhole ? this.number(rule.name, at) : this.node(formatNumber(value, this.model.data.precision));
      const partial = this.withoutSignOfZero(last ? [kind, ...parts.slice(0, last + 1)] : part);
      const relation = this.gives(partial, total) ? this.notation.equals : this.notation.nearly;
      return { text: this.text(this.withoutSignOfZero(part)), relation, total: this.text(total), cells: cellsOf(part) };
    });
  }

  /** The equation of a step in MathML, with the problem's own settings in it. */
  formula({ name, cell, equation }) {
    const right = this.withSettings(equation, {}, {});
    return `${this.mathml.text(["@", name, ...cell])} ${this.mathml.forms.equals} ${this.mathml.text(right)}`;
  }

  // --- numbers put in

  node(text) {
    if (!this.nodes.has(text)) {
      const known = ["inf", "-inf", "nan"].indexOf(text);
      const value = known >= 0 ? [Infinity, -Infinity, null][known] : readNumber(text)?.exact ?? printedExactly(text);
      this.nodes.set(text, { text, value });
    }
    return this.nodes.get(text);
  }

  number(name, at) {
    return this.node(this.model.text(name, at));
  }

  numberInFull(name, at) {
    const array = this.model.steps.get(name) ?? this.model.arrays.get(name);
    const value = (array.shown ?? array.values)[at];
    return { text: `${value}`, value: null, float: value };
  }

  /** The number of a head or entry that the page has fixed, such as its slope: with all its digits. */
  ownNumber(name, at) {
    const array = this.model.steps.get(name) ?? this.model.arrays.get(name);
    return this.node(array.texts?.[at] ?? spelled(`${array.values[at]}`.replace("Infinity", "inf")));
  }

  substitute(tree, place, runs, fixed, number) {
    const put = (node, place) => {
      if (typeof node === "number") return this.node(`${node}`);
      if (typeof node === "string") return node in place ? whole(place[node]) : (this.model.scalars.get(node)?.node ?? node);
      const [kind, ...parts] = node;
      if (kind === "#") return this.node(parts[0]);
      if (kind === "@") {
        const [name, ...indices] = parts;
        const step = this.model.steps.get(name) ?? this.model.arrays.get(name);
        const at = this.model.at(step.rule?.shape ?? step.shape, indices.map((index) => this.position(index, place)));
        const own = indices.length && indices.every((index) => this.isFixed(index, fixed));
        return own ? this.ownNumber(name, at) : number(name, at);
      }
      if (kind === "sum" || kind === "largest") {
        const [letter, body] = parts;
        const name = kind === "sum" ? "add" : "max";
        const terms = Array.from({ length: runs[letter] }, (_, at) => put(body, { ...place, [letter]: at }));
        return [name, ...terms.flatMap((term) => termsOf(term, name))];
      }
      if (kind === "where") return put(this.exactValue(put(parts[0], place)) === true ? parts[1] : parts[2], place);
      if (kind === "finite") {
        const through = put(parts[0], place);
        const value = through.float ?? this.exactValue(through);
        return value === -Infinity ? whole(0) : through;
      }
      const made = parts.map((part) => put(part, place));
      return kind === "add" ? [kind, ...made.flatMap((term) => termsOf(term, kind))] : [kind, ...made];
    };
    return put(tree, place);
  }

  isFixed(index, fixed) {
    if (typeof index === "number") return true;
    if (typeof index === "string") return index in fixed || this.model.scalars.has(index);
    return index.slice(1).every((part) => this.isFixed(part, fixed));
  }

  position(index, place) {
    if (typeof index === "number") return index;
    if (typeof index === "string") return index in place ? place[index] : this.model.scalars.get(index).value;
    return index.slice(1).map((part) => this.position(part, place)).reduce(FLOATS[index[0]]);
  }

  /** 0·a for -0·a, which nobody writes. */
  withoutSignOfZero(node) {
    if (!isCall(node)) return node;
    const [kind, ...parts] = node.map((part, at) => (at ? this.withoutSignOfZero(part) : part));
    const [inside] = parts;
    const isZero = (each) => isNumber(each) && isFraction(each.value) && each.value.top === 0n;
    if (kind === "neg" && isCall(inside) && inside[0] === "mul" && inside.length === 3 && isZero(inside[1])) return inside;
    return [kind, ...parts];
  }

  // --- whether a line holds

  /** What a sentence of printed numbers comes to exactly: a fraction, an infinity, a truth value, or null. */
  exactValue(node) {
    if (isNumber(node)) return node.value;
    if (!isCall(node)) return null;
    const [kind, ...parts] = node;
    const apply = EXACT[PRINTED_AS[kind] ?? kind];
    if (!apply) return null;
    const values = parts.map((part) => this.exactValue(part));
    if (values.includes(null)) {
      const zeros = values.slice(0, this.functions[kind]?.zero_arguments ?? 0);
      return zeros.some((value) => isFraction(value) && value.top === 0n) ? ZERO : null;
    }
    try {
      return apply(...values);
    } catch (error) {
      if (error instanceof RangeError) return null; // a division by zero
      throw error;
    }
  }

  /** What a sentence comes to where its roots have sixty digits; null where it comes to no number. */
  nearValue(node) {
    if (isNumber(node)) return node.value ?? (node.text === "nan" ? null : readNumber(node.text).near);
    const [kind, ...parts] = node;
    const values = parts.map((part) => this.nearValue(part));
    if (values.includes(null)) return null;
    const name = PRINTED_AS[kind] ?? kind;
    try {
      return name === "sqrt" ? (rationalRoot(values[0]) ?? nearRoot(values[0])) : EXACT[name](...values);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }

  needsLookup(node) {
    return isCall(node) && (Boolean(this.functions[node[0]]?.looked_up) || node.slice(1).some((part) => this.needsLookup(part)));
  }

  /** Whether the printed numbers of a sentence give exactly the printed result. */
  gives(sentence, result) {
    const exact = this.exactValue(sentence);
    if (exact !== null || this.needsLookup(sentence))
      return exact !== null && result.value !== null && compare(exact, result.value) === 0;
    const [value, printed] = [this.nearValue(sentence), this.nearValue(result)];
    if (!isFraction(value) || !isFraction(printed)) return false;
    const difference = EXACT.abs(plus(value, negative(printed)));
    return compare(times(difference, fraction(NEAR)), EXACT.max(ONE, EXACT.abs(printed))) < 0;
  }

  dividesByNothing(node) {
    if (!isCall(node)) return false;
    const divisor = node[0] === "div" || node[0] === "share" ? this.exactValue(node[2]) : null;
    return (isFraction(divisor) && divisor.top === 0n) || node.slice(1).some((part) => this.dividesByNothing(part));
  }

  // --- stages, as 50·tanh(100 / 50) = 50·tanh(2) ≈ 50·0.964

  /** The stages of a sentence as one expression, and the last of them; none where nothing is worked inside. */
  stages(sentence, truth) {
    let [chain, last] = [sentence, null];
    while (!this.isReady(sentence)) {
      const note = { holds: true };
      const [next, true_] = this.stage(sentence, truth, note);
      if (same(next, sentence)) break;
      const before = this.exactValue(sentence);
      const after = before === null ? null : this.exactValue(next);
      const alike = before !== null && after !== null && compare(before, after) === 0;
      chain = [note.holds || alike ? "comes_to" : "comes_near", chain, next];
      [sentence, truth, last] = [next, true_, next];
    }
    return [chain, last];
  }

  isReady(node) {
    return isCall(node) && Boolean(this.functions[node[0]]?.looked_up) && node.slice(1).every(isNumber);
  }

  stage(node, truth, note) {
    if (!isCall(node) || !isCall(truth)) return [node, truth];
    const lookedUp = Boolean(this.functions[node[0]]?.looked_up);
    if (this.isReady(node)) return this.worked(node, truth, note);
    const pairs = node.slice(1).map((part, at) =>
      lookedUp ? this.worked(part, truth[at + 1], note) : this.stage(part, truth[at + 1], note));
    return [[node[0], ...pairs.map(([one]) => one)], [node[0], ...pairs.map(([, other]) => other)]];
  }

  worked(node, truth, note) {
    if (isNumber(node)) return [node, truth];
    const float = this.float(truth);
    const shown = this.node(formatNumber(float, this.model.data.precision));
    note.holds &&= this.gives(node, shown);
    return [shown, { text: `${float}`, value: null, float }];
  }

  float(node) {
    if (isNumber(node)) return node.float ?? (node.value === null ? valueOf(node.text) : toNumber(node.value));
    const values = node.slice(1).map((part) => this.float(part));
    const apply = FLOATS[PRINTED_AS[node[0]] ?? node[0]];
    return values.length > 1 ? values.reduce(apply) : apply(values[0]);
  }

  // --- what a mask hides, in words

  visibility([, condition, visible, hidden], place, fixed) {
    const parts = condition[0] === "and_" ? condition.slice(1) : [condition];
    const put = (node) => this.substitute(node, place, {}, fixed, (...cell) => this.number(...cell));
    const facts = parts.map((part) => {
      const numbers = put(part);
      const holds = this.exactValue(numbers) === true;
      return { holds, said: [...this.fact(part, numbers, place, fixed, holds), ", "] };
    });
    const seen = facts.every(({ holds }) => holds);
    const follows = [seen ? this.words.visible : this.words.hidden, { formula: put(seen ? visible : hidden) }];
    return [...facts.flatMap(({ said }) => said), ...follows];
  }

  fact(condition, numbers, place, fixed, holds) {
    const [, cell] = condition;
    if (isCall(cell) && cell[0] === "@" && numbers.length === 3) {
      const indices = cell.slice(2).filter((index) => !this.isFixed(index, fixed)).map((index) => this.position(index, place));
      if (indices.length) return [{ formula: ["@", cell[1], ...indices] }, " = ", { formula: numbers[1] }];
    }
    const verdict = holds ? this.words.true : this.words.false;
    return [{ formula: this.withSettings(condition, fixed, place) }, ": ", { formula: numbers }, verdict];
  }

  /** A condition with the problem's own numbers for their names: j ≤ i - 1 for j ≤ i + offset. */
  withSettings(node, fixed, place) {
    if (typeof node === "string") return node === "d_k" ? node : (this.model.scalars.get(node)?.node ?? node);
    if (typeof node === "number") return this.node(`${node}`);
    const [kind, ...parts] = node;
    if (kind === "#") return this.node(parts[0]);
    if (kind === "@") {
      const [name, ...indices] = parts;
      if (!indices.length || !indices.every((index) => this.isFixed(index, fixed))) return [kind, name, ...indices.map((index) => this.withSettings(index, fixed, place))];
      return this.ownNumber(name, this.model.at(this.model.arrays.get(name).shape, indices.map((index) => this.position(index, place))));
    }
    const made = parts.map((part) => this.withSettings(part, fixed, place));
    const [left, right] = made;
    if (kind === "add" && made.length === 2 && isNumber(right) && right.value !== null && compare(right.value, ZERO) < 0)
      return ["sub", left, { text: right.text.replace(/^-/, ""), value: negative(right.value) }];
    return [kind, ...made];
  }
}

const termsOf = (node, name) => (isCall(node) && node[0] === name ? node.slice(1) : [node]);

/** Names and places of the numbers in a sentence. */
const cellsOf = (node) => (isCall(node) ? node.slice(1).flatMap(cellsOf) : node.cell ? [node.cell] : []);

/** What a printed number such as 1.235e+400 says, which no double holds. */
function printedExactly(text) {
  return PLAIN.test(text) ? decimalFraction(decimalParts(text)) : null;
}

function same(one, other) {
  if (!isCall(one) || !isCall(other)) return isNumber(one) && isNumber(other) ? one.text === other.text : one === other;
  return one.length === other.length && one.every((part, at) => same(part, other[at]));
}
