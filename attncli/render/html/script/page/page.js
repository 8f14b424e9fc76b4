// @ts-check
// The page: numbers to type over, lines that follow, and the settings to choose. Without it the
// page stays as it is.

"use strict";

// Milliseconds after which what is out of sight follows.
const LATER = 120;
const CLEARS_NUMBER = /^(Delete|Backspace)$/;
const STARTS_NUMBER = /^[-+.,0-9s√¼½¾⅐-⅞]$/;

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
    this.keys = new Keys();
    this.sections = new Sections(this);
    this.matrices = new Matrices(this);
    this.worked = new WorkedLists(this);
    this.remarks = new Remarks(this);
    this.edits = new Edits(this);
    this.pasting = new Pasting(this);
    this.resizing = new Resizing(this);
    this.words = new Words(this);
    this.whatIf = new WhatIf(this);
    this.softmaxRow = new SoftmaxRow(this);
    this.quiz = new Quiz(this);
    this.query = new Query(this);
    this.map = new FlowMap(this);
    this.sharing = new Sharing(this);
    this.saving = new Saving(this);
    this.undo = new Undo(this);
    this.compare = new Compare(this);
    this.blanks = new Blanks(this);
    this.tour = new Tour(this);
    this.how = new How(this);
    this.columns = new Columns(this);
    this.paper = new Paper(this);
    this.sharpness = new Sharpness(this);
    this.dragging = new Dragging(this);
    this.present = new Present(this);
    this.controls = new Controls(this);
    this.oneNumber = new OneNumber(this);
    this.moving = new Moving(this);
    this.strip = new Strip(this);
    this.status = element("p", { class: "unseen", role: "status" });
    this.root.append(this.oneNumber.root, this.tour.root, this.status);
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
    /**
     * What the quiz asks for.
     *
     * @type {[string, number[]][]}
     */
    this.hidden = [];
    // Whether a part of the address did not fit.
    this.misfits = false;
    restore(this);
    this.listen();
    this.show();
    this.markChanged();
    this.columns.measure();
    root.prepend(button("To the numbers", () => this.skip(), { class: "skip" }));
    root.classList.add("ready");
    this.present.restore();
    this.tour.begin();
  }

  /** Past all that can be chosen, to the first number that can be changed. */
  skip() {
    const { cells } = this.matrices.tables.find(({ editable, labelled }) => editable && labelled);
    cells[0].focus();
  }

  /** Everything again, after the model has changed. */
  show() {
    this.hideAsked();
    if (this.sections.arrangement() !== this.sections.arranged) this.sections.arrange();
    // A mistake has other rules in the same sections, and sizes other rows.
    else if (this.connection() !== this.connected) this.connect();
    this.right = this.model.mistake ? this.model.with("") : null;
    this.blanks.clear();
    this.matrices.show();
    this.blanks.show();
    this.query.show();
    if (!this.strip.isShown) this.map.show();
    this.strip.show();
    this.whatIf.show();
    this.remarks.warn();
    this.worked.show();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.finish(), LATER);
    this.controls.show();
    this.undo.note();
    this.tour.show();
    this.sharpness.show();
    if (this.oneNumber.chosen) this.oneNumber.rest();
    this.present.show();
  }

  /** What nobody looks at while typing: lines out of sight, and the address, which is slow to change. */
  finish() {
    if (this.strip.isShown) this.drawPictures();
    this.worked.finish();
    this.matrices.filling.calm();
    this.remarks.show();
    sayInWords(this);
    this.markChanged();
    this.columns.measure();
    remember(this);
  }

  /** What then comes or goes moves the page, so this waits for the end of a click. */
  markChanged() {
    for (const field of this.edits.fields.values()) field.mark();
    this.root.classList.toggle("numbers-changed", this.hasOtherNumbers());
  }

  /** The ribbons and the map, which are out of sight while the strip is shown. */
  drawPictures() {
    this.query.draw();
    this.map.show();
  }

  /** Find what stands on the page, and what each of it shows. */
  connect() {
    this.resizing.fit();
    this.connected = this.connection();
    this.matrices.connect();
    this.resizing.show();
    this.worked.connect();
    this.edits.connect();
    this.words.connect();
    this.how.connect();
  }

  /** Whether a number is being typed or slid: what it changes is compared with what was before. */
  get isMoving() {
    const { slider } = this.oneNumber.held;
    return Boolean(this.edits.cell) || slider.isMoving || this.dragging.isDragging;
  }

  /** After a number has moved: bars as wide as there is room, and none from before. */
  settle() {
    this.strip.show();
    if (this.query.isDrawn) this.query.sum.show();
  }

  /** What the tables and lists of the page are looked for again for. */
  connection() {
    return `${this.model.mistake} ${this.model.sizes.version}`;
  }

  hasOtherNumbers() {
    const isSlid = this.model.setting.scaled === SLID;
    return (
      isSlid ||
      this.model.sizes.differences.said().length > 0 ||
      this.edits.texts.size > 0 ||
      this.model.held.size > 0 ||
      Boolean(this.model.mistake)
    );
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
   * @param {Scaled} scaled
   */
  set(mask, scaled, mistake = this.model.mistake) {
    this.model.held.clear();
    this.oneNumber.notice("");
    this.model.choose(mask, scaled);
    if (this.model.mistakes().includes(mistake)) this.model.choose(mask, scaled, mistake);
    this.showAll();
  }

  /** Everything again, where another setting may have other sections. */
  showAll() {
    const { chosen } = this.oneNumber;
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
    if (!name && !this.hidden.length) return;
    this.hidden = name ? [[name, places]] : [];
    this.show();
  }

  /** Leave out what the quiz and the blanks ask for, and all that follows from it. */
  hideAsked() {
    const asked = [...this.hidden, ...this.blanks.cells()].filter(([, places]) => places.length);
    this.asked = asked.length ? this.model.without(asked) : null;
    this.root.classList.toggle("asking", asked.length > 0);
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
    return !areNear(right, this.model.steps.get(name).values[at]);
  }

  // --- events

  listen() {
    watchPointer();
    this.main.addEventListener("focusin", (event) => {
      const found = this.matrices.find(targetOf(event));
      // Sections that change their places take the focus away and give it back.
      if (found && !this.sections.isArranging) this.oneNumber.choose(found);
    });
    this.main.addEventListener("mouseover", (event) => {
      const found = this.matrices.find(targetOf(event));
      // As long as what is typed is no number, the line says why.
      const isWrong = this.edits.fieldIn(this.edits.cell)?.why;
      if (found && !isWrong) this.oneNumber.show(found.table, found.at);
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
    else if (key === "Escape" && this.edits.fieldIn(found.cell))
      this.edits.fieldIn(found.cell).cancel();
    else if (found.table.editable && CLEARS_NUMBER.test(key)) this.edits.open(found, "");
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
    const link = /** @type {HTMLAnchorElement} */ (
      targetOf(event).closest("nav a, .map a, .way a, .changes a")
    );
    if (link?.matches(".starts a")) {
      event.preventDefault();
      return beginWith(this, link);
    }
    const section = link && document.getElementById(link.hash.slice(1));
    if (!section) return;
    // The address keeps what was changed.
    event.preventDefault();
    this.sections.turnToPartOf(section);
    section.scrollIntoView();
  }
}

new Page(first(document, ".attncli"), LIVE);
