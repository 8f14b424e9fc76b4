// @ts-check
// The tables of matrices in other sizes, with other labels, and what sentences say of sizes.

"use strict";

const SHAPE = /\(\d+(×\d+)*\)/;

/**
 * Let a table have a cell for every number of its step, and its labels.
 *
 * @param {HTMLTableElement} table
 * @param {Shown} shown
 * @param {string[][]} labels
 */
function reshape(table, { rule, fixed }, labels) {
  const axes = [...rule.cell.keys()].filter((axis) => !(rule.cell[axis] in fixed));
  const lists = axes.map((axis) => labels[rule.labels[axis]]);
  const isColumn = axes.length === 1 && ["query", "key"].includes(rule.axes[axes[0]]);
  const columns = isColumn ? [""] : (lists.pop() ?? [""]);
  const isOfPairs = lists.length > 1 && rule.axes.at(-2) === "key";
  const rows = labelsOfRows(lists, isOfPairs);
  if (table.hasAttribute("data-turned")) fillTable(table, columns, rows);
  else fillTable(table, rows, columns);
}

/**
 * The labels of all rows: those of each axis, with those of the next.
 *
 * @param {string[][]} lists
 * @param {boolean} isOfPairs
 */
function labelsOfRows(lists, isOfPairs) {
  return lists.reduce(
    (rows, list, axis) => {
      const sign = isOfPairs && axis === lists.length - 1 ? " → " : ", ";
      return rows.flatMap((row) => list.map((each) => (row ? `${row}${sign}${each}` : each)));
    },
    [""],
  );
}

/**
 * @param {HTMLTableElement} table
 * @param {string[]} rows
 * @param {string[]} columns
 */
function fillTable(table, rows, columns) {
  const isUnseen = !first(table, "caption.unseen");
  const head = table.tHead?.rows[0];
  if (head) setLength(head, columns.length + 1, () => element("th", { scope: "col" }));
  columns.forEach((text, at) => head && nameCell(head, at + 1, text, "col", isUnseen));
  const [body] = table.tBodies;
  const made = () => element("tr", {}, element("th", { scope: "row" }));
  setLength(body, rows.length, made);
  rows.forEach((text, at) => {
    const row = body.rows[at];
    setLength(row, columns.length + 1, () => element("td"));
    nameCell(row, 0, text, "row", isUnseen);
  });
}

/**
 * @param {HTMLElement} parent
 * @param {number} length
 * @param {() => HTMLElement} make
 */
function setLength(parent, length, make) {
  while (parent.children.length > length) parent.lastElementChild.remove();
  while (parent.children.length < length) parent.append(make());
}

/**
 * @param {HTMLTableRowElement} row
 * @param {number} at
 * @param {string} text
 * @param {string} scope
 * @param {boolean} isUnseen
 */
function nameCell(row, at, text, scope, isUnseen) {
  const made = headOf(text, scope);
  made.className = isUnseen ? "unseen" : "";
  row.cells[at].replaceWith(made);
}

// --- sentences

/**
 * Let sentences say the sizes that there are now.
 *
 * @param {Page} page
 */
function saySizes(page) {
  const { model, main, matrices } = page;
  for (const said of all(main, ".shapes")) {
    const found = matrices.source(said, stepOf(said));
    if (found) said.textContent = productText(model, found);
  }
  for (const { table, name } of matrices.tables) {
    const said = table.closest(".scroll")?.previousElementSibling;
    const found = matrices.source(table, name);
    if (found.editable && said?.matches("p"))
      replaceText(said, SHAPE, shapeText(ownShape(found.rule, found.fixed)));
  }
  for (const said of all(page.root, ".lead, .sizes")) sayLengths(said, model);
  sayWho(first(page.root, ".opening"), model);
  sayTitle(first(page.root, "header > h1"), model);
  const flow = all(main, "p").find((each) => each.textContent.startsWith("Shapes: "));
  if (flow) sayFlow(flow, model);
  const { offset } = Object.fromEntries(model.scalars);
  for (const said of page.sections.ofStep(model.data.mask))
    if (offset) replaceText(said, /(?<=offset )-?\d+/, `${offset.value}`);
}

/** @param {number[]} shape */
const shapeText = (shape) => `(${shape.join("×")})`;

/**
 * The shape of a step in its part of the page.
 *
 * @param {Rule} rule
 * @param {Places} fixed
 */
const ownShape = ({ cell, shape }, fixed) => shape.filter((_, axis) => !(cell[axis] in fixed));

/**
 * (3×4)·(4×3) = (3×3)
 *
 * @param {Model} model
 * @param {Shown} shown
 */
function productText(model, { rule, fixed }) {
  const factors = (rule.factors ?? []).map((name) => {
    const own = ownShape(model.steps.get(name.replace("'", "")).rule, fixed);
    const turned = [...own.slice(0, -2), ...own.slice(-2).reverse()];
    return shapeText(name.endsWith("'") ? turned : own);
  });
  const result = shapeText(ownShape(rule, fixed));
  return factors.length ? `${factors.join("·")} = ${result}` : result;
}

