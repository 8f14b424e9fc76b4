// @ts-check
// What is said of all numbers, before the first step: warnings, and what ≈ means.

"use strict";

class Remarks {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.root = element("div", { class: "remarks" });
    /** @type {string[]} */
    this.warnings = [];
    this.shown = "";
  }

  /** Warn of these numbers; of those of the problem itself the page has said it all. */
  warn() {
    this.warnings = this.page.isChanged() ? warningsOf(this.page.model) : [];
    this.show();
  }

  show() {
    const { worked, model } = this.page;
    const said = this.warnings.map((text) => ["warning", `${capitalized(text)}.`]);
    // A page with lines that are near from the start says so where the first one stands.
    const isSaid = document.querySelector("main section aside.note") !== null;
    const isNearSaid = worked.areNear && this.page.isChanged() && !isSaid;
    if (isNearSaid) said.push(["note", model.data.words.rounded]);
    if (this.shown === JSON.stringify(said)) return;
    this.shown = JSON.stringify(said);
    this.root.replaceChildren(...said.map(([kind, text]) => remarkOf(kind, text)));
    if (this.warnings.length) this.page.say(`Warning: ${this.warnings.join(". ")}`);
  }
}

/** @param {string} text */
const capitalized = (text) => text[0].toUpperCase() + text.slice(1);

/**
 * @param {string} kind
 * @param {string} text
 */
function remarkOf(kind, text) {
  const title = element("b", {}, `${capitalized(kind)}:`);
  return element("aside", { role: "note", class: kind }, element("p", {}, title, ` ${text}`));
}
