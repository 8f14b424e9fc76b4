// @ts-check
// What can be chosen: the mask, the scale, a mistake, the quiz; and what was changed, in words.

"use strict";

class Controls {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    const { settings, yaml } = page.live.data;
    this.mask = element("select", {}, ...this.masks());
    this.mask.addEventListener("change", () => this.takeMask());
    this.scale = element("input", { type: "checkbox" });
    this.scale.checked = settings[0].scaled;
    this.scale.addEventListener("change", () => {
      page.set(page.model.setting.mask, this.scale.checked);
    });
    this.reset = button("Reset", () => page.edits.reset());
    this.hint = element("p", { class: "hint changes" });
    const parts = [page.map.root, page.query.root, this.bar(), page.whatIf.effect];
    const live = element("div", { class: "live" }, ...parts, page.quiz.root, this.hint);
    (first(page.root, "header") ?? page.root).append(live);
    if (yaml) page.root.append(element("footer", { class: "live" }, page.saving.root));
  }

  masks() {
    const { live } = this.page;
    const masks = [...new Set(live.data.settings.map((each) => each.mask))];
    return masks.map((mask) => element("option", { value: mask }, live.masks[mask]));
  }

  bar() {
    const { settings } = this.page.live.data;
    const canScale = settings.some((each) => each.scaled !== settings[0].scaled);
    const scale = canScale ? [element("label", {}, this.scale, " Scaled scores")] : [];
    const mask = this.mask.length > 1 ? [element("label", {}, "Mask ", this.mask)] : [];
    const ask = button("Quiz", () => {
      ask.setAttribute("aria-expanded", String(this.page.quiz.toggle()));
    });
    ask.setAttribute("aria-expanded", "false");
    return element(
      "div",
      { class: "controls", role: "group", "aria-label": "What is worked out" },
      ...mask,
      ...scale,
      this.page.whatIf.choice,
      this.reset,
      ask,
    );
  }

  /** A mask whose cells are clicked comes into view. */
  takeMask() {
    const { page } = this;
    page.set(this.mask.value, page.model.setting.scaled);
    const { mask, clicks } = page.model.setting;
    if (mask !== clicks) return;
    const isInView = (/** @type {Matrix} */ { name, labelled, table }) =>
      name === page.model.data.mask && labelled && table.offsetParent;
    page.matrices.tables.find(isInView)?.table.scrollIntoView({ block: "center" });
  }

  showSetting() {
    const { mask, scaled } = this.page.model.setting;
    this.mask.value = mask;
    this.scale.checked = scaled;
  }

  show() {
    // A button that is disabled would lose the focus.
    this.reset.setAttribute("aria-disabled", String(!this.page.isChanged()));
    this.hint.replaceChildren(...this.page.edits.said());
    this.page.saving.show();
  }
}
