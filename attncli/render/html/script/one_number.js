// One number: how it is worked out, term by term, what it is worked out from, and a slider to hold it somewhere else.

"use strict";

const LEAST_REACH = 3; // of a slider, to both sides

class OneNumber {
  constructor(page) {
    this.page = page;
    this.model = page.model;
    this.chosen = null; // the number that was clicked, or has the focus: { table, at, cell }
    this.term = null; // of its sum: the part that was stepped to
    this.outlined = [];
    const button = (text, key, act) => {
      const made = element("button", { type: "button", "aria-keyshortcuts": key }, text);
      made.addEventListener("click", act);
      return made;
    };
    this.line = element("p", { "aria-live": "polite" });
    this.back = button("Back", "b", () => this.step(-1));
    this.walk = element("div", { role: "group", "aria-label": "Term by term" }, this.back, button("Next term", "n", () => this.step(1)));
    this.close = button("×", "Escape", () => this.dismiss());
    this.close.setAttribute("aria-label", "Close");
    this.close.className = "close";
    this.shares = element("div", { class: "shares" });
    this.slide = button("Hold and slide", "h", () => this.hold());
    this.range = element("input", { type: "range", step: "0.01", list: "attncli-computed", "aria-label": "The number held" });
    this.range.addEventListener("input", () => this.slideTo(Number(this.range.value)));
    this.range.addEventListener("keydown", ({ key }) => key === "Escape" && this.chosen.cell.focus());
    this.computed = element("option"); // which the slider has a mark at
    [this.least, this.most] = [element("small"), element("small")];
    this.slider = element("span", { class: "slider" }, this.least, this.range, this.most, element("datalist", { id: "attncli-computed" }, this.computed));
    this.noticed = element("p", { class: "notice" });
    this.noticed.hidden = true;
    const rows = [[this.line, this.walk, this.close], [this.shares, this.slider, this.slide]].map((row) => element("div", {}, ...row));
    this.root = element("aside", { class: "one-number", "aria-label": "How a number is worked out" }, this.noticed, ...rows);
    this.root.hidden = true;
  }

  /** Show how a number is worked out, and outline what it is worked out from. */
  show(table, at) {
    this.leave();
    const { page, model } = this;
    const { name, rule, fixed, start, editable } = table;
    const isChosen = this.chosen?.table === table && this.chosen.at === at;
    const parts = isChosen ? page.lines.walk(rule, start + at, fixed) : [];
    this.walk.hidden = !parts.length;
    if (isChosen && this.term !== null) this.term = this.term < parts.length ? this.term : null;
    const { label, work, relation, result, remark } = page.lines.line(rule, start + at, fixed);
    const right = page.differs(name, start + at) && `(without the mistake ${page.lines.text(page.lines.node(page.right.text(name, start + at)))})`;
    const isHeld = this.isHeld(name, start + at);
    const value = model.steps.get(name).values[start + at];
    const said = isHeld ? this.whyHeld(table, start + at) : isChosen && value === -Infinity && !rule.hides && this.isOfHiddenKey(rule, start + at) ? this.whyHidden() : page.lines.said(remark, signed);
    const line = [signed(work), signed(relation ? `${relation} ${result}` : result), said, right && signed(right)].filter(Boolean).join(" ");
    const walked = isChosen && this.term !== null ? this.walked(parts) : [" ", ...raised(line)];
    this.line.replaceChildren(element("b", {}, element("bdi", {}, `${symbolName(rule.symbol)}: ${label}`)), ...walked);
    this.back.disabled = this.term === null;
    this.slide.hidden = !isChosen || editable || !Number.isFinite(value);
    this.slide.textContent = isHeld ? "Let go" : "Hold and slide";
    this.close.hidden = !isChosen;
    this.slider.hidden = !isHeld || !isChosen;
    if (page.query.isDrawn) this.shares.replaceChildren(...page.query.bar(model.place(rule, start + at)));
    this.root.hidden = false;
    this.outline(name, start + at, "chosen");
    for (const [of, place] of model.copiesOf(name, start + at)) this.outline(of, place, "partner");
    if (!editable && !isHeld)
      page.lines.substitute(rule.equation, model.place(rule, start + at), rule.runs, fixed, (of, place) => {
        this.outline(of, place, rule.copies ? "partner" : "operand");
        return page.lines.number(of, place);
      });
    if (isChosen && this.term !== null) for (const [of, place] of parts[this.term].cells) this.outline(of, place, "term");
  }

  outline(name, at, kind) {
    for (const table of this.page.tables) {
      const cell = table.name === name && table.cells[at - table.start];
      if (!cell) continue;
      cell.classList.add(kind);
      this.outlined.push(cell);
    }
  }

