// @ts-check
// The data that stand in the page, before all else; a page to begin with has several problems.

"use strict";

/** The problem that the address begins with; empty on a page of one problem. */
const startOf = () => new URLSearchParams(location.hash.slice(2)).get("start") ?? "";
const START = startOf();
/** @type {HTMLTemplateElement} */
const OTHER = document.querySelector(`template[data-start="${CSS.escape(START)}"]`);
const STORED = (OTHER?.content ?? document).querySelector("[type='application/json']");
if (OTHER) document.querySelector(".attncli").replaceWith(OTHER.content.querySelector(".attncli"));
window.addEventListener("hashchange", () => {
  if (startOf() !== START) location.reload();
});

/** @type {Live} */
const LIVE = JSON.parse(STORED.textContent);
const SHARED = LIVE.data.shared;
