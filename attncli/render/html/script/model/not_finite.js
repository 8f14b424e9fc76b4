// @ts-check
// Why a cell is infinite or no number: the first operation in it that makes one of finite numbers. The
// words are those of `tracing/not_finite.py`.

"use strict";

/** Signs that stand between two numbers. */
const SIGNS_BETWEEN = new Map([
  ["add", "+"],
  ["sub", "-"],
  ["mul", "*"],
  ["div", "/"],
  ["share", "/"],
  ["pow", "**"],
  ["floor_div", "//"],
  ["mod", "%"],
]);
const DIVISIONS = ["div", "share", "floor_div", "mod"];
const MOST_NUMBERS_WRITTEN = 3;
const MINUS = `-${SHARED.infinity}`;

/**
 * A function whose result is infinite or no number, though its numbers are not.
 *
 * @typedef {{ kind: string; numbers: number[]; result: number }} Fault
 */

/**
 * Why a cell is infinite or NaN; empty where nothing in its own equation makes it so.
 *
 * @param {Model} model
 * @param {Rule} rule
 * @param {number} at
 */
function whyNotFinite(model, rule, at) {
  const { sentences } = new Lines(model);
  const sentence = sentences.put(rule.equation, placesOf(rule, at), rule.runs, {}, (...cell) =>
    sentences.numberInFull(...cell),
  );
  const fault = firstFault(sentences, sentence);
  return fault ? faultInWords(fault, rule) : "";
}

/**
 * @param {Sentences} sentences
 * @param {Sentence} node
 * @returns {Fault | null}
 */
function firstFault(sentences, node) {
  if (!isCall(node)) return null;
  const [kind, ...parts] = node;
  for (const part of parts) {
    const inside = firstFault(sentences, part);
    if (inside) return inside;
  }
  const numbers = parts.map((part) => Number(sentences.float(part)));
  const result = Number(sentences.float(node));
  return isFault(result, numbers) ? { kind, numbers, result } : null;
}

/**
 * Whether a result is worse than all that it is made of.
 *
 * @param {number} result
 * @param {number[]} numbers
 */
function isFault(result, numbers) {
  if (Number.isNaN(result)) return !numbers.some(Number.isNaN);
  return !Number.isFinite(result) && numbers.every(Number.isFinite);
}

/**
 * The operation and what comes of it, and what to write where that is known.
 *
 * @param {Fault} fault
 * @param {Rule} rule
 */
function faultInWords(fault, rule) {
  const isNaN = Number.isNaN(fault.result);
  const comes = `${operationOf(fault)} is ${isNaN ? "no number" : shortNumber(fault.result)}`;
  const why = whyFault(fault);
  if (why) return `${comes}, because ${why}${writtenInstead(fault, rule.equation)}`;
  if (!isNaN) return `${operationOf(fault)} does not fit into float64`;
  return `${comes}${writtenInstead(fault, rule.equation)}`;
}

/**
 * What the operation does not take; empty where the numbers say it.
 *
 * @param {Fault} fault
 */
function whyFault({ kind, numbers: [first, second], result }) {
  if (kind === "log" && first < 0) return "a number below 0 has no logarithm";
  if (kind === "log") return "0 has no logarithm";
  if (kind === "sqrt" && first < 0) return "a number below 0 has no root";
  if (kind === "pow" && first < 0 && Number.isNaN(result))
    return "a number below 0 has only whole powers";
  if (kind === "pow" && first === 0) return "0 to a power below 0 is a division by 0";
  if (DIVISIONS.includes(kind) && second === 0) return "the divisor is 0";
  return "";
}

/**
 * What to write, if it is a 0 or an infinity that a row without any key has.
 *
 * @param {Fault} fault
 * @param {Tree} tree
 * @returns {string}
 */
function writtenInstead({ kind, numbers, result }, tree) {
  if (!Array.isArray(tree)) return "";
  const [name, ...parts] = tree;
  const read = name === "sub" || name === "div" ? cellRead(parts[1]) : "";
  const areBoth = (/** @type {number} */ value) => numbers.every((number) => number === value);
  if (read && name === "sub" && areBoth(-Infinity))
    return `. The built-in softmax subtracts 0 there: where(${MINUS} < ${read}, ${read}, 0) in place of ${read}`;
  if (read && name === "div" && areBoth(0))
    return `. With where(${read} == 0, 1, ${read}) as the divisor, it is 0`;
  const inside = parts.map((part) => writtenInstead({ kind, numbers, result }, part));
  return inside.find(Boolean) ?? "";
}

/**
 * A cell as it is written in an equation; empty for anything else.
 *
 * @param {Tree} tree
 */
function cellRead(tree) {
  if (!Array.isArray(tree) || tree[0] !== "@") return "";
  const [, name, ...letters] = tree;
  if (!letters.every((letter) => typeof letter === "string")) return "";
  return letters.length ? `${name}[${letters.join(", ")}]` : name;
}

/**
 * The operation with its numbers: log(-1), 1 / 0.
 *
 * @param {Fault} fault
 */
function operationOf({ kind, numbers, result }) {
  const texts = numbers.map(shortNumber);
  if (numbers.length > MOST_NUMBERS_WRITTEN) {
    const what = kind === "mul" ? "product" : "sum";
    if (!Number.isNaN(result)) return `a ${what} of ${grouped(numbers.length)} numbers`;
    const odd = numbers.filter((number) => !Number.isFinite(number)).map(shortNumber);
    return `a ${what} with ${[...new Set(odd)].join(" and ")} in it`;
  }
  if (SIGNS_BETWEEN.has(kind)) return texts.join(` ${SIGNS_BETWEEN.get(kind)} `);
  return kind === "neg" ? `-(${texts[0]})` : `${kind}(${texts.join(", ")})`;
}

/** @param {number} value */
function shortNumber(value) {
  if (Number.isNaN(value)) return SHARED.nan;
  if (!Number.isFinite(value)) return value > 0 ? SHARED.infinity : MINUS;
  if (value === 0) return "0";
  const scientific = value.toExponential(4);
  const exponent = Number(scientific.split("e")[1]);
  const text = exponent < -4 || exponent >= 5 ? scientific : value.toPrecision(5);
  return text
    .replace(/(\.\d*?)0+(?=e|$)/, "$1")
    .replace(/\.(?=e|$)/, "")
    .replace("e+", "e");
}
