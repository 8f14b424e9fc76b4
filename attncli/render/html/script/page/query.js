// @ts-check
// One query: ribbons as wide as its weights, from its word to all words, and its output as a sum of
// values.

"use strict";

// Pixels of a word.
const ROW = 34;

class Query {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    // The query that was chosen.
    this.at = 0;
    const { rule } = this.weights() ?? {};
    // More queries or keys are only shown in the matrix, as there are no more colours.
    this.isDrawn = Boolean(rule) && Math.max(...rule.shape.slice(-2)) <= SHARED.most_told_apart;
    this.says = element("p");
    this.axes = this.ofAttentions();
    const rows = this.isDrawn ? this.axes.map(({ row }) => row) : [];
    this.root = element(
      "figure",
      { class: "query", "aria-label": "Where each word looks" },
      this.says,
      element("p", { class: "hint" }, rule ? this.hint(rule) : ""),
      ...rows,
    );
    // Weights that are no shares of keys have no ribbons.
    this.root.hidden = !rule;
  }

  /** The weights, where they are the shares of keys. */
  weights() {
    return this.model.steps.get(this.model.data.weights);
  }

  /** @param {Rule} rule */
  hint(rule) {
    if (this.isDrawn)
      return "Choose a word. Ribbons are as wide as its weights, bars show what each word gives to its output.";
    const symbol = symbolName(rule.symbol);
    return `Ribbons are drawn of up to ${SHARED.most_told_apart} words. These have their weights in ${symbol}.`;
  }

  /**
   * What there are several attentions of, entries and heads: each letter with a row of buttons to
   * choose one.
   */
  ofAttentions() {
    const { labels, letters } = this.model.data;
    const rules = [...this.model.steps.values()].map(({ rule }) => rule);
    const axes = letters.parts.map((letter) => {
      const rule = rules.find(({ cell }) => cell.includes(letter));
      return { letter, names: labels[rule.labels[rule.cell.indexOf(letter)]] };
    });
    const several = axes.filter(({ names }) => names.length > 1);
    return several.map(({ letter, names }) => ({ letter, row: this.row(letter, names) }));
  }

  /**
   * @param {string} letter
   * @param {string[]} names
   */
  row(letter, names) {
    const { sections } = this.page;
    const [word] = names[0].split(" ");
    const name = `Which ${word}`;
    const take = (/** @type {number} */ at) =>
      sections.turnTo(sections.partAt({ ...sections.place, [letter]: at }));
    const buttons = choices(names.map(capitalized), name, take);
    return element("div", { class: "controls", role: "group", "aria-label": name }, ...buttons);
  }

  // --- the ribbons

  /**
   * The ribbons and the output again, of the query that was chosen and of the head and the entry
   * that are shown.
   */
  show() {
    if (!this.isDrawn) return [];
    const { sections, told } = this.page;
    for (const { letter, row } of this.axes) choose(row, sections.place[letter] ?? 0);
    const { rule, values } = told.steps.get(this.model.data.weights);
    const [queries, keys] = rule.shape.slice(-2);
    const start = placeIn(rule.shape, [...sections.leading(rule), 0, 0]);
    const share = (/** @type {number} */ query, /** @type {number} */ key) =>
      Math.max(0, Math.min(1, values[start + query * keys + key])) || 0;
    if (!this.words) {
      this.build(rule, queries, keys);
      this.at = this.widestLook(share);
    }
    this.paths.forEach((row, query) => this.drawRibbons(row, query, share));
    this.words.forEach((word, at) => {
      word.setAttribute("aria-checked", String(at === this.at));
      word.tabIndex = at === this.at ? 0 : -1;
    });
    const first = start + this.at * keys;
    const texts = this.keys.map((_, key) => this.page.printed(rule.name, first + key));
    this.keys.forEach((key, at) => {
      key.lastChild.textContent = texts[at];
    });
    const said = texts.includes("?") ? [": where does it look?"] : this.sentence(first);
    this.says.replaceChildren(sections.whose(), this.named(this.words[this.at]), ...said);
    this.compose();
    return texts;
  }

  /**
   * The first query that sees the most keys: under a causal mask, the first word sees itself alone.
   *
   * @param {(query: number, key: number) => number} share
   */
  widestLook(share) {
    const seen = this.words.map((_, query) => {
      return this.keys.filter((_, key) => share(query, key)).length;
    });
    return seen.indexOf(Math.max(...seen));
  }

  /**
   * @param {SVGElement[]} row
   * @param {number} query
   * @param {(query: number, key: number) => number} share
   */
  drawRibbons(row, query, share) {
    let top = (query + 0.5) * ROW - ROW / 3;
    row.forEach((path, key) => {
      const wide = (share(query, key) * ROW * 2) / 3;
      const end = (key + 0.5) * ROW - wide / 2;
      const upper = `M0 ${top}C50 ${top} 50 ${end} 100 ${end}`;
      const lower = `V${end + wide}C50 ${end + wide} 50 ${top + wide} 0 ${top + wide}Z`;
      path.setAttribute("d", upper + lower);
      path.classList.toggle("of-query", query === this.at);
      top += wide;
    });
  }

  /**
   * @param {Rule} rule
   * @param {number} n
   * @param {number} m
   */
  build(rule, n, m) {
    const [queries, keys] = rule.labels.slice(-2).map((at) => this.model.data.labels[at]);
    // A long word may be cut.
    const word = (/** @type {string} */ text) => element("bdi", { title: text }, text);
    this.words = queries.map((text, at) => {
      const made = button("", () => this.choose(at), { role: "radio" });
      made.replaceChildren(word(text));
      return made;
    });
    const named = { class: "words", role: "radiogroup", "aria-label": "Query" };
    const group = element("div", named, ...this.words);
    group.addEventListener("keydown", (event) => {
      const [down, right] = ARROWS[event.key] ?? [];
      if (down === undefined) return;
      event.preventDefault();
      this.choose((this.at + down + right + n) % n);
      this.words[this.at].focus();
    });
    this.paths = queries.map(() =>
      keys.map((_, key) => drawn("path", { class: `hue-${key}`, "data-key": key })),
    );
    this.keys = keys.map((text, key) => this.part(key, "li", {}, word(text), " ", element("b")));
    const list = element("ol", { "aria-label": "Weights of the keys" }, ...this.keys);
    const ribbons = element("div", { class: "ribbons" }, group, this.picture(Math.max(n, m)), list);
    this.sum = element("div", { class: "sum" });
    this.root.append(ribbons, this.sum);
    this.root.addEventListener("mouseover", (event) => {
      const part = /** @type {HTMLElement} */ (targetOf(event).closest("[data-key]"));
      this.pointOut(part?.dataset.key);
    });
    this.root.addEventListener("mouseleave", () => this.pointOut());
  }

  /** @param {number} rows */
  picture(rows) {
    const height = rows * ROW;
    const attributes = {
      viewBox: `0 0 100 ${height}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
      style: `height: ${height}px`,
    };
    return drawn("svg", attributes, ...this.paths.flat());
  }

  /** @param {number} at */
  choose(at) {
    this.at = at;
    const texts = this.show();
    this.page.map.show();
    const said = this.keys.map((key, place) => `${wordOf(key)} ${texts[place]}`);
    this.page.say(`${this.words[at].textContent}: ${said.join(", ")}`);
  }

  /**
   * What stands for a key, in its colour.
   *
   * @template {keyof HTMLElementTagNameMap} Tag
   * @param {number} key
   * @param {Tag} tag
   * @param {Record<string, any>} attributes
   * @param {(Node | string)[]} children
   */
  part(key, tag, attributes = {}, ...children) {
    const own = { class: `hue-${key}`, "data-key": `${key}` };
    return element(tag, { ...own, ...attributes }, ...children);
  }

  /**
   * Let only what stands for one key keep its colour, or everything where it is none.
   *
   * @param {string} [key]
   */
  pointOut(key) {
    for (const each of all(this.page.root, "[data-key]"))
      each.classList.toggle("faint", key !== undefined && each.dataset.key !== key);
  }

  // --- in words

  /** @param {Node} part */
  named(part) {
    return element("b", {}, label(wordOf(part)));
  }

  /**
   * Where the query looks most, in words that follow its name; its weights begin at a place.
   *
   * @param {number} start
   */
  sentence(start) {
    const { rule, values } = this.weights();
    const weights = this.keys.map((_, key) => values[start + key]);
    const nowhere = this.nowhere(rule, start, weights);
    if (nowhere) return [` ${nowhere}.`];
    const most = Math.max(...weights);
    const share = percent(most);
    const first = this.keys.filter((_, key) => most - weights[key] <= SHARED.tie * most);
    const isSeen = (/** @type {number} */ key) =>
      weights[key] || !this.model.hides(placesOf(rule, start + key));
    const seen = [...weights.keys()].filter(isSeen);
    if (first.length === seen.length && first.length > 1) {
      const areAll = first.length === this.keys.length;
      const which = areAll ? "all keys" : `the ${first.length} keys that it sees`;
      return [` looks at ${which} alike (${share} each).`];
    }
    const isOnlyOne = weights.filter(Boolean).length === 1;
    if (isOnlyOne) return [" looks at ", this.named(first[0]), " alone."];
    const each = first.length > 1 ? " each" : "";
    return [" looks most at ", ...this.listed(first), ` (${share}${each}).`];
  }

  /**
   * a, b and c.
   *
   * @param {HTMLElement[]} keys
   */
  listed(keys) {
    return keys.flatMap((key, at) => {
      if (at === 0) return [this.named(key)];
      return [at < keys.length - 1 ? ", " : " and ", this.named(key)];
    });
  }

  /**
   * Why a query looks nowhere, in words that follow its name; empty where it looks somewhere.
   *
   * @param {Rule} rule
   * @param {number} start
   * @param {number[]} weights
   */
  nowhere(rule, start, weights) {
    if (!weights.every(Number.isFinite)) {
      if (this.model.mistake) return "has weights that are no numbers";
      return "has scores that do not fit into float64, so its weights are unknown";
    }
    if (weights.some(Boolean)) return "";
    const isBlind = this.model.seesNoKey(placesOf(rule, start));
    return isBlind ? "sees no key" : "gives every key the weight 0";
  }

  // --- bars

  /**
   * The weights of one query as one bar of its keys: those that a cell at this place is about, or
   * those shown above.
   *
   * @param {Places} place
   */
  bar(place) {
    const { rule, values } = this.weights();
    const { sections } = this.page;
    const query = place[rule.cell.at(-2)] ?? this.at;
    const leading = rule.cell.slice(0, -2);
    const before = leading.map((letter) => place[letter] ?? sections.place[letter] ?? 0);
    const start = placeIn(rule.shape, [...before, query, 0]);
    const weights = this.keys.map((_, key) => values[start + key]);
    const said = this.keys.map((key, at) => {
      return `${wordOf(key)} ${this.page.printed(rule.name, start + at)}`;
    });
    const word = this.words[query].textContent;
    const isNamedByCell = this.axes.every(({ letter }) => letter in place);
    const whose = isNamedByCell ? "" : sections.whose({ ...sections.place, ...place });
    const name = `Weights of ${whose}${word}: ${said.join(", ")}`;
    const parts = this.shares(weights, said, this.nowhere(rule, start, weights));
    return [
      element("b", {}, whose, label(word)),
      element("div", { role: "img", "aria-label": name }, ...parts),
    ];
  }

  /**
   * @param {number[]} weights
   * @param {string[]} said
   * @param {string} nowhere
   */
  shares(weights, said, nowhere) {
    const seen = nowhere ? [] : [...weights.keys()].filter((key) => weights[key] > 0);
    if (!seen.length) return [element("em", {}, nowhere || "has no weight above 0")];
    const grow = (/** @type {number} */ share) => `flex-grow: ${share}`;
    /** @type {HTMLElement[]} */
    const parts = seen.map((key) => {
      const attributes = { title: said[key], style: grow(weights[key]) };
      return this.part(key, "span", attributes, label(said[key]));
    });
    const sum = seen.reduce((total, key) => total + weights[key], 0);
    if (sum < 1 - SHARED.tie) parts.push(element("span", { class: "rest", style: grow(1 - sum) }));
    if (Math.abs(sum - 1) > SHARED.tie)
      parts.push(element("em", {}, `sum ${formatNumber(sum, this.model.data.precision)}`));
    return parts;
  }

  /**
   * The output of the query: in each column a bar of what every key gives to it, the negative ones
   * to the left.
   */
  compose() {
    const { sections, told } = this.page;
    const { rule, values } = told.steps.get(this.model.data.mixed) ?? {};
    const terms = rule && termsOf(told, rule);
    this.sum.hidden = !terms;
    if (!terms) return;
    const start = placeIn(rule.shape, [...sections.leading(rule), this.at, 0]);
    const columns = range(rule.shape.at(-1)).map((column) => start + column);
    const every = columns.map((at) => (Number.isFinite(values[at]) ? terms(at) : []));
    // The multiples of the largest may be too large for a double.
    const largest = Math.max(0, ...every.flat().map(Math.abs)) || 1;
    const scaled = every.map((each) => each.map((term) => term / largest));
    const below = Math.max(...scaled.map((each) => sumOfSign(each, -1)));
    const above = Math.max(...scaled.map((each) => sumOfSign(each, 1)));
    const width = (/** @type {number} */ value) => `${(100 * value) / (below + above || 1)}%`;
    const labels = this.model.data.labels[rule.labels.at(-1)];
    const rows = scaled.map((each, column) => {
      const name = element("span", {}, label(labels[column]));
      const total = element("b", {}, this.page.printed(rule.name, columns[column]));
      return element("p", {}, name, this.barOfTerms(each, every[column], below, width), total);
    });
    const whose = `${sections.whose()}${symbolName(rule.symbol)} of `;
    const word = label(this.words[this.at].textContent);
    const title = element("figcaption", {}, whose, word, ": what each word gives to it");
    this.sum.replaceChildren(title, ...rows);
  }

  /**
   * @param {number[]} scaled
   * @param {number[]} terms
   * @param {number} zero
   * @param {(value: number) => string} width
   */
  barOfTerms(scaled, terms, zero, width) {
    const bar = element("span", { class: "bar" });
    bar.style.setProperty("--zero", width(zero));
    // Where the terms of each sign have come to.
    let [below, above] = [zero, zero];
    scaled.forEach((term, key) => {
      if (!term) return;
      const number = signed(formatNumber(terms[key], this.model.data.precision));
      const part = this.part(key, "i", { title: `${wordOf(this.keys[key])}: ${number}` });
      part.style.left = width(term < 0 ? below + term : above);
      part.style.width = width(Math.abs(term));
      if (term < 0) below += term;
      else above += term;
      bar.append(part);
    });
    return bar;
  }
}

/** @param {Node} part */
const wordOf = (part) => part.firstChild.textContent;

/**
 * What the terms of a sign come to, without it.
 *
 * @param {number[]} terms
 * @param {number} sign
 */
function sumOfSign(terms, sign) {
  return terms.reduce((sum, term) => sum + Math.max(0, sign * term || 0), 0);
}
