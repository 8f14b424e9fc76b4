// @ts-check
// A computed number that is held and slid; `model/slider_range.js` says from where to where.

"use strict";

class HeldNumber {
  /** @param {OneNumber} oneNumber */
  constructor(oneNumber) {
    this.oneNumber = oneNumber;
    this.model = oneNumber.model;
    this.slider = new HeldSlider(this);
    this.button = button("Hold and slide", () => this.holdAndSlide(), { "aria-keyshortcuts": "h" });
  }

  /** Whether the chosen number can be held. */
  get isOffered() {
    return !this.button.hidden;
  }

  /**
   * @param {Matrix} table
   * @param {number} place
   * @param {boolean} isChosen
   */
  show({ name, editable }, place, isChosen) {
    const isHeld = this.model.isHeld(name, place);
    const isFinite = Number.isFinite(this.model.steps.get(name).values[place]);
    this.button.hidden = !isChosen || editable || !isFinite;
    this.button.textContent = isHeld ? "Let go" : "Hold and slide";
    this.slider.root.hidden = !isHeld || !isChosen;
    if (isHeld && isChosen && !this.slider.isMoving) this.slider.offer(name, place);
  }

  /** The name and the place of the chosen number. */
  cell() {
    const { table, at } = this.oneNumber.chosen;
    return /** @type {Cell} */ ([table.name, table.start + at]);
  }

  /** Hold the chosen number where it is, or let it go. */
  hold() {
    const [name, place] = this.cell();
    const isHeld = this.model.isHeld(name, place);
    const value = this.model.steps.get(name).values[place];
    this.take(isHeld ? undefined : value);
    if (!isHeld) this.oneNumber.page.undo.begun = `${name}.${place}`;
  }

  /** By Tab alone, the way to the slider leads over other matrices, whose numbers it would then be about. */
  holdAndSlide() {
    this.hold();
    if (!this.slider.root.hidden) this.slider.range.focus({ preventScroll: true });
  }

  /** @param {number} value */
  take(value) {
    this.model.hold(...this.cell(), value);
    this.model.work();
    this.oneNumber.page.show();
  }
}

class HeldSlider {
  /** @param {HeldNumber} held */
  constructor(held) {
    const { oneNumber } = held;
    this.model = held.model;
    this.range = element("input", {
      type: "range",
      step: "0.01",
      list: "attncli-computed",
    });
    // Until it is released, what it changes is compared with what was before.
    this.isMoving = false;
    this.range.addEventListener("input", () => {
      this.isMoving = true;
      held.take(Number(this.range.value));
    });
    for (const end of ["pointerup", "pointercancel", "blur"])
      this.range.addEventListener(end, () => this.rest(oneNumber.page));
    this.range.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") oneNumber.chosen.cell.focus();
    });
    // The slider has a mark at what the equation gives.
    this.computed = element("option");
    const mark = element("datalist", { id: "attncli-computed" }, this.computed);
    this.least = element("small");
    this.most = element("small");
    this.root = element("span", { class: "slider" }, this.least, this.range, this.most, mark);
  }

  /**
   * Say to a screen reader which number is held, and what follows from it.
   *
   * @param {string} title
   * @param {string} follows
   */
  tell(title, follows) {
    this.range.setAttribute("aria-label", `${title}, held`);
    this.range.setAttribute("aria-valuetext", `${signed(this.range.value)}. ${follows}`);
  }

  /** @param {Page} page */
  rest(page) {
    this.isMoving = false;
    page.settle();
  }

  /**
   * @param {string} name
   * @param {number} at
   */
  offer(name, at) {
    const { least, most, computed } = sliderRange(this.model, name, at);
    this.range.min = `${least}`;
    this.range.max = `${most}`;
    this.range.value = `${this.model.held.get(name).get(at)}`;
    this.computed.value = `${Number(computed.toFixed(2))}`;
    this.least.textContent = signed(this.range.min);
    this.most.textContent = signed(this.range.max);
  }
}
