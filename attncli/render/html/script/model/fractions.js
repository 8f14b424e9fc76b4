// @ts-check
// Exact arithmetic. A fraction is { top, bottom } of BigInts in lowest terms; an infinity, or what
// is no number, is a plain number.

"use strict";

// Digits of a root or a logarithm that is compared with a printed number.
const ROOT_DIGITS = BigInt(SHARED.root_digits);
// What 1 is in a logarithm that is worked out, with some digits more.
const LOGARITHM_ONE = 10n ** (ROOT_DIGITS + 10n);
const ZERO = { top: 0n, bottom: 1n };
const ONE = { top: 1n, bottom: 1n };

/** @param {bigint} whole */
const absolute = (whole) => (whole < 0n ? -whole : whole);

/**
 * In lowest terms: 6 / -4 is -3/2.
 *
 * @param {bigint} top
 * @param {bigint} bottom
 * @returns {Fraction}
 */
function fraction(top, bottom = 1n) {
  if (bottom === 0n) throw new RangeError(SHARED.complaints.by_zero);
  let [divisor, rest] = [absolute(top), absolute(bottom)];
  while (rest) [divisor, rest] = [rest, divisor % rest];
  const signed = bottom < 0n ? -top : top;
  if (divisor <= 1n) return { top: signed, bottom: absolute(bottom) };
  return { top: signed / divisor, bottom: absolute(bottom) / divisor };
}

/**
 * @param {any} value
 * @returns {value is Fraction}
 */
function isFraction(value) {
  return value !== null && typeof value === "object";
}

/**
 * Enough of a number beside an infinity: its sign.
 *
 * @param {Exact} value
 */
const asNumber = (value) => (isFraction(value) ? Math.sign(Number(value.top)) : value);

/**
 * @param {Exact} a
 * @param {Exact} b
 * @returns {Exact}
 */
function plus(a, b) {
  if (!isFraction(a) || !isFraction(b)) return asNumber(a) + asNumber(b);
  return fraction(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
}

/**
 * @param {Exact} a
 * @returns {Exact}
 */
function negative(a) {
  return isFraction(a) ? { top: -a.top, bottom: a.bottom } : -a;
}

/**
 * @param {Exact} a
 * @param {Exact} b
 * @returns {Exact}
 */
function times(a, b) {
  if (!isFraction(a) || !isFraction(b)) return asNumber(a) * asNumber(b);
  return fraction(a.top * b.top, a.bottom * b.bottom);
}

/**
 * @param {Exact} a
 * @param {Exact} b
 * @returns {Exact}
 */
function over(a, b) {
  if (isFraction(b) && b.top === 0n) throw new RangeError(SHARED.complaints.by_zero);
  if (isFraction(a) && isFraction(b)) return fraction(a.top * b.bottom, a.bottom * b.top);
  return isFraction(a) ? ZERO : asNumber(a) / asNumber(b);
}

/**
 * Less than 0, 0 or more, as a is less than b, equal, or more.
 *
 * @param {Exact} a
 * @param {Exact} b
 */
function compare(a, b) {
  const isExact = isFraction(a) && isFraction(b);
  const one = isExact ? a.top * b.bottom : beside(a);
  const other = isExact ? b.top * a.bottom : beside(b);
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/**
 * What any fraction may be taken for beside an infinity.
 *
 * @param {Exact} value
 */
const beside = (value) => (isFraction(value) ? 0 : value);

/** @param {Fraction} a */
function floor(a) {
  const towardsZero = a.top / a.bottom;
  const isCut = a.top < 0n && towardsZero * a.bottom !== a.top;
  return fraction(isCut ? towardsZero - 1n : towardsZero);
}

/**
 * The largest whole number whose square is not above this one.
 *
 * @param {bigint} square
 */
function wholeRoot(square) {
  if (square < 2n) return square;
  let root = 1n << BigInt((square.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/**
 * The root of a fraction if that is one, else null.
 *
 * @param {Exact} value
 * @returns {Fraction}
 */
function rationalRoot(value) {
  if (!isFraction(value) || value.top < 0n) return null;
  const [top, bottom] = [wholeRoot(value.top), wholeRoot(value.bottom)];
  const isRoot = top * top === value.top && bottom * bottom === value.bottom;
  return isRoot ? { top, bottom } : null;
}

/**
 * The root of a fraction to sixty digits.
 *
 * @param {Fraction} value
 */
function nearRoot(value) {
  const scale = 10n ** ROOT_DIGITS;
  const root = wholeRoot(value.top * value.bottom * scale * scale);
  return fraction(root, value.bottom * scale);
}

/**
 * The natural logarithm of a fraction above 0 to sixty digits: that of what is left between 1/2 and 2,
 * and that of the powers of two.
 *
 * @param {Fraction} value
 */
function nearLogarithm({ top, bottom }) {
  const twos = BigInt(top.toString(2).length - bottom.toString(2).length);
  const left = twos < 0n ? [top << -twos, bottom] : [top, bottom << twos];
  return fraction(
    scaledLogarithm(left[0], left[1]) + twos * scaledLogarithm(2n, 1n),
    LOGARITHM_ONE,
  );
}

/**
 * The logarithm of top / bottom, which is near 1: ln x = 2·(z + z³/3 + z⁵/5 + …) of z = (x − 1)/(x + 1).
 *
 * @param {bigint} top
 * @param {bigint} bottom
 */
function scaledLogarithm(top, bottom) {
  const ratio = ((top - bottom) * LOGARITHM_ONE) / (top + bottom);
  const square = (ratio * ratio) / LOGARITHM_ONE;
  let total = 0n;
  for (let power = ratio, odd = 1n; power; odd += 2n) {
    total += power / odd;
    power = (power * square) / LOGARITHM_ONE;
  }
  return 2n * total;
}

/**
 * The double nearest to a fraction.
 *
 * @param {Exact} value
 */
function toNumber(value) {
  if (!isFraction(value)) return value;
  const limit = BigInt(Number.MAX_SAFE_INTEGER);
  const isSmall = absolute(value.top) <= limit && value.bottom <= limit;
  if (isSmall) return Number(value.top) / Number(value.bottom);
  const [topDigits, bottomDigits] = [absolute(value.top), value.bottom].map(
    (part) => part.toString().length,
  );
  const power = 30 + bottomDigits - topDigits;
  const top = power > 0 ? value.top * 10n ** BigInt(power) : value.top;
  const bottom = power > 0 ? value.bottom : value.bottom * 10n ** BigInt(-power);
  // One digit stands for all that follow: a number near a tie is no tie.
  const more = top % bottom ? 1 : 0;
  return Number(`${top / bottom}${more}e${-power - 1}`);
}
