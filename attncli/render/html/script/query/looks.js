// @ts-check
// Where every query looks, as a picture: ribbons as wide as weights, or a grid of shades where there
// are more words than colours.

"use strict";

// Pixels of a word beside ribbons.
const ROW = 34;
// Pixels of a word beside a grid: what so high a grid has for each, within these.
const HEIGHT_OF_GRID = 480;
const [LEAST_ROW, MOST_ROW] = [12, 24];
// So many shades can be told apart; each is one path, however many squares have it.
const SHADES = 32;

// The end of a ribbon, in percent of its length and in pixels.
const GRIP = { class: "grip", x: 92, width: 10, height: 26 };

/** @typedef {(query: number, key: number) => number} Share The weight of a key, from 0 to 1. */

class Ribbons {
  /**
   * @param {number} n Queries.
   * @param {number} m Keys.
   * @param {boolean} [isOfOne] Whether only the chosen query has ribbons.
   */
  constructor(n, m, isOfOne = false) {
    this.kind = "ribbons";
    this.row = ROW;
    this.isOfOne = isOfOne;
    const path = (/** @type {number} */ key) =>
      drawn("path", { class: `hue-${key}`, "data-key": key });
    this.paths = range(isOfOne ? 1 : n).map(() => range(m).map(path));
    // A ribbon can be taken at its end, however narrow it is.
    const grip = (/** @type {number} */ key) =>
      drawn("rect", { ...GRIP, y: (key + 0.5) * ROW - GRIP.height / 2, "data-key": key });
    const grips = isOfOne ? [] : range(m).map(grip);
    const height = Math.max(n, m) * ROW;
    this.root = pictureOf(`0 0 100 ${height}`, height, [...this.paths.flat(), ...grips]);
  }

  /**
   * @param {Share} share
   * @param {number} at The chosen query.
   */
  show(share, at) {
    this.paths.forEach((row, place) => {
      const query = this.isOfOne ? at : place;
      this.draw(row, query, share);
      for (const path of row) path.classList.toggle("of-query", query === at);
    });
  }

  /**
   * @param {SVGElement[]} row
   * @param {number} query
   * @param {Share} share
   */
  draw(row, query, share) {
    let top = (query + 0.5) * ROW - ROW / 3;
    row.forEach((path, key) => {
      const wide = (share(query, key) * ROW * 2) / 3;
      const end = (key + 0.5) * ROW - wide / 2;
      const upper = `M0 ${top}C50 ${top} 50 ${end} 100 ${end}`;
      const lower = `V${end + wide}C50 ${end + wide} 50 ${top + wide} 0 ${top + wide}Z`;
      path.setAttribute("d", upper + lower);
      top += wide;
    });
  }

  /** Ribbons are dragged, not clicked. */
  takes() {}
}

class Shades {
  /**
   * @param {number} n Queries.
   * @param {number} m Keys.
   * @param {string[]} names The keys; none where there is no room for them.
   */
  constructor(n, m, names = []) {
    this.kind = "ribbons shaded";
    this.row = Math.max(LEAST_ROW, Math.min(MOST_ROW, HEIGHT_OF_GRID / n));
    this.n = n;
    this.m = m;
    this.paths = range(SHADES).map((at) => drawn("path", { "fill-opacity": (at + 1) / SHADES }));
    this.chosen = drawn("rect", { width: m, height: 1, class: "of-query" });
    this.grid = pictureOf(`0 0 ${m} ${n}`, n * this.row, [...this.paths, this.chosen]);
    this.grid.classList.add("squares");
    const heads = names.map((name) => element("bdi", { title: name }, name));
    const row = element("div", { style: `--keys: ${m}` }, ...heads);
    const head = element("div", { class: "heads-of-keys", "aria-hidden": "true" }, row);
    this.root = names.length ? element("div", {}, head, this.grid) : this.grid;
  }

  /**
   * @param {Share} share
   * @param {number} at The chosen query.
   */
  show(share, at) {
    const squares = range(SHADES).map(() => /** @type {string[]} */ ([]));
    for (const query of range(this.n))
      for (const key of range(this.m)) {
        const shade = this.shade(share(query, key));
        if (shade) squares[shade - 1].push(`M${key} ${query}h1v1h-1z`);
      }
    this.paths.forEach((path, shade) => path.setAttribute("d", squares[shade].join("")));
    this.chosen.setAttribute("y", `${at}`);
  }

  /**
   * By the root of a weight: of many keys most have little, and this little is to be seen.
   *
   * @param {number} weight
   */
  shade(weight) {
    return Math.ceil(Math.sqrt(weight) * SHADES);
  }

  /** @param {(query: number) => void} choose What a click on the row of a query does. */
  takes(choose) {
    this.grid.addEventListener("click", (event) => {
      const { top, height } = this.grid.getBoundingClientRect();
      const row = Math.floor(((event.clientY - top) / height) * this.n);
      choose(Math.max(0, Math.min(this.n - 1, row)));
    });
  }
}

/**
 * @param {string} viewBox
 * @param {number} height
 * @param {SVGElement[]} parts
 */
const pictureOf = (viewBox, height, parts) => {
  const fills = { viewBox, preserveAspectRatio: "none", style: `--height: ${height}px` };
  return drawn("svg", { ...fills, "aria-hidden": "true" }, ...parts);
};

/**
 * The weights of an attention whose first one stands at a place, with so many in a row.
 *
 * @param {ArrayLike<number>} values
 * @param {number} start
 * @param {number} m
 * @returns {Share}
 */
const sharesFrom = (values, start, m) => (query, key) =>
  Math.max(0, Math.min(1, values[start + query * m + key])) || 0;