  choose(found) {
    const { table, at, cell } = found;
    this.chosen = found;
    this.term = null;
    if (this.isHeld(table.name, table.start + at)) this.offer(table.name, table.start + at);
    if (table.labelled) for (const each of table.cells) each.setAttribute("tabindex", each === cell ? "0" : "-1");
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

  /** Say what became of a number that was typed; with "" nothing any more. */
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

  /** Whether a key that was pressed at a number is one of this. */
  takes({ key }, { table }) {
    if (key === "n" && !table.editable) this.step(1);
    else if (key === "b" && !table.editable) this.step(-1);
    else if (key === "h" && !this.slide.hidden) this.holdWithKeys();
    else if (key === "Escape") this.dismiss();
    else return false;
    return true;
  }

  // --- term by term

  /** To the next part of the sum, or back to the one before it; before the first stands the whole line. */
  step(by) {
    if (!this.chosen || this.walk.hidden) return;
    const { table: { rule, start, fixed }, at } = this.chosen;
    const parts = this.page.lines.walk(rule, start + at, fixed);
    const next = (this.term ?? -1) + by;
    this.term = next < 0 || next >= parts.length ? null : next;
    this.rest();
  }

  /** The parts up to the one that was stepped to, and what they come to; those that follow are only hinted at. */
  walked(parts) {
    const { text, relation, total } = parts[this.term];
    const before = parts.slice(0, this.term).map((part) => part.text);
    const rest = parts.length - 1 - this.term;
    const [kind] = this.chosen.table.rule.equation;
    const between = kind === "largest" ? ", " : " + ";
    const said = before.flatMap((part) => raised(signed(part + between)));
    return [" ", ...said, element("mark", {}, ...raised(signed(text))), ` ${relation} `, element("b", {}, signed(total)), rest ? ` · ${rest} more` : ""];
  }

  // --- a number that is held

  isHeld(name, at) {
    return this.model.held.get(name)?.has(at) ?? false;
  }

  /** Whether a number is about a key that the mask hides from its query. */
  isOfHiddenKey(rule, at) {
    return rule.axes.at(-1) === "key" && this.model.hides(this.model.place(rule, at));
  }

  /** Why a masked score cannot be held, and what shows it. */
  whyHidden() {
    const mask = this.model.steps.get(this.model.data.mask);
    return `(the mask hides this key: click its cell in ${symbolName(mask.rule.symbol)} to show it)`;
  }

  /** What is said of it: what its equation gives, and that a hidden key has no weight whatever its score. */
  whyHeld({ name, rule, fixed }, at) {
    const free = this.model.letGo(name, at);
    const { work, relation, result } = new Lines(free).line(free.steps.get(name).rule, at, fixed);
    const hidden = name !== this.model.data.weights && this.isOfHiddenKey(rule, at) ? " The mask hides this key, so no weight follows from it." : "";
    return `held. The equation gives ${signed([work, relation, result].filter(Boolean).join(" "))}.${hidden}`;
  }

  /** Hold the chosen number where it is, or let it go. */
  hold() {
    const { table: { name, start }, at } = this.chosen;
    const isHeld = this.isHeld(name, start + at);
    this.model.hold(name, start + at, isHeld ? undefined : this.model.steps.get(name).values[start + at]);
    this.model.work();
    if (!isHeld) this.offer(name, start + at);
    this.page.show();
  }

  /** By Tab alone, the way to the slider leads over other matrices, whose numbers it would then be about. */
  holdWithKeys() {
    this.hold();
    if (!this.slider.hidden) this.range.focus();
  }

  /** The slider around what the equation of a number gives, as far as this could be. */
  offer(name, at) {
    const value = this.model.letGo(name, at).steps.get(name).values[at];
    const now = this.model.held.get(name).get(at);
    const reach = Math.min(Number.MAX_VALUE, Math.max(LEAST_REACH, Math.ceil(Math.abs(value) * 2)));
    const [low, high] = this.model.limits(name).map((limit) => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, limit)));
    this.range.min = Math.max(low, Math.floor(Math.min(value, now)) - reach);
    this.range.max = Math.min(high, Math.ceil(Math.max(value, now)) + reach);
    this.range.value = now;
    this.computed.value = Number(value.toFixed(2));
    this.least.textContent = signed(this.range.min);
    this.most.textContent = signed(this.range.max);
  }

  slideTo(value) {
    const { table, at } = this.chosen;
    this.model.hold(table.name, table.start + at, value);
    this.model.work();
    this.page.show();
  }
}
