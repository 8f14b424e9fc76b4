// @ts-check
// The softmax of the chosen word before and after another mask, another scale or a mistake, in one
// view: its scores and its weights, beside the matrix of weights.

"use strict";

/** What an address calls that which the softmax differs by. */
const OF_THE_SOFTMAX = ["mask", "scaled", "what-if"];

class SoftmaxRow {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.root = element("div", { class: "softmax-row" });
  }

  show() {
    const table = this.isChanged() && this.table();
    if (!table) return this.root.remove();
    const { query, model } = this.page;
    const [given] = model.data.settings;
    const before = this.rows("Before", model.inSetting(given));
    const after = this.rows("After", model);
    const keys = query.keys.map((key) => element("th", { scope: "col" }, label(wordOf(key))));
    const head = element("tr", {}, element("td"), element("td"), ...keys, element("td"));
    const word = element("b", {}, label(query.words[query.at].textContent));
    const title = element("caption", {}, "The softmax of ", word, ", before and after");
    this.root.replaceChildren(element("table", {}, title, head, ...before, ...after));
    this.stand(table);
  }

  /** Whether there is a before and an after, also while what was changed is put aside. */
  isChanged() {
    const { query, asked, compare, model } = this.page;
    if (!query.hasRibbons || asked) return false;
    const isAside = compare?.aside?.some(([key]) => OF_THE_SOFTMAX.includes(key));
    return isAside || model.setting !== model.data.settings[0] || Boolean(model.mistake);
  }

  /** The weights of the head and the entry that are shown. */
  table() {
    const { matrices, sections, query } = this.page;
    const { rule } = query.weights();
    const at = placeIn(rule.shape, [...sections.leading(rule), 0, 0]);
    return matrices.at(rule.name, at)?.table.table;
  }

  /**
   * Below a table, or in a lecture beside it.
   *
   * @param {HTMLElement} table
   */
  stand(table) {
    const around = table.closest(".beside");
    if (around && this.root.parentElement !== around) around.append(this.root);
    const matrix = table.closest(".scroll, .product");
    if (!around && matrix.nextElementSibling !== this.root) matrix.after(this.root);
  }

  /**
   * The scores of the word, and its weights.
   *
   * @param {string} title
   * @param {Model} model
   */
  rows(title, model) {
    const { query } = this.page;
    const scores = model.steps.get(model.setting.logits);
    const weights = model.steps.get(model.data.weights);
    const bar = element("td", {}, barOfModel(query, model, query.at));
    const both = [
      ...(scores ? [this.row(model, scores.rule, element("td"))] : []),
      this.row(model, weights.rule, bar),
    ];
    const head = element("th", { scope: "rowgroup", rowspan: `${both.length}` }, title);
    both[0].prepend(head);
    return both;
  }

  /**
   * @param {Model} model
   * @param {Rule} rule
   * @param {HTMLElement} bar
   */
  row(model, rule, bar) {
    const { query, sections } = this.page;
    const start = placeIn(rule.shape, [...sections.leading(rule), query.at, 0]);
    const lines = new Lines(model);
    const cells = query.keys.map((_, key) => {
      return element("td", {}, signed(lines.numberText(rule.name, start + key)));
    });
    const symbol = element("th", { scope: "row" }, symbolName(rule.symbol));
    return element("tr", {}, symbol, ...cells, bar);
  }
}
