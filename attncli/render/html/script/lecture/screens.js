// @ts-check
// What a lecture has a screen for, in which order, and how large it is there.

"use strict";

// How large a step is in a window of this width and height; the first that fits is taken. What is
// smaller than readable leaves out what it can do without.
const WINDOW = [1024, 768];
const SCALES = [1.5, 1.35, 1.2, 1.1, 1, 0.9, 0.8, 0.7, 0.6];
const RIBBON_SCALES = [2.6, 2.3, 2, 1.7, ...SCALES];
const TEXT = 1.25;
const SMALL_TEXT = 0.9;
const READABLE = 0.8;
const PHONE = 640;
// Behind the name of a section: its ribbons.
const RIBBONS = "-ribbons";
// What alone does not make a section a screen.
const NO_SCREEN = "section, h2, h3, hgroup, .tabs, .blanks, .remarks, .resize";
/** The map of a lecture is as wide as its window, and its names can be read from afar. */
const LECTURE_MAP = {
  width: Infinity,
  margins: 64,
  columns: [30, 240],
  matrix: 34,
  square: 10,
  between: 38,
  below: 30,
  aside: 6,
  squares: 16,
  isNamed: true,
  tallest: [Infinity, Infinity],
};

/** @typedef {{ id: string, section: HTMLElement, step: string, hasRibbons: boolean }} OneScreen */

class Screens {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.main = page.main;
  }

  /** @returns {OneScreen[]} */
  all() {
    return this.inside(this.main).flatMap((section) => this.of(section));
  }

  /**
   * The sections that have something to show. What they come to, in words, is told last.
   *
   * @param {HTMLElement} parent
   * @returns {HTMLElement[]}
   */
  inside(parent) {
    const sections = all(parent, ":scope > section[id]").filter((each) => !this.isUntold(each));
    const others = sections.filter((each) => !isInWords(each));
    return [...others, ...sections.filter(isInWords)].flatMap((each) => {
      const hasOwn = [...each.children].some((child) => !child.matches(NO_SCREEN));
      return hasOwn ? [each, ...this.inside(each)] : this.inside(each);
    });
  }

  /**
   * Whether it says what is asked for.
   *
   * @param {HTMLElement} section
   */
  isUntold(section) {
    return isInWords(section) && Boolean(this.page.asked);
  }

  /**
   * A screen, and one with the ribbons behind the weights and behind the output.
   *
   * @param {HTMLElement} section
   */
  of(section) {
    const { query, asked, model } = this.page;
    const step = stepOf(section);
    const own = { id: section.id, section, step, hasRibbons: false };
    const isDrawn = query.isDrawn && !asked;
    const isOfRibbons = step && [model.data.weights, model.data.mixed].includes(step);
    if (!isDrawn || !isOfRibbons) return [own];
    return [own, { ...own, id: section.id + RIBBONS, hasRibbons: true }];
  }

  /**
   * Put a screen in sight, and nothing else.
   *
   * @param {OneScreen} screen
   */
  show({ section, step, hasRibbons }) {
    this.clear();
    const { root, model, query } = this.page;
    section.classList.add("screen");
    for (let each = section; each !== this.main; each = each.parentElement)
      each.classList.add("on-screen");
    root.classList.toggle("ribbons-only", hasRibbons);
    root.classList.toggle("with-query", hasRibbons || (isInWords(section) && query.isDrawn));
    root.classList.toggle("with-step", Boolean(step));
    root.classList.toggle("with-sum", hasRibbons && step === model.data.mixed);
    root.classList.toggle("telling", isInWords(section));
    this.fit();
  }

  clear() {
    const { root } = this.page;
    for (const each of all(root, ".on-screen")) each.classList.remove("on-screen", "screen");
    root.classList.remove("ribbons-only", "with-query", "with-step", "with-sum", "telling");
  }

  // --- how large

  get isPhone() {
    return innerWidth < PHONE;
  }

  /** How many times as large as a small window this one is. */
  get unit() {
    if (this.isPhone) return 1;
    return Math.min(innerWidth / WINDOW[0], innerHeight / WINDOW[1]);
  }

  /** The map and all that stands around a screen, in this window. */
  frame() {
    const { map, root } = this.page;
    root.style.setProperty("--unit", `${this.unit}`);
    map.size = this.isPhone ? LARGE_MAP : LECTURE_MAP;
    map.unit = this.unit;
  }

  unframe() {
    const { map } = this.page;
    map.size = LARGE_MAP;
    map.unit = 1;
  }

  /**
   * As large as the others, or as the window allows it; what never fits is scrolled. Factors, and
   * ribbons beside words, must leave enough room.
   */
  fit() {
    const { root, query } = this.page;
    const { classList } = root;
    classList.add("with-factors");
    this.write(this.isPhone ? 1 : TEXT);
    const hasRibbons = root.matches(".ribbons-only");
    const part = hasRibbons ? query.root : this.main;
    if (this.isPhone) return this.largest([1], part);
    if (hasRibbons) return this.largest(RIBBON_SCALES, part);
    const scale = this.largest(SCALES, part);
    if (scale >= READABLE) return scale;
    classList.remove("with-factors", "with-query");
    const alone = this.largest(SCALES, part);
    if (alone) return alone;
    this.write(SMALL_TEXT);
    return this.largest(SCALES, part);
  }

  /**
   * The text of a step in this size.
   *
   * @param {number} size
   */
  write(size) {
    this.page.root.style.setProperty("--text", `${size * this.unit}`);
  }

  /**
   * The first of these scales with which all of a part of the page is in sight; 0 where none is.
   *
   * @param {number[]} scales
   * @param {HTMLElement} part
   */
  largest(scales, part) {
    const fits = scales.find((scale) => {
      this.page.root.style.setProperty("--scale", `${scale * this.unit}`);
      const isWide = part.scrollWidth > part.clientWidth;
      return !isWide && part.scrollHeight <= part.clientHeight;
    });
    return fits ?? 0;
  }

  // --- the way there

  /**
   * The map says how far the lecture is: the matrix of the step, or the next one that has a place
   * there, has a frame, and those that follow are empty.
   *
   * @param {OneScreen[]} screens
   * @param {number} at
   */
  mark(screens, at) {
    const names = [...this.page.model.steps.keys()];
    const now = names.indexOf(this.lastStep(screens.slice(0, at + 1)));
    const { boxes } = this.page.map;
    const places = boxes.map(({ name }) => names.indexOf(name));
    const next = Math.min(...places.filter((place) => place >= now));
    boxes.forEach(({ link, given }, box) => {
      link.classList.toggle("now", places[box] === next);
      link.classList.toggle("ahead", !given && places[box] > now);
    });
  }

  /**
   * The step that was shown last: where heads or entries follow each other, in this one.
   *
   * @param {OneScreen[]} shown
   */
  lastStep(shown) {
    const { parts } = this.page.sections;
    const partOf = (/** @type {OneScreen} */ { section }) => {
      return parts.indexOf(section.closest(".part"));
    };
    const part = partOf(shown.at(-1));
    const here = shown.filter((each) => part < 0 || partOf(each) < 0 || partOf(each) === part);
    return here.findLast(({ step }) => step)?.step;
  }
}

/** @param {HTMLElement} section */
const isInWords = ({ id }) => id.endsWith("in-words");
