// Sentences in a notation: parentheses only where they would read differently without them.

"use strict";

const isNumber = (node) => typeof node === "number" || (typeof node === "object" && !Array.isArray(node));
const isCall = Array.isArray;
const DIGITS = /^[0-9.]+$/;

/** K_rotᵀ for K_rot_T. */
const symbolName = (name) => (name.endsWith("_T") ? `${name.slice(0, -2)}ᵀ` : name);

/** Lines of text. `symbol` says what a step is called in them. */
class Notation {
  constructor({ notation, functions }, symbol) {
    Object.assign(this, { forms: notation, functions, symbol });
  }

  name(name) {
    return symbolName(name);
  }

  cell(name, indices) {
    return `${this.name(name)}[${indices.join(", ")}]`;
  }

  digits(text) {
    return text.replace(/inf$/, "∞");
  }

  text(node) {
    return this.written(node)[0];
  }

  /** The text, and how tightly it binds. */
  written(node) {
    const { atom, product } = this.forms;
    if (typeof node === "string") return [this.name(node), atom];
    if (typeof node === "number" || node[0] === "#") return this.written({ text: `${node[1] ?? node}` });
    if (node[0] === "sum" || node[0] === "largest") {
      const spelled = { index: this.name(node[1]), body: this.within(node[2], product)[0] };
      return [this.forms[node[0]].replace(/\{(\w+)\}/g, (_, part) => spelled[part]), product];
    }
    if (isNumber(node)) {
      if (DIGITS.test(node.text)) return [this.digits(node.text), atom];
      const tree = numeral(node.text);
      if (isCall(tree)) return this.written(tree);
      return [this.digits(tree.text), tree.text.includes("e") ? product : atom];
    }
    if (node[0] === "@") {
      const [, name, ...indices] = node;
      const symbol = this.symbol(name);
      return [indices.length ? this.cell(symbol, indices.map((index) => this.text(index))) : this.name(symbol), atom];
    }
    return this.call(...node);
  }

  call(name, ...parts) {
    let spelling = this.functions[name];
    if (spelling.of_number && isNumber(parts[0])) spelling = spelling.of_number;
    const made = parts.map((part, at) => this.within(part, spelling.needs[at] ?? spelling.needs.at(-1)));
    const level = spelling.form.startsWith("{0}") ? Math.min(spelling.level, made[0][1]) : spelling.level;
    let texts = made.map(([text]) => text);
    if (spelling.of_tall && texts.some((text) => this.isTall(text))) spelling = spelling.of_tall;
    if (spelling.separator) texts = [texts.join(spelling.separator)];
    return [spelling.form.replace(/\{(\d)\}/g, (_, at) => texts[at]), level];
  }

  within(node, need) {
    const [text, level] = this.written(node);
    if (level >= need) return [text, level];
    const around = this.isTall(text) ? this.forms.tall_parenthesis : this.forms.parenthesis;
    return [around.replace("{}", () => text), this.forms.atom];
  }

  /** Whether something in the text is taller than a line. */
  isTall(text) {
    return this.forms.tall?.some((sign) => text.includes(sign)) ?? false;
  }
}

/** Formulas, as browsers set them. What Python spells there is markup; nobody else wrote any of it. */
class MathML extends Notation {
  constructor({ notation, mathml }, symbol) {
    super({ notation: { ...notation, ...mathml }, functions: mathml.functions }, symbol);
  }

  name(name) {
    return this.forms.names[name][0];
  }

  cell(name, indices) {
    return this.forms.names[name][1].replace("{0}", () => indices.join("<mo>,</mo>"));
  }

  digits(text) {
    if (text === "inf") return "<mi>∞</mi>";
    const [number, exponent] = text.split("e");
    if (exponent === undefined) return `<mn>${number}</mn>`;
    const power = `${exponent < 0 ? "<mo>−</mo>" : ""}<mn>${Math.abs(exponent)}</mn>`;
    return `<mrow><mn>${number}</mn><mo>×</mo><msup><mn>10</mn><mrow>${power}</mrow></msup></mrow>`;
  }
}

/** A printed number as a tree over numbers that are only digits. */
function numeral(text) {
  if (text.startsWith("-")) return ["neg", numeral(text.slice(1))];
  const line = text.lastIndexOf("/");
  if (line >= 0) return ["ratio", numeral(text.slice(0, line)), numeral(text.slice(line + 1))];
  const star = text.lastIndexOf("*");
  if (star >= 0) return ["multiple", numeral(text.slice(0, star)), numeral(text.slice(star + 1))];
  if (text.startsWith("sqrt(")) return ["sqrt", numeral(text.slice(5, -1))];
  return { text, value: null };
}
