// @ts-check
// What the cards of the tour say of the query that was chosen: as many as the problem has steps for.

"use strict";

// More terms of a mix are only hinted at.
const MOST_TERMS_SAID = 4;

/**
 * A card: the matrices that it is about, the number in it, its sentence, what there is to do, and
 * whether that is done. One without a number is about the ribbons. `options` are keys to choose from,
 * and `ends` is called when another card follows.
 *
 * @typedef {{ about: string[], cell?: Cell, says: Said, ask: Said, isDone: () => boolean,
 *   options?: number[], ends?: () => void }} Card
 */
/** @typedef {(Node | string)[]} Said */

class TourCards {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    this.aim = new Aim(page);
  }

  /**
   * All cards; none where no weights are the shares of keys.
   *
   * @returns {Card[]}
   */
  all() {
    const { query } = this.page;
    this.weights = query.weights();
    if (!this.weights) return [];
    this.of = this.chosen();
    this.query = query.at;
    const [queries, keys] = this.weights.rule.labels.slice(-2);
    this.words = this.model.data.labels[keys];
    this.who = strongly(this.model.data.labels[queries][this.query]);
    const [, start] = this.cell(this.weights, this.query);
    this.shares = [...this.weights.values.subarray(start, start + this.words.length)];
    this.best = this.shares.indexOf(Math.max(...this.shares));
    if (this.best < 0) return [];
    // Of the best key, its score is asked for.
    const others = range(this.shares.length).filter((key) => key !== this.best);
    this.other = others.sort((a, b) => this.shares[b] - this.shares[a])[0] ?? this.best;
    this.scores = scoresOf(this.model);
    // In the order of the page.
    const begin = [this.first(), this.question(), this.key(), this.value(), this.fit()];
    return [...begin, this.softmax(), this.mix(), this.change()].filter(Boolean);
  }

  /** The attention and the query that were chosen, as a text. */
  chosen() {
    const { query, sections } = this.page;
    return JSON.stringify([query.at, sections.place, sections.arranged]);
  }

  // --- the cards

  /** @returns {Card} */
  first() {
    const { query } = this.page;
    const { query: before } = this;
    if (!query.isDrawn) return null;
    const [, start] = this.cell(this.weights, before);
    return {
      about: [...this.model.steps.keys()],
      says: [
        "Every word looks around and mixes what it finds: ",
        this.asks(),
        ...whereItLooks(query, start),
      ],
      ask: ["Choose another word beside the ribbons. The tour follows it."],
      isDone: () => query.at !== before,
    };
  }

  question() {
    const step = readAlong(this.model, "query");
    const says = [
      this.asks(),
      " asks: which words matter to me? Its question is its row of ",
      symbolOfStep(step),
      ".",
    ];
    return this.ofRow(step, this.query, says, [
      "Click ",
      ": the line above this card says where it comes from.",
    ]);
  }

  key() {
    const step = readAlong(this.model, "key");
    const says = [
      "By its key a word is found. That of ",
      this.word(this.other),
      " is its row of ",
      symbolOfStep(step),
      ".",
    ];
    return this.ofRow(step, this.other, says, ["Click ", ", or another number of this row."]);
  }

  /** Which key fits best is asked before the scores are shown. */
  fit() {
    const step = this.scores;
    const says = ["A score says how well a key fits the question of ", this.asks(), "."];
    const card = this.ofBest(step, says);
    const seen = range(this.words.length).filter((key) => this.shares[key]);
    if (!card || !this.isClear(seen)) return card;
    const about = [readAlong(this.model, "query"), readAlong(this.model, "key"), step].map(
      (each) => each?.rule.name,
    );
    const ask = ["Which key fits ", this.asks(), " best? Click one."];
    return { ...card, about, ask, options: seen, isDone: () => false };
  }

  softmax() {
    const says = ["Softmax makes weights of scores. ", ...this.exponential(), ...this.division()];
    const steps = [...this.model.steps.values()];
    const pairs = steps.filter(({ rule }) => isOfQueriesAndKeys(rule));
    const about = pairs.map(({ rule }) => rule.name);
    return { ...this.ofBest(this.weights, says), about };
  }

  /** What the weights are shares of: the powers of the scores, where there are such. */
  exponential() {
    const { rule } = this.weights;
    const reads = rule.equation ? readsOf(rule.equation) : [];
    const powers = reads.map((name) => this.model.steps.get(name)).find(isOfPairs);
    const worked = powers && this.worked(powers);
    if (!worked) return [];
    return ["Each score becomes a power, which is never below 0: ", ...raised(worked), ". "];
  }

  division() {
    const worked = this.worked(this.weights);
    if (!worked) return ["The larger its score, the more ", this.asks(), " looks at a key."];
    const shares = "Divided by the sum of its row it is a share: ";
    return [shares, ...raised(worked), ". The larger a score, the larger its share."];
  }

  /**
   * How a number of the best key is worked out; nothing where it is not.
   *
   * @param {Step} step
   */
  worked(step) {
    const [, at] = this.cell(step, this.query, this.best);
    const { work, relation, result } = this.page.lines.line(step.rule, at);
    return relation && signed(`${work} ${relation} ${result}`);
  }

  value() {
    const step = mixedBy(this.model);
    const says = [
      "What a word gives is its value. That of ",
      this.word(this.other),
      " is its row of ",
      symbolOfStep(step),
      ".",
    ];
    const follows = " At the top of the window, the weights stay and the output follows.";
    const slide = [", then ", strongly("Hold and slide"), `.${follows}`];
    const [begin, ...then] = step?.given
      ? ["Type another number over ", `.${follows}`]
      : ["Click ", ...slide];
    const card = this.ofRow(step, this.other, says, [begin, ...then]);
    if (!card) return null;
    const [name, first] = card.cell;
    const row = range(step.rule.shape.at(-1)).map((at) => first + at);
    const isTyped = (/** @type {number} */ at) => this.page.edits.texts.has(`${name}.${at}`);
    const isDone = () => row.some((at) => isTyped(at) || this.isSlid(name, at));
    return { ...card, isDone, ends: () => this.letGo(name, row) };
  }

  /**
   * Whether a number is held where its equation does not put it.
   *
   * @param {string} name
   * @param {number} at
   */
  isSlid(name, at) {
    const { model } = this;
    if (!model.isHeld(name, at)) return false;
    const held = model.steps.get(name).values[at];
    return !areNear(held, model.letGo(name, at).steps.get(name).values[at]);
  }

  /**
   * @param {string} name
   * @param {number[]} places
   */
  letGo(name, places) {
    const held = places.filter((at) => this.model.isHeld(name, at));
    if (!held.length) return;
    for (const at of held) this.model.hold(name, at);
    this.model.work();
    this.page.show();
  }

  mix() {
    const step = this.model.steps.get(this.model.data.mixed);
    const says = ["The new ", this.asks(), " is a mix of values: ", ...this.terms(), "."];
    const card = this.ofRow(step, this.query, says, [
      "Click ",
      ", then ",
      strongly("Next term"),
      ".",
    ]);
    if (!card) return null;
    const { isDone } = card;
    const about = [this.weights, mixedBy(this.model), step].map((each) => each?.rule.name);
    return { ...card, about, isDone: () => this.page.oneNumber.walk.term !== null && isDone() };
  }

  /**
   * The last one, which can be done with one number: that was tried.
   *
   * @returns {Card}
   */
  change() {
    const { key, cell, by } = this.aim.of(this);
    if (!cell) return null;
    const [name] = cell;
    const now = this.number(this.cell(this.weights, this.query, key));
    const { rule } = this.weights;
    return {
      about: [name, rule.name],
      cell,
      says: [
        "Change one number. Can you make ",
        this.asks(),
        " look most at ",
        this.word(key),
        "?",
      ],
      ask: [
        "Its weight is ",
        now,
        ". One number that can do it: ",
        this.number(cell, true),
        `. Click it, and type a ${by > 0 ? "larger" : "smaller"} one.`,
      ],
      isDone: () => this.shares[key] === Math.max(...this.shares),
    };
  }

  // --- what cards have in common

  /**
   * A card about the first number of a row, which is clicked: it stands behind the first text of
   * `ask`.
   *
   * @param {Step} step
   * @param {number} row
   * @param {Said} says
   * @param {Said} ask
   * @returns {Card}
   */
  ofRow(step, row, says, [begin, ...rest], column = 0) {
    if (!step) return null;
    const { rule } = step;
    const cell = this.cell(step, row, column);
    const reads = rule.equation ? readsOf(rule.equation) : [];
    return {
      about: [...reads, rule.name],
      cell,
      says,
      ask: [begin, this.number(cell), ...rest],
      isDone: () => this.isChosen(cell, rule.shape.at(-1)),
    };
  }

  /**
   * A card about what a step has of the best key.
   *
   * @param {Step} step
   * @param {Said} says
   */
  ofBest(step, says) {
    return this.ofRow(
      step,
      this.query,
      says,
      ["Click ", ", that of ", this.word(this.best), "."],
      this.best,
    );
  }

  /**
   * @param {{ rule: Rule }} step
   * @param {number} row
   * @returns {Cell}
   */
  cell({ rule }, row, column = 0) {
    const { sections } = this.page;
    return [rule.name, placeIn(rule.shape, [...sections.leading(rule), row, column])];
  }

  /**
   * Whether a number in the row of a cell was chosen.
   *
   * @param {Cell} cell
   * @param {number} width
   */
  isChosen([name, place], width) {
    const { table, at } = this.page.oneNumber.chosen ?? {};
    const isRow = (/** @type {number} */ other) =>
      Math.floor(other / width) === Math.floor(place / width);
    return table?.name === name && isRow(table.start + at);
  }

  // --- steps

  /**
   * Whether of some keys one is clearly the best, by its score, too.
   *
   * @param {number[]} seen
   */
  isClear(seen) {
    const [, first] = this.cell(this.scores, this.query);
    const best = (/** @type {(key: number) => number} */ sizeOf) => {
      const most = Math.max(...seen.map(sizeOf));
      return seen.filter((key) => sizeOf(key) === most).join();
    };
    const byScore = best((key) => this.scores.values[first + key]);
    const isOne = byScore === `${this.best}` && byScore === best((key) => this.shares[key]);
    return isOne && seen.length > 1 && seen.length <= SHARED.most_told_apart;
  }

  // --- words

  asks() {
    return this.who.cloneNode(true);
  }

  /** @param {number} key */
  word(key) {
    return strongly(this.words[key]);
  }

  /**
   * A number of the page, which leads to its cell; or the name of its cell, which does so.
   *
   * @param {Cell} cell
   */
  number(cell, isNamed = false) {
    const [name, at] = cell;
    const title = this.page.lines.title(this.model.steps.get(name).rule, at);
    const text = this.page.printed(name, at);
    const attributes = { class: "number", "aria-label": `${title} = ${text}` };
    return button(isNamed ? title : text, () => this.page.tour.go(cell), attributes);
  }

  /** The mix of the query, by its weights. */
  terms() {
    const seen = range(this.words.length).filter((key) => this.shares[key]);
    const [name, start] = this.cell(this.weights, this.query);
    const said = seen.slice(0, MOST_TERMS_SAID).flatMap((key, at) => {
      const weight = this.page.printed(name, start + key);
      return [at ? " + " : "", `${weight} × `, this.word(key)];
    });
    return seen.length > MOST_TERMS_SAID ? [...said, " + …"] : said;
  }
}

/** @param {string} text */
const strongly = (text) => element("b", {}, label(text));
