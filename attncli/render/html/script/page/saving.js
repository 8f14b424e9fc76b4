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
    const children = [save, " In a terminal: ", this.command, " ", copy, this.warning];
    this.root = element("p", { class: "hint" }, ...children);
  }

  show() {
    this.warning.textContent = this.unsaved();
  }

  /** The problem in a file that attncli reads. */
  yaml() {
    const text = `${this.page.live.data.yaml}${this.model.setting.yaml}`;
    return text.replace(/⟨(\w+):(\d+)⟩/g, (_, name, at) => {
      const { written, values } = this.model.arrays.get(name);
      return written?.[Number(at)] ?? spelledInFile(values[Number(at)]);
    });
  }

  save() {
    const file = new Blob([this.yaml()], { type: "text/yaml" });
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
    return said.length ? `Not saved: ${said.join(" and ")}.` : "";
  }
}
