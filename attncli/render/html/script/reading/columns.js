// @ts-check
// Steps that stand two in a row, where a window has room for what they need: the style sheet puts
// them there.

"use strict";

// What is no text, and has a width of its own.
const SHOWN = ".beside > :is(.scroll, .product), .beside .formula";

class Columns {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /**
     * How many pixels the matrices of a section need.
     *
     * @type {Map<HTMLElement, number>}
     */
    this.needed = new Map();
  }

  /**
   * While numbers are changed, a step may need more room, and never less: so nothing goes back and
   * forth below what is typed, and nothing moves while the problem is seen as it was given.
   */
  measure() {
    const { page } = this;
    if (page.present.isOn) return;
    if (!page.isChanged() && !page.compare.aside) this.needed.clear();
    const sections = all(page.main, "section:has(> .beside)");
    for (const section of sections) {
      const needs = Math.max(
        this.needed.get(section) ?? 0,
        ...all(section, SHOWN).map(widthInside),
      );
      this.needed.set(section, needs);
    }
    // Widths are read before one is written, as each that is written moves others.
    for (const section of sections)
      section.style.setProperty("--needs", `${Math.ceil(this.needed.get(section))}px`);
  }
}

/**
 * How wide what stands in a box is with its margin, whatever the width of the box.
 *
 * @param {HTMLElement} box
 */
function widthInside(box) {
  const edges = [...box.children].map((each) => {
    const { left, right, width } = each.getBoundingClientRect();
    return { left, right: right + parseFloat(getComputedStyle(each).marginRight), width };
  });
  const shown = edges.filter(({ width }) => width);
  if (!shown.length) return 0;
  return Math.max(...shown.map(({ right }) => right)) - Math.min(...shown.map(({ left }) => left));
}
