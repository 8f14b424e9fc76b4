// One query: ribbons as wide as its weights, from its word to all words, and its output as a sum of values.

"use strict";

const ROW = 34; // pixels of a word
const ALIKE = 1e-6; // weights that differ by less are the same
const MOST_WORDS = 16; // queries or keys; more than these are only shown in the matrix, as there are no more colours

class Query {
  constructor(page) {
    this.page = page;
    this.model = page.model;
    this.at = 0;
    const { rule } = page.model.steps.get(page.model.data.weights);
    this.isDrawn = Math.max(...rule.shape.slice(-2)) <= MOST_WORDS;
    const hint = this.isDrawn
      ? "Choose a word. Ribbons are as wide as its weights, bars show what each word gives to its output."
      : `Ribbons are drawn of up to ${MOST_WORDS} words. These have their weights in ${symbolName(rule.symbol)}.`;
    this.says = element("p");
    this.axes = this.ofAttentions();
    const rows = this.isDrawn ? this.axes.map(({ row }) => row) : [];
    this.root = element("figure", { class: "query", "aria-label": "Where each word looks" }, this.says, element("p", { class: "hint" }, hint), ...rows);
  }

  /** What there are several attentions of, entries and heads: { letter, row }, with a row of buttons to choose one. */
  ofAttentions() {
    const { rule } = this.model.steps.get(this.model.data.mixed);
    const axes = rule.cell.slice(0, -2).map((letter, axis) => ({ letter, names: this.model.data.labels[rule.labels[axis]] }));
    return axes.filter(({ names }) => names.length > 1).map(({ letter, names }) => {
      const [word] = names[0].split(" ");
      const titles = names.map((name) => name[0].toUpperCase() + name.slice(1));
      const take = (at) => this.page.turnTo(this.page.partAt({ ...this.page.place, [letter]: at }));
      const row = element("div", { class: "controls", role: "group", "aria-label": `Which ${word}` });
      row.append(...choices(titles, `Which ${word}`, take));
      return { letter, row };
    });
  }

  /** The ribbons and the output again, of the query that was chosen and of the head and the entry that are shown. */
  show() {
    if (!this.isDrawn) return;
    for (const { letter, row } of this.axes) choose(row, this.page.place[letter] ?? 0);
    const weights = this.page.told.steps.get(this.model.data.weights);
    const [n, m] = weights.rule.shape.slice(-2);
    const leading = this.page.leading(weights.rule);
    const start = this.model.at(weights.rule.shape, [...leading, 0, 0]);
    const share = (query, key) => Math.max(0, Math.min(1, weights.values[start + query * m + key])) || 0;
    if (!this.words) {
      this.build(weights.rule, n, m);
      const seen = this.words.map((_, query) => this.keys.filter((_, key) => share(query, key)).length);
      this.at = seen.indexOf(Math.max(...seen)); // under a causal mask, the first word sees itself alone
    }
    this.paths.forEach((row, query) => {
      let top = (query + 0.5) * ROW - ROW / 3;
      row.forEach((path, key) => {
        const wide = (share(query, key) * ROW * 2) / 3;
        const end = (key + 0.5) * ROW - wide / 2;
        path.setAttribute("d", `M0 ${top}C50 ${top} 50 ${end} 100 ${end}V${end + wide}C50 ${end + wide} 50 ${top + wide} 0 ${top + wide}Z`);
        path.classList.toggle("of-query", query === this.at);
        top += wide;
      });
    });
    this.words.forEach((word, at) => {
      word.setAttribute("aria-checked", String(at === this.at));
      word.tabIndex = at === this.at ? 0 : -1;
    });
    const texts = this.keys.map((_, key) => this.page.printed(weights.rule.name, start + this.at * m + key));
    this.keys.forEach((key, at) => (key.lastChild.textContent = texts[at]));
    const isAsked = texts.includes("?");
    this.says.replaceChildren(this.page.whose(), this.named(this.words[this.at]), ...(isAsked ? [": where does it look?"] : this.sentence(start + this.at * m)));
    this.compose(leading);
    return texts;
  }

