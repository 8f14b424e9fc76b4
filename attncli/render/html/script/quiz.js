// Questions about the numbers on the page: which key a query looks at most, a number to fill in, a mistake to find.

"use strict";

const OPTIONS = 4; // mistakes to choose from
const TRIES = 24; // mistakes that are worked out to find these
const MOST_NAMED = 2; // mistakes that give a wrong number
const VERDICTS = {
  right: "Right",
  rounding: "Nearly: only the last digit differs, as after rounding too early",
  wrong: "Wrong",
};

const anyOf = (items) => items[Math.floor(Math.random() * items.length)];
const shuffled = (items) => items.map((item) => [Math.random(), item]).sort(([a], [b]) => a - b).map(([, item]) => item);

class Quiz {
  constructor(page) {
    this.page = page;
    this.turn = 0;
    this.ask = element("p");
    this.room = element("div", { class: "options" });
    this.verdict = element("p", { role: "status" });
    this.next = element("button", { type: "button" }, "Another question");
    this.next.addEventListener("click", () => this.question());
    this.root = element("section", { class: "quiz", "aria-label": "Quiz" }, this.ask, this.room, this.verdict, this.next);
    this.root.hidden = true;
  }

  toggle() {
    this.root.hidden = !this.root.hidden;
    if (!this.root.hidden) this.question();
    else this.page.hideCells(null);
    return !this.root.hidden;
  }

  /** The next question that these numbers allow; of three kinds in turn. */
  question() {
    this.model = this.page.model.with("");
    this.lines = new Lines(this.model);
    this.verdict.textContent = "";
    this.page.hideCells(null);
    const kinds = [() => this.whichKey(), () => this.blank(), () => this.whichMistake()];
    for (let tried = 0; tried < kinds.length; tried++) if (kinds[this.turn++ % kinds.length]()) return;
    this.ask.textContent = "There is no question about these numbers.";
    this.room.replaceChildren();
  }

  put(question, ...children) {
    this.ask.replaceChildren(...[question].flat());
    this.room.replaceChildren(...children);
    this.root.scrollIntoView({ block: "nearest" });
  }

  options(texts, answer) {
    return texts.map((text, at) => {
      const button = element("button", { type: "button" }, element("bdi", {}, text));
      button.addEventListener("click", () => answer(at));
      return button;
    });
  }

  said(verdict, more) {
    this.verdict.className = verdict;
    this.verdict.replaceChildren(...raised(verdict ? `${VERDICTS[verdict]}. ${more}` : more));
  }

  text(name, at, model = this.model) {
    return signed(this.lines.text(this.lines.node(model.text(name, at))));
  }

  /** The labels of the last axes of a step, and where the numbers begin of the head and the entry that are shown. */
  shown(rule, axes = 2) {
    const labels = rule.labels.slice(-axes).map((at) => this.model.data.labels[at]);
    const before = rule.cell.slice(0, -axes).map((letter) => this.page.place[letter] ?? 0);
    return { labels, start: this.model.at(rule.shape, [...before, ...new Array(axes).fill(0)]) };
  }

  whichKey() {
    const { rule, values } = this.model.steps.get(this.model.data.weights);
    const { labels: [queries, keys], start } = this.shown(rule);
    const rows = queries.map((_, query) => Array.from(values.subarray(start + query * keys.length, start + (query + 1) * keys.length)));
    const clear = [...rows.keys()].filter((query) => {
      const [most, next] = [...rows[query]].sort((a, b) => b - a);
      return next > 0 && most - next > 10 ** -this.model.data.precision; // one that sees a single key has no choice
    });
    if (!clear.length || keys.length < 2 || keys.length > MOST_WORDS) return false;
    const query = anyOf(clear);
    const most = rows[query].indexOf(Math.max(...rows[query]));
    const weight = (key) => `${keys[key]} has the weight ${this.text(rule.name, start + query * keys.length + key)}`;
    this.put(["Which key does ", element("b", {}, element("bdi", {}, queries[query])), " look at most? The scores tell."], ...this.options(keys, (key) => {
      if (key === most) this.said("right", `${weight(key)}.`);
      else this.said("wrong", `${weight(key)}, and ${weight(most)}.`);
      this.page.hideCells(null);
    }));
    this.page.hideCells(rule.name, keys.map((_, key) => start + query * keys.length + key));
    return true;
  }

