// @ts-check
// What is said of all numbers: warnings before the first step, what ≈ means, and where every query
// looks, in words.

"use strict";

class Remarks {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.root = element("div", { class: "remarks" });
    // At the end of the page, where it moves nothing when it comes.
    this.foot = element("div", { class: "remarks" });
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
    const said = this.warnings.map((text) => `${capitalized(text)}.`);
    // A page with lines that are near from the start says so where the first one stands.
    const isSaid = document.querySelector("main section aside.note") !== null;
    const isNearSaid = worked.areNear && this.page.isChanged() && !isSaid;
    const near = isNearSaid ? [remarkOf("note", model.data.words.rounded)] : [];
    this.foot.replaceChildren(...near);
    if (this.shown === JSON.stringify(said)) return;
    this.shown = JSON.stringify(said);
    this.root.replaceChildren(...said.map((text) => remarkOf("warning", text)));
    if (this.warnings.length) this.page.say(`Warning: ${this.warnings.join(". ")}`);
  }
}

/**
 * @param {string} kind
 * @param {string} text
 */
function remarkOf(kind, text) {
  const title = element("b", {}, `${capitalized(kind)}:`);
  return element("aside", { role: "note", class: kind }, element("p", {}, title, ` ${text}`));
}

/**
 * Say again where every query looks. A list keeps the room that it had, so that nothing below it moves.
 *
 * @param {Page} page
 */
function sayInWords({ main, model }) {
  for (const section of all(main, "section[id$='in-words']")) {
    const list = first(section, "ul");
    const place = placeOf(section.closest("[data-place]"));
    const said = new InWords(model, place).sentences();
    const shown = [...list.children].map((item) => item.textContent);
    if (`${said}` === `${shown}`) continue;
    list.style.minHeight = `${list.offsetHeight}px`;
    list.replaceChildren(...said.map((text) => element("li", {}, text)));
  }
}
