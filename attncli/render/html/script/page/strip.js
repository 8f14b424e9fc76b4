// @ts-check
// A strip at the top of the window while the ribbons are out of it: the word that was chosen, its
// weights, its output and the way, so that a change and its effect are in one view.

"use strict";

// How far down the window the step is that somebody looks at.
const EYE_LEVEL = 0.4;
// Of more numbers of an output, only the bars have room.
const MOST_COLUMNS_NAMED = 4;

class Strip {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.isShown = false;
    /**
     * What was shown before an edit, or before a number was slid: its ghosts stay until this ends.
     *
     * @type {Look}
     */
    this.before = null;
    /** @type {BarScale} */
    this.scale = null;
    this.words = element("select", { "aria-label": "Query" });
    this.words.addEventListener("change", () => page.query.choose(Number(this.words.value)));
    this.shares = element("div", { class: "looks" });
    this.output = element("div", { class: "gets", "aria-hidden": "true" });
    this.map = new FlowMap(page, SMALL_MAP);
    this.whose = element("small");
    const who = element("div", {}, this.whose, this.words);
    const parts = [who, this.shares, this.output, this.map.root];
    const named = { class: "strip", "aria-label": "The word that you chose" };
    this.root = element("aside", named, ...parts);
    this.root.hidden = true;
    if (!page.query.isDrawn) return;
    page.main.before(this.root);
    const { classList } = document.documentElement;
    classList.add("below-strip");
    classList.toggle("below-tabs", page.query.axes.length > 0);
    const margin = { rootMargin: "-72px 0px 0px", root: document };
    new IntersectionObserver(([seen]) => this.appear(seen), margin).observe(page.query.root);
    // What is in the window changes no more often than it is drawn.
    document.addEventListener("scroll", () => this.later(), { passive: true });
  }

  /**
   * When the ribbons have gone above the window; below it, nobody has seen them yet.
   *
   * @param {IntersectionObserverEntry} seen
   */
  appear({ isIntersecting, boundingClientRect }) {
    const { query, root } = this.page;
    const hadFocus = this.root.contains(document.activeElement);
    this.isShown = !isIntersecting && boundingClientRect.bottom < innerHeight / 2;
    this.root.hidden = !this.isShown;
    root.classList.toggle("with-strip", this.isShown);
    if (this.isShown) {
      this.show();
      this.later();
      return;
    }
    this.page.drawPictures();
    if (hadFocus) query.words[query.at].focus({ preventScroll: true });
  }

  show() {
    const { page } = this;
    const { query } = page;
    if (!query.isDrawn) return;
    const now = this.look();
    const isSame = this.before?.whose === now.whose;
    if (!page.isMoving || !isSame) {
      this.before = now;
      this.scale = null;
    }
    if (!this.isShown) return;
    if (this.named !== query) this.nameWords();
    this.words.value = `${now.at}`;
    this.whose.textContent = page.sections.whose().replace(/, $/, "");
    const ghost = this.before.weights.map((weight, key) => {
      return query.part(key, "span", { style: `flex-grow: ${weight}` });
    });
    this.shares.replaceChildren(...weightsBar(query, {}).slice(1));
    if (this.hasMoved(this.before.weights, now.weights))
      this.shares.append(element("div", { class: "ghost" }, ...ghost));
    this.output.replaceChildren(...this.bars(now));
    this.map.show();
  }

  /** Other words and sizes have another picture. */
  nameWords() {
    this.named = this.page.query;
    const names = this.page.query.words.map((word) => word.textContent);
    const options = names.map((name, at) => element("option", { value: `${at}` }, name));
    this.words.replaceChildren(...options);
  }

  /**
   * What there is to see of the query now.
   *
   * @returns {Look}
   */
  look() {
    const { query, sections, model } = this.page;
    const { rule, values } = query.weights();
    const { place } = sections;
    const { at } = query;
    const start = placeIn(rule.shape, [...sections.leading(rule), at, 0]);
    const weights = query.keys.map((_, key) => values[start + key]);
    const output = outputOf(this.page, at, place);
    return { at, whose: `${model.setting.mask} ${start}`, weights, output };
  }

  /**
   * @param {number[]} before
   * @param {number[]} now
   */
  hasMoved(before, now) {
    return before.some((number, at) => Math.abs(number - now[at]) > SHARED.tie);
  }

  /**
   * The output, number by number.
   *
   * @param {Look} now
   */
  bars({ output }) {
    if (!output) return [];
    const before = this.before.output?.columns ?? output.columns;
    const every = [...output.columns, ...before].map(({ terms }) => terms);
    const scale = new BarScale(every).keeping(this.scale);
    this.scale = scale;
    this.output.classList.toggle("many", output.columns.length > MOST_COLUMNS_NAMED);
    return output.columns.map(({ name, text, terms }, column) => {
      const bar = barOfTerms(this.page.query, terms, scale);
      const old = before[column].terms;
      if (this.hasMoved(old, terms)) bar.append(this.ghostOf(old, scale));
      return element("span", {}, label(name), bar, element("b", {}, text));
    });
  }

  /**
   * @param {number[]} terms
   * @param {BarScale} scale
   */
  ghostOf(terms, scale) {
    const [below, above] = [scale.sum(terms, -1), scale.sum(terms, 1)];
    const ghost = element("i", { class: "ghost" });
    ghost.style.left = scale.width(scale.below - below);
    ghost.style.width = scale.width(below + above);
    return ghost;
  }

  later() {
    cancelAnimationFrame(this.waits);
    if (this.isShown) this.waits = requestAnimationFrame(() => this.frame());
  }

  /** Frame the matrices of the step that is in view, and of the one beside it. */
  frame() {
    const eye = innerHeight * EYE_LEVEL;
    const { boxes } = this.map;
    const tops = boxes.map(({ link }) => {
      const section = document.getElementById(link.hash.slice(1));
      return section ? section.getBoundingClientRect().top : Infinity;
    });
    const here = Math.max(...tops.filter((top) => top < eye));
    boxes.forEach(({ link }, at) => link.classList.toggle("here", tops[at] === here));
  }
}
