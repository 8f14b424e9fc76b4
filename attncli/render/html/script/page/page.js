// @ts-check
// The page: numbers to type over, lines that follow, and the settings to choose. Without it the
// page stays as it is.

"use strict";

// Milliseconds after which what is out of sight follows.
const LATER = 120;
const STARTS_NUMBER = /^[-+.,0-9s]$/;

class Page {
  /**
   * @param {HTMLElement} root
   * @param {Live} live
   */
  constructor(root, live) {
    this.root = root;
    this.main = first(root, "main") ?? root;
    this.live = live;
    this.model = new Model(live.data);
    this.lines = new Lines(this.model);
    this.sections = new Sections(this);
    this.matrices = new Matrices(this);
    this.worked = new WorkedLists(this);
    this.remarks = new Remarks(this);
    this.edits = new Edits(this);
    this.whatIf = new WhatIf(this);
    this.quiz = new Quiz(this);
    this.query = new Query(this);
    this.map = new FlowMap(this);
    this.saving = new Saving(this);
    this.controls = new Controls(this);
    this.oneNumber = new OneNumber(this);
    this.status = element("p", { class: "unseen", role: "status" });
    this.root.append(this.oneNumber.root, this.status);
    /**
     * The model without the mistake, where one was chosen.
     *
     * @type {Model}
     */
    this.right = null;
    /**
     * The model without what the quiz asks for, while it asks.
     *
     * @type {Model}
     */
    this.asked = null;
    // Whether a part of the address did not fit.
    this.misfits = false;
    restore(this);
    this.listen();
    this.show();
    root.classList.add("ready");
  }

  /** Everything again, after the model has changed. */
  show() {
    if (this.sections.key() !== this.sections.arranged) this.sections.arrange();
    // A mistake has other rules in the same sections.
    else if (this.model.mistake !== this.connected) this.connect();
    this.right = this.model.mistake ? this.model.with("") : null;
    this.matrices.show();
    this.query.show();
    this.map.show();
    this.whatIf.show();
    this.remarks.warn();
    this.worked.show();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.finish(), LATER);
    this.root.classList.toggle("numbers-changed", this.hasOtherNumbers());
    this.controls.show();
    if (this.oneNumber.chosen) this.oneNumber.rest();
  }

  /** What nobody looks at while typing: lines out of sight, and the address, which is slow to change. */
  finish() {
    this.worked.finish();
    this.matrices.calm();
    this.remarks.show();
    remember(this);
  }

  /** Find what stands on the page, and what each of it shows. */
  connect() {
    this.connected = this.model.mistake;
    this.matrices.connect();
    this.worked.connect();
  }

  hasOtherNumbers() {
    return this.edits.texts.size > 0 || this.model.held.size > 0 || Boolean(this.model.mistake);
  }

  isChanged() {
    return this.hasOtherNumbers() || this.model.setting !== this.live.data.settings[0];
  }

  /** @param {string} text */
  say(text) {
    this.status.textContent = text;
  }

  /**
   * Take a mask, a scale and a mistake; one that cannot be made in this setting is given up.
   *
   * @param {string} mask
   * @param {boolean} scaled
   */
  set(mask, scaled, mistake = this.model.mistake) {
    const chosen = this.oneNumber.chosen;
    this.model.held.clear();
    this.oneNumber.notice("");
    this.model.choose(mask, scaled);
    if (this.model.mistakes().includes(mistake)) this.model.choose(mask, scaled, mistake);
    this.oneNumber.chosen = null;
    this.show();
    this.controls.showSetting();
    this.chooseAgain(chosen);
  }

  /**
   * The number that was chosen, where the new sections have it, too.
   *
   * @param {Found} chosen
   */
  chooseAgain(chosen) {
    const { name, start } = chosen?.table ?? {};
    const isIt = (/** @type {Matrix} */ each) =>
      each.name === name && each.start === start && each.labelled;
    const table = this.matrices.tables.find(isIt);
    const cell = table?.cells[chosen.at];
    if (!cell) this.oneNumber.leave();
    else if (document.activeElement === document.body) cell.focus({ preventScroll: true });
    else this.oneNumber.choose({ table, at: chosen.at, cell });
  }

  // --- the quiz

  /**
   * Put question marks in the places of some numbers of a step and of all that follow from them, and
   * leave out all lines; until this is called with null.
   *
   * @param {string} name
   * @param {number[]} [places]
   */
  hideCells(name, places) {
    if (!name && !this.asked) return;
    this.asked = name && this.model.without(name, places);
    this.root.classList.toggle("asking", Boolean(name));
    this.show();
  }

  /** The model without what the quiz asks for. */
  get told() {
    return this.asked ?? this.model;
  }

  /**
   * What stands on the page for a number.
   *
   * @param {string} name
   * @param {number} at
   */
  printed(name, at) {
    const isAsked = this.asked && Number.isNaN(this.asked.steps.get(name)?.values[at] ?? NaN);
    return isAsked ? "?" : signed(this.lines.numberText(name, at));
  }

  /**
   * Whether a number is another than without the mistake.
   *
   * @param {string} name
   * @param {number} at
   */
  differs(name, at) {
    const right = this.right?.steps.get(name)?.values[at];
    if (right === undefined) return false;
    const wrong = this.model.steps.get(name).values[at];
    const isNear = Math.abs(wrong - right) <= SHARED.alike_within * Math.max(1, Math.abs(right));
    return wrong !== right && !isNear;
  }

  // --- events

  listen() {
    this.main.addEventListener("focusin", (event) => {
      const found = this.matrices.find(targetOf(event));
      if (found) this.oneNumber.choose(found);
    });
    this.main.addEventListener("mouseover", (event) => {
      const found = this.matrices.find(targetOf(event));
      if (found) this.oneNumber.show(found.table, found.at);
      this.matrices.pointOut(targetOf(event));
    });
    this.main.addEventListener("mouseleave", () => this.oneNumber.rest());
    this.main.addEventListener("click", (event) => {
      const found = this.matrices.find(targetOf(event));
      if (!found || targetOf(event).matches("input")) return;
      found.cell.focus();
      this.act(found);
    });
    this.main.addEventListener("keydown", (event) => {
      const found = this.matrices.find(targetOf(event));
      const isCommand = event.ctrlKey || event.metaKey || event.altKey;
      if (found && !isCommand && this.takes(event, found)) event.preventDefault();
    });
    this.root.addEventListener("click", (event) => this.follow(event));
  }

  /**
   * Whether a key that was pressed at a number does something.
   *
   * @param {KeyboardEvent} event
   * @param {Found} found
   */
  takes(event, found) {
    const { key } = event;
    if (key in ARROWS) this.matrices.move(found, key);
    else if (key === "Enter" || key === " ") this.act(found);
    else if (found.table.editable && STARTS_NUMBER.test(key)) this.edits.open(found, key);
    else return this.oneNumber.takes(event, found);
    return true;
  }

  /** @param {Found} found */
  act(found) {
    if (found.table.editable) this.edits.open(found);
    else if (found.table.name === this.model.data.mask) this.edits.toggle(found);
  }

  /**
   * A link to a section, which a part of the page may have that is not shown.
   *
   * @param {MouseEvent} event
   */
  follow(event) {
    const link = /** @type {HTMLAnchorElement} */ (targetOf(event).closest("nav a, .map a"));
    const section = link && document.getElementById(link.hash.slice(1));
    if (!section) return;
    // The address keeps what was changed.
    event.preventDefault();
    this.sections.turnToPartOf(section);
    section.scrollIntoView();
  }
}

new Page(first(document, ".attncli"), LIVE);
