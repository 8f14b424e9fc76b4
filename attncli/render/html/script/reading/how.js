// @ts-check
// What stands behind "How?": closed until somebody asks for it, and open on paper.

"use strict";

class How {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /**
     * The sections whose lines are open, by their ids.
     *
     * @type {Set<string>}
     */
    this.opened = new Set();
    this.isPrinting = false;
    this.button = button("Worked lines", () => this.turn(), {
      "aria-pressed": "false",
      title: "Open every How? below",
    });
    page.keys.offer(this.button, "?");
    // It does not bubble.
    page.main.addEventListener("toggle", ({ target }) => this.keep(target), true);
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
    addEventListener("keydown", (event) => {
      if (page.keys.pressed(event) === "?") this.turn();
    });
  }

  /** @returns {HTMLDetailsElement[]} */
  all() {
    return all(this.page.main, "details.how");
  }

  /** Those of these sections as they were left. */
  connect() {
    for (const each of this.all())
      each.open = this.isPrinting || this.opened.has(sectionOf(each).id);
    const isAnyClosed = this.all().some(({ open }) => !open);
    this.button.setAttribute("aria-pressed", String(!isAnyClosed));
  }

  /** @param {EventTarget} details */
  keep(details) {
    if (this.isPrinting || !(details instanceof HTMLDetailsElement)) return;
    const { id } = sectionOf(details);
    if (details.open) this.opened.add(id);
    else this.opened.delete(id);
    this.connect();
  }

  /** Open all of them, or close all if they are open. */
  turn() {
    const areOpen = this.button.getAttribute("aria-pressed") === "true";
    const ids = this.all().map((each) => sectionOf(each).id);
    this.opened = new Set(areOpen ? [] : ids);
    this.connect();
    this.page.say(areOpen ? "All worked lines are closed" : "All worked lines are open");
  }

  /** @param {boolean} isPrinting */
  print(isPrinting) {
    this.isPrinting = isPrinting;
    this.connect();
  }
}
