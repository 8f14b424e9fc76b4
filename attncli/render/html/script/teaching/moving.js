// @ts-check
// A sum that is worked before one's eyes: the numbers of a term move to the line at the bottom, and a
// bar grows to what the terms come to. Who wants less motion has the outlines alone.

"use strict";

const FLIGHT = 250;
const BETWEEN_TERMS = 900;

class Moving {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.bar = element("span", { class: "running", "aria-hidden": "true" }, element("i"));
    this.play = button("Play", () => this.start());
    page.oneNumber.walk.root.append(this.play);
  }

  /** All terms in turn, from the first one; a second press stops. */
  start() {
    const { walk } = this.page.oneNumber;
    const isPlaying = Boolean(this.timer);
    this.stop();
    if (isPlaying) return;
    walk.term = null;
    const next = () => {
      walk.step(1);
      if (walk.term === null) this.stop();
    };
    this.timer = setInterval(next, BETWEEN_TERMS);
    this.play.textContent = "Stop";
    next();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
  }

  /** The term that was stepped to. */
  show() {
    const { oneNumber, model } = this.page;
    const { chosen, line, walk } = oneNumber;
    const mark = first(line, "mark");
    if (!mark) return this.stop();
    const terms = termsOf(model, chosen.table.rule)?.(chosen.table.start + chosen.at);
    if (terms) this.grow(terms, walk.term);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const end = mark.getBoundingClientRect();
    for (const cell of all(this.page.main, "td.term")) this.fly(cell, end);
  }

  /**
   * @param {number[]} terms
   * @param {number} at
   */
  grow(terms, at) {
    let sum = 0;
    const sums = terms.map((term) => (sum += term));
    const most = Math.max(...sums.map(Math.abs)) || 1;
    const share = (50 * sums[at]) / most;
    const { style } = /** @type {HTMLElement} */ (this.bar.firstChild);
    style.left = `${50 + Math.min(0, share)}%`;
    style.width = `${Math.abs(share)}%`;
    this.page.oneNumber.line.append(this.bar);
  }

  /**
   * @param {HTMLElement} cell
   * @param {DOMRect} end
   */
  fly(cell, end) {
    const begin = cell.getBoundingClientRect();
    const isInView = begin.width > 0 && begin.bottom > 0 && begin.top < innerHeight;
    if (!isInView) return;
    const style = `left: ${begin.left}px; top: ${begin.top}px`;
    const flying = element("span", { class: "flying", style, "aria-hidden": "true" });
    flying.textContent = cell.textContent;
    this.page.root.append(flying);
    const to = `translate(${end.left - begin.left}px, ${end.top - begin.top}px)`;
    const flight = flying.animate([{ transform: "none" }, { transform: to }], FLIGHT);
    flight.onfinish = () => flying.remove();
  }
}
