// @ts-check
// The functions of the language of equations: on doubles, and on fractions, null where the result
// is none.

"use strict";

const MOST_POWER = fraction(BigInt(SHARED.most_exact_power));

/** @type {Record<string, (...values: any[]) => any>} */
const FLOATS = {
  add: (a, b) => a + b,
  add_mask: (score, mask) => (mask === -Infinity ? mask : score + mask),
  sub: (a, b) => a - b,
  neg: (a) => -a,
  pi: () => Math.PI,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  share: (part, whole) => (whole === 0 ? part : part / whole),
  exp: Math.exp,
  pow: (base, power) => base ** power,
  sqrt: Math.sqrt,
  log: Math.log,
  tanh: Math.tanh,
  sin: Math.sin,
  cos: Math.cos,
  sigmoid,
  softplus: (value) => Math.log1p(Math.exp(-Math.abs(value))) + Math.max(value, 0),
  erf: errorFunction,
  silu: (value) => value * sigmoid(value),
  gelu: (value) => (value * (1 + errorFunction(value / Math.SQRT2))) / 2,
  phi: (value) => Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI),
  abs: Math.abs,
  floor_div: (value, by) => dividedWhole(value, by)[0],
  mod: (value, by) => dividedWhole(value, by)[1],
  max: (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? NaN : Math.max(a, b)),
  min: (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? NaN : Math.min(a, b)),
  relu: (value) => Math.max(value, 0),
  finite: (value) => (value === -Infinity ? 0 : value),
  le: (a, b) => a <= b,
  lt: (a, b) => a < b,
  ge: (a, b) => a >= b,
  gt: (a, b) => a > b,
  eq: (a, b) => a === b,
  and_: (a, b) => a && b,
  or_: (a, b) => a || b,
};

/** @type {Record<string, (...values: any[]) => any>} */
const EXACT = {
  add: (...terms) => terms.reduce(plus),
  add_mask: (score, mask) => (mask === -Infinity ? mask : plus(score, mask)),
  sub: (a, b) => plus(a, negative(b)),
  neg: negative,
  pi: () => null,
  mul: (...factors) => factors.reduce(times),
  div: over,
  share: (part, whole) => (compare(whole, ZERO) === 0 ? part : over(part, whole)),
  exp: (value) => (value === -Infinity ? ZERO : onlyAt(ZERO, ONE)(value)),
  pow: exactPower,
  sqrt: rationalRoot,
  log: onlyAt(ONE, ZERO),
  tanh: onlyAt(ZERO, ZERO),
  sin: onlyAt(ZERO, ZERO),
  cos: onlyAt(ZERO, ONE),
  sigmoid: onlyAt(ZERO, fraction(1n, 2n)),
  softplus: () => null,
  erf: onlyAt(ZERO, ZERO),
  silu: onlyAt(ZERO, ZERO),
  gelu: onlyAt(ZERO, ZERO),
  phi: () => null,
  abs: (value) => (compare(value, ZERO) < 0 ? negative(value) : value),
  floor_div: (value, by) => floor(/** @type {Fraction} */ (over(value, by))),
  mod: (value, by) => plus(value, negative(times(by, EXACT.floor_div(value, by)))),
  max: (...values) => values.reduce(exactMaximum),
  min: (...values) => values.reduce((a, b) => (exactMaximum(a, b) === a ? b : a)),
  relu: (value) => exactMaximum(ZERO, value),
  finite: (value) => (value === -Infinity ? ZERO : value),
  le: (a, b) => compare(a, b) <= 0,
  lt: (a, b) => compare(a, b) < 0,
  ge: (a, b) => compare(a, b) >= 0,
  gt: (a, b) => compare(a, b) > 0,
  eq: (a, b) => compare(a, b) === 0,
  and_: (...conditions) => conditions.every(Boolean),
  or_: (...conditions) => conditions.some(Boolean),
};

/**
 * A function of numbers; of more than two, two by two from the left.
 *
 * @param {(...values: any[]) => any} apply
 * @param {any[]} values
 */
function result(apply, values) {
  return values.length > 1 ? values.reduce((a, b) => apply(a, b)) : apply(values[0]);
}

/**
 * The quotient rounded down, and what is left, which has the sign of the divisor.
 *
 * @param {number} value
 * @param {number} by
 * @returns {[whole: number, left: number]}
 */
function dividedWhole(value, by) {
  const left = value % by;
  const isBelow = left !== 0 && left < 0 !== by < 0;
  const whole = by === 0 ? value / by : Math.round((value - left) / by) - Number(isBelow);
  return [whole, isBelow ? left + by : left];
}

/** @param {number} value */
function sigmoid(value) {
  const small = Math.exp(-Math.abs(value));
  return (value < 0 ? small : 1) / (1 + small);
}

/**
 * The error function, by the series whose terms are all above 0.
 *
 * @param {number} value
 */
function errorFunction(value) {
  // From here on, all digits are those of 1.
  if (Math.abs(value) > 6) return Math.sign(value);
  let term = value;
  let total = value;
  // A term that no longer changes the total is the last one.
  for (let odd = 3, before = NaN; total !== before; odd += 2) {
    before = total;
    term *= (2 * value * value) / odd;
    total += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-value * value) * total;
}

/**
 * What the forms mean that stand in a printed number.
 *
 * @type {Record<string, string>}
 */
const PRINTED_AS = { ratio: "div", multiple: "mul" };

/**
 * A function that gives a fraction for a single one.
 *
 * @param {Fraction} argument
 * @param {Fraction} result
 * @returns {(value: Exact) => Fraction}
 */
function onlyAt(argument, result) {
  return (value) => (compare(value, argument) === 0 ? result : null);
}

/**
 * @param {Exact} a
 * @param {Exact} b
 */
function exactMaximum(a, b) {
  if (Number.isNaN(a) || Number.isNaN(b)) return NaN;
  return compare(a, b) < 0 ? b : a;
}

/**
 * @param {Exact} base
 * @param {Exact} exponent
 */
function exactPower(base, exponent) {
  if (exponent === -Infinity) return compare(base, ONE) > 0 ? ZERO : null;
  if (!isFraction(exponent) || !isFraction(base)) return null;
  const height = fraction(absolute(exponent.top), exponent.bottom);
  if (compare(height, MOST_POWER) > 0) return null;
  if (base.top === 0n && exponent.top < 0n) return null;
  const root = rootOf(base, exponent.bottom);
  if (root === null) return null;
  const power = absolute(exponent.top);
  const raised = { top: root.top ** power, bottom: root.bottom ** power };
  return exponent.top < 0n ? fraction(raised.bottom, raised.top) : raised;
}

/**
 * The root of so high a degree, if that is a fraction, else null.
 *
 * @param {Fraction} base
 * @param {bigint} degree
 * @returns {Fraction}
 */
function rootOf(base, degree) {
  if (degree === 1n) return base;
  if (degree === 2n) return rationalRoot(base);
  if (base.top < 0n) return null;
  const [top, bottom] = [base.top, base.bottom].map((part) =>
    BigInt(Math.round(Number(part) ** (1 / Number(degree)))),
  );
  return top ** degree === base.top && bottom ** degree === base.bottom ? { top, bottom } : null;
}
