// @ts-check
// Equations with their numbers put in: for the cell of a step, a sentence of printed numbers.
//
// In a sentence a number is { text, value }, with null for the value of a root; a call is an array,
// ["add", a, b].

"use strict";

class Sentences {
  /**
   * @param {Model} model
   * @param {Relation} relation
   */
  constructor(model, relation) {
    this.model = model;
    this.relation = relation;
    /** @type {Map<string, PrintedNumber>} */
    this.nodes = new Map();
  }

  // --- printed numbers

  /**
   * A number as it is printed, with what its digits say exactly.
   *
   * @param {string} text
   */
  node(text) {
    if (!this.nodes.has(text)) this.nodes.set(text, { text, value: exactlyPrinted(text) });
    return this.nodes.get(text);
  }

  /** @type {PutNumber} */
  number(name, at) {
    return this.node(this.model.text(name, at));
  }

  /** @type {PutNumber} */
  numberInFull(name, at) {
    const float = this.model.shown(name)[at];
    return { text: `${float}`, value: null, float };
  }

  /**
   * The number of a head or entry that the page has fixed, such as its slope: with all its digits.
   *
   * @type {PutNumber}
   */
  ownNumber(name, at) {
    const { texts, values } = this.model.array(name);
    return this.node(texts?.[at] ?? spelled(spelledInFile(values[at])));
  }

  /**
   * A number rounded as the page rounds.
   *
   * @param {number} value
   */
  rounded(value) {
    return this.node(formatNumber(value, this.model.data.precision));
  }

  /**
   * A number as it is, and not as it is printed.
   *
   * @param {Sentence} node
   * @returns {number}
   */
  float(node) {
    if (!isCall(node)) {
      const { float, value, text } = /** @type {PrintedNumber} */ (node);
      return float ?? (value === null ? valueOf(text) : toNumber(value));
    }
    const [kind, ...parts] = node;
    const values = parts.map((part) => this.float(part));
    return result(FLOATS[PRINTED_AS[kind] ?? kind], values);
  }

  // --- numbers put in

  /**
   * An equation for one place. `fixed` has the letters that the page of a head or of an entry has
   * fixed; `number` says what is put in for a cell.
   *
   * @param {Tree} tree
   * @param {Places} places
   * @param {Record<string, number>} runs
   * @param {Places} fixed
   * @param {PutNumber} number
   * @returns {any}
   */
  put(tree, places, runs, fixed, number) {
    if (typeof tree === "number") return this.node(`${tree}`);
    if (typeof tree === "string") return this.named(tree, places);
    const [kind, ...parts] = tree;
    /** @type {(part: Tree, at?: Places) => any} */
    const put = (part, at = places) => this.put(part, at, runs, fixed, number);
    if (kind === "#") return this.node(parts[0]);
    if (kind === "@") return this.cell(parts[0], parts.slice(1), places, fixed, number);
    if (kind === "sum" || kind === "largest") {
      const [letter, body] = parts;
      const name = kind === "sum" ? "add" : "max";
      const terms = range(runs[letter]).map((at) => put(body, { ...places, [letter]: at }));
      return [name, ...terms.flatMap((term) => inOne(term, name))];
    }
    if (kind === "where") {
      const inFull = this.put(parts[0], places, runs, fixed, (...cell) =>
        this.numberInFull(...cell),
      );
      return put(this.float(inFull) ? parts[1] : parts[2]);
    }
    if (kind === "finite") {
      const through = put(parts[0]);
      const value = through.float ?? this.relation.exactValue(through);
      return value === -Infinity ? wholeNumber(0) : through;
    }
    const made = parts.map((part) => put(part));
    if (kind === "add") return [kind, ...made.flatMap((term) => inOne(term, kind))];
    return [kind, ...made];
  }

  /**
   * @param {string} name
   * @param {Places} places
   */
  named(name, places) {
    if (name in places) return wholeNumber(places[name]);
    return this.model.scalars.get(name)?.node ?? name;
  }

  /**
   * @param {string} name
   * @param {Tree[]} indices
   * @param {Places} places
   * @param {Places} fixed
   * @param {PutNumber} number
   */
  cell(name, indices, places, fixed, number) {
    const at = this.at(name, indices, places);
    const isOwn = indices.length && indices.every((index) => this.isFixed(index, fixed));
    return isOwn ? this.ownNumber(name, at) : number(name, at);
  }

