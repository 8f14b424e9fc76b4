// @ts-check
// Steps to fill in: their cells are fields, and all that follows from them is hidden, until each
// number is found. An address with them can be sent to a class: #!blank=scores.

"use strict";

class Blanks {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /**
     * The steps that are blank, and those of the address that there are not.
     *
     * @type {string[]}
     */
    this.names = [];
    /** @type {string[]} */
    this.unknown = [];
    /**
     * Numbers that were found, by "scores.3"; of other numbers they are blank again.
     *
     * @type {Map<string, number>}
     */
    this.found = new Map();
    /**
     * Of sections: the button in the title, and what is said below it.
     *
     * @type {Map<Element, { toggle: HTMLElement, bar: HTMLElement }>}
     */
    this.bars = new Map();
    /** @type {Map<string, HTMLInputElement>} */
    this.fields = new Map();
    /**
     * The field that was used last.
     *
     * @type {HTMLInputElement}
     */
    this.last = null;
  }

  /** The steps that can be worked out by hand. */
  steps() {
    const steps = [...this.page.model.steps.values()];
    return steps.filter(({ given, rule }) => !given && !rule.copies && !rule.hides);
  }

  /**
   * Let these steps be blank, as far as there are steps with these names.
   *
   * @param {string[]} names
   */
  take(names) {
    const known = this.steps().map(({ rule }) => rule.name);
    this.names = names.filter((name) => known.includes(name));
    this.unknown = names.filter((name) => !known.includes(name));
  }

  /** @param {string} name */
  toggle(name) {
    const others = this.names.filter((each) => each !== name);
    const isBlank = others.length < this.names.length;
    for (const key of this.found.keys()) if (splitKey(key)[0] === name) this.found.delete(key);
    this.take(isBlank ? others : [...others, name]);
    this.page.show();
    if (!isBlank)
      this.open()
        .find((field) => field.closest("table").dataset.array === name)
        ?.focus();
  }

  /** Those of these steps that this setting has: without a mask, no scores are masked. */
  there() {
    return this.names.filter((name) => this.page.model.steps.has(name));
  }

  /**
   * The numbers that are still asked for.
   *
   * @returns {[string, number[]][]}
   */
  cells() {
    return this.there().map((name) => {
      const { values } = this.page.model.steps.get(name);
      return [name, [...values.keys()].filter((at) => this.isOpen(name, at))];
    });
  }

  /**
   * @param {string} name
   * @param {number} at
   */
  isOpen(name, at) {
    const value = this.page.model.steps.get(name).values[at];
    return Number.isFinite(value) && this.found.get(`${name}.${at}`) !== value;
  }

  /** The fields that can be seen, in the order of the page. */
  open() {
    const fields = /** @type {HTMLInputElement[]} */ (all(this.page.main, "td .blank"));
    return fields.filter((field) => field.checkVisibility());
  }

  // --- in words

  /** What is to be filled in, with the way to it. */
  said() {
    const parts = this.cells().flatMap(([name, places]) => {
      const [section] = this.page.sections.ofStep(name);
      if (!section || !places.length) return [];
      const { rule } = this.page.model.steps.get(name);
      const way = element("a", { href: `#${section.id}` }, symbolName(rule.symbol));
      return [" ", way, ` (${places.length} to go)`];
    });
    if (!parts.length) return [];
    return ["Fill in", ...parts, ". "];
  }

  /** That there is no such step, and which there are. */
  whyNot() {
    const names = this.steps().map(({ rule }) => rule.name);
    const wrong = element("b", { class: "wrong" }, "No step to fill in is called ");
    const nothing = this.names.length ? "." : ", so nothing is blank.";
    wrong.append(label(this.unknown.join(", ")), nothing);
    return [wrong, ` These can be: ${names.join(", ")}.`];
  }

  // --- on the page

  /** Take away the fields of what is not asked for any more. */
  clear() {
    const asked = new Set(
      this.cells().flatMap(([name, places]) => places.map((at) => `${name}.${at}`)),
    );
    for (const [key, field] of this.fields) {
      if (asked.has(key)) continue;
      field.replaceWith("?");
      this.fields.delete(key);
    }
  }

  show() {
    for (const { rule } of this.steps())
      for (const section of this.page.sections.ofStep(rule.name)) this.offer(section, rule.name);
    for (const table of this.page.matrices.tables)
      if (table.labelled && this.names.includes(table.name)) this.fill(table);
  }

  /**
   * The button at the title of a step.
   *
   * @param {HTMLElement} section
   * @param {string} name
   */
  offer(section, name) {
    const isBlank = this.names.includes(name);
    const { toggle, bar } = this.bars.get(section) ?? this.build(section, name);
    toggle.textContent = isBlank ? "Show all" : "Blank this step";
    bar.hidden = !isBlank;
    if (!isBlank) bar.lastChild.textContent = "";
  }

  /**
   * @param {HTMLElement} section
   * @param {string} name
   */
  build(section, name) {
    const title = first(section, "h2, h3");
    const id = (title.id ||= `${section.id}-title`);
    const named = { class: "blank-toggle", "aria-describedby": id };
    const toggle = button("", () => this.toggle(name), named);
    const show = button("Show it", () => this.showLast(name));
    const bar = element("div", { class: "blanks" }, show, element("p", { role: "status" }));
    title.after(toggle);
    this.belowMatrix(section, name).after(bar);
    const built = { toggle, bar };
    this.bars.set(section, built);
    return built;
  }

  /**
   * What stands in a section with the matrix of a step.
   *
   * @param {HTMLElement} section
   * @param {string} name
   */
  belowMatrix(section, name) {
    const { tables } = this.page.matrices;
    const isIt = (/** @type {Matrix} */ table) => table.labelled && table.name === name;
    const table = tables.find((each) => isIt(each) && section.contains(each.cells[0]));
    let found = /** @type {Element} */ (table.cells[0]);
    while (found.parentElement !== section) found = found.parentElement;
    return found;
  }

  /** @param {Matrix} table */
  fill({ name, rule, start, fixed, cells }) {
    cells.forEach((cell, at) => {
      const place = start + at;
      const isOpen = this.isOpen(name, place);
      cell.classList.toggle("found", !isOpen && this.found.has(`${name}.${place}`));
      const field = isOpen && this.field(name, place, this.page.lines.title(rule, place, fixed));
      if (field && cell.firstChild !== field) cell.replaceChildren(field);
    });
  }

  /**
   * @param {string} name
   * @param {number} at
   * @param {string} title
   */
  field(name, at, title) {
    const key = `${name}.${at}`;
    const known = this.fields.get(key);
    if (known) return known;
    const attributes = { class: "blank", placeholder: "?", "aria-label": title };
    const field = element("input", { ...attributes, inputmode: "text", autocomplete: "off" });
    field.addEventListener("focus", () => (this.last = field));
    field.addEventListener("change", () => this.check(field, name, at));
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (this.check(field, name, at)) this.next(field);
    });
    this.fields.set(key, field);
    return field;
  }

  // --- answers

  /**
   * Judge what stands in a field; whether the next one may follow.
   *
   * @param {HTMLInputElement} field
   * @param {string} name
   * @param {number} at
   */
  check(field, name, at) {
    const { value } = field;
    if (!value.trim() || !this.isOpen(name, at)) return true;
    const judging = new Judging(this.page.model);
    const verdict = judging.verdict(value, this.page.model.steps.get(name).values[at]);
    const isFound = verdict === "right" || verdict === "rounding";
    field.setAttribute("aria-invalid", String(!isFound));
    if (isFound) return this.accept(field, name, at, `${VERDICTS[verdict]}.`);
    const why = verdict ? `Wrong. ${judging.reason(name, at, value)}` : `${whyNoNumber(value)}.`;
    this.say(field, why);
    // What is typed next stands in its place.
    // Whoever has left it stays where they are.
    if (field === document.activeElement) field.select();
    return false;
  }

  /**
   * Show a number that was found, and all that follows from the numbers found so far.
   *
   * @param {HTMLInputElement} field
   * @param {string} name
   * @param {number} at
   * @param {string} said
   */
  accept(field, name, at, said) {
    const hadFocus = field === document.activeElement;
    const fields = this.open();
    const next = fields[fields.indexOf(field) + 1] ?? fields.find((each) => each !== field);
    const { bar, toggle } = this.bars.get(field.closest("section"));
    this.found.set(`${name}.${at}`, this.page.model.steps.get(name).values[at]);
    const [, places] = this.cells().find(([each]) => each === name);
    this.page.show();
    bar.lastChild.textContent = `${said} ${places.length || "Nothing"} to go.`;
    if (hadFocus) (next ?? toggle).focus();
    return false;
  }

  /** @param {HTMLInputElement} field */
  next(field) {
    const fields = this.open();
    fields[(fields.indexOf(field) + 1) % fields.length].focus();
  }

  /**
   * Show the number of the field that was used last, or the first one of a step.
   *
   * @param {string} name
   */
  showLast(name) {
    const fields = this.open().filter((each) => each.closest("table").dataset.array === name);
    const field = fields.includes(this.last) ? this.last : fields[0];
    if (!field) return;
    const key = [...this.fields].find(([, each]) => each === field)[0];
    field.focus();
    this.accept(field, ...splitKey(key), "");
  }

  /**
   * @param {HTMLElement} field
   * @param {string} text
   */
  say(field, text) {
    const { bar } = this.bars.get(field.closest("section"));
    first(bar, "p").replaceChildren(...raised(text));
  }
}
