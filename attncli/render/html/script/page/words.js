// @ts-check
// Words of one's own: the name of a token that is typed over, with a click at a given matrix, a double
// click elsewhere, or F2 at a number of its row.

"use strict";

class Words {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    for (const kind of ["click", "dblclick"])
      page.main.addEventListener(kind, (event) => {
        const head = /** @type {HTMLTableCellElement} */ (targetOf(event).closest("th"));
        const isMeant = head?.matches(kind === "click" ? ".one-word" : ":not(.one-word)");
        const word = isMeant && !targetOf(event).matches("input") && this.wordAt(head);
        if (word) this.open(word);
      });
    page.main.addEventListener("keydown", (event) => {
      const found = event.key === "F2" && page.matrices.find(targetOf(event));
      const word = found && this.wordOf(found);
      if (!word) return;
      event.preventDefault();
      this.open(word);
    });
  }

  /** Let one see which words a click changes: those beside given numbers. */
  connect() {
    for (const { table, labelled, editable } of this.page.matrices.tables)
      for (const head of labelled && editable ? all(table, "th") : [])
        if (this.wordAt(/** @type {HTMLTableCellElement} */ (head))) {
          head.classList.add("one-word");
          head.title = "Click to type another word";
        }
  }

  /**
   * The word beside a number: that of its row, or above its column.
   *
   * @param {Found} found
   */
  wordOf({ table, cell }) {
    const row = /** @type {HTMLTableRowElement} */ (cell.parentElement);
    const above = table.table.tHead?.rows[0].cells[cell.cellIndex];
    return this.wordAt(row.cells[0]) ?? (above && this.wordAt(above));
  }

  /**
   * Which label stands there; null for one that is counted, such as d1.
   *
   * @param {HTMLTableCellElement} head
   * @returns {Word}
   */
  wordAt(head) {
    const matrix = this.page.matrices.byTable.get(head.closest("table"));
    if (!matrix?.labelled) return null;
    const { rule, fixed, turned, table } = matrix;
    const axes = [...rule.cell.keys()].filter((axis) => !(rule.cell[axis] in fixed));
    const isRow = head.scope === "row";
    const axis = isRow === turned ? axes[1] : axes[0];
    const at = isRow ? [...table.tBodies[0].rows].indexOf(rowOf(head)) : head.cellIndex - 1;
    const list = rule.labels[axis];
    const isWord = axes.length < 3 && this.page.model.data.naming[list]?.[0] === "words";
    return isWord ? { head, list, at } : null;
  }

  /** @param {Word} word */
  open({ head, list, at }) {
    const { page } = this;
    const before = page.model.data.labels[list][at];
    const focused = page.oneNumber.chosen;
    const field = element("input", {
      class: "word",
      value: before,
      "aria-label": `Another word for ${before}`,
      autocomplete: "off",
      spellcheck: "false",
    });
    field.style.setProperty("--typed", `${Math.max(before.length, 4)}`);
    let isOpen = true;
    const close = (/** @type {boolean} */ isTaken) => {
      if (!isOpen) return;
      isOpen = false;
      field.remove();
      const why = isTaken ? this.take(list, at, field.value) : "";
      if (why) page.oneNumber.notice(why);
      if (focused)
        page.matrices.at(focused.table.name, focused.table.start + focused.at)?.cell.focus();
    };
    field.addEventListener("blur", () => close(true));
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") close(true);
      if (event.key === "Escape") close(false);
    });
    head.append(field);
    field.focus();
    field.select();
  }

  /**
   * Why it is no word; "" where it is one.
   *
   * @param {number} list
   * @param {number} at
   * @param {string} text
   */
  take(list, at, text) {
    const { page } = this;
    const { labels } = page.model.data;
    const before = labels[list][at];
    if (text.trim() === before) return "";
    const why = page.model.sizes.rename(list, at, text);
    if (why) return `${before} stays: ${why}.`;
    page.resizing.changed();
    const word = labels[list][at];
    const isDouble = labels[list].filter((each) => each === word).length > 1;
    page.oneNumber.tell(`${before} is ${word} now${isDouble ? ", as another one is" : ""}`);
    return "";
  }
}

/** @typedef {{ head: HTMLTableCellElement, list: number, at: number }} Word */

/** @param {HTMLElement} head */
const rowOf = (head) => /** @type {HTMLTableRowElement} */ (head.parentElement);
