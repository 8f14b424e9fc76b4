// @ts-check
// What a mistake works out instead: chosen from a list, and said at each step that it changes.

"use strict";

class WhatIf {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    this.select = element("select", { class: "what-if-choice" });
    this.choice = element("label", {}, "What if ", this.select);
    this.effect = element("p", { class: "effect", role: "status" });
    // The mistakes that are in the list.
    this.offered = null;
    this.select.addEventListener("change", () => {
      const { mask, scaled } = this.model.setting;
      page.set(mask, scaled, this.select.value);
    });
  }

  show() {
    const { mistake, instead, steps } = this.model;
    this.clear();
    this.offer(this.model.mistakes());
    this.select.value = mistake;
    this.effect.hidden = !mistake;
    if (!mistake) return;
    const made = [...instead].filter(([name]) => steps.has(name));
    for (const [name, at] of made) this.note(name, this.formula(at));
    const formulas = made.flatMap(([, at]) => [math(this.formula(at)), ". "]);
    this.effect.replaceChildren(...formulas, this.count());
  }

  clear() {
    for (const note of all(this.page.main, ".what-if")) note.remove();
    for (const section of all(this.page.main, ".mistaken")) section.classList.remove("mistaken");
  }

  /** @param {number} at */
  formula(at) {
    return this.page.lines.formula(this.model.rules[at]);
  }

  /**
   * The list of the mistakes that can be made, by the first step that each changes.
   *
   * @param {string[]} known
   */
  offer(known) {
    if (known.join() === this.offered) return;
    this.offered = known.join();
    this.choice.hidden = !known.length;
    const changed = new Map(known.map((name) => [name, this.model.firstChanged(name)]));
    const steps = [...new Set([...this.model.steps.keys(), ...changed.values()])];
    const groups = steps.map((step) => {
      const names = known.filter((name) => changed.get(name) === step);
      const options = names.map((name) => element("option", { value: name }, name));
      return element("optgroup", { label: this.page.sections.titleOfStep(step) }, ...options);
    });
    const none = element("option", { value: "" }, "nobody made a mistake");
    this.select.replaceChildren(none, ...groups.filter((group) => group.firstChild));
  }

  /** How many numbers the mistake changes, in words. */
  count() {
    const steps = [...this.model.steps];
    const differing = steps.flatMap(([name, { values }]) =>
      [...values.keys()].filter((at) => this.page.differs(name, at)),
    );
    const count = differing.length;
    if (!count) return "No numbers differ: this problem cannot show the mistake.";
    return count === 1
      ? "1 number differs and is marked."
      : `${count} numbers differ and are marked.`;
  }

  /**
   * The mistake and its formula, after the formula that it replaces.
   *
   * @param {string} name
   * @param {string} formula
   */
  note(name, formula) {
    for (const section of this.page.sections.ofStep(name)) {
      const said = element("p", {}, element("b", {}, "What if: "), this.model.mistake);
      const shown = element("div", { class: "formula" }, math(formula, "block"));
      const note = element("aside", { class: "warning what-if" }, said, shown);
      section.classList.add("mistaken");
      const last = all(section, ":scope > .formula").at(-1) ?? section.firstElementChild;
      last.after(note);
    }
  }
}
