// @ts-check
// The tour: cards over the page, each with a sentence, a number and something to do. Nobody gets it
// who does not ask for it, and it is remembered nowhere.

"use strict";

// Of the window, so much stays above what a card is about, if there is room; and pixels around it.
const ABOVE = 0.3;
const AROUND = 24;
// In pixels: the strip at the top, and a line that is not there yet.
const STRIP = 72;
const LINE = 110;
// In pixels: a finger that moves so far has swiped.
const SWIPE = 48;
// With these, what a card asks for may have been done.
const DEEDS = ["click", "focusin", "input", "keyup"];

class Tour {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.made = new TourCards(page);
    this.start = button("Start here", () => this.open(), { class: "start" });
    this.said = element("div", { "aria-live": "polite", "aria-atomic": "true" });
    this.options = element("div", { class: "options" });
    this.verdict = element("p", { role: "status" });
    this.back = button("Previous card", () => this.turn(-1));
    this.next = button("Next card", () => this.turn(1));
    const close = { class: "close", "aria-label": "Leave the tour" };
    const buttons = [this.back, this.next, button("×", () => this.leave(), close)];
    this.root = element(
      "div",
      { class: "tour", role: "dialog", "aria-label": "Tour", tabindex: "-1" },
      this.said,
      this.options,
      this.verdict,
      element("div", { class: "controls" }, ...buttons),
    );
    this.root.hidden = true;
    // Which card is shown; those that were done; and whether its question waits for an answer.
    this.at = 0;
    this.done = new Set();
    this.isAsking = false;
    // What was answered to it.
    this.wrong = new Set();
    /** @type {HTMLElement[]} */
    this.marked = [];
    this.listen();
  }

  listen() {
    const later = () => setTimeout(() => this.check());
    for (const deed of DEEDS) this.page.root.addEventListener(deed, later);
    document.addEventListener("keydown", (event) => this.takes(event));
    window.addEventListener("hashchange", () => this.begin());
    let from = 0;
    const begin = (/** @type {PointerEvent} */ { clientX }) => (from = clientX);
    this.root.addEventListener("pointerdown", begin);
    this.root.addEventListener("pointerup", ({ clientX, pointerType }) => {
      const by = clientX - from;
      if (pointerType === "touch" && Math.abs(by) > SWIPE) this.turn(by < 0 ? 1 : -1);
    });
  }

  /** Open it where the address says so: #tour, or #!…&tour. */
  begin() {
    if (/^#(!.*&)?tour\b/.test(location.hash)) this.open();
  }

  // --- which card

  open() {
    this.at = 0;
    this.done.clear();
    this.root.hidden = false;
    this.put();
    this.root.focus({ preventScroll: true });
  }

  leave() {
    const hadFocus = this.root.contains(document.activeElement);
    this.root.hidden = true;
    this.end();
    this.mark([], []);
    this.makeRoom();
    if (hadFocus) this.start.focus({ preventScroll: true });
    if (location.hash === "#tour") history.replaceState(null, "", location.pathname);
  }

  /** @param {number} by */
  turn(by) {
    const to = this.at + by;
    if (to < 0) return;
    if (to >= this.cards.length) return this.leave();
    this.end();
    this.at = to;
    this.put();
  }

  /** What a card had hidden, held or chosen is as it was. */
  end() {
    this.reveal();
    this.card?.ends?.();
    const { oneNumber } = this.page;
    oneNumber.chosen = null;
    oneNumber.leave();
  }

  /** Another card: what it asks for is hidden, and what it is about comes into view. */
  put() {
    this.verdict.replaceChildren();
    this.wrong.clear();
    this.cards = this.made.all();
    this.isAsking = Boolean(this.card?.options) && !this.done.has(this.at);
    if (this.isAsking) this.hide(this.card);
    this.show();
    this.come();
  }

  get card() {
    return this.cards[this.at];
  }

  // --- what it shows

  /** The same card, of the numbers as they are now. */
  show() {
    this.start.hidden = !this.page.query.weights();
    if (this.root.hidden) return;
    this.cards = this.made.all();
    this.at = Math.min(this.at, this.cards.length - 1);
    if (!this.card) return this.leave();
    const { about, says, ask, cell } = this.card;
    const count = element("small", {}, `${this.at + 1} of ${this.cards.length}`);
    this.said.replaceChildren(count, element("p", {}, ...says), element("p", {}, ...ask));
    this.options.replaceChildren(...this.answers());
    // A button that is disabled would lose the focus.
    this.back.setAttribute("aria-disabled", String(!this.at));
    this.next.textContent = this.at + 1 < this.cards.length ? "Next card" : "End";
    const found = cell && this.page.matrices.at(...cell);
    this.mark(about, found ? this.besides(found) : []);
    this.makeRoom();
  }

  /** The line of a number stands above the card. */
  makeRoom() {
    this.page.root.style.setProperty("--card", `${this.root.offsetHeight}px`);
  }

  answers() {
    const { options } = this.card;
    if (!this.isAsking) return [];
    return options.map((key) => {
      const answer = button("", () => this.judge(key), { disabled: this.wrong.has(key) });
      answer.append(this.made.word(key));
      return answer;
    });
  }

  /**
   * Let only these matrices stay full on the map, and outline these cells.
   *
   * @param {string[]} about
   * @param {HTMLElement[]} cells
   */
  mark(about, cells) {
    const isOpen = !this.root.hidden;
    for (const { name, link } of this.page.map.boxes)
      link.classList.toggle("dim", isOpen && !about.includes(name));
    for (const cell of this.marked) cell.classList.remove("toured");
    for (const cell of cells) cell.classList.add("toured");
    this.marked = cells;
  }

  /**
   * The cells in the row of a number.
   *
   * @param {Found} found
   */
  besides({ table, at }) {
    const row = tableRow(table, at);
    return table.cells.filter((_, other) => tableRow(table, other) === row);
  }

  /** To what the card is about. */
  come() {
    const cell = this.card?.cell;
    const found = cell && this.page.matrices.at(...cell);
    if (found) this.page.sections.turnToPartOf(found.cell.closest("section"));
    const there = found?.table.table ?? this.page.query.root;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const { top, height } = there.getBoundingClientRect();
    const above = Math.min(innerHeight * ABOVE, this.free() - height);
    const to = scrollY + top - Math.max(above, STRIP + AROUND);
    scrollTo({ top: to, behavior: isCalm ? "auto" : "smooth" });
  }

  /** How far down nothing covers the page. */
  free() {
    const line = this.page.oneNumber.root.offsetHeight || LINE;
    return innerHeight - this.root.offsetHeight - line - AROUND;
  }

  /**
   * To a number, with the keys as well.
   *
   * @param {Cell} cell
   */
  go(cell) {
    this.come();
    this.page.matrices.at(...cell)?.cell.focus({ preventScroll: true });
  }

  // --- what was done

  check() {
    if (this.root.hidden) return;
    if (!this.done.has(this.at) && this.card.isDone()) this.finish("✓ Done.");
    if (this.made.of !== this.made.chosen()) this.show();
  }

  /** @param {Said} said */
  finish(...said) {
    this.done.add(this.at);
    this.verdict.replaceChildren(...said);
  }

  /**
   * Put question marks in the places of the row of a card.
   *
   * @param {Card} card
   */
  hide({ cell: [name] }) {
    const step = this.page.model.steps.get(name);
    const [, first] = this.made.cell(step, this.made.query);
    const places = range(step.rule.shape.at(-1)).map((at) => first + at);
    this.page.hideCells(name, places);
  }

  reveal() {
    if (!this.isAsking) return;
    this.isAsking = false;
    this.page.hideCells(null);
  }

  /**
   * A wrong answer can be followed by another one; the right one shows how its score is worked out.
   *
   * @param {number} key
   */
  judge(key) {
    const { made, page } = this;
    const { cell } = this.card;
    this.root.focus({ preventScroll: true });
    if (key !== made.best) {
      this.wrong.add(key);
      this.options.replaceChildren(...this.answers());
      const said = ["Wrong: another key fits better than ", made.word(key), ". Try again."];
      return this.verdict.replaceChildren(...said);
    }
    this.reveal();
    const score = page.printed(...cell);
    this.finish("✓ Right: ", made.word(key), ` has the largest score, ${score}.`);
    const found = page.matrices.at(...cell);
    if (found) page.oneNumber.choose(found);
  }

  // --- keys

  /** @param {KeyboardEvent} event */
  takes(event) {
    const target = targetOf(event);
    const isHere = target === document.body || this.root.contains(target);
    if (this.root.hidden) return;
    if (event.key === "Escape") return this.escape(isHere && !event.defaultPrevented);
    const [, right] = ARROWS[event.key] ?? [];
    const isCommand = event.ctrlKey || event.metaKey || event.altKey;
    if (right && isHere && !isCommand) this.turn(right);
  }

  /**
   * Out of the tour; from the page, first back to the card.
   *
   * @param {boolean} isHere
   */
  escape(isHere) {
    if (isHere) this.leave();
    else this.root.focus({ preventScroll: true });
  }
}
