// @ts-check
// Given numbers that are typed over, and cells of the mask that are clicked.

"use strict";

// Of what was changed, so much is listed.
const MOST_CHANGES_LISTED = 3;
const HOW_TO_CHANGE =
  "Click a given number and type: 2, 1/3 or sqrt(2). Point at any number to see how it is worked out.";

class Edits {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    /**
     * Of given numbers, by "X.3": the texts that were typed.
     *
     * @type {Map<string, string>}
     */
    this.texts = new Map();
    /**
     * The cell that is being typed over.
     *
     * @type {HTMLElement}
     */
    this.cell = null;
  }

  // --- numbers

  /**
   * Let a given number be typed over, or begin with a first sign.
   *
   * @param {Found} found
   * @param {string} [text]
   */
  open(found, text) {
    const field = new Field(this.page, found, text);
    this.cell = found.cell;
    // Over its text, so that the matrix keeps its shape.
    found.cell.append(field.input);
    field.input.focus();
    if (text === undefined) field.input.select();
    else field.take(text);
  }

  /**
   * Work everything out again after a number was edited.
   *
   * @param {string} name
   * @param {number} at
   */
  changed(name, at) {
    const { written } = this.model.arrays.get(name);
    if (written[at] === this.original(name, at)) this.texts.delete(`${name}.${at}`);
    else this.texts.set(`${name}.${at}`, written[at]);
    this.model.work();
    this.page.show();
  }

  /**
   * @param {string} name
   * @param {number} at
   */
  original(name, at) {
    const { written, numbers } = this.page.live.data.arrays[name];
    return written ? written[at] : `${numbers[at]}`;
  }

  reset() {
    for (const key of this.texts.keys()) {
      const [name, at] = splitKey(key);
      this.model.edit(name, at, this.original(name, at));
    }
    this.texts.clear();
    const { mask, scaled } = this.page.live.data.settings[0];
    this.page.set(mask, scaled, "");
    this.page.say("as it was given");
  }

  // --- the mask

  /**
   * Let a query see a key, or hide it; in all heads and entries that share the mask which is shown.
   *
   * @param {Found} found
   */
  toggle({ table, at }) {
    const { model } = this;
    const { mask: before, clicks: mask, scaled } = model.setting;
    const { rule, values } = model.steps.get(model.data.mask);
    const own = this.ruleOfMask(mask);
    const clicked = table.start + at;
    const willBeSeen = values[clicked] === -Infinity;
    model.arrays.get(model.data.own).values.forEach((_, place) => {
      const shown = cellAt(rule, placesOf(own, place));
      if (shown === clicked) this.setKeep(place, willBeSeen);
      else if (before !== mask) this.setKeep(place, values[shown] !== -Infinity);
    });
    this.page.set(mask, scaled);
    const isStillHidden = model.steps.get(model.data.mask).values[clicked] === -Infinity;
    if (willBeSeen && isStillHidden)
      this.page.say(
        "The numbers that the problem adds hide this key. In a mask of your own it can be seen.",
      );
  }

  /** @param {string} mask */
  ruleOfMask(mask) {
    const { settings, mask: name } = this.model.data;
    const { plain } = settings.find((each) => each.mask === mask);
    return this.model.rules[plain.find((at) => this.model.rules[at].name === name)];
  }

  /**
   * @param {number} at
   * @param {boolean} isSeen
   */
  setKeep(at, isSeen) {
    const { own } = this.page.live.data;
    this.model.edit(own, at, isSeen ? "1" : "0");
    if (isSeen) this.texts.delete(`${own}.${at}`);
    else this.texts.set(`${own}.${at}`, "0");
  }

  // --- what was changed, in words

  /** What differs from the problem as it was given; or what can be done, where nothing does. */
  said() {
    const changes = [...this.typedNumbers(), ...this.heldNumbers()];
    if (!changes.length) return [this.page.misfits ? MISFITS : HOW_TO_CHANGE];
    const listed = changes.slice(0, MOST_CHANGES_LISTED);
    const parted = listed.flatMap((each, at) => (at ? ["; ", ...each] : each));
    const more = changes.length - listed.length;
    return ["Changed: ", ...parted, more ? `; and ${more} more` : ""];
  }

  typedNumbers() {
    const changes = [...this.texts].map(([key, text]) => this.change(...splitKey(key), text));
    return changes.filter(Boolean);
  }

  heldNumbers() {
    const held = [...this.model.held];
    return held.flatMap(([name, numbers]) =>
      [...numbers.keys()].map((at) => {
        const text = this.page.lines.numberText(name, at);
        return this.change(name, at, `${text}, held`);
      }),
    );
  }

  /**
   * @param {string} name
   * @param {number} at
   * @param {string} text
   * @returns {(Node | string)[]}
   */
  change(name, at, text) {
    const { rule } = this.model.steps.get(name) ?? {};
    return rule && [label(this.page.lines.title(rule, at)), ` = ${signed(text)}`];
  }
}

/** A field over a given number. What is no number is marked, and is not kept when the field closes. */
class Field {
  /**
   * @param {Page} page
   * @param {Found} found
   * @param {string} [text]
   */
  constructor(page, { table, at, cell }, text) {
    this.page = page;
    this.cell = cell;
    this.name = table.name;
    this.at = table.start + at;
    this.typing = new Typing(page.model, this.name, this.at);
    this.label = page.lines.title(table.rule, this.at, table.fixed);
    this.isClosing = false;
    this.input = element("input", {
      value: text ?? this.typing.before,
      "aria-label": this.label,
      inputmode: "text",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.fit();
    // To the left, where there is room.
    this.input.classList.toggle("late", (at % table.width) * 2 >= table.width);
    this.input.addEventListener("input", () => this.take(this.input.value));
    this.input.addEventListener("blur", () => this.close());
    this.input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (this.takes(event)) event.preventDefault();
    });
  }

  fit(text = this.input.value) {
    this.input.style.setProperty("--typed", `${text.length}`);
  }

  /** @param {string} text */
  take(text) {
    this.fit(text);
    const isNumber = this.typing.take(text);
    this.input.setAttribute("aria-invalid", String(!isNumber));
    if (isNumber) this.page.edits.changed(this.name, this.at);
    else
      this.page.oneNumber.line.textContent = `${this.typing.why}. Escape brings back ${this.before()}.`;
  }

  before() {
    return signed(this.typing.before);
  }

  /**
   * Whether a key does more than to write.
   *
   * @param {KeyboardEvent} event
   */
  takes({ key, shiftKey }) {
    if (key === "Escape") this.take(this.typing.before);
    const canClose = key === "Enter" && this.input.getAttribute("aria-invalid") !== "true";
    if (key === "Escape" || canClose) {
      this.close();
      this.cell.focus();
      return true;
    }
    if (key !== "ArrowUp" && key !== "ArrowDown") return false;
    const by = shiftKey ? 0.1 : 1;
    this.input.value = this.typing.stepped(key === "ArrowUp" ? by : -by);
    this.take(this.input.value);
    return true;
  }

  close() {
    // Sections that change their places take the field out and put it back.
    if (this.isClosing || this.page.sections.isArranging) return;
    this.isClosing = true;
    // A cell whose number has not changed is not written again.
    this.input.remove();
    this.page.edits.cell = null;
    const { why } = this.typing;
    this.page.oneNumber.notice(why && `${why}. ${this.label} stays ${this.before()}.`);
    if (!why) return this.page.show();
    this.typing.giveUp();
    this.page.edits.changed(this.name, this.at);
  }
}
