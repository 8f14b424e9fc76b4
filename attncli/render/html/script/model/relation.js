// @ts-check
// Whether a worked line holds: `=` only where the printed numbers give the printed result.

"use strict";

// Numbers that are closer than this part of them are the same.
const SAME = fraction(1n, 10n ** BigInt(SHARED.same_digits));

class Relation {
  /** @param {LiveData} data */
  constructor({ functions, notation }) {
    this.functions = functions;
    this.notation = notation;
  }

  /**
   * = or ≈.
   *
   * @param {Sentence} sentence
   * @param {PrintedNumber} result
   */
  sign(sentence, result) {
    return this.gives(sentence, result) ? this.notation.equals : this.notation.nearly;
  }

  /**
   * Whether the printed numbers of a sentence give exactly the printed result.
   *
   * @param {Sentence} sentence
   * @param {PrintedNumber} result
   */
  gives(sentence, result) {
    const exact = this.exactValue(sentence);
    if (exact !== null || this.needsLookup(sentence)) return areSame(exact, result.value);
    const [value, printed] = [this.nearValue(sentence), this.nearValue(result)];
    if (!isFraction(value) || !isFraction(printed)) return false;
    const difference = EXACT.abs(plus(value, negative(printed)));
    const scale = EXACT.max(ONE, EXACT.abs(printed));
    return compare(difference, times(scale, SAME)) < 0;
  }

  /**
   * What a sentence of printed numbers comes to exactly: a fraction, an infinity, a truth value, or
   * null.
   *
   * @param {Sentence} node
   * @returns {any}
   */
  exactValue(node) {
    if (isNumber(node)) return node.value;
    if (!isCall(node)) return null;
    const [kind, ...parts] = node;
    const apply = EXACT[PRINTED_AS[kind] ?? kind];
    if (!apply) return null;
    const values = parts.map((part) => this.exactValue(part));
    if (!values.includes(null)) return orNull(() => apply(...values));
    const factors = values.slice(0, this.functions[kind]?.zero_arguments ?? 0);
    return factors.some(isZero) ? ZERO : null;
  }

  /**
   * What a sentence comes to where its roots and logarithms have sixty digits; null where it comes to
   * no number.
   *
   * @param {Sentence} node
   * @returns {any}
   */
  nearValue(node) {
    if (isNumber(node)) return node.value ?? nearNumber(node.text);
    if (!isCall(node)) return null;
    const [kind, ...parts] = node;
    const values = parts.map((part) => this.nearValue(part));
    const name = PRINTED_AS[kind] ?? kind;
    if (name === "floor_div" && this.exactValue(node) === null) return this.nearFloor(node);
    if (values.includes(null)) return null;
    if (name === "pi") return exactlyPrinted(SHARED.pi);
    if (name === "sqrt" && values[0] === Infinity) return Infinity;
    if (name === "sqrt" && isFraction(values[0]))
      return orNull(() => rationalRoot(values[0]) ?? nearRoot(values[0]));
    if (name === "log" && compare(values[0], ZERO) > 0 && isFraction(values[0]))
      return nearLogarithm(values[0]);
    return orNull(() => EXACT[name](...values));
  }

  /**
   * A quotient rounded down of which doubles are enough, as of logarithms: null where it may be on
   * either side of a whole number.
   *
   * @param {any} node
   * @returns {any}
   */
  nearFloor([, ...parts]) {
    const [above, below] = parts.map((/** @type {any} */ part) => this.nearDouble(part));
    const quotient = above / below;
    const isSure = Math.abs(quotient - Math.round(quotient)) > SHARED.near_whole;
    return isSure ? fraction(BigInt(Math.floor(quotient))) : null;
  }

  /**
   * What a sentence of printed numbers comes to in doubles.
   *
   * @param {any} node
   * @returns {number}
   */
  nearDouble(node) {
    if (isNumber(node)) return toNumber(node.value ?? nearNumber(node.text));
    const [kind, ...parts] = node;
    const values = parts.map((/** @type {any} */ part) => this.nearDouble(part));
    return result(FLOATS[PRINTED_AS[kind] ?? kind], values);
  }

  /**
   * Whether there is a function in a sentence that nobody works out in the head.
   *
   * @param {Sentence | Tree} node
   * @returns {boolean}
   */
  needsLookup(node) {
    if (!isCall(node)) return false;
    const [kind, ...parts] = node;
    return this.isLookedUp(kind) || parts.some((part) => this.needsLookup(part));
  }

  /** @param {string} kind */
  isLookedUp(kind) {
    return Boolean(this.functions[kind]?.looked_up);
  }

  /**
   * @param {Sentence} node
   * @returns {boolean}
   */
  dividesByNothing(node) {
    if (!isCall(node)) return false;
    const [kind, ...parts] = node;
    const isDivision = kind === "div" || kind === "share";
    if (isDivision && isZero(this.exactValue(parts[1]))) return true;
    return parts.some((part) => this.dividesByNothing(part));
  }
}

/** @param {any} value */
const isZero = (value) => value === false || (isFraction(value) && value.top === 0n);

/**
 * @param {any} exact
 * @param {Exact} printed
 */
function areSame(exact, printed) {
  return exact !== null && printed !== null && compare(exact, printed) === 0;
}

/** @param {string} text */
const nearNumber = (text) => (text === SHARED.nan ? null : readNumber(text).near);

/**
 * What is worked out, or null for a division by zero.
 *
 * @param {() => any} work
 */
function orNull(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