  /** A number to work out: it is missing here in its matrix, and on the page, until it is found. */
  blank() {
    const cells = [...this.model.steps.values()].filter(({ rule, given }) => !given && !rule.copies && !rule.hides).flatMap(({ rule, values }) => {
      const { labels, start } = this.shown(rule, this.axes(rule));
      const end = start + size(labels.map((each) => each.length));
      return Array.from(values.subarray(start, end), (value, at) => [rule, start + at, value]).filter(([, , value]) => Number.isFinite(value));
    });
    if (!cells.length) return false;
    const [rule, at, value] = anyOf(cells);
    const { label, work, relation, result } = this.lines.line(rule, at);
    if (!work) return false;
    const name = `${symbolName(rule.symbol)}: ${label}`;
    const input = element("input", { inputmode: "text", autocomplete: "off", spellcheck: "false", "aria-label": name });
    const show = element("button", { type: "button" }, "Show it");
    const found = (verdict) => {
      this.said(verdict, `${signed(`${work} ${relation} ${result}`)}.`);
      this.page.hideCells(null);
    };
    show.addEventListener("click", () => found(""));
    const form = element("form", {}, this.matrix(rule, this.model, new Map([[at, input]])), element("button", {}, "Check"), " ", show);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const judged = (number) => judge(number, typed(input.value), this.model.data.judging);
      const verdict = judged(value);
      if (!verdict) this.said("", whyNoNumber(input.value));
      else if (verdict === "wrong") {
        const made = this.model.mistakesThatGive(rule.name, at, (number) => judged(number) === "right").slice(0, MOST_NAMED);
        this.said(verdict, made.length ? `This comes out if ${made.join(", or if ")}.` : "Try again, or show it.");
      }
      else found(verdict);
    });
    this.put(["Work out ", element("b", {}, element("bdi", {}, name)), ", with ", math(this.lines.formula(rule)), "."], form);
    this.page.hideCells(rule.name, [at]);
    return true;
  }

  whichMistake() {
    const right = this.printed(this.model);
    const known = shuffled(this.model.mistakes()).slice(0, TRIES).map((name) => ({ name, steps: this.printed(this.model.with(name)) }));
    for (const { name, steps } of known) {
      const step = [...steps.keys()].find((each) => right.has(each) && right.get(each) !== steps.get(each));
      if (!step) continue;
      const gives = new Set([right.get(step), steps.get(step)]); // a mistake that gives neither could have been made, and was not
      const others = known.filter((other) => !gives.has(other.steps.get(step))).slice(0, OPTIONS - 1);
      if (!others.length) continue;
      const names = shuffled([name, ...others.map((other) => other.name)]);
      const { rule } = this.model.steps.get(step);
      this.put(`A mistake gave these numbers for ${symbolName(rule.symbol)}. Which one?`, this.matrix(rule, this.model.with(name)), ...this.options(names, (at) =>
        names[at] === name ? this.said("right", "") : this.said("wrong", `It was this: ${name}.`)));
      return true;
    }
    return false;
  }

  /** The texts of every step in one, to see which of them differ. */
  printed(model) {
    return new Map([...model.steps].map(([name, { values }]) => [name, Array.from(values, (_, at) => model.text(name, at)).join(" ")]));
  }

  /** How many of the last axes are those of its matrix: not heads and entries. */
  axes(rule) {
    return Math.min(2, rule.cell.filter((letter) => !this.model.leading.has(letter)).length);
  }

  /** The matrix of the head and the entry that are shown, with other things in the places of some numbers. */
  matrix(rule, model, instead = new Map()) {
    const { labels, start } = this.shown(rule, this.axes(rule));
    const [rows, columns = [""]] = labels;
    const head = (text, scope) => element(text ? "th" : "td", text ? { scope } : {}, element("bdi", {}, text));
    const at = (place) => instead.get(place) ?? this.text(rule.name, place, model);
    const top = element("thead", {}, element("tr", {}, element("td"), ...columns.map((text) => head(text, "col"))));
    const body = element("tbody", {}, ...rows.map((text, row) => element("tr", {}, head(text, "row"), ...columns.map((_, column) =>
      element("td", {}, at(start + row * columns.length + column))))));
    const table = element("table", { class: "matrix" }, element("caption", { class: "unseen" }, symbolName(rule.symbol)), top, body);
    return element("div", { class: "scroll" }, table);
  }
}
