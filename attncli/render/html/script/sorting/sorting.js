// @ts-check
// Tables that are sorted by a click on a heading: upwards first, then downwards.

"use strict";

// Of this file alone.
{
  // Names as people sort them: t2 before t10.
  const NAME_ORDER = new Intl.Collator(undefined, { numeric: true });

  for (const table of document.querySelectorAll("table[data-sorts]")) {
    for (const [column, head] of [...table.querySelectorAll("thead th")].entries()) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sortByColumn(table, head, column));
      head.append(button);
    }
  }

  /**
   * @param {Element} table
   * @param {Element} head
   * @param {number} column
   */
  function sortByColumn(table, head, column) {
    const isUpwards = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isUpwards ? "descending" : "ascending");
    const body = table.querySelector("tbody");
    const rows = [...body.rows];
    const way = isUpwards ? -1 : 1;
    rows.sort((one, other) => orderOfCells(one.cells[column], other.cells[column], way));
    body.append(...rows);
  }

  /**
   * Which of two cells comes first. An empty one is last, whichever way the others are sorted.
   *
   * @param {HTMLElement} one
   * @param {HTMLElement} other
   * @param {number} way
   */
  function orderOfCells(one, other, way) {
    const [text, otherText] = [one.textContent.trim(), other.textContent.trim()];
    if (!text || !otherText) return Number(!text) - Number(!otherText);
    const [number, otherNumber] = [numberOf(one, text), numberOf(other, otherText)];
    const areNumbers = !Number.isNaN(number) && !Number.isNaN(otherNumber);
    return way * (areNumbers ? number - otherNumber : NAME_ORDER.compare(text, otherText));
  }

  /**
   * What a cell is sorted by: its rank, or the number that it begins with, 17.5 of 17.5 / 20, and
   * 1024 of 1,024.
   *
   * @param {HTMLElement} cell
   * @param {string} text
   */
  function numberOf(cell, text) {
    if (cell.dataset.rank) return Number(cell.dataset.rank);
    const found = /^[-−]?[\d,]*\.?\d+(?=$|\s)/.exec(text);
    return found ? Number(found[0].replaceAll(",", "").replace("−", "-")) : NaN;
  }
}