/**
 * A title that begins with the words begins with those that there are now.
 *
 * @param {HTMLElement} said
 * @param {Model} model
 */
function sayTitle(said, model) {
  const known = said?.textContent;
  if (!known) return;
  said.dataset.given ??= known;
  said.textContent = model.sizes.labels.titled(said.dataset.given);
  if (document.title === known) document.title = said.textContent;
}

/**
 * How many words do it, in the first sentence.
 *
 * @param {Element} said
 * @param {Model} model
 */
function sayWho(said, { sizes }) {
  const text = said?.textContent;
  const [queries, keys] = [sizes.ofLetter("i"), sizes.ofLetter("j")];
  if (!text || !queries) return;
  const [word] = /word|token/.exec(text);
  const isOne = queries === 1;
  const areThemselves = /do it|only itself/.test(text);
  let who = `${queries} ${word}${isOne ? " looks" : "s look"} at ${keys}`;
  if (areThemselves) who = isOne ? `one ${word} has only itself` : `${queries} ${word}s do it`;
  said.textContent = text.replace(/Here .*, with/, `Here ${who}, with`);
}

/**
 * How many tokens, heads and features there are.
 *
 * @param {Element} said
 * @param {Model} model
 */
function sayLengths(said, { sizes, steps }) {
  const width = (/** @type {string} */ name) => steps.get(name)?.rule.shape.at(-1);
  /** @type {[RegExp, number][]} */
  const counts = [
    [/\d+ tokens?/, sizes.ofLetter("i")],
    [/\d+ (query|queries)/, sizes.ofLetter("i")],
    [/\d+ keys? from a cache/, sizes.ofLetter("u")],
    [/\d+ keys?(?! from)/, sizes.ofLetter("j")],
    [/\d+ heads?(?! of)/, sizes.ofLetter("h")],
    [/\d+ (entry|entries)/, sizes.ofLetter("b")],
  ];
  for (const [pattern, length] of counts)
    if (length) replaceText(said, pattern, (found) => counted(found, length));
  /** @type {Record<string, number>} */
  const widths = { dmodel: width("X"), dcontext: width("context"), dk: width("K"), dv: width("V") };
  sayContext(said, widths);
  for (const symbol of all(said, "math")) {
    const length = widths[symbol.textContent];
    const next = symbol.nextSibling;
    if (length && next) next.textContent = next.textContent.replace(/(?<=^ = )\d+/, `${length}`);
  }
}

/**
 * How wide the context is has a place where it is as wide as the input no longer.
 *
 * @param {Element} said
 * @param {Record<string, number>} widths
 */
function sayContext(said, { dmodel, dcontext }) {
  const symbols = all(said, "math");
  const symbol = (/** @type {string} */ name) =>
    symbols.find(({ textContent }) => textContent === name);
  const [input, context] = [symbol("dmodel"), symbol("dcontext")];
  const isTold = Boolean(dcontext) && dcontext !== dmodel;
  if (!input || isTold === Boolean(context)) return;
  if (context) {
    context.nextSibling.remove();
    context.remove();
    return;
  }
  const made = /** @type {Element} */ (input.cloneNode(true));
  replaceText(made, /model/, "context");
  symbols[symbols.indexOf(input) + 1].before(made, ` = ${dcontext}, `);
}

/**
 * So many of what was counted: 1 token, 2 tokens.
 *
 * @param {string} found
 * @param {number} length
 */
function counted(found, length) {
  const [, noun, rest] = /^\d+ (\w+)(.*)$/.exec(found);
  const one = noun.replace(/ies$/, "y").replace(/s$/, "");
  const many = one.endsWith("y") && !one.endsWith("ey") ? `${one.slice(0, -1)}ies` : `${one}s`;
  return `${length} ${length === 1 ? one : many}${rest}`;
}

/**
 * @param {Element} root
 * @param {RegExp} pattern
 * @param {string | ((found: string) => string)} text
 */
function replaceText(root, pattern, text) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const found = pattern.exec(node.textContent)?.[0];
    if (found === undefined) continue;
    node.textContent = node.textContent.replace(
      pattern,
      typeof text === "string" ? text : text(found),
    );
    return;
  }
}

/**
 * The shapes of the matrices on the way, X (3×4) → Q, K, V (3×3) → …: those alike are said once.
 *
 * @param {Element} said
 * @param {Model} model
 */
function sayFlow(said, { data, steps }) {
  /** @type {(string | Node)[]} */
  const parts = [];
  for (const group of data.flow) {
    const shapes = group.map((name) => shapeText(steps.get(name).rule.shape));
    const areAlike = new Set(shapes).size === 1;
    group.forEach((name, at) => {
      const { symbol } = steps.get(name).rule;
      const before = at ? ", " : parts.length ? " → " : "";
      const isLast = at === group.length - 1;
      const shape = areAlike && !isLast ? "" : ` ${shapes[at]}`;
      parts.push(before, math(data.mathml.names[symbol]?.[0] ?? symbol), shape);
    });
  }
  said.replaceChildren("Shapes: ", ...parts);
}
