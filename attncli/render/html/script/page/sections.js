// @ts-check
// The sections of the page, in the order of the setting chosen, and its parts: heads and entries.

"use strict";

class Sections {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.main = page.main;
    const written = all(this.main, "section[id]");
    /**
     * Those of the page as it was, by their ids, and those of other settings, by their pieces.
     *
     * @type {Map<string, HTMLElement>}
     */
    this.known = new Map(written.map((each) => [each.id, each]));
    this.lead = [...this.main.children].filter((each) => !each.matches("section"));
    /**
     * The entry and the head whose attention is shown, by their letters; the first ones until one is
     * chosen.
     *
     * @type {Places}
     */
    this.place = {};
    /** @type {HTMLElement[]} */
    this.parts = [];
    // Which of them is shown; all of them after the last.
    this.part = 0;
    this.tabs = element("div", {
      class: "tabs controls",
      role: "group",
      "aria-label": "Heads and entries",
    });
    // The setting that the page had first, and the one whose sections stand there.
    this.firstKey = this.arrangement();
    this.arranged = "";
    this.isArranging = false;
  }

  key() {
    const { setting, shifted } = this.page.model;
    return `${setting.mask} ${setting.scaled} ${shifted}`;
  }

  /** The setting, and how many heads and entries there are. */
  arrangement() {
    const { sizes } = this.page.model;
    return `${this.key()} ${sizes.ofLetter("h")} ${sizes.ofLetter("b")}`;
  }

  /**
   * The sections of this setting, in their order: those of the page as it was, and new ones where
   * they say otherwise.
   */
  arrange() {
    const { page, main } = this;
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    this.isArranging = true;
    main.replaceChildren();
    first(page.root, "header .lead")?.remove();
    const layout = page.live.layouts[this.key()].map((at) => page.live.sections[at]);
    this.nest(page.resizing.partsOf(layout));
    first(main, "section").before(page.remarks.root);
    main.append(page.remarks.foot);
    this.arranged = this.arrangement();
    this.number();
    this.divide();
    // Before sentences say the sizes that there are now.
    this.lay(all(main, ":scope > .lead"));
    page.connect();
    const isLost = focused !== document.body && document.contains(focused);
    if (isLost) focused.focus({ preventScroll: true });
    this.isArranging = false;
    if (this.arranged !== this.firstKey) page.say(`${page.model.steps.size} steps`);
  }

  /**
   * What it is comes before all that can be done: in a sentence, or in the words of the field, which
   * stand below the map where there is a sentence.
   *
   * @param {HTMLElement[]} lead
   */
  lay(lead) {
    const { page } = this;
    const { opening } = page.model.setting;
    const sentence = first(page.root, ".opening");
    if (sentence) sentence.textContent = opening;
    if (opening) page.map.sizes.replaceChildren(...lead);
    else first(page.root, ".live")?.before(...lead);
  }

  /** @param {PlacedSection[]} layout */
  nest(layout) {
    const parents = [this.main];
    for (const { id, level, pieces, of } of layout) {
      const section = of ? this.copied(of, pieces) : this.section(id, pieces);
      if (!id) {
        this.main.append(...section.childNodes);
        continue;
      }
      for (const inside of all(section, ":scope > section")) inside.remove();
      parents.length = Math.max(1, Math.min(parents.length, level - 1));
      parents.at(-1).append(section);
      parents.push(section);
    }
  }

  /**
   * @param {string} id
   * @param {number[] | null} pieces
   */
  section(id, pieces) {
    if (!pieces) return id ? this.known.get(id) : element("div", {}, ...this.lead);
    const key = `${id} ${pieces}`;
    if (!this.known.has(key)) {
      // A section that they begin is closed at their end.
      const html = fragment(pieces.map((at) => this.page.live.pieces[at]).join(""));
      const made = id ? html.firstElementChild : element("div", {}, html);
      this.known.set(key, /** @type {HTMLElement} */ (made));
    }
    const found = this.known.get(key);
    return id ? found : /** @type {HTMLElement} */ (found.cloneNode(true));
  }

  /**
   * A section of a head or an entry that is new, like that of another one.
   *
   * @param {PlacedSection["of"]} like
   * @param {number[] | null} pieces
   */
  copied({ id, swap }, pieces) {
    const made = /** @type {HTMLElement} */ (this.section(id, pieces).cloneNode(true));
    for (const inside of all(made, ":scope > section")) inside.remove();
    made.id = swap(made.id);
    if (made.dataset.place) made.dataset.place = swap(made.dataset.place);
    const title = first(made, "h2, h3")?.lastChild;
    if (title) title.textContent = swap(title.textContent);
    return made;
  }

  /** The numbers of steps, in titles and in the list of contents. */
  number() {
    const steps = [...this.page.model.steps.values()];
    const computed = steps.filter((step) => !step.given).map((step) => step.rule.name);
    for (const title of all(this.main, "section .number"))
      title.textContent = `${computed.indexOf(stepOf(title)) + 1}`;
    const list = first(this.page.root, "nav ol");
    if (!list) return;
    const hasParts = Boolean(first(list, ".part"));
    const sections = all(this.main, hasParts ? "section[id]" : ":scope > section[id]");
    list.replaceChildren(...sections.map((section) => this.listed(section, hasParts)));
  }

  /**
   * An entry of the list of contents.
   *
   * @param {HTMLElement} section
   * @param {boolean} hasParts
   */
  listed(section, hasParts) {
    const link = element("a", { href: `#${section.id}` });
    for (const node of first(section, "h2, h3").childNodes) {
      const isNumber = node instanceof Element && node.matches(".number");
      link.append(isNumber ? element("b", {}, node.textContent) : node.cloneNode(true));
    }
    const isPart = hasParts && section.parentNode === this.main;
    return element("li", isPart ? { class: "part" } : {}, link);
  }

  // --- parts, of which one is shown at a time, or all of them

  divide() {
    this.parts = all(this.main, ":scope > section.part[data-place]");
    this.tabs.hidden = this.parts.length < 2;
    if (this.tabs.hidden) return;
    const titles = [...this.parts.map(titleOf), "All"];
    this.tabs.replaceChildren(...choices(titles, "What is shown", (at) => this.turnTo(at)));
    this.parts[0].before(this.tabs);
    this.turn(Math.min(this.part, this.parts.length));
  }

  /**
   * Show a part, or all of them after the last. What it does not name of an entry and a head stays
   * as it was chosen.
   *
   * @param {number} part
   */
  turn(part) {
    this.part = part;
    choose(this.tabs, part);
    const areAll = part >= this.parts.length;
    this.parts.forEach((each, at) => each.classList.toggle("away", at !== part && !areAll));
    this.place = { ...this.place, ...placeOf(this.parts[part]) };
  }

  /** @param {number} part */
  turnTo(part) {
    this.turn(part);
    this.page.query.show();
    this.page.map.show();
    this.page.strip.show();
    this.page.columns.measure();
    remember(this.page);
  }

  /**
   * To the head and the entry of a number; where all parts are shown, they stay.
   *
   * @param {Places} place
   */
  turnToPlace(place) {
    const to = { ...this.place };
    for (const { letter } of this.page.query.axes) to[letter] = place[letter] ?? to[letter];
    if (this.part < this.parts.length) this.turn(this.partAt(to));
    this.place = to;
  }

  /** @param {HTMLElement} section */
  turnToPartOf(section) {
    const part = this.parts.indexOf(section.closest(".part"));
    if (this.parts[part]?.matches(".away")) this.turnTo(part);
  }

  /**
   * The part of one attention, which names its entry and its head.
   *
   * @param {Places} place
   */
  partAt(place) {
    const { axes } = this.page.query;
    return this.parts.findIndex((part) => {
      const own = placeOf(part);
      return axes.every(({ letter }) => own[letter] === (place[letter] ?? 0));
    });
  }

  /**
   * Where the head and the entry that are shown begin in a step, before so many further axes.
   *
   * @param {Rule} rule
   */
  leading(rule, axes = 2, place = this.place) {
    return rule.cell.slice(0, rule.cell.length - axes).map((letter) => place[letter] ?? 0);
  }

  /**
   * Whose attention is shown: "Entry 0, head 1, "; nothing where there is only one.
   *
   * @returns {string}
   */
  whose(place = this.place) {
    if (!this.page.query.axes.length) return "";
    return `${titleOf(this.parts[this.partAt(place)])}, `;
  }

  /**
   * The sections of a step, one for each part of the page.
   *
   * @param {string} step
   */
  ofStep(step) {
    const sections = all(this.main, "section[id]");
    return sections.filter((each) => stepOf(each.firstElementChild) === step);
  }
}
