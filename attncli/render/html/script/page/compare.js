// @ts-check
// The problem as it was given, for as long as the key C is held, or until the button is pressed again:
// what was changed is put aside, and comes back.

"use strict";

// What only looks around does not end it.
const LOOKS_AROUND = /^(c|Tab|Arrow.*|Page.*|Home|End|Shift|Control|Alt|Meta| )$/i;
const WOULD_CHANGE = ".live > .controls *, .one-number *, footer button";

class Compare {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /**
     * What was changed, while the problem is shown as it was given.
     *
     * @type {string[][]}
     */
    this.aside = null;
    this.isHeld = false;
    this.button = button("Compare", () => (this.aside ? this.end() : this.begin()), {
      "aria-pressed": "false",
      title: "See the problem as it was given; with its key, as long as you hold it",
    });
    page.keys.offer(this.button, "c");
    this.note = element("p", { class: "as-given" }, "As given");
    this.note.hidden = true;
    page.root.append(this.note);
    this.listen();
  }

  listen() {
    document.addEventListener("keydown", (event) => this.press(event), true);
    document.addEventListener("keyup", ({ key }) => {
      if (this.isHeld && key.toLowerCase() === "c") this.end();
    });
    window.addEventListener("blur", () => this.isHeld && this.end());
    // Whoever changes something else changes what they had.
    document.addEventListener(
      "pointerdown",
      (event) => {
        const target = targetOf(event).closest(WOULD_CHANGE);
        if (target && !this.button.contains(target)) this.end();
      },
      true,
    );
    document.addEventListener("click", (event) => this.goOn(event, "click"), true);
  }

  /**
   * Whoever acts on a number acts on the one that is there when what was changed has come back, also
   * where it then stands in another cell.
   *
   * @param {MouseEvent | KeyboardEvent} event
   * @param {"click" | "keydown"} kind
   */
  goOn(event, kind) {
    const { matrices } = this.page;
    const found = this.aside && matrices.find(targetOf(event));
    if (!found) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.end();
    const cell = matrices.at(found.table.name, found.table.start + found.at)?.cell;
    cell?.focus({ preventScroll: true });
    const Kind = kind === "click" ? MouseEvent : KeyboardEvent;
    const { bubbles, cancelable } = event;
    const again = { bubbles, cancelable, ...("key" in event ? { key: event.key } : {}) };
    cell?.dispatchEvent(new Kind(kind, again));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (this.aside) {
      const isButton = event.target === this.button;
      if (isButton || LOOKS_AROUND.test(event.key)) return;
      this.goOn(event, "keydown");
      this.end();
    } else if (this.page.keys.pressed(event) === "c" && !event.repeat) this.isHeld = this.begin();
  }

  /** Whether there is something to compare: what is half typed would be lost. */
  begin() {
    const { page } = this;
    if (!page.isChanged() || page.edits.fields.size || page.asked) return false;
    this.aside = changesOf(page);
    this.turn([], "as it was given");
    return true;
  }

  end() {
    if (!this.aside) return;
    const changes = this.aside;
    this.turn(changes, "as you changed it");
    this.aside = null;
    this.isHeld = false;
    this.show();
    this.page.undo.note();
    remember(this.page);
  }

  /**
   * @param {string[][]} changes
   * @param {string} said
   */
  turn(changes, said) {
    take(this.page, new URLSearchParams(changes));
    this.page.model.work();
    this.page.showAll();
    this.page.say(said);
  }

  show() {
    const isOn = Boolean(this.aside);
    this.note.hidden = !isOn;
    this.page.present.tell();
    this.button.setAttribute("aria-pressed", String(isOn));
    // A button that is disabled would lose the focus.
    this.button.setAttribute("aria-disabled", String(!isOn && !this.page.isChanged()));
  }
}
