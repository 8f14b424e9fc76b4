// @ts-check
// A lecture: one step a screen, large.

"use strict";

class Present {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.main = page.main;
    this.screens = new Screens(page);
    this.isOn = false;
    // The screen that is shown, and its place among all.
    this.id = "";
    this.at = 0;
    this.number = new LectureNumber(page);
    this.darkness = new Darkness(page.root);
    this.button = button("Present", () => this.begin(), { title: "One step a screen" });
    page.keys.offer(this.button, "p");
    this.changes = element("p", { class: "what-changed" });
    this.part = element("select", { "aria-label": "Part" });
    this.part.addEventListener("change", () => this.turnToPart(Number(this.part.value)));
    this.count = element("span");
    const dark = button("Dark", () => this.darkness.turn());
    page.keys.offer(dark, "d");
    this.bar = element(
      "div",
      { class: "presenter controls", role: "region", "aria-label": "Presentation" },
      this.changes,
      this.part,
      this.count,
      button("‹", () => this.go(-1), { "aria-label": "Back", title: "Key: ←" }),
      button("›", () => this.go(1), { "aria-label": "Go on", title: "Key: Space" }),
      dark,
      button("End", () => this.end(), { title: "Key: Escape" }),
    );
    page.root.append(this.bar);
    this.main.tabIndex = -1;
    this.listen();
    new LectureKeys(this);
  }

  listen() {
    addEventListener("resize", () => this.show());
    // In full screen, the browser takes Escape for itself.
    document.addEventListener("fullscreenchange", () => {
      const wasFull = this.isFull;
      this.isFull = Boolean(document.fullscreenElement);
      if (wasFull && !this.isFull) this.end();
    });
  }

  // --- what is shown

  show() {
    if (!this.isOn) return;
    const { page, screens } = this;
    screens.frame();
    // The strip, which is shown in their place, is not there.
    page.drawPictures();
    const every = screens.all();
    const found = every.findIndex(({ id }) => id === this.id);
    this.at = found < 0 ? Math.min(this.at, every.length - 1) : found;
    const screen = every[this.at];
    this.id = screen.id;
    screens.show(screen);
    screens.mark(every, this.at);
    this.showParts(screen);
    this.count.textContent = `${this.at + 1} / ${every.length}`;
    this.tell();
    this.number.hideResult();
  }

  /** Say what differs from the problem as it was given. */
  tell() {
    if (!this.isOn) return;
    const { compare, undo } = this.page;
    const changes = changesOf(this.page).map(([key, text]) => undo.said(key, text));
    const said = [...new Set(changes)].filter(Boolean).join("; ");
    this.changes.textContent = compare.aside ? "As given" : said;
  }

  /** @param {OneScreen} screen */
  showParts({ section }) {
    const parts = this.parts();
    this.part.hidden = parts.length < 2;
    const titles = parts.map((part, at) => element("option", { value: `${at}` }, titleOf(part)));
    this.part.replaceChildren(...titles);
    this.part.value = `${parts.indexOf(section.closest(".part"))}`;
  }

  parts() {
    return all(this.main, ":scope > .part");
  }

  // --- from one to the next

  /** @param {number} by */
  go(by) {
    if (!this.number.step(by)) this.move(by, by < 0);
    this.number.hideResult();
  }

  /**
   * So many screens on, to the question of its number, or to what it came to.
   *
   * @param {number} by
   */
  move(by, isTold = false) {
    const every = this.screens.all();
    const to = Math.max(0, Math.min(every.length - 1, this.at + by));
    if (to !== this.at) this.turnTo(every[to], isTold);
  }

  /** @param {OneScreen} screen */
  turnTo({ id, section, hasRibbons }, isTold = false) {
    const { sections } = this.page;
    const part = sections.parts.indexOf(section.closest(".part"));
    if (part >= 0 && part !== sections.part) sections.turnTo(part);
    this.id = id;
    this.show();
    // A number of the screen before is no longer seen.
    if (!document.activeElement.checkVisibility()) this.leaveField();
    this.number.choose(this.id, isTold);
    // The line of the number takes some room.
    this.screens.fit();
    this.main.scrollTop = 0;
    const title = hasRibbons ? this.page.query.says : first(section, "h2, h3");
    const whose = this.part.hidden ? "" : `${this.part.selectedOptions[0]?.text}, `;
    const count = this.count.textContent.replace("/", "of");
    this.page.say(`${whose}${count}: ${title.textContent}`);
    this.keep();
  }

  /**
   * The same step of another head, or where a part begins.
   *
   * @param {number} at
   */
  turnToPart(at) {
    const part = this.parts()[at];
    const every = this.screens.all();
    const now = every[this.at];
    const there = every.filter(({ section }) => part.contains(section));
    const isSame = (/** @type {OneScreen} */ { step, hasRibbons }) =>
      step === now.step && hasRibbons === now.hasRibbons;
    this.leaveField();
    this.turnTo((now.step && there.find(isSame)) || there[0]);
  }

  /** @param {number} word */
  chooseWord(word) {
    if (!this.page.query.words?.[word]) return;
    this.page.query.choose(word);
    this.show();
    this.number.choose(this.id);
    this.keep();
  }

  /** The next mask, of those that are no cells to click. */
  turnMask() {
    const { model, live } = this.page;
    const { settings } = live.data;
    const clicked = settings.map(({ clicks }) => clicks);
    const masks = [...new Set(settings.map(({ mask }) => mask))];
    const whole = masks.filter((mask) => !clicked.includes(mask));
    const next = (whole.indexOf(model.setting.mask) + 1) % whole.length;
    this.page.set(whole[next], model.setting.scaled);
    this.number.choose(this.id);
  }

  /** What was typed is taken, as by Enter. */
  leaveField() {
    this.main.focus({ preventScroll: true });
  }

  // --- beginning and end

  /**
   * The screen that was left, if nobody has gone elsewhere; else the section with the focus, or the
   * one at the upper edge of the window.
   */
  nearest() {
    const every = this.screens.all();
    const { left } = this;
    const isSame = left && left.top === scrollY && left.focus === document.activeElement;
    if (isSame) return this.id;
    const hasFocus = (/** @type {OneScreen} */ { section }) =>
      section.contains(document.activeElement);
    const isHere = (/** @type {OneScreen} */ { section }) =>
      section.getBoundingClientRect().bottom > 100;
    const here = scrollY > 200 ? every.filter(({ section }) => section.checkVisibility()) : [];
    return (every.findLast(hasFocus) ?? here.find(isHere) ?? every[0]).id;
  }

  /** Begin where the address says so. */
  restore() {
    if (!location.hash.startsWith("#!")) return;
    const said = new URLSearchParams(location.hash.slice(2));
    const id = said.get("present");
    const word = Number(said.get("asks")) - 1;
    if (id === null) return;
    if (this.page.query.words?.[word]) this.page.query.choose(word);
    this.begin(id);
    this.number.hear(said);
    this.keep();
  }

  /** What the address says of it: the screen, the word, as its key is called, and the number. */
  said() {
    const { words, at } = this.page.query;
    const asks = words ? [["asks", `${at + 1}`]] : [];
    return [["present", this.id], ...asks, ...this.number.said()];
  }

  /** What a reload brings back. */
  keep() {
    if (this.isOn) remember(this.page);
  }

  begin(id = this.nearest()) {
    const { root, oneNumber } = this.page;
    this.before = { focus: document.activeElement, chosen: oneNumber.chosen, top: scrollY };
    this.isOn = true;
    this.darkness.isDark = this.darkness.system.matches;
    document.documentElement.classList.add("lecture");
    root.classList.add("presenting");
    oneNumber.walk.unbegun = UNBEGUN;
    this.leaveField();
    const every = this.screens.all();
    this.turnTo(every.find((each) => each.id === id) ?? every[0]);
    // Without a click or a key, no browser allows it; the window will do.
    if (navigator.userActivation?.isActive)
      document.documentElement.requestFullscreen?.().catch(() => {});
  }

  end() {
    if (!this.isOn) return;
    const { focus, chosen, top } = this.before;
    const { page } = this;
    this.isOn = false;
    this.screens.clear();
    this.screens.unframe();
    this.darkness.turnBlack(false);
    document.documentElement.classList.remove("lecture");
    page.root.classList.remove("presenting");
    page.map.show();
    for (const { link } of page.map.boxes) link.classList.remove("now", "ahead");
    this.darkness.reset();
    if (document.fullscreenElement) document.exitFullscreen();
    // Whoever begins again at once is not ended by that.
    this.isFull = false;
    page.oneNumber.walk.unbegun = null;
    this.number.leave();
    this.number.hideResult();
    if (chosen) page.chooseAgain(chosen);
    scrollTo(0, top);
    const isLost = focus === document.body || !focus.isConnected;
    const back = isLost ? this.button : /** @type {HTMLElement} */ (focus);
    back.focus({ preventScroll: true });
    this.left = { top: scrollY, focus: back };
    page.say("The presentation has ended");
    remember(page);
  }
}
