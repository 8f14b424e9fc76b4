// The functions of the language of equations: on doubles, and on fractions, null where the result is none.

"use strict";

const both = (conditions) => conditions.every(Boolean);
const modulo = (value, by) => value - by * Math.floor(value / by);

const FLOATS = {
  add: (a, b) => a + b,
  add_mask: (score, mask) => (mask === -Infinity ? mask : score + mask),
  sub: (a, b) => a - b,
  neg: (a) => -a,
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
  abs: Math.abs,
  floor_div: (value, by) => Math.floor(value / by),
  mod: modulo,
  max: (a, b) => (a !== a || b !== b ? NaN : Math.max(a, b)),
  finite: (value) => (value === -Infinity ? 0 : value),
  le: (a, b) => a <= b,
  lt: (a, b) => a < b,
  ge: (a, b) => a >= b,
  gt: (a, b) => a > b,
  eq: (a, b) => a === b,
  and_: (a, b) => a && b,
};
const ANY_NUMBER = new Set(["add", "mul", "max", "and_"]);

const onlyAt = (argument, result) => (value) => (compare(value, fraction(argument)) === 0 ? fraction(result) : null);

function exactPower(base, exponent) {
  if (exponent === -Infinity) return compare(base, ONE) > 0 ? ZERO : null;
  if (!isFraction(exponent) || !isFraction(base)) return null;
  if (compare(exponent, fraction(64n)) > 0 || compare(exponent, fraction(-64n)) < 0) return null;
  if (base.top === 0n && exponent.top < 0n) return null;
  const root = exponent.bottom === 1n ? base : exponent.bottom === 2n ? rationalRoot(base) : otherRoot(base, exponent.bottom);
  if (root === null) return null;
  const raised = { top: root.top ** absolute(exponent.top), bottom: root.bottom ** absolute(exponent.top) };
  return exponent.top < 0n ? fraction(raised.bottom, raised.top) : raised;
}

function otherRoot(base, degree) {
  if (base.top < 0n) return null;
  const [top, bottom] = [base.top, base.bottom].map((whole) => BigInt(Math.round(Number(whole) ** (1 / Number(degree)))));
  return top ** degree === base.top && bottom ** degree === base.bottom ? { top, bottom } : null;
}

const EXACT = {
  add: (...terms) => terms.reduce(plus),
  add_mask: (score, mask) => (mask === -Infinity ? mask : plus(score, mask)),
  sub: (a, b) => plus(a, negative(b)),
  neg: negative,
  mul: (...factors) => factors.reduce(times),
  div: over,
  share: (part, whole) => (compare(whole, ZERO) === 0 ? part : over(part, whole)),
  exp: (value) => (value === -Infinity ? ZERO : compare(value, ZERO) === 0 ? ONE : null),
  pow: exactPower,
  sqrt: rationalRoot,
  log: onlyAt(1n, 0n),
  tanh: onlyAt(0n, 0n),
  sin: onlyAt(0n, 0n),
  cos: onlyAt(0n, 1n),
  abs: (value) => (compare(value, ZERO) < 0 ? negative(value) : value),
  floor_div: (value, by) => floor(over(value, by)),
  mod: (value, by) => plus(value, negative(times(by, floor(over(value, by))))),
  max: (...values) => values.reduce((a, b) => (a !== a || b !== b ? NaN : compare(a, b) < 0 ? b : a)),
  finite: (value) => (value === -Infinity ? ZERO : value),
  le: (a, b) => compare(a, b) <= 0,
  lt: (a, b) => compare(a, b) < 0,
  ge: (a, b) => compare(a, b) >= 0,
  gt: (a, b) => compare(a, b) > 0,
  eq: (a, b) => compare(a, b) === 0,
  and_: (...conditions) => both(conditions),
};
// What the forms mean that stand in a printed number.
const PRINTED_AS = { ratio: "div", multiple: "mul" };
