// @ts-check
// The problem as it is now: as a file, and the command line that works it out.

"use strict";

class Saving {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.model = page.model;
    this.command = element("code", {}, page.live.data.command);
    // What no file can say.
    this.warning = element("span", { class: "unsaved" });
    const save = button("Save as YAML", () => this.save());
    const copy = button("Copy", () => this.copy(), { "aria-label": "Copy the command line" });
    const { sharing } = page;
    const anew = button("Begin with nothing", () => this.anew());
    anew.hidden = Boolean(START);
    const buttons = [save, " ", sharing.button, " ", anew];
    const command = element("span", {}, "In a terminal: ", this.command, " ", copy);
    const said = [this.warning, sharing.said];
    this.root = element("p", { class: "hint" }, ...buttons, " ", command, ...said);
  }

  /** Zeros and ones, to be typed over, where everybody begins: at the top. */
  anew() {
    const { page } = this;
    page.finish();
    page.edits.clear();
    page.showAll();
    page.root.scrollIntoView();
    page.say("zeros and ones, to be typed over; Undo brings the numbers back");
  }

  show() {
    this.page.sharing.show();
    this.warning.textContent = this.unsaved();
  }

  save() {
    const own = this.page.sharpness.written(this.model.setting.yaml);
    const file = new Blob([savedText(this.model, own)], { type: "text/yaml" });
    const link = element("a", { href: URL.createObjectURL(file), download: "problem.yaml" });
    link.click();
    URL.revokeObjectURL(link.href);
    this.page.say(`saved as problem.yaml. ${this.unsaved()}`);
  }

  /** The command line to the clipboard; where there is none, it is marked to copy. */
  copy() {
    const more = this.unsaved();
    const done = navigator.clipboard?.writeText(this.page.live.data.command) ?? Promise.reject();
    done.then(
      () => this.page.say(`copied. ${more}`),
      () => {
        getSelection().selectAllChildren(this.command);
        this.page.say(`marked, to be copied. ${more}`);
      },
    );
  }

  /** What no file can say, and the command therefore does not know; empty where it is all saved. */
  unsaved() {
    const held = [...this.model.held.values()].reduce((sum, numbers) => sum + numbers.size, 0);
    const said = [];
    if (held === 1) said.push("the number that you hold");
    if (held > 1) said.push(`the ${held} numbers that you hold`);
    if (this.model.mistake) said.push("the mistake of What if");
    if (this.page.edits.unread().length) said.push("what is no number");
    return said.length ? `Not saved: ${said.join(" and ")}.` : "";
  }
}
