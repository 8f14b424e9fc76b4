// @ts-check
// Keys that are signs alone, such as P: they work wherever nobody writes. Who speaks to a computer, or
// presses keys by chance, can turn them off (WCAG 2.1.4). Those at a number work only there.

"use strict";

/** Where the choice is kept, for all pages of a site. */
const KEPT_KEYS = "attncli-keys";
const LIST_OF_KEYS = [
  ["C, held", "the problem as it was given"],
  ["?", "all worked lines"],
  ["P", "a lecture; in it 1 to 9 choose a word, M a mask, D the dark, B a black screen"],
];
const KEYS_AT_A_NUMBER = [
  ["N, B", "at a number: through its terms, and back"],
  ["H", "at a number: hold it"],
];

class Keys {
  constructor() {
    this.areOn = keptKeys() !== "off";
    /**
     * The buttons that do the same as a key.
     *
     * @type {Map<HTMLElement, string>}
     */
    this.buttons = new Map();
    this.box = element("input", { type: "checkbox" });
    this.box.checked = this.areOn;
    this.box.addEventListener("change", () => this.turn(this.box.checked));
    const rows = [...LIST_OF_KEYS, ...KEYS_AT_A_NUMBER].flatMap(([key, does]) => [
      element("dt", {}, key),
      element("dd", {}, does),
    ]);
    const label = element("label", {}, this.box, " Keys without Ctrl");
    const title = element("summary", {}, "Keys");
    const always = "Those at a number work there alone, and always.";
    const hint = element("p", {}, label, ". ", always);
    this.root = element("details", { class: "keys" }, title, element("dl", {}, ...rows), hint);
  }

  /** @param {boolean} areOn */
  turn(areOn) {
    this.areOn = areOn;
    for (const button of this.buttons.keys()) this.name(button);
    try {
      localStorage.setItem(KEPT_KEYS, areOn ? "on" : "off");
    } catch {
      // Where nothing may be kept, as inside a notebook, it counts until the page is left.
    }
  }

  /**
   * Let a button say the key that does the same.
   *
   * @param {HTMLElement} button
   * @param {string} key
   */
  offer(button, key) {
    this.buttons.set(button, key);
    this.name(button);
  }

  /** @param {HTMLElement} button */
  name(button) {
    if (this.areOn) button.setAttribute("aria-keyshortcuts", this.buttons.get(button));
    else button.removeAttribute("aria-keyshortcuts");
  }

  /**
   * The key that was pressed; none where somebody writes or chooses, or gives another command, and no
   * sign where these are off. A slider has its own arrows.
   *
   * @param {KeyboardEvent} event
   */
  pressed(event) {
    const { key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
    const target = targetOf(event);
    const isSlid = target.matches("[type=range]") && key.length > 1;
    const writes = "input:not([type=checkbox], [type=range]), select, textarea, dialog, dialog *";
    const isTyped = isSlid || target.matches(writes);
    const isSign = key.length === 1 && key !== " ";
    const isOff = isSign && !this.areOn;
    return isOff || isTyped || defaultPrevented || ctrlKey || metaKey || altKey ? "" : key;
  }
}

/** What was chosen before, on this page or on another one of its site. */
function keptKeys() {
  try {
    return localStorage.getItem(KEPT_KEYS);
  } catch {
    return null;
  }
}
