// @ts-check
// Back to what the page was before, and forward again. A step back is a whole state, and not the
// inverse of an act: whatever the address keeps can be undone.

"use strict";

/** @typedef {string[][]} Changes */

// So many things that came back are named.
const MOST_NAMED_BACK = 3;
// Before the key of a text that is no number.
const UNREAD = "?";
const WRITES_TEXT = "input:not([type=range], [type=checkbox]), textarea";

class Undo {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /**
     * The states that there were, and the place of the one that is shown.
     *
     * @type {Changes[]}
     */
    this.states = [];
    this.at = -1;
    // A drag is one step: it ends with the pointer.
    this.isDragging = false;
    // On the way to another state, none is new.
    this.isGoing = false;
    /**
     * The slider that was moved last: as long as the keys stay there, it is one step.
     *
     * @type {Element}
     */
    this.slider = null;
    /**
     * The number that was held where it was: to slide it belongs to the same step.
     *
     * @type {string}
     */
    this.begun = "";
    const keys = (/** @type {string} */ key) => ({
      "aria-keyshortcuts": `Control+${key} Meta+${key}`,
    });
    this.back = button("Undo", () => this.go(-1), keys("Z"));
    this.again = button("Redo", () => this.go(1), keys("Shift+Z"));
    this.listen();
  }

  listen() {
    document.addEventListener("keydown", (event) => this.takes(event));
    document.addEventListener("focusin", () => (this.slider = null));
    document.addEventListener("pointerdown", (event) => {
      this.slider = null;
      // The list of a select takes the end of the press.
      this.isDragging = !targetOf(event).closest("select");
    });
    for (const end of ["pointerup", "pointercancel"])
      document.addEventListener(end, () => {
        this.isDragging = false;
        this.note();
      });
  }

  /** @param {KeyboardEvent} event */
  takes(event) {
    const { key, shiftKey, altKey } = event;
    const isCommand = (event.ctrlKey || event.metaKey) && !altKey;
    // A field has an undo of its own.
    if (!isCommand || targetOf(event).matches(WRITES_TEXT)) return;
    const letter = key.toLowerCase();
    if (letter !== "z" && letter !== "y") return;
    event.preventDefault();
    this.go(letter === "y" || shiftKey ? 1 : -1, true);
  }

  /** All that was changed, and the texts that are no numbers. */
  now() {
    const unread = this.page.edits.unread().map(([key, text]) => [UNREAD + key, text]);
    return [...changesOf(this.page), ...unread];
  }

  /** Keep the state of the page, as soon as nothing is half done. */
  note() {
    if (this.isDragging || this.isGoing || this.page.edits.cell || this.page.compare.aside) return;
    const now = this.now();
    if (isSame(now, this.states[this.at])) return;
    const focused = document.activeElement;
    const slider = focused.matches("[type=range], [role=slider]") ? focused : null;
    const [goesOn, isBegun] = [slider && slider === this.slider, this.isOnly(this.begun, now)];
    if (goesOn || isBegun) this.at -= 1;
    this.begun = "";
    this.slider = slider;
    this.states.length = this.at + 1;
    if (isSame(now, this.states[this.at])) this.slider = null;
    else this.at = this.states.push(now) - 1;
    this.show();
  }

  /**
   * Whether a number is all that a new state differs by from the one that is shown.
   *
   * @param {string} key
   * @param {Changes} now
   */
  isOnly(key, now) {
    const last = this.states[this.at];
    const others = [now, last].map((state) => state?.filter(([each]) => each !== key));
    const areBoth = Boolean(key && last && textOf(now, key) && textOf(last, key));
    return areBoth && isSame(others[0], others[1]);
  }

  show() {
    const isLast = this.at === this.states.length - 1;
    // Buttons that are disabled would lose the focus.
    this.back.setAttribute("aria-disabled", String(this.at < 1));
    this.again.setAttribute("aria-disabled", String(isLast));
  }

  /**
   * To the state before, or after; with keys, the place of what came back gets the focus.
   *
   * @param {number} by
   */
  go(by, withKeys = false) {
    this.isDragging = false;
    this.note();
    const [from, to] = [this.states[this.at], this.states[this.at + by]];
    if (!to) return this.page.oneNumber.tell(`Nothing to ${by < 0 ? "undo" : "redo"}`);
    this.at += by;
    this.slider = null;
    this.begun = "";
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    this.isGoing = true;
    take(this.page, new URLSearchParams(to));
    const unread = to.filter(([key]) => key.startsWith(UNREAD));
    this.page.edits.putUnread(unread.map(([key, text]) => [bare(key), text]));
    this.page.showAll();
    this.isGoing = false;
    // What came of it is the state: else it would be a new one, and the way back would end here.
    this.states[this.at] = this.now();
    this.show();
    const keys = [...new Set([...from, ...to].map(([key]) => key))];
    const other = keys.filter((key) => textOf(from, key) !== textOf(to, key));
    const found = other.map((key) => this.found(key)).find(Boolean);
    // In a lecture, it may be on another screen.
    if (found && !this.page.present.isOn) this.point(found, focused, withKeys);
    const texts = other.map((key) => this.said(key, textOf(to, key)));
    const said = [...new Set(texts)].filter(Boolean);
    const more = said.length > MOST_NAMED_BACK ? `; and ${said.length - MOST_NAMED_BACK} more` : "";
    const named = said.slice(0, MOST_NAMED_BACK).join("; ");
    this.page.oneNumber.tell(`${by < 0 ? "Undone" : "Redone"}: ${named}${more}`);
  }

  // --- what came back, and where it is

  /**
   * Show the number that came back. Who pressed a button, or is at a choice, stays there.
   *
   * @param {Found} found
   * @param {HTMLElement} focused
   * @param {boolean} withKeys
   */
  point(found, focused, withKeys) {
    const { sections, oneNumber } = this.page;
    sections.turnToPartOf(found.cell);
    const isFree = focused === document.body || this.page.main.contains(focused);
    const isLost = !focused.checkVisibility();
    if ((withKeys && isFree) || isLost) found.cell.focus();
    oneNumber.choose(found);
  }

  /**
   * The cell of what was changed; of a mask of one's own, that of the mask.
   *
   * @param {string} key
   */
  found(key) {
    const { matrices, model, edits } = this.page;
    const [name, at] = splitKey(bare(key));
    if (name !== model.data.own) return matrices.at(name, at);
    return matrices.at(model.data.mask, edits.cellOfMask(at));
  }

  /** @param {string} now */
  scale(now) {
    const { sharpness, model } = this.page;
    if (sharpness.isOffered) return `How sharp: ${sharpness.wordsOf(model.setting)}`;
    const words = /** @type {Record<string, string>} */ ({ true: "on", false: "off" });
    return now in words ? `Scaled scores ${words[now]}` : `Scale ${now}`;
  }

  /**
   * What there is now of what was changed, in words.
   *
   * @param {string} key
   * @param {string} [now]
   */
  said(key, now) {
    const { live, lines, model } = this.page;
    const [{ mask, scaled }] = live.data.settings;
    if (key === "mask") return `Mask ${live.masks[now ?? mask]}`;
    if (key === "scaled") return this.scale(now ?? `${scaled}`);
    const [, list, label] = /^word\.(\d+)\.(\d+)$/.exec(key) ?? [];
    if (list) return `the word ${model.data.labels[Number(list)][Number(label)]}`;
    if (key === "what-if") return now ? `What if ${now}` : "nobody made a mistake";
    if (key === "blank") return now ? `blank: ${now.replaceAll(",", ", ")}` : "no blanks";
    const { table, at } = this.found(key) ?? {};
    if (!table) return "";
    const place = table.start + at;
    const isHeld = model.isHeld(table.name, place);
    const title = lines.title(table.rule, place, table.fixed);
    if (key.startsWith(UNREAD) && now !== undefined) return `${title}: ${now} is no number`;
    return `${title} = ${this.page.printed(table.name, place)}${isHeld ? ", held" : ""}`;
  }
}

/** @param {string} key */
const bare = (key) => key.replace(UNREAD, "");

/**
 * What a state says of a key; nothing where it says nothing.
 *
 * @param {Changes} state
 * @param {string} key
 */
const textOf = (state, key) => state.find(([each]) => each === key)?.[1];

/**
 * Whether two states say the same, in whatever order.
 *
 * @param {Changes} one
 * @param {Changes} [other]
 */
function isSame(one, other) {
  return Boolean(other) && JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}
