// @ts-check
// What goes on in a lecture: keys, as clickers have them, swipes, and clicks on the map.

"use strict";

// A clicker has no other keys: these go on from a field, too.
/** @type {Record<string, number>} */
const BY_CLICKER = { PageDown: 1, PageUp: -1 };
/** @type {Record<string, number>} */
const BY_TERM = { " ": 1, ArrowRight: 1, ArrowLeft: -1 };
/** @type {Record<string, number>} */
const BY_STEP = { ArrowDown: 1, ArrowUp: -1, End: Infinity, Home: -Infinity };
const WRITES = "input, select";

class LectureKeys {
  /** @param {Present} present */
  constructor(present) {
    this.present = present;
    this.page = present.page;
    this.darkness = present.darkness;
    addEventListener("keydown", (event) => this.take(event), true);
    const { root } = this.page;
    root.addEventListener("touchstart", ({ touches }) => (this.touched = touches[0]));
    root.addEventListener("touchend", (event) => this.swipe(event));
    root.addEventListener("click", (event) => this.follow(event), true);
    root.addEventListener("click", () => {
      // The next key is one of the lecture, and not of a button.
      if (present.isOn && document.activeElement.matches("button")) present.leaveField();
      present.keep();
    });
    addEventListener("mouseover", (event) => this.point(event), true);
  }

  // --- keys

  /** @param {KeyboardEvent} event */
  take(event) {
    const isCommand = event.ctrlKey || event.metaKey || event.altKey;
    if (isCommand || event.defaultPrevented) return;
    if (this.present.isOn) {
      if (!this.isTaken(event)) return;
    } else if (this.page.keys.pressed(event) === "p") this.present.begin();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {KeyboardEvent} event */
  isTaken(event) {
    const { key } = event;
    const isPress = key === " " || key === "Enter";
    if (this.darkness.isBlack) this.darkness.turnBlack(false);
    else if (key in BY_CLICKER) this.goFromField(BY_CLICKER[key]);
    else if (key === "Escape" && this.isInField(targetOf(event))) this.present.leaveField();
    else if (isPress && targetOf(event).matches("button")) return false;
    else return this.isKey(this.page.keys.pressed(event));
    return true;
  }

  /** @param {string} key */
  isKey(key) {
    const { present, darkness } = this;
    if (key in BY_TERM) present.go(BY_TERM[key]);
    else if (key in BY_STEP) present.move(BY_STEP[key]);
    else if (/^[1-9]$/.test(key)) present.chooseWord(Number(key) - 1);
    else if (key === "d") darkness.turn();
    else if (key === "b" || key === ".") darkness.turnBlack(true);
    else if (key === "m") present.turnMask();
    else if (key === "Escape" || key === "p") present.end();
    else return false;
    return true;
  }

  /**
   * A field over a given number takes Escape itself.
   *
   * @param {HTMLElement} target
   */
  isInField(target) {
    return target.matches(WRITES) && !this.page.edits.cell?.contains(target);
  }

  /** @param {number} by */
  goFromField(by) {
    this.present.leaveField();
    this.present.go(by);
  }

  // --- fingers and the pointer

  /** @param {TouchEvent} event */
  swipe({ changedTouches: [touch], target }) {
    const scrolls = /** @type {Element} */ (target).closest(".scroll, .product, .map");
    const isScrolled = scrolls && scrolls.scrollWidth > scrolls.clientWidth;
    if (!this.present.isOn || !this.touched || isScrolled) return;
    const across = touch.clientX - this.touched.clientX;
    const down = touch.clientY - this.touched.clientY;
    if (Math.abs(across) > Math.max(SWIPE, 2 * Math.abs(down))) this.present.go(-Math.sign(across));
  }

  /**
   * While somebody types, the pointer points at nothing.
   *
   * @param {MouseEvent} event
   */
  point(event) {
    if (this.present.isOn && this.page.edits.cell) event.stopPropagation();
  }

  /**
   * A matrix of the map leads to its screen.
   *
   * @param {MouseEvent} event
   */
  follow(event) {
    if (this.darkness.isBlack) return this.darkness.turnBlack(false);
    const link = /** @type {HTMLAnchorElement} */ (targetOf(event).closest(".map a"));
    const id = this.present.isOn && link?.hash.slice(1);
    const screen = id && this.present.screens.all().find((each) => each.section.id === id);
    if (!screen) return;
    event.preventDefault();
    event.stopPropagation();
    this.present.turnTo(screen);
  }
}
