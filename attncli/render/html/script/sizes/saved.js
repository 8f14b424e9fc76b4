// @ts-check
// The problem as it is now, in a file that attncli reads.

"use strict";

// A matrix that needs more characters has a line for each row.
const LONGEST_LINE = 100;
// What YAML has as it is; other signs are escaped.
const SEEN = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/**
 * @param {Model} model
 * @param {string} own What the mask and the scale add to it.
 */
function savedText(model, own = model.setting.yaml) {
  const spelled = (/** @type {string} */ words) => quoted(words).slice(1, -1);
  const text = `${model.data.yaml}${own}`;
  const filled = text.replace(/⟨(\w+)(?::(\d+))?(-1)?⟩/g, (_, name, at, hasOne) => {
    if (name === "tokens") return labelsInFile(model);
    if (name === "heads") return `${model.sizes.ofLetter("h")}`;
    if (name === "kv_heads") return `${model.sizes.ofLetter("g") ?? model.sizes.ofLetter("h")}`;
    const array = model.arrays.get(name);
    if (at) return cellInFile(array, Number(at));
    return rowsInFile(array, model.data.joined.includes(name), hasOne ? [1] : []);
  });
  const { labels } = model.sizes;
  return filled.replace(/(?<=^title: ").*(?="$)/m, (title) => labels.titled(title, spelled));
}

/**
 * The line of tokens, and that of the labels of keys where these are others.
 *
 * @param {Model} model
 */
function labelsInFile({ data }) {
  const { tokens, context_tokens } = data.tokens;
  const line = (/** @type {number} */ at) => `[${data.labels[at].map(quoted).join(", ")}]`;
  const [queries, keys] = [line(tokens), line(context_tokens)];
  const ofKeys = queries === keys ? "" : `context_tokens: ${keys}\n`;
  return `tokens: ${queries}\n${ofKeys}`;
}

/** @param {string} text */
function quoted(text) {
  const escaped = (/** @type {string} */ sign) =>
    SEEN.test(sign) ? sign : `\\U${sign.codePointAt(0).toString(16).padStart(8, "0")}`;
  return [...JSON.stringify(text)].map(escaped).join("");
}

/**
 * @param {Given} array
 * @param {number} at
 */
function cellInFile({ written, values }, at) {
  return written?.[at] ?? spelledInFile(values[at]);
}

/**
 * All numbers of an array; those of heads side by side where they are `joined` in a file.
 *
 * @param {Given} array
 * @param {boolean} joined
 * @param {number[]} ones Axes of the file that the array has not.
 */
function rowsInFile(array, joined, ones) {
  const [heads, ...rest] = array.shape;
  const width = rest.at(-1);
  const own = joined ? [...rest.slice(0, -1), heads * width] : array.shape;
  const shape = own.toSpliced(1, 0, ...ones);
  const rows = (/** @type {number[]} */ index) => {
    if (index.length === shape.length) return cellInFile(array, placeIn(array.shape, from(index)));
    /** @type {string[]} */
    const inside = range(shape[index.length]).map((at) => rows([...index, at]));
    return `[${inside.join(", ")}]`;
  };
  const from = (/** @type {number[]} */ index) => {
    if (!joined) return index.toSpliced(1, ones.length);
    const last = index.at(-1);
    return [Math.floor(last / width), ...index.slice(0, -1), last % width];
  };
  const text = rows([]);
  return text.length <= LONGEST_LINE ? text : text.replaceAll("], [", "],\n  [");
}
