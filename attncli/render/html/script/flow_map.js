// The whole way from the input to the output as small shaded matrices, which follow each number and lead to their steps.

"use strict";

const LARGEST = 42; // pixels: the longer side of the largest matrix
const WIDTH = 752; // of a wide page, which all columns share
const [NARROWEST, WIDEST] = [30, 112]; // from one column to the next
const MARGINS = 40; // beside a narrow page
const WITH_SHAPES = 64; // between columns whose matrices have room for their shapes
const BETWEEN = 26; // from a matrix to the one below it, with its name
const LABEL = 18; // below a matrix
const ASIDE = 6; // from a matrix to an arrow that runs past it
const MOST_BEHIND = 2; // matrices of other heads or entries
const FAINTEST = 0.12; // so that a small number is no zero
const HIDDEN = 0.45; // of −∞
const MOST_SQUARES = 16; // in a row or column; more numbers share them

class FlowMap {
  constructor(page) {
    this.page = page;
    this.model = page.model;
    // A reader of the screen, and the keyboard, have the list of contents for this.
    this.root = element("figure", { class: "map", "aria-hidden": "true" });
    window.addEventListener("resize", () => this.show());
  }

  /** The pixels that there are for it. */
  room() {
    return Math.min(WIDTH, window.innerWidth - MARGINS);
  }

  /**
   * The matrices on the way, in order: without learned weights, vectors, and what only turns another around. Of those that
   * come from nowhere, the given ones are there that have tokens, and masks and distances.
   */
  way() {
    const { steps } = this.model;
    const last = [...steps.keys()].at(-1);
    const found = new Map();
    const behind = new Map(); // of every step, those on the map that it is worked out from
    for (const [name, { rule, given }] of steps) {
      const from = [...new Set((rule.equation ? readsOf(rule.equation) : []).flatMap((each) => behind.get(each) ?? []))];
      const axes = rule.axes.slice(-2);
      const isMatrix = rule.cell.filter((letter) => !this.model.leading.has(letter)).length === 2;
      const isTurned = rule.copies && rule.equation.slice(2).every((index) => rule.cell.includes(index)) && name !== last;
      const ofTokens = axes.filter((axis) => axis === "query" || axis === "key").length;
      const isShown = isMatrix && !isTurned && (from.length > 0 || ofTokens > (given ? 0 : 1));
      behind.set(name, isShown ? [name] : from);
      if (isShown) found.set(name, { name, rule, from: from.map((each) => found.get(each)), given });
    }
    return [...found.values()];
  }

  /** Where every matrix stands: a column to the right of all that it is worked out from, and beside these. */
  layOut(way) {
    for (const each of way) each.column = Math.max(-1, ...each.from.map(({ column }) => column)) + 1;
    for (const each of way) {
      const readers = way.filter(({ from }) => from.includes(each)).map(({ column }) => column);
      if (!each.from.length && !each.given && readers.length) each.column = Math.min(...readers) - 1;
    }
    for (let column = 0; way.some((each) => each.column === column); column++) {
      const here = way.filter((each) => each.column === column);
      const beside = (each) => {
        const worked = each.from.filter((from) => from.given || from.from.length);
        const sources = worked.length ? worked : each.from; // not what is only added
        const nearest = Math.max(...sources.map((from) => from.column));
        const near = sources.filter((from) => from.column === nearest);
        return near.reduce((sum, from) => sum + from.row, 0) / near.length;
      };
      const [added, worked] = [here.filter((each) => column && !each.from.length), here.filter((each) => !column || each.from.length)];
      const middle = column ? worked.reduce((sum, each) => sum + beside(each), 0) / worked.length : 0;
      worked.forEach((each, at) => (each.row = middle + at - (worked.length - 1) / 2));
      added.forEach((each, at) => (each.row = (worked[0]?.row ?? 0) - added.length + at)); // what is added comes from above
    }
    const top = Math.min(...way.map(({ row }) => row));
    this.apart = Math.max(NARROWEST, Math.min(WIDEST, this.room() / (Math.max(...way.map(({ column }) => column)) + 1)));
    this.box = Math.min(LARGEST, this.apart * 0.64);
    for (const each of way) {
      const [rows, columns] = each.rule.shape.slice(-2);
      [each.rows, each.columns] = [Math.min(rows, MOST_SQUARES), Math.min(columns, MOST_SQUARES)];
      each.square = Math.min(12, this.box / Math.max(each.rows, each.columns));
      each.x = this.apart * (each.column + 0.5);
      each.y = (this.box + BETWEEN) * (each.row - top) + this.box / 2 + 2;
    }
  }

