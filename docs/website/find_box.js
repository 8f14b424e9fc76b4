// @ts-check
// The field to search in, and the list of what is found. The index comes when somebody searches.

"use strict";

/** @type {IndexedPage[]} */
var SEARCH_INDEX;

class FindBox {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.field = box.querySelector("input");
    this.list = /** @type {HTMLElement} */ (box.querySelector(".found"));
    this.said = box.querySelector("[role=status]");
    this.root = document.body.dataset.root;
    box.hidden = false;
    this.field.addEventListener("focus", () => this.load());
    this.field.addEventListener("input", () => this.show());
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("focusout", (event) => this.left(event));
    document.addEventListener("keydown", (event) => this.begin(event));
  }

  /** The index as a script: a page on a disk may read no other file. */
  load() {
    if (this.script) return;
    this.script = document.createElement("script");
    this.script.src = `${this.root}search_index.js`;
    this.script.addEventListener("load", () => this.show());
    document.head.append(this.script);
  }

  show() {
    const asked = this.field.value.trim();
    const isReady = typeof SEARCH_INDEX !== "undefined";
    this.list.hidden = !asked || !isReady;
    if (this.list.hidden) {
      this.said.textContent = "";
      return;
    }
    const found = Search.find(asked, SEARCH_INDEX);
    const links = found.map((each) => this.link(each));
    this.list.replaceChildren(...(links.length ? links : [this.nothing(asked)]));
    this.said.textContent = found.length === 1 ? "1 found" : `${found.length} found`;
  }

  /** @param {Found} found */
  link({ address, page, heading, excerpt }) {
    const link = document.createElement("a");
    link.href = this.root + address;
    const title = document.createElement("b");
    title.textContent = heading ? `${page} › ${heading}` : page;
    const text = document.createElement("span");
    for (const [piece, isAsked] of excerpt) {
      const part = isAsked ? document.createElement("mark") : new Text();
      part.textContent = piece;
      text.append(part);
    }
    link.append(title, text);
    return link;
  }

  /** @param {string} asked */
  nothing(asked) {
    const said = document.createElement("p");
    said.textContent = `No page has “${asked}”.`;
    return said;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const stops = [this.field, ...this.list.querySelectorAll("a")];
    const at = stops.indexOf(/** @type {any} */ (document.activeElement));
    if (event.key === "Escape") this.close();
    else if (event.key === "ArrowDown") stops[Math.min(at + 1, stops.length - 1)].focus();
    else if (event.key === "ArrowUp") stops[Math.max(at - 1, 0)].focus();
    else if (event.key === "Enter" && at === 0) this.list.querySelector("a")?.click();
    else return;
    event.preventDefault();
  }

  close() {
    this.field.focus();
    this.field.value = "";
    this.show();
  }

  /** @param {FocusEvent} event */
  left(event) {
    const isInside = this.box.contains(/** @type {Node} */ (event.relatedTarget));
    if (!isInside) this.list.hidden = true;
  }

  /**
   * / begins to search, from anywhere but another field.
   *
   * @param {KeyboardEvent} event
   */
  begin(event) {
    const isTyping = document.activeElement?.matches("input, textarea, select");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.field.focus();
    this.field.select();
    this.show();
  }
}

for (const box of document.querySelectorAll(".find")) {
  new FindBox(/** @type {HTMLElement} */ (box));
}
