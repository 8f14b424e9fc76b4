// @ts-check
// A lecture in the dark or in the light, whatever the system has, and a black screen.

"use strict";

class Darkness {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.system = matchMedia("(prefers-color-scheme: dark)");
    this.rules = rulesOf(this.system.media);
    this.isDark = false;
    this.isBlack = false;
  }

  /** As the system has it. */
  reset() {
    this.turn(this.system.matches);
  }

  turn(isDark = !this.isDark) {
    this.isDark = isDark;
    const isOwn = isDark === this.system.matches;
    const { style } = document.documentElement;
    style.colorScheme = isDark ? "dark" : "light";
    if (isOwn) style.colorScheme = "";
    const medium = isDark ? "screen" : "not all";
    for (const rule of this.rules) rule.media.mediaText = isOwn ? this.system.media : medium;
  }

  /**
   * Nothing at all, so that the class looks at who speaks; every key brings the screen back.
   *
   * @param {boolean} isBlack
   */
  turnBlack(isBlack) {
    this.isBlack = isBlack;
    this.root.classList.toggle("black", isBlack);
  }
}

/**
 * The rules of the page that hold for a medium.
 *
 * @param {string} medium
 */
function rulesOf(medium) {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const media = rules.filter((rule) => rule instanceof CSSMediaRule);
  return media.filter((rule) => rule.conditionText === medium);
}
