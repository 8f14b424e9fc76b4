// @ts-check
// What was changed, in the address of the page, so that it can be sent to others:
// #!X.0=1/3&mask=causal.

"use strict";

const MISFITS = "A part of the address does not fit this problem, and was left out.";

/**
 * Keep what was changed in the address.
 *
 * @param {Page} page
 */
function remember(page) {
  // What is half typed is nothing to keep.
  if (page.edits.cell) return;
  const said = changesOf(page);
  const hash = said.length ? `#!${new URLSearchParams(said)}` : "";
  const isOfSection = !hash && !location.hash.startsWith("#!");
  if (hash === location.hash || isOfSection) return;
  try {
    history.replaceState(null, "", hash || location.href.split("#")[0]);
  } catch {
    // An address that cannot be changed, as inside a notebook.
  }
}

/** @param {Page} page */
function changesOf({ model, edits, sections }) {
  const { setting, mistake, held } = model;
  const [before] = model.data.settings;
  const said = [...edits.texts];
  if (setting.mask !== before.mask) said.push(["mask", setting.mask]);
  if (setting.scaled !== before.scaled) said.push(["scaled", String(setting.scaled)]);
  if (mistake) said.push(["what-if", mistake]);
  for (const [name, numbers] of held)
    for (const [at, number] of numbers) said.push([`${name}.${at}`, `${number}`]);
  if (sections.part) said.push(["part", `${sections.part}`]);
  return said;
}

/**
 * Take what the address says, as far as it fits this problem.
 *
 * @param {Page} page
 */
function restore(page) {
  if (!location.hash.startsWith("#!")) return;
  const said = new URLSearchParams(location.hash.slice(2));
  // Keys that were of use.
  const fits = new Set(["part", ...restoreEdits(page, said)]);
  for (const key of restoreSetting(page, said)) fits.add(key);
  for (const key of restoreHeld(page, said)) fits.add(key);
  page.model.work();
  page.sections.part = Math.max(0, Math.trunc(Number(said.get("part"))) || 0);
  page.misfits = [...said.keys()].some((key) => !fits.has(key));
  page.controls.showSetting();
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
  const scaled = said.get("scaled") ?? String(settings[0].scaled);
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
    return [key];
  });
}