  named(button) {
    return element("b", {}, element("bdi", {}, button.firstChild.textContent));
  }

  /** Where the query looks most, in words that follow its name; its weights begin at a place. */
  sentence(start) {
    const { rule, values } = this.model.steps.get(this.model.data.weights);
    const weights = this.keys.map((_, key) => values[start + key]);
    const nowhere = this.nowhere(rule, start, weights);
    if (nowhere) return [` ${nowhere}.`];
    const most = Math.max(...weights);
    const share = `${(100 * most).toFixed(1)} %`;
    const first = this.keys.filter((_, key) => most - weights[key] < ALIKE);
    const seen = weights.filter((weight, key) => weight || !this.model.hides(this.model.place(rule, start + key)));
    if (first.length === seen.length && first.length > 1) return [` looks at ${first.length === this.keys.length ? "all keys" : `the ${first.length} keys that it sees`} alike (${share} each).`];
    if (weights.filter(Boolean).length === 1) return [" looks at ", this.named(first[0]), " alone."];
    const names = first.flatMap((key, at) => [at ? (at < first.length - 1 ? ", " : " and ") : "", this.named(key)]);
    return [" looks most at ", ...names, ` (${share}${first.length > 1 ? " each" : ""}).`];
  }

  /** Why a query looks nowhere, in words that follow its name; empty where it looks somewhere. */
  nowhere(rule, start, weights) {
    if (!weights.every(Number.isFinite)) return this.model.mistake ? "has weights that are no numbers" : "has scores that do not fit into float64, so its weights are unknown";
    if (weights.some(Boolean)) return "";
    return this.model.seesNoKey(rule, this.model.place(rule, start)) ? "sees no key" : "gives every key the weight 0";
  }

  /** The weights of one query as one bar of its keys: those that a cell at this place is about, or those shown above. */
  bar(place) {
    const { rule, values } = this.model.steps.get(this.model.data.weights);
    const { [rule.cell.at(-2)]: query = this.at } = place;
    const leading = rule.cell.slice(0, -2).map((letter) => place[letter] ?? this.page.place[letter] ?? 0);
    const start = this.model.at(rule.shape, [...leading, query, 0]);
    const said = this.keys.map((key, at) => `${key.firstChild.textContent} ${this.page.printed(rule.name, start + at)}`);
    const weights = this.keys.map((_, key) => values[start + key]);
    const nowhere = this.nowhere(rule, start, weights);
    const seen = nowhere ? [] : [...said.keys()].filter((key) => weights[key] > 0);
    const parts = seen.map((key) => this.part(key, "span", { title: said[key], style: `flex-grow: ${values[start + key]}` }, element("bdi", {}, said[key])));
    if (!seen.length) parts.push(element("em", {}, nowhere || "has no weight above 0"));
    const sum = seen.reduce((sum, key) => sum + values[start + key], 0);
    if (seen.length && sum < 1 - ALIKE) parts.push(element("span", { class: "rest", style: `flex-grow: ${1 - sum}` }));
    if (seen.length && Math.abs(sum - 1) > ALIKE) parts.push(element("em", {}, `sum ${formatNumber(sum, this.model.data.precision)}`));
    const isNamed = this.axes.every(({ letter }) => letter in place); // by the cell itself
    const whose = isNamed ? "" : this.page.whose({ ...this.page.place, ...place });
    const name = `Weights of ${whose}${this.words[query].textContent}`;
    return [element("b", {}, whose, element("bdi", {}, this.words[query].textContent)), element("div", { role: "img", "aria-label": `${name}: ${said.join(", ")}` }, ...parts)];
  }

  /** What stands for a key, in its colour. */
  part(key, tag, attributes = {}, ...children) {
    return element(tag, { class: `hue-${key}`, "data-key": `${key}`, ...attributes }, ...children);
  }

  /** Let only what stands for one key keep its colour, or everything where it is none. */
  pointOut(key) {
    for (const each of this.page.root.querySelectorAll("[data-key]")) each.classList.toggle("faint", key !== undefined && each.dataset.key !== key);
  }

