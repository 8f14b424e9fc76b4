// @ts-check
// What a mistake works out instead: chosen in a panel, and said at each step that it changes.

"use strict";

class WhatIf {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    this.panel = new WhatIfPanel(page, (mistake) => this.take(mistake));
    this.choice = button("What if …", () => this.panel.open(), { "aria-haspopup": "dialog" });
    this.effect = element("p", { class: "effect", role: "status" });
    this.end = button("×", () => this.take(""), { class: "close", "aria-label": "Nobody made it" });
    this.root = element("div", { class: "mistake" }, this.effect, this.end);
  }

  /** @param {string} mistake */
  take(mistake) {
    const { mask, scaled } = this.model.setting;
    this.page.set(mask, scaled, mistake);
    // The way back to what was pressed, which has gone.
    if (!mistake) this.choice.focus();
  }

  show() {
    const { mistake, instead, steps } = this.model;
    this.clear();
    this.choice.hidden = !this.model.mistakes().length;
    this.choice.classList.toggle("on", Boolean(mistake));
    this.root.hidden = !mistake;
    if (!mistake) return this.effect.replaceChildren();
    for (const [name, at] of instead)
      if (steps.has(name)) this.note(name, this.page.lines.formula(this.model.rules[at]));
    const name = element("b", {}, ...raised(mistake));
    const sign = signed(new Signs(this.page.right, this.model).sentence());
    this.effect.replaceChildren("What if ", name, `? ${sign} `, ...this.count());
  }

  clear() {
    for (const note of all(this.page.main, ".what-if")) note.remove();
    for (const section of all(this.page.main, ".mistaken")) section.classList.remove("mistaken");
  }

  /**
   * How many numbers the mistake changes, in words that lead to the first.
   *
   * @returns {(Node | string)[]}
   */
  count() {
    const steps = [...this.model.steps];
    const differing = steps.flatMap(([name, { values }]) =>
      [...values.keys()].filter((at) => this.page.differs(name, at)).map((at) => ({ name, at })),
    );
    const [begins] = differing;
    if (!begins) return ["This problem cannot show the mistake."];
    const count = differing.length;
    const [said, mark] =
      count === 1
        ? ["1 number differs", " and is marked."]
        : [`${count} numbers differ`, " and are marked."];
    const [section] = this.page.sections.ofStep(begins.name);
    const way = section ? element("a", { href: `#${section.id}` }, said) : said;
    return [way, mark];
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
      const instead = element("div", { class: "formula" }, math(formula, "block"));
      const note = element("aside", { class: "warning what-if" }, said, instead);
      section.classList.add("mistaken");
      const shown = all(section, ".formula:not(details *, aside *)");
      const last = shown.at(-1) ?? section.firstElementChild;
      last.after(note);
    }
  }
}
