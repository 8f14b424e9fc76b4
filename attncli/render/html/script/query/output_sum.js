// @ts-check
// The output of a query as a sum of what every key gives to it, in bars.

"use strict";

class OutputSum {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.root = element("div", { class: "sum" });
    /** @type {BarScale} */
    this.scale = null;
  }

  /** The output of the query that was chosen, and of the head and the entry that are shown. */
  show() {
    const { page } = this;
    const { query, sections } = page;
    const found = outputOf(page, query.at, sections.place);
    this.root.hidden = !found;
    if (!found) return;
    if (!page.isMoving) this.scale = null;
    const scale = new BarScale(found.columns.map(({ terms }) => terms)).keeping(this.scale);
    this.scale = scale;
    const rows = found.columns.map(({ name, text, terms }) => {
      const bar = barOfTerms(query, terms, scale);
      // What each word gives, for who does not see the bar.
      const given = Array.from(bar.children, (part) => /** @type {HTMLElement} */ (part).title);
      bar.setAttribute("role", "img");
      bar.setAttribute("aria-label", given.join(", ") || "nothing");
      return element("p", {}, element("span", {}, label(name)), bar, element("b", {}, text));
    });
    this.root.replaceChildren(this.inWords(), ...rows);
  }

  /**
   * The new I = 0.070 × I + 0.707 × love + 0.223 × AI. Its parts can be pointed at.
   */
  inWords() {
    const { page } = this;
    const { query, sections } = page;
    const { rule } = query.weights();
    const { name } = rule;
    const start = placeIn(rule.shape, [...sections.leading(rule), query.at, 0]);
    const { values } = page.told.steps.get(name);
    // A key without weight gives nothing.
    const weighed = [...query.keys.keys()].filter((key) => values[start + key] !== 0);
    const seen = weighed.filter((key) => query.hues.has(key));
    const terms = seen.flatMap((key, at) => {
      const word = label(wordOf(query.keys[key]));
      const term = query.part(key, "span", {}, `${page.printed(name, start + key)} × `, word);
      return at ? [" + ", term] : [term];
    });
    const others = weighed.length - seen.length;
    if (others) terms.push(` + what ${others} others give`);
    const begins = `${sections.whose()}the new `;
    const word = element("b", {}, label(query.words[query.at].textContent));
    return element(
      "figcaption",
      {},
      capitalized(begins),
      word,
      " = ",
      ...(terms.length ? terms : ["0"]),
    );
  }
}

/**
 * The output of a query, number by number, with what each key gives to it: nothing where the number
 * is not finite. Null where it is no sum over the keys.
 *
 * @param {Page} page
 * @param {number} query
 * @param {Places} place
 */
function outputOf(page, query, place) {
  const { told, model, sections } = page;
  const { rule, values } = told.steps.get(model.data.mixed) ?? {};
  const terms = rule && termsOf(told, rule);
  if (!terms) return null;
  const start = placeIn(rule.shape, [...sections.leading(rule, 2, place), query, 0]);
  const labels = model.data.labels[rule.labels.at(-1)];
  const columns = labels.map((name, column) => {
    const at = start + column;
    const text = page.printed(rule.name, at);
    return { name, text, terms: Number.isFinite(values[at]) ? terms(at) : [] };
  });
  return { columns };
}

// What bars that grow out of their room get more than they need.
const MORE_ROOM = 1.5;

/** How wide bars are, so that all of these fit beside each other's zero. */
class BarScale {
  /** @param {number[][]} every The terms of each bar. */
  constructor(every) {
    // The multiples of the largest may be too large for a double.
    this.largest = Math.max(0, ...every.flat().map(Math.abs)) || 1;
    this.below = Math.max(0, ...every.map((terms) => this.sum(terms, -1)));
    this.above = Math.max(0, ...every.map((terms) => this.sum(terms, 1)));
  }

  /**
   * What the terms of a sign come to, without it, in multiples of the largest.
   *
   * @param {number[]} terms
   * @param {number} sign
   */
  sum(terms, sign) {
    return terms.reduce((sum, term) => sum + Math.max(0, (sign * term) / this.largest || 0), 0);
  }

  /**
   * While a number moves, what does not change stays as wide: the scale from before, unless a bar has
   * no room in it.
   *
   * @param {BarScale} before
   */
  keeping(before) {
    if (!before) return this;
    const by = before.largest / this.largest;
    const room = (/** @type {number} */ now, /** @type {number} */ there) =>
      now > there * by * (1 + SHARED.tie) ? now * MORE_ROOM : there * by || 0;
    this.below = room(this.below, before.below);
    this.above = room(this.above, before.above);
    return this;
  }

  /** @param {number} multiples */
  width(multiples) {
    return `${(100 * multiples) / (this.below + this.above || 1)}%`;
  }
}

/**
 * What each key gives, one piece after the other; the negative ones to the left.
 *
 * @param {Query} query
 * @param {number[]} terms
 * @param {BarScale} scale
 */
function barOfTerms(query, terms, scale) {
  const bar = element("span", { class: "bar" });
  bar.style.setProperty("--zero", scale.width(scale.below));
  // Where the terms of each sign have come to.
  let [below, above] = [scale.below, scale.below];
  terms.forEach((term, key) => {
    if (!term) return;
    const number = signed(formatNumber(term, query.model.data.precision));
    const part = query.part(key, "i", { title: `${wordOf(query.keys[key])}: ${number}` });
    const by = term / scale.largest;
    part.style.left = scale.width(by < 0 ? below + by : above);
    part.style.width = scale.width(Math.abs(by));
    if (by < 0) below += by;
    else above += by;
    bar.append(part);
  });
  return bar;
}
