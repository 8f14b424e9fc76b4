// @ts-check
// Lists in brackets: [1 2; 3 4], [[1, 2], [3, 4]], np.array([[1, 2]]).

"use strict";

// A call that makes an array begins and ends so.
const CALL = new RegExp(
  String.raw`^(?:Parameter containing:\s*)?(?:\w+\.)*` +
    String.raw`(?:(?:as)?array|[mM]atrix|(?:as_)?[tT]ensor|(?:Device)?Array|constant)\s*\(\s*`,
);
const CALL_END = /^\s*(?:,(?:[^()[\]]|\([^()]*\))*)?\)\s*$/;

/**
 * Null for what is no list, and no call with one.
 *
 * @param {string} body
 * @param {number} rank
 */
function listIn(body, rank) {
  const [call] = CALL.exec(body) ?? [""];
  const list = outlined(body.slice(call.length));
  const isOfR = /^\[(?:,1|1,)\]/.test(list);
  if (list[0] !== "[" || isOfR) return null;
  if (!call) return listTable(list, rank);
  const end = list.lastIndexOf("]") + 1;
  if (!CALL_END.test(list.slice(end))) refuse('")" is missing');
  return listTable(list.slice(0, end), rank);
}

/**
 * @param {string} text
 * @param {number} rank
 * @returns {PastedTable}
 */
function listTable(text, rank) {
  /** @type {string[]} */
  const rows = [];
  // A sign for each list that holds no others.
  const marked = text.replace(/\[([^[\]]*)\]/g, (_, row) => {
    rows.push(row);
    return "R";
  });
  const [word] = /[^\s,;[\]R]+/.exec(marked) ?? [];
  if (word) refuseText(word, "does not belong here");
  let skeleton = marked.replace(/[\s,;]/g, "");
  if (skeleton === "R") return listOf(rows[0], rank);
  const groups = [];
  while (skeleton !== "R") {
    const [first, ...others] = skeleton.match(/\[R+\]/g) ?? [""];
    const isEven = others.every((other) => other === first) && !/R\[|\]R/.test(skeleton);
    if (!first || !isEven)
      refuse("close each row before the next one begins, and all equally long");
    groups.unshift(first.length - 2);
    skeleton = skeleton.replaceAll(first, "R");
  }
  return { ...cellsOfRows(rows), groups };
}

/**
 * A list that holds no others: numbers, or rows between semicolons or line ends.
 *
 * @param {string} content
 * @param {number} rank
 */
function listOf(content, rank) {
  const hasSemicolon = content.includes(";");
  const areLines = rank > 1 && !/,[ \t]*\n|\n[ \t]*,/.test(content);
  const sign = hasSemicolon ? ";" : areLines ? "\n" : /$^/;
  const rows = content.split(sign).filter((row) => row.trim());
  if (hasSemicolon) refusePairs(rows);
  const table = cellsOfRows(rows);
  return rows.length < 2 && !hasSemicolon ? { ...table, groups: [] } : table;
}
