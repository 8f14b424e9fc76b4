// @ts-check
// Before and after, side by side and small: where each word looks, and the output of one.

"use strict";

class Comparison {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.root = element("div", { class: "comparison" });
  }

  /**
   * The numbers of two models; of the head and the entry that are shown.
   *
   * @param {Model} before
   * @param {Model} after
   * @param {string} title
   */
  show(before, after, title) {
    const { query } = this.page;
    if (!query.isDrawn) return;
    const both = [before, after];
    const heads = ["Before", title].map((text) => element("b", {}, text));
    const rows = query.words.map((word, at) => {
      const bars = both.map((model) => barOfModel(query, model, at));
      return element("div", {}, label(word.textContent), ...bars);
    });
    const outputs = both.map((model) => this.output(model));
    const output = element(
      "div",
      {},
      element("span", {}, outputs[0].name),
      ...outputs.map((each) => each.numbers),
    );
    this.root.replaceChildren(element("div", {}, element("span"), ...heads), ...rows, output);
  }

  /**
   * The output of the query that was chosen.
   *
   * @param {Model} model
   */
  output(model) {
    const { query, sections } = this.page;
    const { rule } = model.steps.get(model.data.mixed) ?? {};
    if (!rule) return { name: "", numbers: "" };
    const start = placeIn(rule.shape, [...sections.leading(rule), query.at, 0]);
    const texts = range(rule.shape.at(-1)).map((at) => signed(model.text(rule.name, start + at)));
    return { name: symbolName(rule.symbol), numbers: element("span", {}, texts.join(" · ")) };
  }
}
