// @ts-check
// Matrices in LaTeX: \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}.

"use strict";

const IN_ENVIRONMENT = String.raw`\\begin\s*\{([pbvBV]?(?:small)?matrix\*?|array|tabular)\}([^]*?)\\end\s*\{[^{}]*\}`;
const IN_BRACES = String.raw`\\[pb]?matrix\s*\{((?:[^{}]|\{[^{}]*\})*)\}`;
const LATEX = new RegExp(`${IN_ENVIRONMENT}|${IN_BRACES}`);
// What shows no number beside a matrix.
const LAYOUT = new RegExp(
  String.raw`^(?:\\(?:left|right|[bB]igg?[lr]?|displaystyle|q?quad|nonumber|[^a-zA-Z])` +
    String.raw`|\\(?:begin|end|label)\{[^{}]+\}|[$&.,;()[\]{}\s])*$`,
);
const SIZE = /\\in\s*\\mathbb[^=]*?\^\s*\{[^{}]*\}/g;
const COLUMNS = /^(?:\s*\[[^\]]*\])?(?:\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})?/;
const LINES = /\\(?:[hc]line|\w+rule|hdashline)(?:\([a-z]*\))?(?:\{[^{}]*\})?/g;
const ROW_END = /\\\\\*?(?:\s*\[[^\]]*[a-z]{2}\s*\]|\{\})?|\\cr\b|\\tabularnewline/;

/** @param {string} text */
const latexIn = (text) => LATEX.exec(text.replace(/(\\[^])|%.*/g, "$1"));

/** @param {RegExpExecArray} found */
function latexTable({ 0: all, 1: environment = "", 2: body, 3: inBraces, index, input }) {
  refuseFactor(input.slice(0, index));
  refuseBeside(input.slice(index + all.length));
  const hasColumns = /array|tabular|\*/.test(environment);
  const rows = (inBraces ?? body.replace(hasColumns ? COLUMNS : "", ""))
    .replace(LINES, "")
    .split(ROW_END)
    .map((row) => row.split(/(?<!\\)&/).map((cell) => withoutLatex(cell.trim())))
    .filter((row) => row.some(Boolean));
  if (rows.every((row) => row.length < 2)) refusePairs(rows.flat());
  // Between brackets, a letter stands for a number.
  const mayHaveNames = !/^\\(?:begin\s*\{[pbvBV]|[pb]m)/.test(all);
  return withPoints(tableOf(rows, mayHaveNames));
}

/**
 * Before a matrix only its name may stand, and what it is equal to besides.
 *
 * @param {string} before
 */
function refuseFactor(before) {
  const names = before.replace(SIZE, "").split(/:?=|≈|\\approx/);
  if (/\[\s*[[\d.√−-]/.test(before)) refuseText(before, "does not belong beside a matrix");
  refuseBeside(names.pop());
  if (TURNED.test(names[0] ?? "")) refuseText(names[0], "is not the matrix itself");
}

/** @param {string} text */
function refuseBeside(text) {
  if (!LAYOUT.test(text)) refuseText(text, "does not belong beside a matrix");
}
