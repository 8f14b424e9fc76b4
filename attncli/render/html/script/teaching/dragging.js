// @ts-check
// Numbers that are dragged: a ribbon to the width that its weight is to have, and any computed
// number sideways. The number is held there, as with Hold and slide.

"use strict";

// A pointer that moves less has clicked; over so many pixels a number goes through its whole range,
// and a ribbon through its own.
const LEAST_DRAG = 5;
const PIXELS_OF_RANGE = 320;
const PIXELS_OF_RIBBON = 160;
// No weight is dragged nearer to 0 or 1.
const NEAREST_END = 1 / 512;
// Decimals of a number that is dragged, and of one that a weight is to follow from. Nearer than so
// many units to what its equation gives, it is let go.
const DECIMALS = 2;
const DECIMALS_OF_LOGIT = 4;
const UNITS_TO_LET_GO = 3;
/**
 * What the keys of a slider add to a weight.
 *
 * @type {Record<string, number>}
 */
const STEPS = {
  ArrowRight: 0.05,
  ArrowUp: 0.05,
  ArrowLeft: -0.05,
  ArrowDown: -0.05,
  PageUp: 0.2,
  PageDown: -0.2,
  Home: -1,
  End: 1,
};

/** @typedef {(dx: number, dy: number) => void} Follow */

class Dragging {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    this.isDragging = false;
    const { root } = page.query;
    root.addEventListener("pointerdown", (event) => this.begin(event, this.ofWeight(event)));
    page.main.addEventListener("pointerdown", (event) => this.begin(event, this.ofNumber(event)));
    root.addEventListener("keydown", (event) => this.takes(event));
  }

  /**
   * Follow a pointer until it is let go.
   *
   * @param {PointerEvent} event
   * @param {Follow} follow
   */
  begin({ clientX, clientY, button: pressed }, follow) {
    if (!follow || pressed || this.page.asked || this.page.compare.aside) return;
    const over = new AbortController();
    const move = (/** @type {PointerEvent} */ event) => {
      const [dx, dy] = [event.clientX - clientX, event.clientY - clientY];
      this.isDragging ||= Math.hypot(dx, dy) > LEAST_DRAG;
      this.page.root.classList.toggle("dragging", this.isDragging);
      if (this.isDragging) follow(dx, dy);
    };
    const end = () => {
      over.abort();
      this.isDragging = false;
      this.page.settle();
      this.page.root.classList.remove("dragging");
    };
    document.addEventListener("pointermove", move, over);
    for (const kind of ["pointerup", "pointercancel"]) document.addEventListener(kind, end, over);
  }

  /**
   * Hold a number, and show how it is worked out; where that gives it, nothing has to hold it.
   *
   * @param {string} name
   * @param {number} at
   * @param {number} value
   */
  hold(name, at, value, decimals = DECIMALS) {
    const { model, page } = this;
    model.hold(name, at, value);
    const { least, most, computed } = sliderRange(model, name, at);
    const within = Math.min(most, Math.max(least, value));
    const isComputed = Math.abs(within - computed) < UNITS_TO_LET_GO * 10 ** -decimals;
    model.hold(name, at, isComputed ? undefined : Number(within.toFixed(decimals)));
    model.work();
    page.show();
    const found = page.matrices.at(name, at);
    if (found) page.oneNumber.choose(found);
  }

  // --- a number

  /**
   * @param {PointerEvent} event
   * @returns {Follow}
   */
  ofNumber(event) {
    const found = this.page.matrices.find(targetOf(event));
    // The first click chooses it: who selects text, or scrolls, changes nothing.
    const isChosen = found && found.cell === this.page.oneNumber.chosen?.cell;
    if (!isChosen || found.table.editable || found.table.name === this.model.data.mask) return null;
    const { name, start } = found.table;
    const at = start + found.at;
    const value = this.model.steps.get(name).values[at];
    if (!Number.isFinite(value)) return null;
    const wide = Math.max(1, Math.abs(value)) * 2;
    const isShare = name === this.model.data.weights;
    const perPixel = (isShare ? 1 : Math.max(wide, 2 * LEAST_REACH)) / PIXELS_OF_RANGE;
    return (dx) => this.hold(name, at, value + dx * perPixel);
  }

  // --- a weight

  /**
   * A ribbon of the query at its edges, or the number beside it.
   *
   * @param {PointerEvent} event
   * @returns {Follow}
   */
  ofWeight(event) {
    const { picture, keys } = this.page.query;
    const target = targetOf(event);
    const ofNumber = this.weighing(keys?.findIndex((each) => each.lastChild === target));
    if (ofNumber) return (dx) => ofNumber(dx / PIXELS_OF_RANGE);
    const ribbon = target.closest(".of-query[data-key], .grip");
    if (!(ribbon instanceof SVGElement) || ribbon.ownerSVGElement !== picture.root) return null;
    const key = Number(ribbon.dataset.key);
    const { top } = ribbon.ownerSVGElement.getBoundingClientRect();
    const isLower = event.clientY >= top + (key + 0.5) * ROW;
    const weigh = this.weighing(key);
    return weigh && ((_, dy) => weigh((isLower ? dy : -dy) / PIXELS_OF_RIBBON));
  }

  /**
   * What gives a weight of the query so much more than it has now; nothing where it has none, or all.
   *
   * @param {number} key
   * @returns {(more: number) => void}
   */
  weighing(key) {
    if (!(key >= 0)) return null;
    const { setting, steps, data } = this.model;
    const { rule, values } = this.page.query.weights();
    const logits = steps.get(setting.logits);
    const row = [...this.page.sections.leading(rule), this.page.query.at, key];
    const at = placeIn(rule.shape, row);
    const [weight, logit] = [values[at], logits?.values[at]];
    const isFree = weight > 0 && weight < 1 && Number.isFinite(logit);
    if (!isFree || logits.given || logits.values.length !== values.length) return null;
    // The score whose exponential has such a share of all.
    const odds = (/** @type {number} */ share) => Math.log(share / (1 - share));
    return (more) => {
      const share = Math.min(1 - NEAREST_END, Math.max(NEAREST_END, weight + more));
      const by = (odds(share) - odds(weight)) / data.shift.steepness;
      this.hold(setting.logits, at, logit + by, DECIMALS_OF_LOGIT);
    };
  }

  // --- keys

  /** The weights beside the ribbons are sliders. */
  show() {
    this.page.query.keys.forEach((each) => {
      const said = each.lastChild.textContent;
      const attributes = {
        role: "slider",
        tabindex: "0",
        "aria-label": `Weight of ${wordOf(each)}`,
        "aria-valuemin": "0",
        "aria-valuemax": "1",
        "aria-valuenow": said === "?" ? "0" : `${Number(said) || 0}`,
        "aria-valuetext": said,
      };
      for (const [name, value] of Object.entries(attributes))
        /** @type {Element} */ (each.lastChild).setAttribute(name, value);
    });
  }

  /** @param {KeyboardEvent} event */
  takes(event) {
    const { keys } = this.page.query;
    const key = keys?.findIndex((each) => each.lastChild === event.target) ?? -1;
    const more = STEPS[event.key];
    if (key < 0 || !more || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (!this.page.asked) this.weighing(key)?.(more);
  }
}
