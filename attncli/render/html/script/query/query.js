// @ts-check
// One query: a picture of its weights, from its word to all words, and its output as a sum of values.

"use strict";

class Query {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    const { rule } = this.weights() ?? {};
    /**
     * The query that was chosen; none before the first look.
     *
     * @type {number}
     */
    this.at = rule ? null : 0;
    // Weights that are no shares of keys have no picture.
    this.isDrawn = Boolean(rule);
    // More queries or keys are shades of a grid, as there are no more colours.
    this.hasRibbons = rule && Math.max(...rule.shape.slice(-2)) <= SHARED.most_told_apart;
    this.hues = new KeyHues(this.hasRibbons);
    this.says = element("p");
    this.axes = this.ofAttentions();
    this.sum = new OutputSum(page);
    this.heads = new Heads(page);
    const rows = this.isDrawn ? this.axes.map(({ row }) => row) : [];
    this.root = element(
      "figure",
      { class: "query", "aria-label": "Where each word looks" },
      this.says,
      element("p", { class: "hint" }, this.hint()),
      ...rows,
    );
    this.root.hidden = !rule;
  }

  /** The weights, where they are the shares of keys. */
  weights() {
    return this.model.steps.get(this.model.data.weights);
  }

  hint() {
    const looks = this.hasRibbons
      ? "Ribbons are as wide as its weights"
      : "The stronger the colour of a square, the larger is its weight";
    return `Choose a word. ${looks}, bars show what each word gives to its output.`;
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
    return several.map(({ letter, names }) => ({ letter, names, row: this.row(letter, names) }));
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

  // --- the picture

  /**
   * The picture and the output again, of the query that was chosen and of the head and the entry
   * that are shown.
   */
  show() {
    if (!this.isDrawn) return [];
    const { sections, told } = this.page;
    for (const { letter, row } of this.axes) choose(row, sections.place[letter] ?? 0);
    const { rule, values } = told.steps.get(this.model.data.weights);
    const [queries, keys] = rule.shape.slice(-2);
    const start = placeIn(rule.shape, [...sections.leading(rule), 0, 0]);
    const share = sharesFrom(values, start, keys);
    if (!this.words) this.build(rule, queries, keys);
    this.at = Math.min(this.at ?? this.widestLook(share), queries - 1);
    this.share = share;
    if (!this.page.strip.isShown) this.draw();
    this.words.forEach((word, at) => {
      word.setAttribute("aria-checked", String(at === this.at));
      word.tabIndex = at === this.at ? 0 : -1;
    });
    const first = start + this.at * keys;
    this.hues.share(this.keys.map((_, key) => values[first + key]));
    const texts = this.keys.map((_, key) => this.page.printed(rule.name, first + key));
    this.keys.forEach((key, at) => {
      key.lastChild.textContent = texts[at];
      key.className = this.hues.of(at);
      key.hidden = !this.hues.has(at);
    });
    this.tellOthers(share, texts);
    const said = texts.includes("?") ? [": where does it look?"] : whereItLooks(this, first);
    this.says.replaceChildren(sections.whose(), boldWord(this.words[this.at]), ...said);
    this.sum.show();
    this.page.softmaxRow.show();
    this.page.dragging?.show();
    return texts;
  }

  draw() {
    if (!this.words) return;
    this.heads.show();
    this.picture.show(this.share, this.at);
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
    this.picture = this.hasRibbons ? new Ribbons(n, m) : new Shades(n, m, keys);
    this.keys = keys.map((text, key) => this.part(key, "li", {}, word(text), " ", element("b")));
    this.others = element("li", { class: "others" });
    const ofKeys = { "aria-label": "Weights of the keys" };
    const rest = this.hasRibbons ? [] : [this.others];
    const list = element("ol", ofKeys, ...this.keys, ...rest);
    const heads = ["asks", "is read"].map((said) => element("small", {}, said));
    const { root, kind, row } = this.picture;
    const looks = element("div", { class: kind }, ...heads, group, root, list);
    looks.style.setProperty("--row", `${row}px`);
    this.picture.takes((at) => this.choose(at));
    this.root.append(looks, this.sum.root, this.heads.root);
    this.root.addEventListener("mouseover", (event) => {
      const part = /** @type {HTMLElement} */ (targetOf(event).closest("[data-key]"));
      this.pointOut(part?.dataset.key);
    });
    this.root.addEventListener("mouseleave", () => this.pointOut());
  }

  /** @param {number} at */
  choose(at) {
    this.at = at;
    const texts = this.show();
    this.page.map.show();
    this.page.strip.show();
    const said = this.keys.map((key, place) => `${wordOf(key)} ${texts[place]}`);
    this.page.say(`${this.words[at].textContent}: ${said.join(", ")}`);
  }

  /**
   * Choose the query, the head and the entry that a number is of.
   *
   * @param {Rule} rule
   * @param {number} at
   */
  follow(rule, at) {
    if (!this.isDrawn) return;
    const { sections, map, strip } = this.page;
    const place = this.placeOf(rule, at);
    const before = JSON.stringify([this.at, sections.place]);
    this.at = place[this.weights().rule.cell.at(-2)] ?? this.at;
    sections.turnToPlace(place);
    if (before === JSON.stringify([this.at, sections.place])) return;
    this.show();
    map.show();
    strip.show();
  }

  /**
   * Where a number is: of no single query, if keys are worked out from it, too.
   *
   * @param {Rule} rule
   * @param {number} at
   */
  placeOf(rule, at) {
    const place = placesOf(rule, at);
    const rules = [...this.model.steps.values()].map((step) => step.rule);
    const isReadByKeys = rules.some(
      ({ axes, equation }) =>
        axes.includes("key") &&
        !axes.includes("query") &&
        equation &&
        readsOf(equation).includes(rule.name),
    );
    if (isReadByKeys) delete place[this.weights().rule.cell.at(-2)];
    return place;
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
    const own = { class: this.hues.of(key), "data-key": `${key}` };
    return element(tag, { ...own, ...attributes }, ...children);
  }

  /**
   * What the keys without colours have together.
   *
   * @param {(query: number, key: number) => number} share
   * @param {string[]} texts
   */
  tellOthers(share, texts) {
    const others = this.keys.map((_, key) => key).filter((key) => !this.hues.has(key));
    this.others.hidden = !others.length || texts.includes("?");
    const sum = others.reduce((total, key) => total + share(this.at, key), 0);
    const text = formatNumber(sum, this.model.data.precision);
    this.others.replaceChildren(`${others.length} others `, element("b", {}, text));
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
}
