// @ts-check
// Saves what was typed into a worksheet as a file of answers, and goes on with such a file.

"use strict";

// Of this file alone.
{
  /** @type {{ file: string, answers: string, blank: string, is_named: boolean, asked: string[], forms: AnswerForms }} */
  const SHEET = JSON.parse(document.getElementById("attncli-answers").textContent);
  // These stand in YAML as they are; all else is quoted.
  const PLAIN = /^[-+]?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\d+\/\d+)$/;
  // 0,5 is one number in a field; 1,234 may be two that are meant, and is asked about.
  const DECIMAL_COMMA = /^([-+−]?\d+),((?:\d{1,2}|\d{4,})(?:\s*%)?)$/;
  // A number or a blank between the brackets of a line.
  const ENTRY = /"(?:[^"\\]|\\.)*"|[^\s,[\]"]+/g;
  // Where a number is to be put.
  const PLACE = new RegExp(`(?<![\\w])${SHEET.blank}(?![\\w])`, "g");
  const STEP = /^(\w+):/;

  /**
   * The fields of each step, in the order of the page, which is that of the file.
   *
   * @type {Map<string, HTMLInputElement[]>}
   */
  const FIELDS = new Map();
  for (const table of document.querySelectorAll("table[data-array]")) {
    const step = /** @type {HTMLElement} */ (table).dataset.array;
    FIELDS.set(step, [...(FIELDS.get(step) ?? []), ...table.querySelectorAll("input")]);
  }
  const NUMBERS = new AnswerNumbers(SHEET.forms);
  // So many texts that are no numbers are named in a sentence.
  const MOST_NAMED = 3;
  let isSaved = true;

  /**
   * The lines of answers: of each its step, what stands before its comment, and the comment.
   *
   * @param {string} text
   */
  function* linesOf(text) {
    let step = "";
    for (const line of text.split(/\r?\n/)) {
      step = STEP.exec(line)?.[1] ?? step;
      const end = commentOf(line);
      yield { step, numbers: line.slice(0, end), comment: line.slice(end) };
    }
  }

  /**
   * Where the comment of a line begins, which is in no quotes.
   *
   * @param {string} line
   */
  function commentOf(line) {
    const before = /^(?:"(?:[^"\\]|\\.)*"|[^#"])*/.exec(line)[0];
    return before.length;
  }

  /** The answers as YAML, with what was typed in the place of each blank. */
  function answers() {
    const typed = new Map([...FIELDS].map(([step, fields]) => [step, fields.values()]));
    const written = [];
    for (const { step, numbers, comment } of linesOf(SHEET.answers)) {
      written.push(numbers.replace(PLACE, () => entry(typed.get(step)?.next().value)) + comment);
    }
    return written.join("\n");
  }

  /** @param {HTMLInputElement | undefined} field */
  const spelled = (field) => (field?.value.trim() ?? "").replace(DECIMAL_COMMA, "$1.$2");

  /** @param {HTMLInputElement | undefined} field */
  function entry(field) {
    const text = spelled(field);
    if (!text) return SHEET.blank;
    return PLAIN.test(text) ? text : JSON.stringify(text);
  }

  /**
   * Fill the fields with the answers of a file; how many numbers it has for them.
   *
   * @param {string} text
   */
  function fill(text) {
    let found = 0;
    const open = new Map([...FIELDS].map(([step, fields]) => [step, fields.values()]));
    for (const { step, numbers } of linesOf(text)) {
      const fields = open.get(step);
      if (!fields) continue;
      const inside = numbers.replace(STEP, "").replace(/^\s*(?:-\s+)+/, "");
      for (const [written] of inside.matchAll(ENTRY)) {
        const field = fields.next().value;
        if (!field) break;
        const isBlank = written === SHEET.blank || written === "null";
        field.value = isBlank ? "" : written.startsWith('"') ? JSON.parse(written) : written;
        found += Number(!isBlank);
      }
    }
    return found;
  }

  /** Mark the fields whose texts are no numbers; what to say of them, or nothing. */
  function complaint() {
    const wrong = [];
    for (const field of [...FIELDS.values()].flat()) {
      const isNumber = NUMBERS.has(spelled(field));
      if (!isNumber) wrong.push(field.value.trim());
      field.setAttribute("aria-invalid", String(!isNumber));
    }
    if (!wrong.length) return "";
    const named = wrong.slice(0, MOST_NAMED).join(", ");
    const more = wrong.length > MOST_NAMED ? ", …" : "";
    const are =
      wrong.length === 1 ? "1 field is no number" : `${wrong.length} fields are no numbers`;
    return `${are}: ${named}${more}.`;
  }

  /** @param {string} name */
  const asFileName = (name) =>
    name
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-|-$/g, "");

  function save() {
    const named = SHEET.is_named ? "" : asFileName(WORDS.get("Name").value);
    const first = [...WORDS].map(([name, field]) => saidOf(name, field.value.trim())).join("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([first + answers()], { type: "application/yaml" }));
    link.download = named ? `${named}.yaml` : SHEET.file;
    link.click();
    URL.revokeObjectURL(link.href);
    isSaved = true;
    const wrong = complaint();
    const next = wrong ? `${wrong} Correct this, and save again.` : "Hand in this file.";
    say(`Saved as ${link.download}. ${next}`);
  }

  /**
   * What the file says of a word at the top, or nothing where none was typed.
   *
   * @param {string} name
   * @param {string} text
   */
  const saidOf = (name, text) => (text ? `# ${name}: ${text}\n` : "");

  async function goOn() {
    const [file] = openField.files;
    if (!file) return;
    const text = await file.text();
    const found = fill(text);
    for (const [, name, said] of text.matchAll(/^# (\w+): (.*)/gm)) {
      const field = WORDS.get(name);
      if (field) field.value = said;
    }
    isSaved = true;
    complaint();
    say(found ? count() : `${file.name} has no answers to these steps.`);
    openField.value = "";
  }

  /**
   * Whether a step is to be handed in; the fields of the others are room for work.
   *
   * @param {string} step
   */
  const isAsked = (step) => !SHEET.asked.length || SHEET.asked.includes(step);

  function count() {
    const fields = [...FIELDS].flatMap(([step, each]) => (isAsked(step) ? each : []));
    const filled = fields.filter((field) => field.value.trim()).length;
    const which = SHEET.asked.length ? " that are asked for" : "";
    return `${filled} of ${fields.length} numbers${which}`;
  }

  /** @param {string} text */
  const say = (text) => (status.textContent = text);

  /**
   * @param {string} text
   * @param {HTMLElement} control
   */
  function labelled(text, control) {
    const label = document.createElement("label");
    label.append(text, " ", control);
    return label;
  }

  /**
   * The fields for words at the top of the page, by their names.
   *
   * @type {Map<string, HTMLInputElement>}
   */
  const WORDS = new Map();
  /** @type {NodeListOf<HTMLInputElement>} */
  const words = document.querySelectorAll("main input.word");
  for (const field of words) WORDS.set(field.name, field);

  const openField = document.createElement("input");
  openField.type = "file";
  openField.accept = ".yaml,.yml";
  openField.addEventListener("change", goOn);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Save my answers";
  button.addEventListener("click", save);
  const status = document.createElement("span");
  status.setAttribute("role", "status");

  const opening = labelled("Go on with a saved file", openField);
  opening.className = "open";
  const bar = document.createElement("form");
  bar.className = "saving";
  bar.addEventListener("submit", (event) => event.preventDefault());
  if (!SHEET.is_named && !WORDS.has("Name")) {
    // A page without a title has no room for a name.
    const field = document.createElement("input");
    WORDS.set("Name", field);
    bar.append(labelled("Name", field));
  }
  bar.append(button, status, opening);
  document.querySelector(".attncli").append(bar);
  say(count());

  document.querySelector("main").addEventListener("input", () => {
    isSaved = false;
    say(count());
  });
  // Whoever still types has not written the whole number.
  document.querySelector("main").addEventListener("focusout", () => {
    if (isSaved) return;
    const wrong = complaint();
    say(wrong ? `${count()}. ${wrong}` : count());
  });
  addEventListener("beforeunload", (event) => {
    if (!isSaved) event.preventDefault();
  });
}
