// @ts-check
// Tells numbers of answers from other texts: 0.7, 1/2, 2√3, e^(5/√3), 33 %, and blanks.

"use strict";

/** @typedef {{ blank: string, plain: string, token: string, functions: string[], raised: string, longest: number }} AnswerForms */

/** What stands between two factors without a sign, as in 2√3. */
const IMPLIED = " ";
const POWER_SIGNS = ["^", "**"];
const TIMES = ["·", "×", "⋅"];
/** @type {Record<string, (value: number) => number>} */
const OTHER_NAMES = { ln: Math.log };

class AnswerNumbers {
  /** @param {AnswerForms} forms */
  constructor(forms) {
    this.longest = forms.longest;
    this.functions = forms.functions;
    this.blank = new RegExp(`^(?:${forms.blank})$`);
    this.plain = new RegExp(`^(?:${forms.plain})$`);
    this.number = new RegExp(`^(?:${forms.token})$`);
    this.inParentheses = new RegExp(String.raw`^\(\s*[-+]?\s*(?:${forms.token})\s*\)`);
    const words = String.raw`\*\*|[-+*·×⋅/^()√]|${forms.functions.join("|")}|e(?![A-Za-z0-9])`;
    this.token = new RegExp(String.raw`\s*(${forms.token}|${words})`, "y");
    const digits = `[${forms.raised}]`;
    this.raisedPower = new RegExp(
      `(?<=[^\\s⁺⁻${forms.raised}])[⁺⁻]?${digits}+(?![⁺⁻⁄${forms.raised}])`,
      "g",
    );
  }

  /**
   * Whether a cell says a number, or is blank; of a number that is written twice, 1/3 = 0.33, whether
   * both sides do.
   *
   * @param {string} text
   */
  has(text) {
    const written = text.trim();
    if (this.blank.test(written)) return true;
    if (written.length > this.longest) return false;
    const sides = written.split(/[=≈]/).map((side) => side.trim());
    if (sides.every((side) => this.blank.test(side))) return false;
    return sides.every((side) => this.blank.test(side) || this.isNumber(side));
  }

  /** @param {string} spelled */
  isNumber(spelled) {
    if (hasTwoReadings(spelled)) return false;
    const text = this.inKeyboardSigns(spelled);
    if (/^-\s*\.?inf(?:inity)?$/i.test(text)) return true;
    const number = text.replace(/\s*%$/, "");
    if (number !== text) return this.plain.test(number.replace(/^[-+]\s+/, ""));
    // Accounts have it for a negative number.
    if (this.plain.test(text.replace(/^[(\s]+/, "").replace(/[)\s]+$/, "")) && /^\(/.test(text))
      return false;
    const tokens = this.tokens(text);
    return tokens !== null && new Calculation(this, tokens).isNumber();
  }

  /** @param {string} spelled */
  inKeyboardSigns(spelled) {
    return spelled
      .replace(/[！-～]/g, (sign) => sign.normalize("NFKC"))
      .replace(this.raisedPower, (power) => `^(${power.normalize("NFKC").replace("−", "-")})`)
      .replace(/(?<=\d\s*)[xX](?=\s*10\s*(?:\^|\*\*))/g, "×")
      .replace(/[−–]/g, "-")
      .replace(/[÷∕]|(?<=\d)⁄(?=\d)/g, "/")
      .replaceAll("∗", "*")
      .replaceAll("∙", "·")
      .replaceAll("∞", "inf");
  }

  /**
   * What a calculation consists of; null for what no calculation has in it, or may have two readings.
   *
   * @param {string} text
   */
  tokens(text) {
    /** @type {string[]} */
    const found = [];
    const end = text.trimEnd().length;
    this.token.lastIndex = 0;
    while (this.token.lastIndex < end) {
      const begin = this.token.lastIndex;
      const match = this.token.exec(text);
      if (!match) return null;
      const [whole, token] = match;
      const isApart = whole !== token;
      const before = found.at(-1) ?? "";
      if (POWER_SIGNS.includes(token) && this.functions.includes(before)) return null;
      if (token === "(" && (before === ")" || this.number.test(before))) {
        if (isApart || this.inParentheses.test(text.slice(begin))) return null;
        if (before !== ")" && !/^\d+$/.test(before)) return null;
        found.push(IMPLIED);
      } else if (token === "√" || token === "e" || this.functions.includes(token)) {
        if (this.isFactor(before)) found.push(IMPLIED);
      } else if (this.number.test(token) && this.isFactor(before)) {
        return null;
      }
      found.push(TIMES.includes(token) ? "*" : token);
    }
    return found;
  }

  /** @param {string} token */
  isFactor(token) {
    return token === ")" || token === "e" || this.number.test(token);
  }
}

/**
 * Whether readers would not agree what is meant, as by 0·5, 3–5 and 1.5×10−3.
 *
 * @param {string} text
 */
function hasTwoReadings(text) {
  return (
    /^[-+−]?\d+·\d+$/.test(text) ||
    /^[-+−]?[\d.]+–[\d.]+$/.test(text) ||
    /(?<![\d.eE])[1-9](?:\.\d*)?\s*[·×⋅]\s*10(?:\s*[-−–]\s*)?[1-9]\d{0,2}(?![\d.^]|\*\*)/.test(
      text,
    ) ||
    /\.\d*e(?![-+]?[\w.]|\s*(?:\^|\*\*|[-+]\s*[\d.]))/.test(text) ||
    /[\d.]e(?:\s+[-+]\s*|[-+]\s+)[\d.]/.test(text) ||
    /(?<![\d.eE])[1-9]\.\d*\s*\*\s*10\s*[-−–]\s*[1-9]\d{0,2}(?![\d.^]|\*\*)/.test(text)
  );
}

/** Works a calculation out from left to right; what has two readings is no number. */
class Calculation {
  /**
   * @param {AnswerNumbers} numbers
   * @param {string[]} tokens
   */
  constructor(numbers, tokens) {
    this.numbers = numbers;
    this.rest = [...tokens].reverse();
    this.failed = false;
  }

