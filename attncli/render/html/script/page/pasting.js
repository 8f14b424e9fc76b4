// @ts-check
// A matrix that is pasted in the place of a given one: with Ctrl+V at one of its numbers, or into a
// field.

"use strict";

class Pasting {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.button = button("Paste", () => this.open());
    this.title = element("label", { for: "attncli-pasted" });
    this.text = element("textarea", {
      id: "attncli-pasted",
      rows: "6",
      spellcheck: "false",
      autocapitalize: "off",
    });
    this.complaint = element("p", { class: "notice", role: "alert" });
    const hint =
      "As a spreadsheet, a program, LaTeX, a table or a page has it: [[1, 0], [0, 1]], or a row on each line.";
    const buttons = element(
      "p",
      { class: "controls" },
      button("Take it", () => this.takeField()),
      button("Cancel", () => this.dialog.close()),
    );
    const parts = [this.title, element("p", { class: "hint" }, hint), this.text, this.complaint];
    this.dialog = element("dialog", { class: "pasting" }, ...parts, buttons);
    page.root.append(this.dialog);
    document.addEventListener("paste", (event) => this.pasted(event));
    // It would clear the number, too.
    this.dialog.addEventListener("keydown", (event) => event.stopPropagation());
    this.dialog.addEventListener("close", () => this.found.cell.focus({ preventScroll: true }));
  }

  // --- the field

  open() {
    this.found = this.page.oneNumber.chosen;
    const { name, rule } = this.found.table;
    this.title.replaceChildren(`A matrix in the place of ${symbolName(rule.symbol) || name}`);
    this.text.value = this.complaint.textContent = "";
    this.dialog.showModal();
    this.text.focus();
  }

  takeField() {
    const why = this.take(this.found.table, this.text.value);
    this.complaint.textContent = why;
    if (why) this.text.focus();
    else this.dialog.close();
  }

  // --- at a number

  /** @param {ClipboardEvent} event */
  pasted(event) {
    const { activeElement } = document;
    const text = event.clipboardData.getData("text/plain");
    const found = this.page.matrices.find(activeElement);
    const isOneNumber = activeElement.matches("input") && !/[\n\t]/.test(text.trim());
    if (!found?.table.editable || isOneNumber) return;
    event.preventDefault();
    // A number that is half typed is left as it was.
    found.cell.focus();
    const why = this.take(found.table, text);
    if (why) this.page.oneNumber.notice(why);
  }

  /**
   * Put the numbers of a text in the place of those of a matrix; why not, where they do not fit.
   *
   * @param {Matrix} table
   * @param {string} text
   */
  take({ name, rule, start }, text) {
    const { page } = this;
    const title = symbolName(rule.symbol) || name;
    try {
      const { shape, texts, names } = readPasted(text, Math.min(2, rule.shape.length));
      while (shape.length > rule.shape.length && shape[0] === 1) shape.shift();
      const isOther = `${rule.shape.slice(-shape.length)}` !== `${shape}`;
      const why = page.model.sizes.take(name, texts, shape, start);
      const [before, now] = [rule.shape, shape].map((each) => each.join(" × "));
      if (why)
        return `${title} is ${before}, and what was pasted is ${now}: ${why}. Nothing has changed.`;
      this.rename(rule, names);
      page.resizing.changed();
      const sized = isOther ? `, it is ${now} now` : "";
      page.oneNumber.tell(`${title}: ${texts.length} numbers were pasted${sized}`);
      return "";
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return `Nothing was pasted: ${error.message}.`;
    }
  }

  /**
   * The names beside rows of tokens are their words.
   *
   * @param {Rule} rule
   * @param {string[]} names
   */
  rename({ labels }, names) {
    const { sizes, data } = this.page.model;
    const list = labels.at(-2);
    const areWords = data.naming[list]?.[0] === "words";
    if (areWords && names.length === data.labels[list].length)
      names.forEach((word, at) => sizes.rename(list, at, word));
  }
}