  /**
   * Where the number of a cell is among those of its array.
   *
   * @param {string} name
   * @param {Tree[]} indices
   * @param {Places} places
   */
  at(name, indices, places) {
    const index = indices.map((each) => this.position(each, places));
    return placeIn(this.model.shapeOf(name), index);
  }

  /**
   * @param {Tree} index
   * @param {Places} places
   * @returns {number}
   */
  position(index, places) {
    if (typeof index === "number") return index;
    if (typeof index === "string") return places[index] ?? this.model.scalars.get(index).value;
    const [kind, ...parts] = index;
    const positions = parts.map((part) => this.position(part, places));
    return result(FLOATS[kind], positions);
  }

  /**
   * @param {Tree} index
   * @param {Places} fixed
   * @returns {boolean}
   */
  isFixed(index, fixed) {
    if (typeof index === "number") return true;
    if (typeof index === "string") return index in fixed || this.model.scalars.has(index);
    const [, ...parts] = index;
    return parts.every((part) => this.isFixed(part, fixed));
  }

  /**
   * An equation with the problem's own numbers for their names: j ≤ i - 1 for j ≤ i + offset.
   *
   * @param {Tree} node
   * @param {Places} fixed
   * @param {Places} places
   * @returns {any}
   */
  withSettings(node, fixed, places) {
    if (typeof node === "number") return this.node(`${node}`);
    if (typeof node === "string")
      return node === "d_k" ? node : (this.model.scalars.get(node)?.node ?? node);
    const [kind, ...parts] = node;
    if (kind === "#") return this.node(parts[0]);
    if (kind === "@") {
      const [name, ...indices] = parts;
      const isOwn = indices.length && indices.every((index) => this.isFixed(index, fixed));
      if (isOwn) return this.ownNumber(name, this.at(name, indices, places));
      return [kind, name, ...indices.map((index) => this.withSettings(index, fixed, places))];
    }
    const made = parts.map((part) => this.withSettings(part, fixed, places));
    return kind === "add" ? differenceOf(made) : [kind, ...made];
  }
}

/** @param {number} number */
const wholeNumber = (number) => ({ text: `${number}`, value: fraction(BigInt(number)) });

/**
 * The terms of a term that is a sum itself.
 *
 * @param {Sentence} node
 * @param {string} name
 */
const inOne = (node, name) => (isCall(node) && node[0] === name ? node.slice(1) : [node]);

/**
 * Names and places of the numbers in a sentence.
 *
 * @param {Sentence} node
 * @returns {Cell[]}
 */
function cellsOf(node) {
  if (isCall(node)) return node.slice(1).flatMap(cellsOf);
  return isNumber(node) && node.cell ? [node.cell] : [];
}

/**
 * a - 1 for a + -1.
 *
 * @param {Sentence[]} terms
 * @returns {Call}
 */
function differenceOf(terms) {
  const [left, right] = terms;
  if (terms.length !== 2 || !isNumber(right) || right.value === null) return ["add", ...terms];
  if (compare(right.value, ZERO) >= 0) return ["add", ...terms];
  return ["sub", left, { text: right.text.replace(/^-/, ""), value: negative(right.value) }];
}

/**
 * 0·a for -0·a, which nobody writes.
 *
 * @param {any} node
 * @returns {any}
 */
function withoutSignOfZero(node) {
  if (!isCall(node)) return node;
  const [kind, ...parts] = node;
  const made = parts.map(withoutSignOfZero);
  const [inside] = made;
  const isProduct = isCall(inside) && inside[0] === "mul" && inside.length === 3;
  const isOfZero = isProduct && isNumber(inside[1]) && isZero(inside[1].value);
  return kind === "neg" && isOfZero ? inside : [kind, ...made];
}

/**
 * What a printed number says exactly: 1.235e+400, too, which no double holds. Null for a root and
 * for what is no number.
 *
 * @param {string} text
 * @returns {Exact}
 */
function exactlyPrinted(text) {
  if (text === SHARED.infinity) return Infinity;
  if (text === `-${SHARED.infinity}`) return -Infinity;
  const exact = readNumber(text)?.exact;
  return exact ?? (PLAIN.test(text) ? decimalFraction(decimalParts(text)) : null);
}

/**
 * @param {any} one
 * @param {any} other
 * @returns {boolean}
 */
function areAlike(one, other) {
  if (isCall(one) && isCall(other))
    return one.length === other.length && one.every((part, at) => areAlike(part, other[at]));
  if (isNumber(one) && isNumber(other)) return one.text === other.text;
  return one === other;
}
