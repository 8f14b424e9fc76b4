// @ts-check
// All heads and entries at once: the ribbons of the chosen word in each of them, small. A click
// chooses one; a reader of the screen, and the keyboard, have the buttons above for this.

"use strict";

// More would be too small to tell apart.
const MOST_AT_ONCE = 16;

class Heads {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.root = element("div", { class: "heads", "aria-hidden": "true" });
    /** @type {{ place: Places, made: HTMLElement, picture: Ribbons | Shades }[]} */
    this.panels = null;
  }

  /** Every place on these axes, one after the other. */
  places() {
    /** @type {Places[]} */
    let found = [{}];
    for (const { letter, names } of this.page.query.axes)
      found = found.flatMap((place) => names.map((_, at) => ({ ...place, [letter]: at })));
    return found;
  }

  build() {
    const { query, sections } = this.page;
    const places = this.places();
    const isFit = query.axes.length > 0 && places.length <= MOST_AT_ONCE;
    this.panels = (isFit ? places : []).map((place) => {
      const [n, m] = [query.words.length, query.keys.length];
      const picture = query.hasRibbons ? new Ribbons(n, m, true) : new Shades(n, m);
      const take = () => sections.turnTo(sections.partAt(place));
      const made = button("", take, { tabindex: "-1" });
      made.append(picture.root, sections.whose(place).replace(/, $/, ""));
      return { place, made, picture };
    });
    this.root.hidden = !this.panels.length;
    this.root.replaceChildren(...this.panels.map(({ made }) => made));
  }

  show() {
    const { query, sections, told } = this.page;
    if (!this.panels) this.build();
    const { rule, values } = told.steps.get(query.model.data.weights);
    const now = sections.partAt(sections.place);
    for (const { place, made, picture } of this.panels) {
      const start = placeIn(rule.shape, [...sections.leading(rule, 2, place), 0, 0]);
      picture.show(sharesFrom(values, start, rule.shape.at(-1)), query.at);
      made.setAttribute("aria-current", String(sections.partAt(place) === now));
    }
  }
}
