// @ts-check
// What can be chosen: the mask, the scale, a mistake, the quiz; and what was changed, in words.

"use strict";

class Controls {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    const { settings, yaml } = page.live.data;
    this.mask = element("select", {}, ...this.masks());
    this.mask.addEventListener("change", () => {
      page.set(this.mask.value, page.model.setting.scaled);
    });
    this.scale = element("input", { type: "checkbox" });
    this.scale.checked = Boolean(settings[0].scaled);
    this.scale.addEventListener("change", () => {
      page.set(page.model.setting.mask, this.scale.checked);
    });
    this.ask = button("Quiz", () => {
      this.ask.setAttribute("aria-expanded", String(page.quiz.toggle()));
      this.ask.focus();
    });
    this.ask.setAttribute("aria-expanded", "false");
    this.reset = button("Reset", () => page.edits.reset());
    this.hint = element("p", { class: "hint changes" });
    // What is said here has room, so that nothing below it moves.
    const said = element("div", { class: "said" }, page.whatIf.root, this.hint);
    // What a change does stands beside what changes it; then comes how it is worked out.
    const effect = [page.tour.start, page.query.root, this.bar(), said, page.quiz.root];
    const live = element("div", { class: "live" }, ...effect, page.map.root, page.map.caption);
    page.root.append(page.whatIf.panel.root);
    (first(page.root, "header") ?? page.root).append(live);
    const end = [...(yaml ? [page.saving.root] : []), page.keys.root];
    page.root.append(element("footer", { class: "live" }, ...end));
  }

  masks() {
    const { live } = this.page;
    const masks = [...new Set(live.data.settings.map((each) => each.mask))];
    return masks.map((mask) => element("option", { value: mask }, live.masks[mask]));
  }

  bar() {
    const { settings } = this.page.live.data;
    const canScale = settings.some((each) => each.scaled !== settings[0].scaled);
    const tick = canScale ? [element("label", {}, this.scale, " Scaled scores")] : [];
    const { sharpness } = this.page;
    const scale = sharpness.isOffered ? [sharpness.root] : tick;
    const mask = this.mask.length > 1 ? [element("label", {}, "Mask ", this.mask)] : [];
    const { resizing, whatIf, compare, undo, how, present } = this.page;
    return element(
      "div",
      { class: "controls" },
      group("What is worked out", ...mask, whatIf.choice, resizing.parts, ...scale),
      group("What was changed", compare.button, undo.back, undo.again, this.reset),
      group("Ways to read", this.ask, how.button, present.button),
    );
  }

  showSetting() {
    const { mask, scaled } = this.page.model.setting;
    this.mask.value = mask;
    this.scale.checked = Boolean(scaled);
  }

  show() {
    const isChanged = this.page.isChanged() || this.page.blanks.names.length > 0;
    // A button that is disabled would lose the focus.
    this.reset.setAttribute("aria-disabled", String(!isChanged));
    const said = this.page.edits.said();
    this.hint.replaceChildren(...said);
    // Where a mistake is told, nobody has to be told how to begin.
    this.hint.hidden = said[0] === HOW_TO_CHANGE && Boolean(this.page.model.mistake);
    this.page.saving.show();
    this.page.compare.show();
  }
}

/**
 * @param {string} name
 * @param {(Node | string)[]} parts
 */
const group = (name, ...parts) => element("div", { role: "group", "aria-label": name }, ...parts);
