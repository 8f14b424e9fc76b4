// @ts-check
// A matrix in a text, in every form that files of problems have: `problem/text/pasted` is the same
// reader in Python.

"use strict";

// A prompt, and the name of the matrix.
const BEFORE_MATRIX = new RegExp(
  String.raw`^\s*(?:>>> |Out ?\[\d+\]:\s*)?` +
    String.raw`(?:[*${"`"}$]{0,2}[A-Za-z_]\w*[*${"`"}$]{0,2}(?:: *[\w.]+)? *=(?!=)` +
    String.raw`|[A-Za-z_]\w*:(?=\s*(?:\n|\[\[|\[.*;.*$)))?\s*`,
);
const TURNED = new RegExp(SHARED.pasted.turned);

/**
 * The matrix of a text, where a list of rows is wanted, or of rank 1 a list of numbers. A RangeError
 * says what is wrong.
 *
 * @param {string} text
 * @param {number} rank
 * @returns {Pasted}
 */
function readPasted(text, rank) {
  const { rows, names = [], groups } = tableIn(text.replace(/\r\n?/g, "\n"), rank);
  const width = evenWidth(rows);
  const isLine = rows.length === 1 || width === 1;
  const outer = groups ?? (rank < 2 && isLine ? [] : [rows.length]);
  if (rank > 1 && !outer.length) refuse("must be a list of rows, not a list of numbers");
  if (rank < 2 && outer.length) refuse("must be a list of numbers, not a list of rows");
  const texts = rows.flat().map(numberFor);
  return { shape: [...outer, outer.length ? width : texts.length], texts, names };
}

/** @param {string[][]} rows */
function evenWidth(rows) {
  const width = rows[0]?.length;
  if (!width) refuse("is empty");
  const other = rows.find((row) => row.length !== width);
  if (!other) return width;
  const entries = other.length === 1 ? "entry" : "entries";
  return refuse(`has ${other.length} ${entries}, but the first row has ${width}`);
}

/** @param {string} cell */
function numberFor(cell) {
  const written = spelledForFile(cell);
  if (Number.isFinite(readNumber(written)?.value)) return written;
  return refuse(whyNoNumber(cell) || `${cell} has a decimal comma`);
}

/**
 * @param {string} text
 * @param {number} rank
 * @returns {PastedTable}
 */
function tableIn(text, rank) {
  const latex = latexIn(text);
  if (latex) return latexTable(latex);
  const body = bodyOf(text);
  const lines = body.split("\n").filter((line) => line.trim());
  if (!lines.length) refuse("is empty");
  if (lines.every((line) => /^\s*- *\[.*\]$/.test(line)))
    return listTable(`[${lines.map((line) => line.replace("-", "")).join(",")}]`, rank);
  if (isTableWithBars(lines)) return tableWithBars(lines);
  if (isBracketed(lines)) return bracketedTable(lines);
  return listIn(body, rank) ?? linesTable(outlined(withoutCounts(body)), rank);
}

/**
 * A text without its first remarks, what Julia and TensorFlow say of a matrix, and its name.
 *
 * @param {string} text
 */
function bodyOf(text) {
  return text
    .replace(/^(?:\s*#.*\n|\s*\d+[×x]\d+ \w.*:[ \t]*\n)+/, "")
    .replace(BEFORE_MATRIX, "")
    .replace(/^<tf\.[^]*?\bnumpy=\s*([^]*)>\s*$/, "$1")
    .trimEnd();
}

// --- rows on lines

/**
 * Without the numbers that R gives to rows and columns.
 *
 * @param {string} body
 */
function withoutCounts(body) {
  return body.replace(/^.*\[,1\].*\n/, "").replace(/^\s*\[\d+,\](?!\S)/gm, "");
}

/**
 * @param {string} body
 * @param {number} rank
 */
function linesTable(body, rank) {
  if (/\S\s*\n[ \t]*\n\s*\S/.test(body)) refuse("an empty line can be read as the end of a matrix");
  const lines = body.split("\n").map((line) => line.replace(/^[^\S\t]+/, ""));
  const isTabbed = /[^\s,;][^\S\n]*\t[^\S\n]*[^\s,;]/.test(body);
  if (isTabbed) return cellsOfRows(lines, "\t", lines.length > 1);
  const parts = body.split(/[;\n]/).filter((part) => part.trim());
  const isOne = lines.length < 2;
  const areRows = parts.some((part) => /\S\s+\S|,.*,/.test(part));
  if (body.includes(";") && !areRows) {
    if (isOne) refusePairs(parts);
    if (isOne && rank > 1) refuseText(body, "can be read as one row, or as one column");
    return cellsOfRows(lines, ";", !isOne);
  }
  if (parts.length < 2 || rank < 2) refusePairs(parts);
  return cellsOfRows(parts, undefined, parts.length > 1);
}
