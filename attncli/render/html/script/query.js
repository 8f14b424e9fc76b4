// One query: ribbons as wide as its weights, from its word to all words, and its output as a sum of values.

"use strict";

const SVG = "http://www.w3.org/2000/svg";
const ROW = 34; // pixels of a word
const HUES = 8; // colours, which begin again after so many keys
const MOST_WORDS = 16; // queries or keys; more than these are only shown in the matrix

class Query {
  constructor(page) {
    this.page = page;
    this.model = page.model;
    this.at = 0;
    const said = "Choose a word. Its ribbons show where it looks, as wide as the weights. The bars show what each word gives to its output.";
    this.root = element("figure", { class: "query", "aria-label": "Where each word looks" }, element("p", { class: "hint" }, said));
  }

  /** The ribbons and the output again, of the query that was chosen and of the head and the entry that are shown. */
  show() {
    const weights = this.model.steps.get(this.model.data.weights);
    const [n, m] = weights.rule.shape.slice(-2);
    this.root.hidden = Math.max(n, m) > MOST_WORDS;
    if (this.root.hidden) return;
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
    this.compose(leading);
    return texts;
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
    const picture = document.createElementNS(SVG, "svg");
    const height = Math.max(n, m) * ROW;
    for (const [name, value] of Object.entries({ viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }))
      picture.setAttribute(name, value);
    picture.style.height = `${height}px`;
    this.paths = queries.map(() => keys.map((_, key) => {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", `hue-${key % HUES}`);
      picture.append(path);
      return path;
    }));
    this.keys = keys.map((text, key) => element("li", { class: `hue-${key % HUES}` }, word(text), " ", element("b")));
    this.sum = element("div", { class: "sum" });
    const ribbons = element("div", { class: "ribbons" }, group, picture, element("ol", { "aria-label": "Weights of the keys" }, ...this.keys));
    this.root.append(ribbons, this.sum);
  }

  choose(at) {
    this.at = at;
    const texts = this.show();
    this.page.say(`${this.words[at].textContent}: ${this.keys.map((key, place) => `${key.firstChild.textContent} ${texts[place]}`).join(", ")}`);
  }

  /** The output of the query: in each column a bar of what every key gives to it, the negative ones to the left. */
  compose(leading) {
    const { rule } = this.model.steps.get(this.model.data.mixed);
    const terms = this.model.terms(rule);
    this.sum.hidden = !terms;
    if (!terms) return;
    const width = rule.shape.at(-1);
    const start = this.model.at(rule.shape, [...leading, this.at, 0]);
    const columns = Array.from({ length: width }, (_, column) => terms(start + column));
    const side = (each, sign) => each.reduce((sum, term) => sum + Math.max(0, sign * term || 0), 0);
    const [below, above] = [-1, 1].map((sign) => Math.max(...columns.map((each) => side(each, sign))));
    const percent = (value) => `${(100 * value) / (below + above || 1)}%`;
    const labels = this.model.data.labels[rule.labels.at(-1)];
    const symbol = symbolName(rule.symbol);
    const head = element("figcaption", {}, this.page.partTitle(), element("bdi", {}, this.words[this.at].textContent), `: ${symbol} as a sum of ${symbolName(readsOf(rule.equation).at(-1))}`);
    this.sum.replaceChildren(head, ...columns.map((each, column) => {
      const ends = { "-1": below, 1: below };
      const bar = element("span", { class: "bar" });
      bar.style.setProperty("--zero", percent(below));
      each.forEach((term, key) => {
        if (!term) return;
        const sign = Math.sign(term);
        const part = element("i", { class: `hue-${key % HUES}`, title: this.page.asked ? "" : `${this.keys[key].firstChild.textContent}: ${signed(formatNumber(term, this.model.data.precision))}` });
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
