// @ts-check
// Rows with brackets of their own, as on pages and in PDFs, and tables with bars.

"use strict";

const BARS = "|│┃";
const [OPENING, CLOSING] = ["⎛-⎝⎡-⎣┌└╭╰", "⎞-⎠⎤-⎦┐┘╮╯"];
const DRAWN = new RegExp(`[${OPENING}${CLOSING}]`);
const ROW_IN_BRACKETS = new RegExp(
  `^([^${OPENING}${BARS}[(\\])]*)[${OPENING}${BARS}[(]` +
    `([^${OPENING}${CLOSING}[\\]]*)[${CLOSING}${BARS}\\])][\\s,;.]*$`,
);

/**
 * Whether a line of a table has only lines in it.
 *
 * @param {string} line
 * @param {number} at
 */
function isRule(line, at) {
  const hasDash = /[-=─═━]{2}/.test(line) || (at === 1 && line.includes("|-"));
  return hasDash && /^[\s|+:=─-╬-]+$/.test(line);
}

/**
 * Whether bars stand between cells, and not only around them.
 *
 * @param {string} line
 */
const areCut = (line) => /[|│┃]/.test(withoutEdges(line.replace(/\\./g, "")));

/** @param {string} line */
const withoutEdges = (line) => line.trim().replace(/^[|│┃]|(?<!\\)[|│┃]$/g, "");

/** @param {string[]} lines */
function isTableWithBars(lines) {
  const areRowsCut = lines.filter((line, at) => !isRule(line, at)).every(areCut);
  const hasRule = lines.some(isRule);
  const isRuleCut = lines.some((line, at) => isRule(line, at) && areCut(line));
  return isRuleCut || (areRowsCut && (hasRule || /^\s*[|│┃]/.test(lines[0])));
}

/** @param {string[]} lines */
function tableWithBars(lines) {
  if (isRule(lines[1] ?? "", 1) && /[[(]\s*[-−]?[\d.√½¼¾]/.test(lines[0]))
    refuseText(lines[0], "is no row of a matrix");
  const rows = lines.filter((line, at) => !isRule(line, at));
  const cells = rows.map((line) =>
    withoutEdges(line)
      .split(/(?<!\\)[|│┃]/)
      .map((cell) => plainCell(cell.trim())),
  );
  return withPoints(tableOf(cells));
}

/**
 * A cell without what only shows how it looks in Markdown.
 *
 * @param {string} cell
 */
function plainCell(cell) {
  const plain = cell.replace(/^(\*\*|__|\x60)(.*)\1$/, "$2");
  const [, formula] = /^\$(.*)\$$/.exec(plain) ?? [];
  return formula === undefined ? plain : withoutLatex(formula);
}

/** @param {string[]} lines */
function isBracketed(lines) {
  if (DRAWN.test(lines.join("")) || lines.some(isRule)) return true;
  const rows = lines.slice(/[[\]()|│┃]/.test(lines[0]) ? 0 : 1).map((line) => {
    const [all, name, inside] = ROW_IN_BRACKETS.exec(line) ?? [];
    const isNamed = /^\s*(?:\p{L}[^,;]*)?$/u.test(name);
    // Not the argument of a root.
    const areSeveral = /\S[\s,]+\S/.test(inside) && /^\(|[\s:=]\(/.test(line.trim());
    return all && isNamed && (/[[|│┃]/.test(line) || areSeveral) && !/^\s*\[\s*\[/.test(line);
  });
  const isAlone = lines.length < 2 && /^\s*[[(]/.test(lines[0]);
  return rows.length > 0 && rows.every(Boolean) && !isAlone;
}

/** @param {string[]} lines */
function bracketedTable(lines) {
  const others = lines.filter((line, at) => !isRule(line, at));
  const first = others.findIndex((line) => ROW_IN_BRACKETS.test(line));
  const above = others.slice(0, Math.max(first, 0)).join(" ");
  if (/(?:^|\s)[-−.\d√]/.test(above)) refuseText(above, "is no row of a matrix");
  const found = others
    .slice(above ? first : 0)
    .map((line) => ROW_IN_BRACKETS.exec(line) ?? refuseText(line, "is no row of a matrix"));
  const rows = found.filter(([, , inside]) => inside.trim());
  const before = rows.map(([, name]) => name.trim());
  const areNames = before.every((name) => name && !name.endsWith("="));
  const other = before.find((name) => name && !/^\w+ *[:=]+$/.test(name));
  if (TURNED.test(above + before.join(" ")))
    refuseText(above || before[0], "is not the matrix itself");
  if (other && !areNames) refuseText(other, "stands before only one of the rows");
  const table = cellsOfRows(rows.map(([, , inside]) => outlined(inside.replaceAll("\t", " "))));
  return areNames ? { ...table, names: before.map((name) => name.replace(/:$/, "")) } : table;
}