  build(rule, n, m) {
    const [queries, keys] = rule.labels.slice(-2).map((at) => this.model.data.labels[at]);
    const word = (text) => element("bdi", { title: text }, text); // which may be cut
    this.words = queries.map((text, at) => {
      const made = element("button", { type: "button", role: "radio" }, word(text));
      made.addEventListener("click", () => this.choose(at));
      return made;
    });
    const group = element("div", { class: "words", role: "radiogroup", "aria-label": "Query" }, ...this.words);
    group.addEventListener("keydown", (event) => {
      const [down, right] = ARROWS[event.key] ?? [];
      if (down === undefined) return;
      event.preventDefault();
      this.choose((this.at + down + right + n) % n);
      this.words[this.at].focus();
    });
    const height = Math.max(n, m) * ROW;
    this.paths = queries.map(() => keys.map((_, key) => drawn("path", { class: `hue-${key}`, "data-key": key })));
    const picture = drawn("svg", { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", "aria-hidden": "true", style: `height: ${height}px` }, ...this.paths.flat());
    this.keys = keys.map((text, key) => this.part(key, "li", {}, word(text), " ", element("b")));
    this.sum = element("div", { class: "sum" });
    const ribbons = element("div", { class: "ribbons" }, group, picture, element("ol", { "aria-label": "Weights of the keys" }, ...this.keys));
    this.root.append(ribbons, this.sum);
    this.root.addEventListener("mouseover", ({ target }) => this.pointOut(target.closest("[data-key]")?.dataset.key));
    this.root.addEventListener("mouseleave", () => this.pointOut());
  }

  choose(at) {
    this.at = at;
    const texts = this.show();
    this.page.map.show();
    this.page.say(`${this.words[at].textContent}: ${this.keys.map((key, place) => `${key.firstChild.textContent} ${texts[place]}`).join(", ")}`);
  }

  /** The output of the query: in each column a bar of what every key gives to it, the negative ones to the left. */
  compose(leading) {
    const { rule, values } = this.page.told.steps.get(this.model.data.mixed);
    const terms = this.page.told.terms(rule);
    this.sum.hidden = !terms;
    if (!terms) return;
    const width = rule.shape.at(-1);
    const start = this.model.at(rule.shape, [...leading, this.at, 0]);
    const every = Array.from({ length: width }, (_, column) => (Number.isFinite(values[start + column]) ? terms(start + column) : []));
    const largest = Math.max(0, ...every.flat().map(Math.abs)) || 1; // whose multiples may be too large for a double
    const columns = every.map((each) => each.map((term) => term / largest));
    const side = (each, sign) => each.reduce((sum, term) => sum + Math.max(0, sign * term || 0), 0);
    const [below, above] = [-1, 1].map((sign) => Math.max(...columns.map((each) => side(each, sign))));
    const percent = (value) => `${(100 * value) / (below + above || 1)}%`;
    const labels = this.model.data.labels[rule.labels.at(-1)];
    const symbol = symbolName(rule.symbol);
    const head = element("figcaption", {}, this.page.whose(), `${symbol} of `, element("bdi", {}, this.words[this.at].textContent), ": what each word gives to it");
    this.sum.replaceChildren(head, ...columns.map((each, column) => {
      const ends = { "-1": below, 1: below };
      const bar = element("span", { class: "bar" });
      bar.style.setProperty("--zero", percent(below));
      each.forEach((term, key) => {
        if (!term) return;
        const sign = Math.sign(term);
        const part = this.part(key, "i", { title: `${this.keys[key].firstChild.textContent}: ${signed(formatNumber(every[column][key], this.model.data.precision))}` });
        part.style.left = percent(Math.min(ends[sign], ends[sign] + term));
        part.style.width = percent(Math.abs(term));
        ends[sign] += term;
        bar.append(part);
      });
      const total = element("b", {}, this.page.printed(rule.name, start + column));
      return element("p", {}, element("span", {}, element("bdi", {}, labels[column])), bar, total);
    }));
  }
}