  build() {
    const way = this.way();
    this.layOut(way);
    const [width, height] = [Math.max(...way.map(({ x }) => x)) + this.apart / 2, Math.max(...way.map(({ y }) => y)) + this.box / 2 + LABEL + 2 * ASIDE];
    const picture = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    for (const to of way) for (const from of to.from) picture.append(drawn("path", { class: "edge", d: this.edge(from, to, way) }));
    this.boxes = way.map((each) => {
      const [wide, high] = [each.columns * each.square, each.rows * each.square];
      const ofWeights = each.name === this.model.data.weights && each.columns === each.rule.shape.at(-1);
      const squares = Array.from({ length: each.rows * each.columns }, (_, at) =>
        drawn("rect", {
          x: (at % each.columns) * each.square, y: Math.floor(at / each.columns) * each.square, width: each.square, height: each.square,
          class: ofWeights ? `hue-${at % each.columns}` : "", "fill-opacity": 0,
        }));
      const row = drawn("rect", { class: "row", width: wide + 2, height: each.square + 2, x: -1 });
      const others = Math.min(MOST_BEHIND, size(each.rule.shape.slice(0, -2)) - 1); // heads and entries
      const behind = Array.from({ length: others }, (_, at) => 3 * (others - at)).map((by) => drawn("rect", { class: "behind", width: wide, height: high, x: by, y: -by }));
      const svg = drawn("svg", { width: wide, height: high, overflow: "visible" }, ...behind, drawn("rect", { class: "back", width: wide, height: high }), ...squares, drawn("rect", { class: "frame", width: wide, height: high }), row);
      const name = element("span", {}, math(this.model.data.mathml.names[each.rule.symbol]?.[0] ?? `<mi>${symbolName(each.rule.symbol)}</mi>`));
      const shape = this.apart < WITH_SHAPES ? "" : ` ${each.rule.shape.slice(-2).join("×")}`;
      const link = element("a", { tabindex: "-1", href: "#", style: `left: ${each.x - this.apart / 2}px; top: ${each.y - high / 2}px; width: ${this.apart}px` }, svg, element("small", {}, name, shape));
      return { ...each, link, squares, row, shown: [] };
    });
    this.root.replaceChildren(element("div", { style: `width: ${width}px; height: ${height}px` }, picture, ...this.boxes.map(({ link }) => link)));
  }

  /** An arrow from one matrix to another; one that leads past others runs where there is room, above or below them. */
  edge(from, to, way) {
    const [start, end] = [from.x + (from.columns * from.square) / 2 + 3, to.x - (to.columns * to.square) / 2 - 5];
    const passed = way.filter(({ column }) => column > from.column && column < to.column);
    const bend = (this.apart - this.box) / 2;
    const curve = (right, up) => `C${right - bend} ${up} ${right - bend} ${to.y} ${right} ${to.y}m-4-3.5l4 3.5l-4 3.5`;
    if (!passed.length) return `M${start} ${from.y}${curve(end, from.y)}`;
    const [above, below] = [this.box / 2 + ASIDE, this.box / 2 + LABEL + ASIDE];
    const isFree = (lane) => lane > 0 && passed.every(({ y }) => lane <= y - above || lane >= y + below);
    const lanes = [from.y, ...passed.flatMap(({ y }) => [y - above, y + below])].filter(isFree);
    const lane = lanes.sort((one, other) => Math.abs(one - from.y) - Math.abs(other - from.y))[0];
    return `M${start} ${from.y}C${start + bend} ${from.y} ${start} ${lane} ${start + bend} ${lane}H${to.x - this.apart * 0.9}${curve(end, lane)}`;
  }

  /** All shades again, of the head and the entry that are shown; the row of the query that was chosen has a frame. */
  show() {
    const now = `${this.page.arranged} ${this.room()} ${this.model.mistake}`; // which may read other matrices
    if (this.arranged !== now) this.build();
    this.arranged = now;
    const { steps } = this.page.told;
    for (const box of this.boxes) {
      const { rule, values } = steps.get(box.name);
      const [n, m] = rule.shape.slice(-2);
      const start = this.model.at(rule.shape, [...this.page.leading(rule), 0, 0]);
      const most = values.subarray(start, start + n * m).reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);
      const largest = new Float64Array(box.squares.length).fill(NaN); // of the numbers that share a square, the one farthest from 0
      for (let at = 0; at < n * m; at++) {
        const square = Math.floor((Math.floor(at / m) * box.rows) / n) * box.columns + Math.floor(((at % m) * box.columns) / m);
        const [value, before] = [values[start + at], largest[square]];
        const isFarther = before === -Infinity || !(Math.abs(value) <= Math.abs(before));
        if (value === value && (value === -Infinity ? before !== before : isFarther)) largest[square] = value; // −∞ where there is nothing else
      }
      const full = box.name === this.model.data.weights ? 1 : most || 1;
      largest.forEach((value, at) => {
        const opacity = value === -Infinity ? HIDDEN : value ? Math.max(FAINTEST, Math.min(1, Math.abs(value) / full)).toFixed(2) : 0;
        const now = `${opacity} ${value < 0}`;
        if (box.shown[at] === now) return;
        box.shown[at] = now;
        box.squares[at].setAttribute("fill-opacity", opacity);
        box.squares[at].classList.toggle("below", value < 0);
        box.squares[at].classList.toggle("nothing", value === -Infinity);
      });
      const isOfQuery = rule.axes.at(-2) === "query" && this.page.query.isDrawn;
      box.row.setAttribute("visibility", isOfQuery ? "visible" : "hidden");
      box.row.setAttribute("y", Math.floor((this.page.query.at * box.rows) / n) * box.square - 1);
      const table = this.page.tables.find((each) => each.name === box.name && each.labelled && !each.table.closest(".away"));
      box.link.setAttribute("href", `#${table?.table.closest("section[id]").id ?? ""}`);
    }
  }
}
