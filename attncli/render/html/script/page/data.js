// @ts-check
// The data that stand in the page, before all else.

"use strict";

/** @type {Live} */
const LIVE = JSON.parse(document.querySelector("#attncli-live").textContent);
const SHARED = LIVE.data.shared;
