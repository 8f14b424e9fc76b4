// @ts-check
// One number: how it is worked out, term by term, what it is worked out from, and a slider to hold
// it somewhere else.

"use strict";

class OneNumber {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    /**
     * The number that was clicked, or has the focus.
     *
     * @type {Found}
     */
    this.chosen = null;
    /**
     * The part of its sum that was stepped to.
     *
     * @type {number}
     */
    this.term = null;
    /** @type {HTMLElement[]} */
    this.outlined = [];
    this.line = element("p", { "aria-live": "polite" });
    this.back = button("Back", () => this.step(-1), { "aria-keyshortcuts": "b" });
    const next = button("Next term", () => this.step(1), { "aria-keyshortcuts": "n" });
    const named = { role: "group", "aria-label": "Term by term" };
    this.walk = element("div", named, this.back, next);
    this.close = button("×", () => this.dismiss(), {
      class: "close",
      "aria-keyshortcuts": "Escape",
      "aria-label": "Close",
    });
    this.shares = element("div", { class: "shares" });
    this.slider = new HeldSlider(this);
    this.slide = button("Hold and slide", () => this.hold(), { "aria-keyshortcuts": "h" });
    this.noticed = element("p", { class: "notice" });
    this.noticed.hidden = true;
    this.root = element(
      "aside",
      { class: "one-number", "aria-label": "How a number is worked out" },
      this.noticed,
      element("div", {}, this.line, this.walk, this.close),
      element("div", {}, this.shares, this.slider.root, this.slide),
    );
    this.root.hidden = true;
  }

  /**
   * Show how a number is worked out, and outline what it is worked out from.
   *
   * @param {Matrix} table
   * @param {number} at
   */
  show(table, at) {
    this.leave();
    const { name, rule, fixed, start, editable } = table;
    const place = start + at;
    const isChosen = this.chosen?.table === table && this.chosen.at === at;
    const isHeld = this.model.isHeld(name, place);
    const parts = isChosen ? this.page.lines.walk(rule, place, fixed) : [];
    if (isChosen && this.term >= parts.length) this.term = null;
    const isWalked = isChosen && this.term !== null;
    const said = isWalked
      ? this.walked(parts)
      : [" ", ...raised(this.text(table, place, isChosen))];
    const title = label(this.page.lines.title(rule, place, fixed));
    this.line.replaceChildren(element("b", {}, title), ...said);
    this.walk.hidden = !parts.length;
    this.back.disabled = this.term === null;
    const isFinite = Number.isFinite(this.model.steps.get(name).values[place]);
    this.slide.hidden = !isChosen || editable || !isFinite;
    this.slide.textContent = isHeld ? "Let go" : "Hold and slide";
    this.close.hidden = !isChosen;
    this.slider.root.hidden = !isHeld || !isChosen;
    const { query } = this.page;
    if (query.isDrawn) this.shares.replaceChildren(...query.bar(placesOf(rule, place)));
    this.root.hidden = false;
    this.outlineAll(table, place, isHeld);
    if (isWalked) for (const cell of parts[this.term].cells) this.outline(cell, "term");
  }

  /**
   * The line of a number, with what is to be said of it.
   *
   * @param {Matrix} table
   * @param {number} place
   * @param {boolean} isChosen
   */
  text(table, place, isChosen) {
    const { name, rule, fixed } = table;
    const { work, relation, result, remark } = this.page.lines.line(rule, place, fixed);
    const said = this.why(table, place, isChosen) || this.page.lines.said(remark, signed);
    const related = relation ? `${relation} ${result}` : result;
    return [signed(work), signed(related), said, this.right(name, place)].filter(Boolean).join(" ");
  }

  /**
   * Of a number that is held, or hidden, what the remark of its line does not say.
   *
   * @param {Matrix} table
   * @param {number} place
   * @param {boolean} isChosen
   */
  why(table, place, isChosen) {
    const { name, rule } = table;
    if (this.model.isHeld(name, place)) return this.whyHeld(table, place);
    const isInfinite = this.model.steps.get(name).values[place] === -Infinity;
    const isMasked = isInfinite && !rule.hides && this.isOfHiddenKey(rule, place);
    return isChosen && isMasked ? this.whyHidden() : "";
  }

  /**
   * What the number is without the mistake, where that is another.
   *
   * @param {string} name
   * @param {number} place
   */
  right(name, place) {
    const { page } = this;
    if (!page.differs(name, place)) return "";
    const { sentences } = page.lines;
    const right = page.lines.text(sentences.node(page.right.text(name, place)));
    return signed(`(without the mistake ${right})`);
  }

  // --- outlines

  /**
   * The number, its copies, and what it is worked out from.
   *
   * @param {Matrix} table
   * @param {number} place
   * @param {boolean} isHeld
   */
  outlineAll({ name, rule, fixed, editable }, place, isHeld) {
    const { model } = this;
    const { sentences } = this.page.lines;
    this.outline([name, place], "chosen");
    for (const copy of model.copiesOf(name, place)) this.outline(copy, "partner");
    if (editable || isHeld) return;
    sentences.put(rule.equation, placesOf(rule, place), rule.runs, fixed, (...cell) => {
      this.outline(cell, rule.copies ? "partner" : "operand");
      return sentences.number(...cell);
    });
  }

  /**
   * @param {Cell} cell
   * @param {string} kind
   */
  outline([name, at], kind) {
    for (const table of this.page.matrices.tables) {
      const cell = table.name === name && table.cells[at - table.start];
      if (!cell) continue;
      cell.classList.add(kind);
      this.outlined.push(cell);
    }
  }

  // --- which number

  /** @param {Found} found */
  choose(found) {
    const { table, at, cell } = found;
    this.chosen = found;
    this.term = null;
    const place = table.start + at;
    if (this.model.isHeld(table.name, place)) this.slider.offer(table.name, place);
    if (table.labelled)
      for (const each of table.cells) each.setAttribute("tabindex", each === cell ? "0" : "-1");
    this.show(table, at);
  }

  /** Show the number that was chosen, and none where there is none. */
  rest() {
    if (this.chosen) this.show(this.chosen.table, this.chosen.at);
    else this.leave();
  }

  /** Show no number any more. */
  leave() {
    for (const cell of this.outlined) cell.classList.remove("operand", "chosen", "term", "partner");
    this.outlined = [];
    this.root.hidden = true;
  }

  /**
   * Say what became of a number that was typed; with "" nothing any more.
   *
   * @param {string} text
   */
  notice(text) {
    this.noticed.textContent = text;
    this.noticed.hidden = !text;
    if (text) this.page.say(text);
  }

  dismiss() {
    this.notice("");
    this.chosen?.cell.blur();
    this.chosen = null;
    this.leave();
  }

  /**
   * Whether a key that was pressed at a number is one of this.
   *
   * @param {KeyboardEvent} event
   * @param {Found} found
   */
  takes({ key }, { table }) {
    if (key === "n" && !table.editable) this.step(1);
    else if (key === "b" && !table.editable) this.step(-1);
    else if (key === "h" && !this.slide.hidden) this.holdWithKeys();
    else if (key === "Escape") this.dismiss();
    else return false;
    return true;
  }

  // --- term by term

  /**
   * To the next part of the sum, or back to the one before it; before the first stands the whole
   * line.
   *
   * @param {number} by
   */
  step(by) {
    if (!this.chosen || this.walk.hidden) return;
    const { table, at } = this.chosen;
    const parts = this.page.lines.walk(table.rule, table.start + at, table.fixed);
    const next = (this.term ?? -1) + by;
    const isPart = next >= 0 && next < parts.length;
    this.term = isPart ? next : null;
    this.rest();
  }

  /**
   * The parts up to the one that was stepped to, and what they come to; those that follow are only
   * hinted at.
   *
   * @param {Term[]} parts
   */
  walked(parts) {
    const { text, relation, total } = parts[this.term];
    const [kind] = this.chosen.table.rule.equation;
    const between = kind === "largest" ? ", " : " + ";
    const before = parts.slice(0, this.term);
    const said = before.flatMap((part) => raised(signed(part.text + between)));
    const part = element("mark", {}, ...raised(signed(text)));
    const sum = element("b", {}, signed(total));
    const rest = parts.length - 1 - this.term;
    return [" ", ...said, part, ` ${relation} `, sum, rest ? ` · ${rest} more` : ""];
  }

  // --- a number that is held

  /**
   * Whether a number is about a key that the mask hides from its query.
   *
   * @param {Rule} rule
   * @param {number} at
   */
  isOfHiddenKey(rule, at) {
    return rule.axes.at(-1) === "key" && this.model.hides(placesOf(rule, at));
  }

  /** Why a masked score cannot be held, and what shows it. */
  whyHidden() {
    const mask = this.model.steps.get(this.model.data.mask);
    return `(the mask hides this key: click its cell in ${symbolName(mask.rule.symbol)} to show it)`;
  }

  /**
   * What is said of it: what its equation gives, and that a hidden key has no weight whatever its
   * score.
   *
   * @param {Matrix} table
   * @param {number} at
   */
  whyHeld({ name, rule, fixed }, at) {
    const free = this.model.letGo(name, at);
    const line = new Lines(free).line(free.steps.get(name).rule, at, fixed);
    const given = [line.work, line.relation, line.result].filter(Boolean).join(" ");
    const isOfNoUse = name !== this.model.data.weights && this.isOfHiddenKey(rule, at);
    const hidden = isOfNoUse ? " The mask hides this key, so no weight follows from it." : "";
    return `held. The equation gives ${signed(given)}.${hidden}`;
  }

  /** Hold the chosen number where it is, or let it go. */
  hold() {
    const { name, start } = this.chosen.table;
    const place = start + this.chosen.at;
    const isHeld = this.model.isHeld(name, place);
    const value = this.model.steps.get(name).values[place];
    this.model.hold(name, place, isHeld ? undefined : value);
    this.model.work();
    if (!isHeld) this.slider.offer(name, place);
    this.page.show();
  }

  /** By Tab alone, the way to the slider leads over other matrices, whose numbers it would then be about. */
  holdWithKeys() {
    this.hold();
    if (!this.slider.root.hidden) this.slider.range.focus();
  }

  /** @param {number} value */
  slideTo(value) {
    const { table, at } = this.chosen;
    this.model.hold(table.name, table.start + at, value);
    this.model.work();
    this.page.show();
  }
}

/** The slider that a number is held with; `model/slider_range.js` says from where to where it goes. */
class HeldSlider {
  /** @param {OneNumber} oneNumber */
  constructor(oneNumber) {
    this.model = oneNumber.model;
    this.range = element("input", {
      type: "range",
      step: "0.01",
      list: "attncli-computed",
      "aria-label": "The number held",
    });
    this.range.addEventListener("input", () => oneNumber.slideTo(Number(this.range.value)));
    this.range.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") oneNumber.chosen.cell.focus();
    });
    // The slider has a mark at what the equation gives.
    this.computed = element("option");
    const mark = element("datalist", { id: "attncli-computed" }, this.computed);
    this.least = element("small");
    this.most = element("small");
    this.root = element("span", { class: "slider" }, this.least, this.range, this.most, mark);
  }

  /**
   * @param {string} name
   * @param {number} at
   */
  offer(name, at) {
    const { least, most, computed } = sliderRange(this.model, name, at);
    this.range.min = `${least}`;
    this.range.max = `${most}`;
    this.range.value = `${this.model.held.get(name).get(at)}`;
    this.computed.value = `${Number(computed.toFixed(2))}`;
    this.least.textContent = signed(this.range.min);
    this.most.textContent = signed(this.range.max);
  }
}
