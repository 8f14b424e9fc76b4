// @ts-check
// Sentences in a notation: parentheses only where they would read differently without them.

"use strict";

const DIGITS = /^[0-9.]+$/;
const ENDS_WITH_INFINITY = new RegExp(`${SHARED.infinity}$`);

/**
 * @param {any} node
 * @returns {node is PrintedNumber}
 */
function isNumber(node) {
  return typeof node === "number" || (typeof node === "object" && !isCall(node));
}

/**
 * K_rotᵀ for K_rot_T.
 *
 * @param {string} name
 */
const symbolName = (name) => (name.endsWith("_T") ? `${name.slice(0, -2)}ᵀ` : name);

/** A text, and how tightly it binds. @typedef {[text: string, level: number]} Written */

/** Lines of text. `symbol` says what a step is called in them. */
class Notation {
  /**
   * @param {{ notation: Forms, functions: Record<string, Spelling> }} data
   * @param {(name: string) => string} symbol
   */
  constructor({ notation, functions }, symbol) {
    this.forms = notation;
    this.functions = functions;
    this.symbol = symbol;
  }

  /** @param {string} name */
  name(name) {
    return symbolName(name);
  }

  /**
   * @param {string} name
   * @param {string[]} indices
   */
  cell(name, indices) {
    return `${this.name(name)}[${indices.join(", ")}]`;
  }

  /** @param {string} text */
  digits(text) {
    return text.replace(ENDS_WITH_INFINITY, SHARED.infinity_sign);
  }

  /** @param {Sentence | Tree} node */
  text(node) {
    return this.written(node)[0];
  }

  /**
   * @param {Sentence | Tree} node
   * @returns {Written}
   */
  written(node) {
    if (typeof node === "string") return [this.name(node), this.forms.atom];
    if (typeof node === "number") return this.number(`${node}`);
    if (!isCall(node)) return this.number(node.text);
    const [kind, ...parts] = node;
    if (kind === "#") return this.number(parts[0]);
    if (kind === "@") return this.reference(parts[0], parts.slice(1));
    if (kind === "sum" || kind === "largest") return this.reduced(kind, parts[0], parts[1]);
    return this.call(kind, parts);
  }

  /**
   * @param {string} text
   * @returns {Written}
   */
  number(text) {
    const { atom, product } = this.forms;
    if (DIGITS.test(text)) return [this.digits(text), atom];
    const tree = numeral(text);
    if (isCall(tree)) return this.written(tree);
    return [this.digits(tree.text), tree.text.includes("e") ? product : atom];
  }

  /**
   * @param {string} name
   * @param {Tree[]} indices
   * @returns {Written}
   */
  reference(name, indices) {
    const symbol = this.symbol(name);
    const texts = indices.map((index) => this.text(index));
    return [texts.length ? this.cell(symbol, texts) : this.name(symbol), this.forms.atom];
  }

  /**
   * @param {"sum" | "largest"} kind
   * @param {string} index
   * @param {Tree} body
   * @returns {Written}
   */
  reduced(kind, index, body) {
    const { product } = this.forms;
    /** @type {Record<string, string>} */
    const spelling = { index: this.name(index), body: this.within(body, product)[0] };
    const text = this.forms[kind].replace(/\{(\w+)\}/g, (_, part) => spelling[part]);
    return [text, product];
  }

  /**
   * @param {string} name
   * @param {(Sentence | Tree)[]} parts
   * @returns {Written}
   */
  call(name, parts) {
    let spelling = this.functions[name];
    if (spelling.of_number && isNumber(parts[0])) spelling = spelling.of_number;
    const { needs } = spelling;
    const made = parts.map((part, at) => this.within(part, needs[at] ?? needs.at(-1)));
    const beginsWithPart = spelling.form.startsWith("{0}");
    const level = beginsWithPart ? Math.min(spelling.level, made[0][1]) : spelling.level;
    let texts = made.map(([text]) => text);
    const isTall = texts.some((text) => this.isTall(text));
    if (spelling.of_tall && isTall) spelling = spelling.of_tall;
    if (spelling.separator) texts = [texts.join(spelling.separator)];
    return [spelling.form.replace(/\{(\d)\}/g, (_, at) => texts[at]), level];
  }

  /**
   * @param {Sentence | Tree} node
   * @param {number} need
   * @returns {Written}
   */
  within(node, need) {
    const [text, level] = this.written(node);
    if (level >= need) return [text, level];
    const around = this.isTall(text) ? this.forms.tall_parenthesis : this.forms.parenthesis;
    return [around.replace("{}", () => text), this.forms.atom];
  }

  /**
   * Whether something in the text is taller than a line.
   *
   * @param {string} text
   */
  isTall(text) {
    return this.forms.tall?.some((sign) => text.includes(sign)) ?? false;
  }
}

/** Formulas, as browsers set them. What Python spells there is markup; nobody else wrote any of it. */
class MathML extends Notation {
  /**
   * @param {LiveData} data
   * @param {(name: string) => string} symbol
   */
  constructor({ notation, mathml }, symbol) {
    super({ notation: { ...notation, ...mathml }, functions: mathml.functions }, symbol);
  }

  /** @param {string} name */
  name(name) {
    return this.forms.names[name][0];
  }

  /**
   * @param {string} name
   * @param {string[]} indices
   */
  cell(name, indices) {
    return this.forms.names[name][1].replace("{0}", () => indices.join("<mo>,</mo>"));
  }

  /** @param {string} text */
  digits(text) {
    if (text === SHARED.infinity) return `<mi>${SHARED.infinity_sign}</mi>`;
    if (text === SHARED.nan) return `<mi>${text}</mi>`;
    const [number, exponent] = text.split("e");
    if (exponent === undefined) return `<mn>${number}</mn>`;
    const sign = Number(exponent) < 0 ? "<mo>−</mo>" : "";
    const power = `<msup><mn>10</mn><mrow>${sign}<mn>${Math.abs(Number(exponent))}</mn></mrow></msup>`;
    return `<mrow><mn>${number}</mn><mo>×</mo>${power}</mrow>`;
  }
}

/**
 * A printed number as a tree over numbers that are only digits.
 *
 * @param {string} text
 * @returns {Call | PrintedNumber}
 */
function numeral(text) {
  if (text.startsWith("-")) return ["neg", numeral(text.slice(1))];
  const line = text.lastIndexOf("/");
  if (line >= 0) return ["ratio", numeral(text.slice(0, line)), numeral(text.slice(line + 1))];
  const star = text.lastIndexOf("*");
  if (star >= 0) return ["multiple", numeral(text.slice(0, star)), numeral(text.slice(star + 1))];
  if (text.startsWith("sqrt(")) return ["sqrt", numeral(text.slice(5, -1))];
  return { text, value: null };
}
