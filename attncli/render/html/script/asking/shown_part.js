// @ts-check
// The part of a step that a question is about: its numbers of the head and the entry that are shown.

"use strict";

class ShownPart {
  /**
   * @param {Page} page
   * @param {Model} model
   */
  constructor(page, model) {
    this.page = page;
    this.model = model;
    this.lines = new Lines(model);
  }

  /**
   * @param {string} name
   * @param {number} at
   */
  text(name, at, model = this.model) {
    const { sentences } = this.lines;
    return signed(this.lines.text(sentences.node(model.text(name, at))));
  }

  /**
   * The labels of the last axes of a step, and where the numbers begin of the head and the entry
   * that are shown.
   *
   * @param {Rule} rule
   */
  of(rule, axes = 2) {
    const last = rule.labels.slice(rule.labels.length - axes);
    const labels = last.map((at) => this.model.data.labels[at]);
    const before = this.page.sections.leading(rule, axes);
    return { labels, start: placeIn(rule.shape, [...before, ...new Array(axes).fill(0)]) };
  }

  /**
   * How many of the last axes are those of its matrix: not heads and entries.
   *
   * @param {Rule} rule
   */
  axes(rule) {
    return Math.min(2, rule.cell.filter((letter) => !this.model.leading.has(letter)).length);
  }

  /**
   * The matrix of the head and the entry that are shown, with other things in the places of some
   * numbers.
   *
   * @param {Rule} rule
   * @param {Model} model
   * @param {Map<number, Node>} instead
   */
  matrix(rule, model, instead = new Map()) {
    const { labels, start } = this.of(rule, this.axes(rule));
    const [rows = [""], columns = [""]] = labels;
    const cell = (/** @type {number} */ at) =>
      element("td", {}, instead.get(at) ?? this.text(rule.name, at, model));
    const top = element("tr", {}, element("td"), ...columns.map((text) => headOf(text, "col")));
    const body = rows.map((text, row) => {
      const first = start + row * columns.length;
      const cells = [...columns.keys()].map((column) => cell(first + column));
      return element("tr", {}, headOf(text, "row"), ...cells);
    });
    const table = element(
      "table",
      { class: "matrix" },
      element("caption", { class: "unseen" }, symbolName(rule.symbol)),
      element("thead", {}, top),
      element("tbody", {}, ...body),
    );
    return element("div", { class: "scroll" }, table);
  }
}

/**
 * @param {string} text
 * @param {string} scope
 */
const headOf = (text, scope) => element(text ? "th" : "td", text ? { scope } : {}, label(text));
