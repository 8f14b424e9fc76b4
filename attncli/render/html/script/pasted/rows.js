// @ts-check
// Rows of a text in cells: what separates them, decimal commas, and names beside the numbers.

"use strict";

/** @param {string} pattern */
const whole = (pattern) => new RegExp(`^(?:${pattern})$`);
const PAIR = whole(SHARED.pasted.pair);
const DECIMAL = whole(SHARED.pasted.decimal);
const ONE_GROUP = whole(SHARED.pasted.one_group);
const NO_NAME =
  /^(?:sqrt\(.*|nan|inf|infinity|n\/?a|none|null|true|false|[Ool.]+|[OolI\d]*[.,][OolI\d]+)$/i;
// Without a sign that separates, these would be one number or several.
const GROUPS = /^(?:[-+]?[1-9]\d{0,2}(?:[ ,]\d{3})+(?:[.,]\d+)?(?:\s|$))+$/;
const MIXED = /^(?:[-+]?[1-9]\d*\s+(?:[1-9]\d*\s*\/\s*[1-9]\d*|[¼½¾⅐-⅞])(?:\s+|$))+$/;

/**
 * @param {string} message
 * @returns {never}
 */
function refuse(message) {
  throw new RangeError(message);
}

/**
 * @param {string} text
 * @param {string} what
 * @returns {never}
 */
const refuseText = (text, what) => refuse(`${shorten(text.trim())} ${what}`);

// --- what separates nothing: blanks in quotes and beside operators

const HIDDEN_AT = 0xe000;

/**
 * A text without remarks, in which such signs are hidden.
 *
 * @param {string} text
 */
function outlined(text) {
  const shift = (/** @type {string} */ part) =>
    part.replace(/[\s,;]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + HIDDEN_AT));
  return text
    .replace(/"[^"\n]*"|[ \t]*#(?!N\/A|[A-Z0/]+[!?])[^\n]*/g, (found) =>
      found[0] === '"' ? shift(found) : "",
    )
    .replace(/(?<=[/*(]) +(?=[^\s,;])|(?<=[^\s,;]) +(?=[/*()])|(?<=\d)\xa0(?=\d{3})/g, shift);
}

/** @param {string} cell */
function shown(cell) {
  const text = cell
    .trim()
    .replace(/[\ue000-\ue0a0]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - HIDDEN_AT));
  return /^(['"])(.*)\1$/s.exec(text)?.[2].trim() ?? text;
}

// --- cells

/**
 * @param {string[]} rows
 * @param {string} [separator]
 * @returns {PastedTable}
 */
function cellsOfRows(rows, separator, mayHaveNames = false) {
  if (!rows.length) refuse("is empty");
  const sign = separator ?? separatorIn(rows, mayHaveNames);
  const cells = rows.map((row) =>
    sign ? row.split(sign) : (row.replace(/,\s*$/, "").match(/\S+/g) ?? []),
  );
  for (const end of [-1, 0])
    while (sign && cells.every((row) => row.length > 1 && !row.at(end).trim()))
      for (const row of cells) row.splice(end, 1);
  const texts = cells.map((row) => row.map(shown));
  return sign ? withPoints(tableOf(texts, mayHaveNames)) : tableOf(texts, mayHaveNames);
}

/**
 * A comma, or only blanks, for which it is empty: these are refused where both may be meant.
 *
 * @param {string[]} rows
 * @param {boolean} mayHaveNames
 */
function separatorIn(rows, mayHaveNames) {
  const trimmed = rows.map((row) => row.trim().replace(/,$/, ""));
  const isMatrix = rows.length > 1 && trimmed.every((row) => !/[^\s\d]|\d{4}|\b\d\d?\b/.test(row));
  if (trimmed.every((row) => GROUPS.test(row)) && !isMatrix) refuseDoubt(trimmed[0]);
  if (trimmed.every((row) => MIXED.test(row))) refuseDoubt(trimmed[0]);
  const text = trimmed.join("\n");
  if (!text.includes(",")) return "";
  const [tight] = /(?<![\d.,])[-+]?\d[\d.]*,\d+(?!\d|,\d)/.exec(text) ?? [];
  const isSpaced = mayHaveNames ? /[\d.)],?[^\S\n]+[-+\d.]/ : /[^\s,],?[^\S\n]+[^\s,]/;
  if (tight && isSpaced.test(text)) refuseDoubt(tight);
  return ",";
}

/** @param {string[]} rows */
function refusePairs(rows) {
  const pair = rows.find((row) => PAIR.test(row.trim()));
  if (pair) refuseDoubt(pair);
}

/** @param {string} text */
function refuseDoubt(text) {
  refuseText(text, "can be read as one number, or as several: write a point in a decimal");
}

/**
 * Decimals with a point, where all of them have a comma.
 *
 * @param {PastedTable} table
 */
function withPoints(table) {
  const found = table.rows.flat().filter((cell) => /[.,]/.test(cell));
  const areDecimals = found.every((cell) => DECIMAL.test(cell));
  if (!areDecimals || found.every((cell) => ONE_GROUP.test(cell))) return table;
  return { ...table, rows: table.rows.map((row) => row.map((cell) => cell.replace(",", "."))) };
}

// --- names beside the numbers

/**
 * @param {string[][]} rows
 * @returns {PastedTable}
 */
function tableOf(rows, mayHaveNames = true) {
  if (rows.flat().some((cell) => /^(?:\.{3}|…)/.test(cell))) refuse("numbers are left out here");
  if (!mayHaveNames) return { rows };
  const [first = []] = rows;
  const head = areNames(first[0] ? first : first.slice(1)) ? first : [];
  const below = rows.slice(head.length ? 1 : 0);
  const names = below.map(([name]) => name);
  const haveNames = areNames(names) && below.every((row) => row.length > 1);
  const numbers = haveNames ? below.map((row) => row.slice(1)) : below;
  if (!numbers.length) return { rows };
  // Above names there may be one more.
  const corner = haveNames && head.length > numbers[0].length ? 1 : 0;
  if (head.length && head.slice(corner).filter(Boolean).length !== numbers[0].length)
    refuse("there must be one name above each column");
  return { rows: numbers, names: haveNames ? names : [] };
}

/**
 * Words, some of which may be signs, as [SEP] is.
 *
 * @param {string[]} words
 */
function areNames(words) {
  const isSign = (/** @type {string} */ word) => !/^(?:$|[-+.]*\p{L}|.*[\d∞√_~])/u.test(word);
  return words.some(isName) && words.every((word) => isName(word) || isSign(word));
}

/** @param {string} cell */
const isName = (cell) => /^\p{L}/u.test(cell) && !NO_NAME.test(cell);
