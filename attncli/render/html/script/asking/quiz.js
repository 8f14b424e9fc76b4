// @ts-check
// Questions about the numbers on the page: which key a query looks at most, a number to fill in, a
// mistake to find.

"use strict";

// Mistakes to choose from, and those that are worked out to find them.
const MOST_OPTIONS = 4;
const MOST_TRIES = 24;
const VERDICTS = {
  right: "Right",
  rounding: "Nearly: only the last digit differs, as after rounding too early",
  wrong: "Wrong",
};

class Quiz {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    // How many questions there were: of three kinds in turn.
    this.turn = 0;
    this.ask = element("p");
    this.room = element("div", { class: "options" });
    this.verdict = element("p", { role: "status" });
    this.next = button("Another question", () => this.question());
    const close = button("×", () => page.controls.ask.click(), {
      class: "close",
      "aria-label": "Close the quiz",
    });
    const children = [this.ask, this.room, this.verdict, this.next, close];
    this.root = element("section", { class: "quiz", "aria-label": "Quiz" }, ...children);
    this.root.hidden = true;
    this.take(page.model);
  }

  /**
   * The numbers that are asked about.
   *
   * @param {Model} model
   */
  take(model) {
    this.model = model;
    this.part = new ShownPart(this.page, model);
    this.lines = this.part.lines;
    this.judging = new Judging(model);
  }

  toggle() {
    this.root.hidden = !this.root.hidden;
    if (!this.root.hidden) this.question();
    else this.page.hideCells(null);
    return !this.root.hidden;
  }

  /** The next question that these numbers allow. */
  question() {
    this.take(this.page.model.with(""));
    this.verdict.textContent = "";
    this.page.hideCells(null);
    const kinds = [() => this.whichKey(), () => this.blank(), () => this.whichMistake()];
    for (let tried = 0; tried < kinds.length; tried++) {
      const ask = kinds[this.turn % kinds.length];
      this.turn += 1;
      if (ask()) return;
    }
    this.put(["There is no question about these numbers."]);
  }

  /**
   * @param {(Node | string)[]} question
   * @param {Node[]} children
   */
  put(question, ...children) {
    this.ask.replaceChildren(...question);
    this.room.replaceChildren(...children);
    if (children.length) this.root.scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {string[]} texts
   * @param {(at: number) => void} answer
   */
  options(texts, answer) {
    return texts.map((text, at) => {
      const made = button("", () => answer(at));
      made.replaceChildren(label(text));
      return made;
    });
  }

  /**
   * @param {Verdict} verdict
   * @param {string} more
   */
  said(verdict, more) {
    this.verdict.className = verdict;
    const text = verdict ? `${VERDICTS[verdict]}. ${more}` : more;
    this.verdict.replaceChildren(...raised(text));
  }

  // --- which key

  whichKey() {
    const { rule, values } = this.model.steps.get(this.model.data.weights) ?? {};
    if (!rule) return false;
    const { labels, start } = this.part.of(rule);
    const [queries, keys] = labels;
    const first = (/** @type {number} */ query) => start + query * keys.length;
    const rows = [...queries.keys()].map((query) => [
      ...values.subarray(first(query), first(query + 1)),
    ]);
    const clear = [...rows.keys()].filter((query) => this.isClear(rows[query]));
    if (!clear.length || keys.length < 2 || keys.length > SHARED.most_told_apart) return false;
    const query = anyOf(clear);
    const most = rows[query].indexOf(Math.max(...rows[query]));
    const weight = (/** @type {number} */ key) =>
      `${keys[key]} has the weight ${this.part.text(rule.name, first(query) + key)}`;
    const options = this.options(keys, (key) => {
      if (key === most) this.said("right", `${weight(key)}.`);
      else this.said("wrong", `${weight(key)}, and ${weight(most)}.`);
      this.page.hideCells(null);
    });
    const word = element("b", {}, label(queries[query]));
    const [section] = this.page.sections.ofStep(this.model.setting.logits);
    const scores = section ? element("a", { href: `#${section.id}` }, "scores") : "scores";
    this.put(["Which key does ", word, " look at most? The ", scores, " tell."], ...options);
    const places = [...keys.keys()].map((key) => first(query) + key);
    this.page.hideCells(rule.name, places);
    return true;
  }

  /**
   * Whether a query looks at one key most, and has a choice: one that sees a single key has none.
   *
   * @param {number[]} weights
   */
  isClear(weights) {
    const [most, next] = [...weights].sort((a, b) => b - a);
    return next > 0 && most - next > 10 ** -this.model.data.precision;
  }

  // --- a number to work out

  /** A number to work out: it is missing here in its matrix, and on the page, until it is found. */
  blank() {
    const cells = this.cellsToWorkOut();
    if (!cells.length) return false;
    const { rule, at, value } = anyOf(cells);
    const { label: cell, work, relation, result } = this.lines.line(rule, at);
    if (!work) return false;
    const name = `${symbolName(rule.symbol)}: ${cell}`;
    const input = element("input", {
      inputmode: "text",
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": name,
    });
    const found = (/** @type {Verdict} */ verdict) => {
      this.said(verdict, `${signed(`${work} ${relation} ${result}`)}.`);
      this.page.hideCells(null);
    };
    const matrix = this.part.matrix(rule, this.model, new Map([[at, input]]));
    const show = button("Show it", () => found(""));
    const form = element("form", {}, matrix, element("button", {}, "Check"), " ", show);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const verdict = this.judging.verdict(input.value, value);
      if (!verdict) this.said("", whyNoNumber(input.value));
      else if (verdict === "wrong")
        this.said("wrong", this.judging.reason(rule.name, at, input.value));
      else found(verdict);
    });
    const title = element("b", {}, label(name));
    this.put(["Work out ", title, ", with ", math(this.lines.formula(rule)), "."], form);
    this.page.hideCells(rule.name, [at]);
    return true;
  }

  /** Finite numbers of the head and the entry that are shown, which are worked out. */
  cellsToWorkOut() {
    const steps = [...this.model.steps.values()];
    const worked = steps.filter(({ rule, given }) => !given && !rule.copies && !rule.hides);
    return worked.flatMap(({ rule, values }) => {
      const { labels, start } = this.part.of(rule, this.part.axes(rule));
      const length = size(labels.map((each) => each.length));
      const cells = range(length).map((at) => {
        return { rule, at: start + at, value: values[start + at] };
      });
      return cells.filter(({ value }) => Number.isFinite(value));
    });
  }

  // --- which mistake

  whichMistake() {
    const right = this.printed(this.model);
    const tried = shuffled(this.model.mistakes()).slice(0, MOST_TRIES);
    const known = tried.map((name) => ({ name, steps: this.printed(this.model.with(name)) }));
    for (const { name, steps } of known) {
      const isOther = (/** @type {string} */ step) =>
        right.has(step) && right.get(step) !== steps.get(step);
      const step = [...steps.keys()].find(isOther);
      if (!step) continue;
      // A mistake that gives neither could have been made, and was not.
      const gives = new Set([right.get(step), steps.get(step)]);
      const others = known.filter((other) => !gives.has(other.steps.get(step)));
      if (!others.length) continue;
      const wrong = others.slice(0, MOST_OPTIONS - 1).map((other) => other.name);
      this.putMistake(name, step, shuffled([name, ...wrong]));
      return true;
    }
    return false;
  }

  /**
   * @param {string} name
   * @param {string} step
   * @param {string[]} names
   */
  putMistake(name, step, names) {
    const { rule } = this.model.steps.get(step);
    const options = this.options(names, (at) => {
      if (names[at] === name) this.said("right", "");
      else this.said("wrong", `It was this: ${name}.`);
    });
    const question = `A mistake gave these numbers for ${symbolName(rule.symbol)}. Which one?`;
    this.put([question], this.part.matrix(rule, this.model.with(name)), ...options);
  }

  /**
   * The texts of every step in one, to see which of them differ.
   *
   * @param {Model} model
   */
  printed(model) {
    const steps = [...model.steps];
    const textOf = (/** @type {string} */ name, /** @type {Step} */ { values }) =>
      [...values.keys()].map((at) => model.text(name, at)).join(" ");
    return new Map(steps.map(([name, step]) => [name, textOf(name, step)]));
  }
}

/**
 * @template Item
 * @param {Item[]} items
 */
const anyOf = (items) => items[Math.floor(Math.random() * items.length)];

/**
 * @template Item
 * @param {Item[]} items
 */
function shuffled(items) {
  /** @type {[number, Item][]} */
  const drawn = items.map((item) => [Math.random(), item]);
  return drawn.sort(([a], [b]) => a - b).map(([, item]) => item);
}
