// @ts-check
// The mistakes to choose from, in groups and with a search: each with a sentence on how to notice
// it, and with the numbers before and after.

"use strict";

// Milliseconds in which sentences are found at once; the others follow.
const AT_ONCE = 12;
const NOBODY = "nobody made a mistake";

class WhatIfPanel {
  /**
   * @param {Page} page
   * @param {(mistake: string) => void} take
   */
  constructor(page, take) {
    this.page = page;
    this.take = take;
    /** @type {HTMLElement[]} */
    this.options = [];
    /**
     * The one that Enter takes.
     *
     * @type {HTMLElement}
     */
    this.active = null;
    this.search = element("input", {
      type: "search",
      role: "combobox",
      "aria-label": "Search the mistakes",
      "aria-expanded": "true",
      "aria-autocomplete": "list",
      "aria-controls": "attncli-mistakes",
      placeholder: "Search: softmax, W_K, causal …",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.list = element("div", {
      role: "listbox",
      id: "attncli-mistakes",
      "aria-label": "Mistakes",
    });
    /** What was searched for when the list was filtered last. */
    this.sought = "";
    this.found = element("p", { role: "status", class: "hint" });
    this.comparison = new Comparison(page);
    const close = button("×", () => this.root.close(), { class: "close", "aria-label": "Close" });
    const top = element("div", {}, element("b", {}, "What if …"), this.search, close);
    const named = { class: "what-if-panel", "aria-label": "What if somebody made a mistake?" };
    const right = element("div", { class: "preview" }, this.found, this.comparison.root);
    this.root = element("dialog", named, top, this.list, right);
    this.search.addEventListener("input", () => this.filter());
    this.search.addEventListener("keydown", (event) => {
      if (this.takes(event.key)) event.preventDefault();
    });
    this.list.addEventListener("click", (event) => this.choose(this.optionAt(event)));
    this.list.addEventListener("mousemove", (event) => this.activate(this.optionAt(event)));
    this.root.addEventListener("click", (event) => {
      // Outside of all that is in it.
      if (event.target === this.root) this.root.close();
    });
  }

  open() {
    const { model } = this.page;
    this.right = model.with("");
    const known = model.mistakes();
    const groups = Object.entries(model.data.groups).map(([title, places], at) => {
      const names = places.map((place) => model.data.mistakes[place]);
      return this.group(
        title,
        at,
        names.filter((name) => known.includes(name)),
      );
    });
    this.list.replaceChildren(this.option("", NOBODY), ...groups.filter(Boolean));
    this.options = all(this.list, "[role=option]");
    this.search.value = "";
    this.sought = "";
    this.root.showModal();
    this.filter();
    const chosen = this.options.find(({ dataset }) => dataset.mistake === model.mistake);
    this.activate(chosen);
    chosen.scrollIntoView({ block: "nearest" });
    this.search.focus();
    this.explain(this.options.slice(1));
  }

  /**
   * @param {string} title
   * @param {number} at
   * @param {string[]} names
   */
  group(title, at, names) {
    if (!names.length) return null;
    const id = `attncli-group-${at}`;
    const head = element("b", { id, role: "presentation" }, title);
    const options = names.map((name) => this.option(name, name));
    return element("div", { role: "group", "aria-labelledby": id }, head, ...options);
  }

  /**
   * @param {string} mistake
   * @param {string} text
   */
  option(mistake, text) {
    const id = `attncli-mistake-${this.page.model.data.mistakes.indexOf(mistake)}`;
    const sign = mistake ? [element("small")] : [];
    const made = element(
      "div",
      { role: "option", id },
      element("span", {}, ...raised(text)),
      ...sign,
    );
    made.dataset.mistake = mistake;
    return made;
  }

  /**
   * The sentences on how to notice these, a few at a time.
   *
   * @param {HTMLElement[]} options
   */
  explain(options) {
    const begun = performance.now();
    while (options.length && performance.now() - begun < AT_ONCE) {
      const [option, ...others] = options;
      this.sign(option);
      options = others;
    }
    if (options.length && this.root.open) setTimeout(() => this.explain(options));
    else this.filter();
  }

  /** @param {HTMLElement} option */
  sign(option) {
    const wrong = this.page.model.with(option.dataset.mistake);
    option.lastChild.textContent = signed(new Signs(this.right, wrong).sentence());
  }

  // --- the search

  /** Those that have all the words that are searched for, in what they are called or how they show. */
  filter() {
    const words = plain(this.search.value).split(" ");
    const has = (/** @type {Node} */ part) =>
      words.every((word) => plain(part.textContent).includes(word));
    for (const option of this.options) option.hidden = !has(option);
    for (const group of all(this.list, "[role=group]"))
      group.hidden = !this.shown.some((option) => group.contains(option));
    const count = this.shown.length - Number(!this.options[0].hidden);
    this.found.textContent = count === 1 ? "1 mistake" : `${count || "No"} mistakes`;
    const isLost = !this.active || this.active.hidden;
    if (isLost || this.sought !== this.search.value) this.activate(this.best(has));
    this.sought = this.search.value;
    this.active?.scrollIntoView({ block: "nearest" });
  }

  /**
   * Of those that are shown: one whose name has what is searched for, or has all its words, or any.
   *
   * @param {(part: Node) => boolean} has
   */
  best(has) {
    const { shown } = this;
    const text = plain(this.search.value);
    const isCalled = (/** @type {HTMLElement} */ { firstChild }) =>
      plain(firstChild.textContent).includes(text);
    const isNamed = (/** @type {HTMLElement} */ { firstChild }) => has(firstChild);
    return (text && (shown.find(isCalled) ?? shown.find(isNamed))) || shown[0];
  }

  get shown() {
    return this.options.filter((option) => !option.hidden);
  }

  /** @param {string} key */
  takes(key) {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }[key];
    if (key === "Enter") this.choose(this.active);
    else if (by) this.move(by);
    else return false;
    return true;
  }

  /** @param {number} by */
  move(by) {
    const { shown } = this;
    const at = shown.indexOf(this.active) + by;
    this.activate(shown[Math.max(0, Math.min(shown.length - 1, at))]);
    this.active?.scrollIntoView({ block: "nearest" });
  }

  /** @param {Event} event */
  optionAt(event) {
    return /** @type {HTMLElement} */ (targetOf(event).closest("[role=option]"));
  }

  /**
   * Show what a mistake would do.
   *
   * @param {HTMLElement} [option]
   */
  activate(option) {
    if (option === this.active) return;
    this.active?.setAttribute("aria-selected", "false");
    this.active = option;
    this.search.setAttribute("aria-activedescendant", option?.id ?? "");
    option?.setAttribute("aria-selected", "true");
    const wrong = this.page.model.with(option?.dataset.mistake ?? "");
    this.comparison.show(this.right, wrong, "After");
  }

  /** @param {HTMLElement} [option] */
  choose(option) {
    if (!option) return;
    this.root.close();
    this.take(option.dataset.mistake);
  }
}

/**
 * A text as it is searched: W_K is wk, and K^T kt.
 *
 * @param {string} text
 */
const plain = (text) => text.toLowerCase().replace(/[_^]/g, "").trim();
