// @ts-check
// Numbers as books and programs have them, in the spelling of files: 1/2 for ½ and \frac12.

"use strict";

/** @typedef {[from: RegExp, to: any]} Rewriting */

const AMOUNT = String.raw`[-+]?\d+(?:\.\d+)?`;
const IN_PARENTHESES = new RegExp(
  String.raw`(?<![\da-z.)^*])\((${AMOUNT}|(?:${AMOUNT}\*|-)?sqrt\([^()]*\))\)(?![(\d.^])`,
  "g",
);
/** @type {Rewriting[]} */
const BY_HAND = [
  [/[！-～]/g, (/** @type {string} */ wide) => wide.normalize("NFKC")],
  // Accounts have it for a negative number.
  [/^\(\s*[\d.]+\s*\)$/, "?"],
  [/^([-−–+]?)((?!0\d)\d*)([¼½¾⅐-⅞]|[⁰¹²³⁴-⁹]+⁄[₁-₉][₀-₉]*)$/, mixedNumber],
  [/(?<=[\d)])[⁺⁻]?[⁰¹²³⁴-⁹]+/g, (/** @type {string} */ power) => `^${power.normalize("NFKC")}`],
  [/[−–]/g, "-"],
  [/[÷∕]|(?<=^[-+]?\d)⁄/g, "/"],
  [/\*\*/g, "^"],
  [/\s*([-+*·×⋅/^()])\s*/g, "$1"],
  [/^(?!0x)([-+]?[\d.]+)[*·×⋅xX]10\^\(?([-+]?\d+)\)?$/, "$1e$2"],
  [/√\s*(\d+(?:\.\d+)?)/g, "sqrt($1)"],
  [/√(?=\()/g, "sqrt"],
  [/(?<=\d)[*·×⋅]?(?=sqrt)/g, "*"],
  [IN_PARENTHESES, "$1"],
  [/^([-+]?)\(([^()]*)\)$/, "$1$2"],
  [/^([-+]?)([1-9]\d?)\^\(?(-?)(\d)\)?$/, wholePower],
];

/**
 * A number in the spelling of files; what is none, or may be two, as it is.
 *
 * @param {string} text
 */
function spelledForFile(text) {
  if (readNumber(text) || text.length > SHARED.longest_number) return text;
  const spelled = rewritten(text, BY_HAND);
  return readNumber(spelled) ? spelled : text;
}

/**
 * @param {string} text
 * @param {Rewriting[]} rules
 */
function rewritten(text, rules) {
  return rules.reduce((before, [from, to]) => before.replace(from, to), text);
}

/** 3/2 for 1½. */
function mixedNumber(/** @type {string[]} */ ...[, sign, whole, part]) {
  const [above, below] = part.normalize("NFKC").split("⁄").map(Number);
  return `${sign}${Number(whole) * below + above}/${below}`;
}

/** 8 for 2^3. */
function wholePower(/** @type {string[]} */ ...[, sign, base, below, exponent]) {
  return `${sign}${below && "1/"}${BigInt(base) ** BigInt(exponent)}`;
}

// --- LaTeX

const ARGUMENT = String.raw`\s*(?:\{([^{}]*)\}|(\d))`;
// Without braces, it is only the first digit of 23.
const FIRST_SIGN = String.raw`${ARGUMENT}(?!(?<=\d)[\d.])`;
/** @type {Rewriting[]} */
const IN_LATEX = [
  [/\\(?:\w*color(?:box)?(?:\[[^\]]*\])?|vphantom)\s*\{[^{}]*\}|\\!|\$/g, ""],
  [/\\h?phantom\s*\{[^{}]*\}|\\[,;:\s]|\\q?quad|~/g, " "],
  [/\\(?:cdot|times)\s*/g, "*"],
  [/\\[lcvd]?dots/g, "…"],
  [/\\(?:math|text)[a-z]*|\\(?:left|right|displaystyle|[fm]box|boxed|num)/g, ""],
  [new RegExp(String.raw`\\sqrt${FIRST_SIGN}`, "g"), "sqrt($1$2)"],
  [new RegExp(String.raw`\\(?:[dts]|nice)?frac${ARGUMENT}${ARGUMENT}`, "g"), "($1$2)/($3$4)"],
  [new RegExp(String.raw`\^${FIRST_SIGN}`, "g"), "^($1$2)"],
  [/(?<![a-z^_]\s*)\{([^{}]*)\}/g, "$1"],
];

/**
 * A cell in LaTeX as people type it; one with unknown commands as it is.
 *
 * @param {string} source
 */
function withoutLatex(source) {
  let [before, text] = ["", source];
  while (before !== text) [before, text] = [text, rewritten(text, IN_LATEX)];
  return (
    text.includes("\\") ? source : text.replace(/(?<=\d) +(?=sqrt)/g, "").replace(/\^(?!\()/g, "^{")
  ).trim();
}