  fail() {
    this.failed = true;
    return NaN;
  }

  isNumber() {
    const value = this.sum();
    return !this.failed && !this.rest.length && Number.isFinite(value);
  }

  /** @param {string[]} signs */
  take(...signs) {
    return signs.includes(this.rest.at(-1) ?? "") ? this.rest.pop() : "";
  }

  /** @returns {number} */
  sum() {
    let value = this.product();
    for (let sign = this.take("+", "-"); sign; sign = this.take("+", "-")) {
      const other = this.product();
      value = sign === "+" ? value + other : value - other;
    }
    return value;
  }

  product() {
    let [value, before] = [this.signed(), ""];
    for (let sign = this.take("*", "/", IMPLIED); sign; sign = this.take("*", "/", IMPLIED)) {
      // 1/2√3 may be 1/(2√3).
      if (sign === IMPLIED && before === "/") return this.fail();
      const other = this.signed();
      value = sign === "/" ? value / other : value * other;
      if (sign === "/" && other === 0) return this.fail();
      before = sign;
    }
    return value;
  }

  /** @returns {number} */
  signed() {
    const sign = this.take("-", "+");
    if (sign) return sign === "-" ? -this.signed() : this.signed();
    const base = this.atom();
    return this.take(...POWER_SIGNS) ? base ** this.exponent() : base;
  }

  exponent() {
    const inParentheses = this.rest.at(-1) === "(";
    let isNegative = false;
    for (let sign = this.take("-", "+"); sign; sign = this.take("-", "+")) {
      isNegative = isNegative !== (sign === "-");
    }
    // 2^1/2 may be a root.
    const isFirst = this.rest.at(-1) === "1";
    const value = this.atom();
    const following = this.rest.at(-1);
    if (POWER_SIGNS.includes(following)) return this.fail();
    if (following === "/" && isFirst) return this.fail();
    if (following === IMPLIED && !inParentheses) return this.fail();
    return isNegative ? -value : value;
  }

  /** @returns {number} */
  atom() {
    const token = this.rest.pop();
    if (token === undefined) return this.fail();
    if (token === "√" && this.rest.at(-1) !== "(") return this.root();
    if (token === "e") return Math.E;
    const isFunction = token === "√" || this.numbers.functions.includes(token);
    if (isFunction && !this.take("(")) return this.fail();
    if (isFunction || token === "(") {
      const value = this.sum();
      if (!this.take(")")) return this.fail();
      return token === "(" ? value : functionOf(token)(value);
    }
    if (!this.numbers.number.test(token)) return this.fail();
    // Of ½ and 0.(3) it is enough that they are numbers.
    return this.numbers.plain.test(token) ? Number(token) : 0.5;
  }

  /** The root of a number or of e alone: readers of √3e would not agree. */
  root() {
    const value = Math.sqrt(this.atom());
    const goesOn = this.rest.at(-1) === IMPLIED && this.rest.at(-2) !== "√";
    return goesOn ? this.fail() : value;
  }
}

/**
 * @param {string} name
 * @returns {(value: number) => number}
 */
function functionOf(name) {
  if (name === "√") return Math.sqrt;
  return OTHER_NAMES[name] ?? /** @type {any} */ (Math)[name];
}
