// @ts-check
// The worked lines of the page: those in sight follow each number at once, and the others later.

"use strict";

class WorkedLists {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    /** @type {WorkedList[]} */
    this.lists = [];
    // Whether there is a ≈ in one of them.
    this.areNear = false;
    this.watcher = new IntersectionObserver((seen) => seen.forEach((each) => this.watch(each)));
  }

  connect() {
    const lists = /** @type {HTMLUListElement[]} */ (all(this.page.main, "ul.worked"));
    this.lists = lists.flatMap((list) => {
      const found = this.page.matrices.source(list, stepOf(list));
      return found ? [{ ...found, list, inView: false }] : [];
    });
    this.watcher.disconnect();
    // An empty list is never seen.
    for (const { list } of this.lists) this.watcher.observe(list.parentElement);
  }

  /** @param {IntersectionObserverEntry} entry */
  watch({ target, isIntersecting }) {
    const known = this.lists.find(({ list }) => list.parentElement === target);
    if (!known) return;
    known.inView = isIntersecting;
    if (isIntersecting && known.isOld) this.work(known);
  }

  /** Those in sight again. */
  show() {
    for (const each of this.lists) each.isOld = true;
    for (const each of this.lists) if (each.inView) this.work(each);
  }

  /** All others. */
  finish() {
    for (const each of this.lists) if (each.isOld) this.work(each);
    this.areNear = this.lists.some((each) => each.isNear);
  }

  /** @param {WorkedList} known */
  work(known) {
    const { rule, fixed, start, length, list } = known;
    const areAll = this.model.data.detail === "cells";
    const places = areAll ? range(length).map((at) => start + at) : this.standing(known);
    const worked = places.map((at) => this.page.lines.line(rule, at, fixed));
    const { nearly } = this.page.lines.relation.notation;
    known.isOld = false;
    known.isNear = worked.some(({ relation, work }) => `${relation} ${work}`.includes(nearly));
    list.replaceChildren(...worked.map((line, place) => this.item(line, places[place])));
  }

  /**
   * @param {WorkedLine} line
   * @param {number} at
   */
  item({ label: cell, work, relation, result, remark }, at) {
    const said = element("span", {}, ...raised(signed(work && `${work} ${relation} `)));
    if (result) said.append(element("b", {}, ...raised(signed(result))));
    if (remark.length) said.append(" ", element("i", {}, ...this.remark(remark)));
    const named = cell ? [element("span", {}, label(cell)), " "] : [];
    const item = element("li", {}, ...named, said);
    item.dataset.at = `${at}`;
    return item;
  }

  /**
   * A remark with its formulas, none of which is parted from the sign after it. A number is text.
   *
   * @param {Remark} parts
   */
  remark(parts) {
    /** @type {(string | Node)[]} */
    const found = [];
    for (const part of parts) {
      if (typeof part !== "string") found.push(this.formula(part.formula));
      else found.push(...afterFormula(found, part));
    }
    return found;
  }

  /** @param {Sentence} formula */
  formula(formula) {
    const { lines } = this.page;
    if (isNumber(formula)) return signed(lines.text(formula));
    return math(lines.mathml.text(formula));
  }

  /**
   * The cells that stand for their rows: where the query looks most, and once a key that is hidden;
   * else the column goes on with the row, so that all columns are seen.
   *
   * @param {Shown} known
   */
  standing({ rule, fixed, start, length }) {
    // Of one head, what has a number for each key is a list, and no matrix.
    const axes = rule.cell.filter((letter) => !(letter in fixed));
    const isOfRows = axes.length > 1 && rule.axes.at(-1) !== "query";
    if (!isOfRows) return range(length).map((at) => start + at);
    const width = rule.shape.at(-1);
    const rows = range(length / width).map((row) => start + row * width);
    if (!isOfQueriesAndKeys(rule)) return rows.map((row) => row + numberOf(rule, row));
    const isMasked = this.isMasked(rule);
    const worked = new Set();
    return rows.map((row) => {
      const matrix = Math.floor(row / (width * rule.shape.at(-2)));
      const hidden = isMasked && !worked.has(matrix) ? this.firstHidden(rule, row, width) : -1;
      if (hidden < 0) return row + this.mostSeen(rule, row, width);
      worked.add(matrix);
      return row + hidden;
    });
  }

  /**
   * Whether a step is between the mask and the weights, so that one sees what becomes of a key that
   * is hidden.
   *
   * @param {Rule} rule
   */
  isMasked(rule) {
    const names = [...this.model.steps.keys()];
    const mask = names.indexOf(this.model.data.mask);
    const at = names.indexOf(rule.name);
    return mask >= 0 && mask < at && at < names.indexOf(this.model.setting.pairs);
  }

  /**
   * The first key of a row that is hidden; -1 where none is.
   *
   * @param {Rule} rule
   * @param {number} row
   * @param {number} width
   */
  firstHidden(rule, row, width) {
    return range(width).findIndex((at) => this.model.hides(placesOf(rule, row + at)));
  }

  /**
   * The key that a query looks at most; in the mask, the first that is hidden.
   *
   * @param {Rule} rule
   * @param {number} row
   * @param {number} width
   */
  mostSeen(rule, row, width) {
    const { mask } = this.model.data;
    const own = this.model.steps.get(rule.name).values.subarray(row, row + width);
    if (rule.name === mask && own.includes(-Infinity)) return own.indexOf(-Infinity);
    const step = this.model.steps.get(this.model.setting.pairs);
    // A step of a problem's own may count only some of the keys.
    if (step.rule.shape.at(-1) !== width) return numberOf(rule, row);
    const start = cellAt(step.rule, placesOf(rule, row));
    const shares = step.values.subarray(start, start + width);
    const unknown = shares.findIndex(Number.isNaN);
    return unknown < 0 ? shares.indexOf(Math.max(...shares)) : unknown;
  }
}

/**
 * The number of a row of a matrix, counted on through its columns.
 *
 * @param {Rule} rule
 * @param {number} row
 */
function numberOf({ shape }, row) {
  const [rows, columns] = shape.slice(-2);
  return (Math.floor(row / columns) % rows) % columns;
}

/**
 * A text after a formula, which keeps its first sign.
 *
 * @param {(string | Node)[]} found
 * @param {string} text
 */
function afterFormula(found, text) {
  const last = found.at(-1);
  const isFormula = last instanceof Element && last.localName === "math";
  const [sign = ""] = (isFormula && /^[),.;:?]/.exec(text)) || [];
  if (!sign) return [text];
  return [element("span", { class: "together" }, found.pop(), sign), text.slice(1)];
}
