// @ts-check
// The whole way from the input to the output as small shaded matrices, which follow each number and
// lead to their steps.

"use strict";

// Where there is room for the names of matrices between columns.
const COLUMN_WITH_NAMES = 70;
// Matrices of other heads or entries.
const MOST_BEHIND = 2;

class FlowMap {
  /** @param {Page} page */
  constructor(page, size = LARGE_MAP) {
    this.page = page;
    this.model = page.model;
    this.size = size;
    // How many times as large as in the page it is shown.
    this.unit = 1;
    this.root = this.figure();
    this.sizes = element("div");
    this.said = element("p", { class: "hint", "aria-live": "polite" });
    this.caption = element("div", { class: "map-caption" }, this.sizes, this.said);
    this.built = "";
    /** @type {Box[]} */
    this.boxes = [];
    window.addEventListener("resize", () => this.built && this.show());
  }

  // --- a reader's way through it

  /** Of the small one, a reader of the screen, and the keyboard, have the large one. */
  figure() {
    if (!this.size.isNamed) return element("figure", { class: "way", "aria-hidden": "true" });
    const figure = element("figure", { class: "map", "aria-label": "The way to the output" });
    const at = (/** @type {Event} */ event) =>
      this.boxes.find(({ link }) => link.contains(targetOf(event)));
    for (const kind of ["focusin", "mouseover"])
      figure.addEventListener(kind, (event) => this.explain(at(event)));
    for (const kind of ["focusout", "mouseleave"])
      figure.addEventListener(kind, () => this.explain(null));
    figure.addEventListener("keydown", (event) => {
      const [down, right] = ARROWS[event.key] ?? [];
      const next = this.boxes[this.boxes.indexOf(at(event)) + down + right];
      if (down === undefined || !next) return;
      event.preventDefault();
      this.enter(next);
      next.link.focus();
    });
    return figure;
  }

  /**
   * By Tab there is one way in.
   *
   * @param {Box} box
   */
  enter(box) {
    for (const { link } of this.boxes) link.tabIndex = link === box?.link ? 0 : -1;
  }

  /**
   * Say what a matrix is, as its section does, and how large; or the sizes of all again.
   *
   * @param {Box} box
   */
  explain(box) {
    this.sizes.classList.toggle("behind", Boolean(box));
    if (!box) return this.said.replaceChildren();
    const { title, symbol, shape } = box.rule;
    const size = `, ${symbolName(symbol)} (${shape.slice(-2).join("×")}): `;
    this.said.replaceChildren(element("b", {}, title), size, ...this.meaning(box));
  }

  /**
   * What its section says first of a matrix; of a given one, what stands behind its name.
   *
   * @param {Box} box
   */
  meaning({ name, given }) {
    const isIt = (/** @type {Matrix} */ each) => each.name === name && each.labelled;
    const { table } = this.page.matrices.tables.find(isIt) ?? {};
    const section = table?.closest("section");
    if (!section) return [];
    if (!given) return first(section, "p:not(.shapes, :empty)")?.cloneNode(true).childNodes ?? [];
    const beside = table.closest(".pair") ?? table.closest(".scroll")?.previousElementSibling;
    const said = beside?.matches("p") ? beside : beside?.querySelector("p");
    return said?.textContent.split(": ").slice(1) ?? [];
  }

  /**
   * The section that is shown of a matrix.
   *
   * @param {Box} box
   */
  sectionOf({ name }) {
    const isIt = (/** @type {Matrix} */ each) =>
      each.name === name && each.labelled && !each.table.closest(".away");
    return this.page.matrices.tables.find(isIt)?.table.closest("section[id]").id;
  }

  // --- what is drawn once for all numbers

  /** The pixels that there are for it. */
  room() {
    const { width, margins, isNamed } = this.size;
    const free = window.innerWidth / this.unit - margins;
    return Math.min(width, isNamed ? free : free / 3);
  }

