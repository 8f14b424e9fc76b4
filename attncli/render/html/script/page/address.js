// @ts-check
// What was changed, in the address of the page, so that it can be sent to others:
// #!X.0=1/3;2&mask=causal.

"use strict";

// A page with this address begins with nothing: with zeros and ones for its numbers.
const NEW = "#new";
// What says where a reader was, and changes no number.
const OF_THE_VIEW = ["part", "present", "asks", "number", "term", "tour", "start"];
const MISFITS = "A part of the address does not fit this problem, and was left out.";

/**
 * Keep what was changed in the address.
 *
 * @param {Page} page
 */
function remember(page) {
  // What is half typed is nothing to keep.
  if (page.edits.cell || page.compare.aside) return;
  const said = changesOf(page);
  const { part } = page.sections;
  if (part) said.push(["part", `${part}`]);
  if (page.present.isOn) said.push(...page.present.said());
  if (START) said.unshift(["start", START]);
  const hash = said.length ? `#!${joined(page.model, said)}` : "";
  const isOfSection = !hash && !location.hash.startsWith("#!");
  if (hash === location.hash || isOfSection) return;
  try {
    history.replaceState(history.state, "", hash || location.href.split("#")[0]);
  } catch {
    // An address that cannot be changed, as inside a notebook.
  }
}

/**
 * Begin with another problem of the page. One that was left, as it was then: its address is kept with
 * the place in the history.
 *
 * @param {Page} page
 * @param {HTMLAnchorElement} link
 */
function beginWith(page, link) {
  page.finish();
  const now = /** @type {HTMLAnchorElement} */ (first(page.root, ".starts [aria-current]"));
  if (link === now) return;
  const left = { ...history.state, [now.hash]: location.hash || now.hash };
  history.pushState(left, "", left[link.hash] ?? link.hash);
  location.reload();
}

/**
 * All that was changed, by what it is called in the address.
 *
 * @param {Page} page
 */
function changesOf({ model, edits, sharpness, blanks }) {
  const { setting, mistake, held } = model;
  const [before] = model.data.settings;
  const said = [...model.sizes.differences.said(), ...edits.texts];
  if (setting.mask !== before.mask) said.push(["mask", setting.mask]);
  if (setting.scaled !== before.scaled) said.push(["scaled", sharpness.said()]);
  if (mistake) said.push(["what-if", mistake]);
  for (const [name, numbers] of held)
    for (const [at, number] of numbers) said.push([`${name}.${at}`, `${number}`]);
  const blank = blanks.there().join();
  if (blank) said.push(["blank", blank]);
  return said;
}

/**
 * Take what the address says, as far as it fits this problem.
 *
 * @param {Page} page
 */
function restore(page) {
  if (location.hash === NEW && !START) page.edits.clear();
  if (!location.hash.startsWith("#!")) return;
  const said = apart(page.model, new URLSearchParams(location.hash.slice(2)));
  page.sections.part = Math.max(0, Math.trunc(Number(said.get("part"))) || 0);
  const fits = new Set([...OF_THE_VIEW, ...take(page, said)]);
  page.misfits = [...said.keys()].some((key) => !fits.has(key));
}

/**
 * Take a state of the page in the place of the one that it has; what comes back are the keys that
 * fit this problem.
 *
 * @param {Page} page
 * @param {URLSearchParams} said
 */
function take(page, said) {
  page.edits.forget();
  page.model.held.clear();
  const sized = page.model.sizes.differences.hear(said);
  const edited = restoreEdits(page, said);
  const chosen = restoreSetting(page, said);
  const held = restoreHeld(page, said);
  page.blanks.take((said.get("blank") ?? "").split(",").filter(Boolean));
  page.controls.showSetting();
  return ["blank", ...sized, ...edited, ...chosen, ...held];
}

/**
 * @param {Page} page
 * @param {URLSearchParams} said
 */
function restoreEdits({ model, edits }, said) {
  return [...said].flatMap(([key, text]) => {
    const [name, at] = splitKey(key);
    const array = model.arrays.get(name);
    const isTaken = array && at < array.values.length && model.edit(name, at, text);
    if (!isTaken) return [];
    edits.texts.set(key, array.written[at]);
    return [key];
  });
}

/**
 * @param {Page} page
 * @param {URLSearchParams} said
 */
function restoreSetting({ model }, said) {
  const { settings } = model.data;
  const mask = said.get("mask") ?? settings[0].mask;
  let scaled = said.get("scaled") ?? String(settings[0].scaled);
  if (readNumber(scaled)?.value >= 0) {
    model.scale = scaled;
    scaled = SLID;
  }
  const found = settings.find((each) => each.mask === mask && String(each.scaled) === scaled);
  const setting = found ?? settings[0];
  model.choose(setting.mask, setting.scaled);
  const taken = found ? ["mask", "scaled"] : [];
  const mistake = said.get("what-if") ?? "";
  if (!model.mistakes().includes(mistake)) return taken;
  model.choose(setting.mask, setting.scaled, mistake);
  return [...taken, "what-if"];
}

/**
 * @param {Page} page
 * @param {URLSearchParams} said
 */
function restoreHeld({ model }, said) {
  return [...said].flatMap(([key, text]) => {
    const [name, at] = splitKey(key);
    const step = model.steps.get(name);
    const isWorkedOut = step && !step.given && Number.isFinite(step.values[at]);
    if (!isWorkedOut || !text || !Number.isFinite(Number(text))) return [];
    model.hold(name, at, Number(text));
    model.work();
    return [key];
  });
}
