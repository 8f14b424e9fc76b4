// @ts-check
// How sharp the softmax is: a knob that slides the scale of the scores, from 0, where all keys that
// are seen have the same score, to where one key gets almost everything.

"use strict";

// Positions of the knob, and how near to a mark it counts as there.
const KNOB_END = 100;
const NEAR_MARK = 1.5;
// The largest scale, as a multiple of that of the problem; and of a mark, if that is farther.
const SHARPEST = 4;
const BEYOND_MARK = 1.25;
const SCALE_DIGITS = 2;
// From this weight on, a query looks at one key.
const ONE_HOT = 0.995;

class Sharpness {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    this.marks = element("datalist", { id: "attncli-scales" });
    this.range = element("input", {
      type: "range",
      min: "0",
      max: `${KNOB_END}`,
      list: this.marks.id,
      "aria-label": "How sharp",
    });
    this.range.addEventListener("input", () => this.slide(Number(this.range.value)));
    this.says = element("span");
    const ends = ["even", "sharp"].map((text) => element("small", {}, text));
    const knob = element("span", { class: "knob" }, ends[0], this.range, ends[1], this.marks);
    this.root = element("div", { class: "sharpness" }, "How sharp ", knob, this.says);
    this.isSliding = false;
    /**
     * The texts of the page with a scale in them, as Python wrote them.
     *
     * @type {Map<Text, string>}
     */
    this.texts = new Map();
    this.arranged = "";
    this.isOffered = page.live.data.settings.some(({ scaled }) => scaled === SLID);
  }

  // --- scales and positions

  /** The scale of a setting, as a number. */
  scaleOf({ scaled, scalars } = this.model.setting) {
    if (!scaled) return 1;
    if (scaled === SLID) return valueOf(this.model.scale);
    return scalars.scale ? valueOf(scalars.scale) : 1 / Math.sqrt(valueOf(scalars.d_k));
  }

  /** The settings whose scale is not slid, of the mask that was chosen: that of the problem first. */
  marked() {
    const { settings } = this.model.data;
    const { mask } = this.model.setting;
    return settings.filter((each) => each.mask === mask && each.scaled !== SLID);
  }

  /** The scale at the end of the knob. */
  most() {
    const [given, ...others] = this.marked().map((each) => this.scaleOf(each));
    return Math.max(SHARPEST * given, ...others.map((scale) => BEYOND_MARK * scale));
  }

  /**
   * Where a scale is on the knob, on which small ones have more room.
   *
   * @param {number} scale
   */
  position(scale) {
    return KNOB_END * Math.sqrt(scale / this.most());
  }

  // --- what is chosen

  /** @param {number} at */
  slide(at) {
    const { model, page } = this;
    const isThere = (/** @type {Setting} */ each) =>
      Math.abs(this.position(this.scaleOf(each)) - at) < NEAR_MARK;
    const mark = this.marked().find(isThere);
    const scale = this.most() * (at / KNOB_END) ** 2;
    if (!mark) model.scale = `${Number(scale.toPrecision(SCALE_DIGITS))}`;
    // The knob stays under the finger, also near a mark.
    this.isSliding = true;
    page.set(model.setting.mask, mark ? mark.scaled : SLID);
    this.isSliding = false;
  }

  /** What the address says of the scale. */
  said() {
    const { setting, scale } = this.model;
    return setting.scaled === SLID ? scale : `${setting.scaled}`;
  }

  /**
   * A text of Python's with the scale that was slid to.
   *
   * @param {string} text
   */
  written(text) {
    const { setting, scale } = this.model;
    return setting.scaled === SLID ? text.replaceAll(setting.scalars.scale, scale) : text;
  }

  /** The scale in all texts. */
  write() {
    const { page, texts } = this;
    const { scaled, scalars } = this.model.setting;
    if (scaled !== SLID) {
      // Some texts of its sections are made anew when these come again.
      this.arranged = "";
      return;
    }
    if (this.arranged !== page.sections.arranged) {
      const walker = document.createTreeWalker(page.root, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = /** @type {Text} */ (walker.currentNode);
        if (node.data.includes(scalars.scale)) texts.set(node, node.data);
      }
    }
    this.arranged = page.sections.arranged;
    for (const [node, text] of texts) node.data = this.written(text);
  }

  // --- what is shown

  show() {
    if (!this.isOffered) return;
    this.write();
    const options = this.marked().map((each) => {
      const value = `${Math.round(this.position(this.scaleOf(each)))}`;
      return element("option", { value, label: this.wordsOf(each) });
    });
    this.marks.replaceChildren(...options);
    if (!this.isSliding) this.range.value = `${this.position(this.scaleOf())}`;
    const words = [this.wordsOf(this.model.setting), this.effect()].filter(Boolean).join(": ");
    this.says.textContent = words;
    this.range.setAttribute("aria-valuetext", words);
  }

  /** @param {Setting} setting */
  wordsOf({ scaled }) {
    if (scaled === this.model.data.settings[0].scaled) return "as given";
    if (scaled === SLID) return `scale ${this.model.scale}`;
    return scaled ? "divided by √d_k" : "without the scale";
  }

  /** What becomes of the weights at the ends of the knob. */
  effect() {
    const { rule, values } = this.model.steps.get(this.model.data.weights) ?? {};
    if (!rule) return "";
    const width = rule.shape.at(-1);
    const rows = range(values.length / width).map((row) => {
      return [...values.subarray(row * width, (row + 1) * width)].filter(Boolean);
    });
    const isEven = (/** @type {number[]} */ row) =>
      Math.max(...row) - Math.min(...row) <= SHARED.tie;
    if (rows.every(isEven)) return "uniform";
    return rows.every((row) => Math.max(...row) > ONE_HOT) ? "one-hot" : "";
  }
}