  build() {
    const way = wayOf(this.model);
    this.root.hidden = !way.length;
    this.boxes = [];
    if (!way.length) return;
    const layout = new MapLayout(way, this.size, this.room());
    const { width, height, apart } = layout;
    const picture = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    for (const d of layout.arrows()) picture.append(drawn("path", { class: "edge", d }));
    this.boxes = way.map((each) => this.boxOf(each, apart));
    const style = `width: ${width}px; height: ${height}px`;
    const links = this.boxes.map(({ link }) => link);
    if (this.size.isNamed) links[0].tabIndex = 0;
    this.root.replaceChildren(element("div", { style }, picture, ...links));
  }

  /**
   * @param {Stop} stop
   * @param {number} apart
   * @returns {Box}
   */
  boxOf(stop, apart) {
    const { name, rule, square, x, y } = stop;
    const [width, height] = [stop.columns * square, stop.rows * square];
    const isOfWeights = name === this.model.data.weights && stop.columns === rule.shape.at(-1);
    const squares = new Squares(stop, isOfWeights);
    const others = Math.min(MOST_BEHIND, size(rule.shape.slice(0, -2)) - 1);
    const behind = range(others).map((at) => {
      const by = 3 * (others - at);
      return drawn("rect", { class: "behind", width, height, x: by, y: -by });
    });
    const back = drawn("rect", { class: "back", width, height });
    const edge = drawn("rect", { class: "frame", width, height });
    const frame = drawn("rect", { class: "row", width: width + 2, height: square + 2, x: -1 });
    const attributes = { width, height, overflow: "visible" };
    const svg = drawn("svg", attributes, ...behind, back, ...squares.parts, edge, frame);
    const [left, top] = [x - apart / 2, y - height / 2];
    const style = `left: ${left}px; top: ${top}px; width: ${apart}px`;
    const link = element("a", { tabindex: "-1", href: "#", style }, svg);
    if (this.size.isNamed) link.append(this.nameOf(rule, apart >= COLUMN_WITH_NAMES));
    return { ...stop, link, squares, frame };
  }

  /**
   * @param {Rule} rule
   * @param {boolean} hasRoom Where it has none, the title is still read aloud.
   */
  nameOf({ symbol, title }, hasRoom) {
    const names = this.model.data.mathml.names[symbol];
    const letter = element("span", {}, math(names?.[0] ?? `<mi>${symbolName(symbol)}</mi>`));
    const name = element("em", { class: hasRoom ? "" : "unseen" }, title.toLowerCase());
    return element("small", {}, letter, " ", name);
  }

  // --- what follows each number

  /**
   * All shades again, of the head and the entry that are shown; the row of the query that was chosen
   * has a frame.
   */
  show() {
    // A mistake may read other matrices.
    const { matrix } = this.size;
    const now = `${this.page.sections.arranged} ${this.room()} ${matrix} ${this.model.mistake}`;
    if (this.built !== now) this.build();
    this.built = now;
    for (const box of this.boxes) {
      this.shade(box);
      this.frame(box);
      box.link.setAttribute("href", `#${this.sectionOf(box) ?? ""}`);
    }
  }

  /** @param {Box} box */
  shade({ name, squares }) {
    const { rule, values } = this.page.told.steps.get(name);
    const [rows, columns] = rule.shape.slice(-2);
    const start = placeIn(rule.shape, [...this.page.sections.leading(rule), 0, 0]);
    squares.shade(values.subarray(start, start + rows * columns), rows, columns);
  }

  /** @param {Box} box */
  frame(box) {
    const { query } = this.page;
    const isOfQueries = box.rule.axes.at(-2) === "query" && query.isDrawn;
    const row = Math.floor((query.at * box.rows) / box.rule.shape.at(-2));
    box.frame.setAttribute("visibility", isOfQueries ? "inherit" : "hidden");
    box.frame.setAttribute("y", `${row * box.square - 1}`);
  }
}
