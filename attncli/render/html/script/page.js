// The page: numbers to type over, lines that follow, and the settings to choose. Without it the page stays as it is.

"use strict";

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};
/** A shape of a picture, or the picture with its shapes. */
const drawn = (tag, attributes, ...children) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const SVG = "http://www.w3.org/2000/svg";
const signed = (text) => text.replaceAll("-", "−");
const LATER = 120; // milliseconds after which what is out of sight follows
const NEAR_RIGHT = 1e-9; // in relation to a number of 1 or more: what differs less differs by its last bits
const MOST_TABS = 8; // of more heads or entries, one is chosen from a list
const CLICKED = new Set(["own", "over"]); // masks whose cells are clicked
const MOST_CHANGES = 3; // that are listed
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** A line of text whose powers stand higher; read and copied, they have their sign. */
const raised = (text) => text.split(/\^(\([^()]*\)|[^\s()·+,]+)/).map((part, at) => {
  if (!(at % 2)) return part;
  const [open, inside, close] = part.startsWith("(") ? ["^(", part.slice(1, -1), ")"] : ["^", part, ""];
  return element("sup", {}, element("span", {}, open), inside, element("span", {}, close));
});

/** A formula of the script's own. */
const math = (markup, display = "inline") => {
  const holder = element("template");
  holder.innerHTML = `<math display="${display}">${markup}</math>`;
  return holder.content.firstChild;
};

/** What a part of a formula is called: its letter and what stands above it, without its indices. */
const symbolOf = ({ localName, children, outerHTML }) => {
  const [base, below, above = below] = children;
  return /^msu(b|p|bsup)$/.test(localName) ? base.outerHTML + (localName === "msub" ? "" : above.outerHTML) : outerHTML;
};

/** A button for each of these, or one list called `name` where there are many; `take` is told the place of the chosen one. */
const choices = (titles, name, take) => {
  if (titles.length > MOST_TABS + 1) {
    const options = titles.map((title, at) => element("option", { value: `${at}` }, title));
    const select = element("select", { "aria-label": name }, ...options);
    select.addEventListener("change", () => take(Number(select.value)));
    return [select];
  }
  return titles.map((title, at) => {
    const button = element("button", { type: "button" }, title);
    button.addEventListener("click", () => take(at));
    return button;
  });
};

/** Show which of its choices was taken. */
const choose = (group, taken) => {
  [...group.children].forEach((each, at) => {
    if (each.matches("button")) each.setAttribute("aria-pressed", String(at === taken));
    else each.value = `${taken}`;
  });
};

class Page {
  constructor(root, live) {
    this.root = root;
    this.main = root.querySelector("main") ?? root;
    this.live = live;
    this.model = new Model(live.data);
    this.lines = new Lines(this.model);
    this.sections = new Map();
    this.first = this.key();
    for (const each of this.main.querySelectorAll("section[id]")) this.sections.set(each.id, each);
    this.lead = [...this.main.children].filter((each) => !each.matches("section"));
    this.place = {}; // the entry and the head whose attention is shown, by their letters; the first ones until one is chosen
    this.part = 0; // which part of the page is shown
    this.remarks = element("div", { class: "remarks" });
    this.addControls();
    this.restore();
    this.listen();
    this.show();
    root.classList.add("ready");
  }

  key() {
    const { setting, shifted } = this.model;
    return `${setting.mask} ${setting.scaled} ${shifted}`;
  }

  // --- what stands on the page

  /** Everything again, after the model has changed. */
  show() {
    if (this.key() !== this.arranged) this.arrange();
    else if (this.model.mistake !== this.connected) this.connect(); // other rules in the same sections
    this.texts = new Map();
    this.right = this.model.mistake ? this.model.with("") : null;
    for (const cell of this.moved ?? []) cell.classList.remove("moved");
    this.moved = new Set();
    for (const table of this.tables) this.fill(table);
    for (const cell of this.moved) cell.classList.add("moved");
    for (const product of this.products) this.fit(product);
    this.query.show();
    this.map.show();
    this.showMistake();
    this.warn();
    for (const list of this.lists) list.isOld = true;
    for (const list of this.lists) if (list.inView) this.work(list);
    clearTimeout(this.later);
    this.later = setTimeout(() => this.finish(), LATER);
    this.root.classList.toggle("numbers-changed", this.edits.size > 0 || this.model.held.size > 0 || Boolean(this.model.mistake));
    this.controls.reset.setAttribute("aria-disabled", String(!this.isChanged())); // and keeps the focus
    this.controls.hint.replaceChildren(...this.changes());
    this.controls.unsaved.textContent = this.unsaved();
    if (this.oneNumber.chosen) this.oneNumber.rest();
  }

  /** What nobody looks at while typing: the worked lines out of sight, and the address, which is slow to change. */
  finish() {
    for (const list of this.lists) if (list.isOld) this.work(list);
    for (const cell of this.moved) cell.classList.remove("moved");
    this.isNear = this.lists.some((each) => each.isNear);
    this.showRemarks();
    this.remember();
  }

  /** Warn of these numbers; of those of the problem itself the page has said it all. */
  warn() {
    this.warnings = this.isChanged() ? warningsOf(this.model) : [];
    this.showRemarks();
  }

  /** What is said of all numbers, before the first step: warnings, and what ≈ means where it stands in a line. */
  showRemarks() {
    const said = this.warnings.map((text) => ["warning", `${text[0].toUpperCase()}${text.slice(1)}.`]);
    if (this.isNear && this.isChanged()) said.push(["note", this.model.data.words.rounded]);
    if (this.remarked === JSON.stringify(said)) return;
    this.remarked = JSON.stringify(said);
    this.remarks.replaceChildren(...said.map(([kind, text]) =>
      element("aside", { role: "note", class: kind }, element("p", {}, element("b", {}, `${kind[0].toUpperCase()}${kind.slice(1)}:`), ` ${text}`))));
    if (this.warnings.length) this.say(`Warning: ${this.warnings.join(". ")}`);
  }

  isChanged() {
    return this.edits.size > 0 || this.model.held.size > 0 || this.model.mistake || this.model.setting !== this.live.data.settings[0];
  }

  /** What differs from the problem as it was given; or what can be done, where nothing does. */
  changes() {
    const cell = (key, text) => {
      const [name, at] = splitKey(key);
      const { rule } = this.model.steps.get(name) ?? {};
      return rule && [element("bdi", {}, `${symbolName(rule.symbol)}: ${this.lines.label(rule, this.model.place(rule, at), {})}`), ` = ${signed(text)}`];
    };
    const edits = [...this.edits].map(([key, text]) => cell(key, text)).filter(Boolean);
    const held = [...this.model.held].flatMap(([name, numbers]) => [...numbers].map(([at]) => cell(`${name}.${at}`, `${this.lines.text(this.lines.number(name, at))}, held`)));
    const all = [...edits, ...held];
    const listed = all.slice(0, MOST_CHANGES).flatMap((each, at) => [at ? "; " : "", ...each]);
    if (all.length) return ["Changed: ", ...listed, all.length > MOST_CHANGES ? `; and ${all.length - MOST_CHANGES} more` : ""];
    return [this.misfits ? "A part of the address does not fit this problem, and was left out. " : "Click a given number and type: 2, 1/3 or sqrt(2). Point at any number to see how it is worked out."];
  }

  /** The sections of this setting, in their order: those of the page as it was, and new ones where they say otherwise. */
  arrange() {
    const focused = document.activeElement;
    const parents = [this.main];
    const isFirst = this.key() === this.first;
    this.arranging = true;
    this.main.replaceChildren();
    this.root.querySelector("header > .lead")?.remove();
    for (const [id, level, own] of this.live.layouts[this.key()].map((at) => this.live.sections[at])) {
      const section = this.section(id, own);
      if (!id) {
        this.main.append(...section.childNodes);
        continue;
      }
      for (const inside of section.querySelectorAll(":scope > section")) inside.remove();
      parents.length = Math.max(1, Math.min(parents.length, level - 1));
      parents.at(-1).append(section);
      parents.push(section);
    }
    this.main.querySelector("section").before(this.remarks);
    this.arranged = this.key();
    this.number();
    this.divide();
    this.connect();
    this.root.querySelector(".live")?.before(...this.main.querySelectorAll(":scope > .lead")); // what it is, before all that can be done
    if (focused !== document.body && document.contains(focused)) focused.focus({ preventScroll: true });
    this.arranging = false;
    if (!isFirst) this.say(`${this.model.steps.size} steps`);
  }

  section(id, own) {
    if (!own) return id ? this.sections.get(id) : element("div", {}, ...this.lead);
    const known = `${id} ${own}`;
    if (!this.sections.has(known)) {
      const holder = element("template");
      holder.innerHTML = own.map((at) => this.live.pieces[at]).join(""); // a section that it begins is closed at its end
      this.sections.set(known, id ? holder.content.firstElementChild : element("div", {}, holder.content));
    }
    const found = this.sections.get(known);
    return id ? found : found.cloneNode(true);
  }

  /** The parts of the page, of which one is shown at a time, or all of them. */
  divide() {
    this.parts = [...this.main.querySelectorAll(":scope > section.part[data-place]")];
    const { tabs } = this.controls;
    tabs.hidden = this.parts.length < 2;
    if (tabs.hidden) return;
    tabs.replaceChildren(...choices([...this.parts.map(titleOf), "All"], "What is shown", (at) => this.turnTo(at)));
    this.parts[0].before(tabs);
    this.turn(Math.min(this.part, this.parts.length));
  }

  /** Show a part, or all of them after the last. What it does not name of an entry and a head stays as it was chosen. */
  turn(part) {
    this.part = part;
    choose(this.controls.tabs, part);
    this.parts.forEach((each, at) => each.classList.toggle("away", at !== part && part < this.parts.length));
    this.place = { ...this.place, ...placeOf(this.parts[part]) };
  }

  /** The part of one attention, which names its entry and its head. */
  partAt(place) {
    const names = (part) => this.query.axes.every(({ letter }) => placeOf(part)[letter] === (place[letter] ?? 0));
    return this.parts.findIndex(names);
  }

  /** Whose attention is shown: "Entry 0, head 1, "; nothing where there is only one. */
  whose(place = this.place) {
    return this.query.axes.length ? `${titleOf(this.parts[this.partAt(place)])}, ` : "";
  }

  turnTo(part) {
    this.turn(part);
    this.query.show();
    this.map.show();
    this.remember();
  }

  /** The numbers of steps, in titles and in the list of contents. */
  number() {
    const computed = [...this.model.steps.values()].filter((step) => !step.given).map((step) => step.rule.name);
    for (const title of this.main.querySelectorAll("section .number"))
      title.textContent = computed.indexOf(stepOf(title)) + 1;
    const list = this.root.querySelector("nav ol");
    const parted = list?.querySelector(".part");
    const sections = this.main.querySelectorAll(parted ? "section[id]" : ":scope > section[id]");
    list?.replaceChildren(...[...sections].map((section) => {
      const title = section.querySelector("h2, h3");
      const link = element("a", { href: `#${section.id}` });
      for (const node of title.childNodes)
        link.append(node.nodeType === 1 && node.matches(".number") ? element("b", {}, node.textContent) : node.cloneNode(true));
      return element("li", parted && section.parentNode === this.main ? { class: "part" } : {}, link);
    }));
  }

  /** Find the matrices and the worked lines, and what each of them shows. */
  connect() {
    this.connected = this.model.mistake;
    this.tables = [];
    for (const table of this.main.querySelectorAll("table[data-array]")) {
      const found = this.source(table, table.dataset.array);
      const cells = [...table.tBodies].flatMap((body) => [...body.rows].flatMap((row) => [...row.cells].slice(1)));
      if (!found || cells.length !== found.length) continue;
      const labelled = Boolean(table.querySelector("caption.unseen"));
      const symbol = symbolOf(table.querySelector(".name math, caption math").firstElementChild);
      const known = { ...found, table, symbol, cells, labelled, shown: [], width: table.tBodies[0].rows[0].cells.length - 1 };
      cells.forEach((cell, at) => cell.setAttribute("tabindex", labelled && at === 0 ? "0" : "-1"));
      if (labelled) table.setAttribute("role", "grid"); // an operand beside others has its name in a caption, as no grid may
      if (labelled && !found.editable) table.setAttribute("aria-readonly", "true");
      table.classList.toggle("given", found.editable);
      if (found.name === this.model.data.mask && labelled && !table.parentNode.nextElementSibling?.matches(".clicks"))
        table.parentNode.after(element("p", { class: "legend clicks" }, "Click a cell: with 0 the query sees the key, with −∞ it does not."));
      table.closest(".scroll")?.removeAttribute("tabindex");
      this.tint(known);
      this.tables.push(known);
    }
    this.products = [...this.main.querySelectorAll(".product")].map((product) => ({ product, tables: this.tables.filter(({ table }) => product.contains(table)) }));
    this.byTable = new Map(this.tables.map((each) => [each.table, each]));
    this.lists = [...this.main.querySelectorAll("ul.worked")].flatMap((list) => {
      const found = this.source(list, stepOf(list));
      return found ? [{ ...found, list, inView: false }] : [];
    });
    this.watcher?.disconnect();
    this.watcher = new IntersectionObserver((seen) => {
      for (const { target, isIntersecting } of seen) {
        const list = this.lists.find((each) => each.list.parentElement === target);
        if (!list) continue;
        list.inView = isIntersecting;
        if (isIntersecting && list.isOld) this.work(list);
      }
    });
    for (const { list } of this.lists) this.watcher.observe(list.parentElement); // an empty list is never seen
  }

  /** Every key in the colour of its ribbons: its name, and its weights, which are filled by their sizes. */
  tint({ name, rule, table, cells, labelled, width }) {
    const many = this.model.steps.get(this.model.data.weights).rule.shape.at(-1) > MOST_WORDS;
    const hue = (key) => (many ? "key" : `hue-${key}`);
    const heads = { "-1": [...table.tHead.rows[0].cells].slice(1), "-2": [...table.tBodies].flatMap((body) => [...body.rows].map((row) => row.cells[0])) };
    for (const [axis, names] of Object.entries(heads))
      if (labelled && rule.axes.at(Number(axis)) === "key") names.forEach((head, key) => head.classList.add("key", hue(key)));
    if (name === this.model.data.weights) cells.forEach((cell, at) => cell.classList.add("share", hue(at % width)));
  }

  /** Which step is shown at an element: its rule, where its numbers begin, and how many there are. */
  source(at, name) {
    const step = this.model.steps.get(name);
    if (!step) return null;
    const fixed = placeOf(at.closest("[data-place]"));
    const { rule } = step;
    const own = rule.cell.filter((letter) => letter in fixed).length; // which come before all others
    const length = size(rule.shape.slice(own));
    const start = this.model.at(rule.shape.slice(0, own), rule.cell.slice(0, own).map((letter) => fixed[letter])) * length;
    return { name, rule, fixed, start, length, editable: step.given };
  }

  fill({ name, rule, start, cells, width, editable, table, labelled, shown }) {
    const key = `${name} ${start}`;
    if (!this.texts.has(key)) {
      const texts = cells.map((_, at) => this.printed(name, start + at));
      const decimals = texts.map((text) => text.split(".")[1]?.length ?? 0);
      const most = new Array(width).fill(0);
      decimals.forEach((count, at) => (most[at % width] = Math.max(most[at % width], count)));
      this.texts.set(key, { texts, decimals, most });
    }
    const { texts, decimals, most } = this.texts.get(key);
    const held = this.model.held.get(name);
    const { values } = this.model.steps.get(name);
    const hides = labelled && this.hiding(rule); // an operand beside others has its numbers alone
    cells.forEach((cell, at) => {
      const missing = most[at % width] - decimals[at];
      const shift = missing && !texts[at].endsWith("∞") && (decimals[at] ? missing : missing + this.live.point);
      const marks = {
        hidden: hides && this.model.hides(this.model.place(rule, start + at)),
        held: held?.has(start + at),
        changed: this.differs(name, start + at),
        edited: editable && this.edits.has(`${name}.${start + at}`),
      };
      const isOpen = cell === this.open; // to be typed over
      const now = [texts[at], shift, isOpen, ...Object.values(marks)].join();
      if (shown[at] === now) return; // most cells do not change, and a page has many
      if (shown[at] && !shown[at].startsWith(`${texts[at]},`)) this.moved.add(cell);
      shown[at] = now;
      cell.style.setProperty("--d", shift || "");
      if (cell.matches(".share")) cell.style.setProperty("--share", texts[at] === "?" ? 0 : Math.min(1, Math.max(0, values[start + at])) || 0);
      for (const [mark, holds] of Object.entries(marks)) cell.classList.toggle(mark, Boolean(holds));
      if (isOpen) return;
      cell.replaceChildren(texts[at]);
      if (marks.hidden && !texts[at].endsWith("∞")) cell.append(element("i", {}, this.live.hidden));
    });
    table.classList.toggle("clickable", name === this.model.data.mask);
  }

  /** Let a product stand alone where its numbers are too wide to stand beside what is multiplied. */
  fit({ product, tables }) {
    const { gap, around, widest } = this.live.product;
    const labels = [...product.querySelectorAll(".factor:last-child tbody th")].map((each) => each.textContent.length);
    const width = ({ name, start, cells, width }) => {
      const most = new Array(width).fill(0);
      cells.forEach((_, at) => (most[at % width] = Math.max(most[at % width], this.lines.number(name, start + at).text.length)));
      return around + most.reduce((sum, each) => sum + each + gap, 0);
    };
    const whole = tables.reduce((sum, table) => sum + width(table), Math.max(0, ...labels));
    product.classList.toggle("wide", whole > widest);
  }

  /** Put question marks in the places of some numbers of a step and of all that follow from them, and leave out all lines; until this is called with null. */
  hideCells(name, places) {
    if (!name && !this.asked) return;
    this.asked = name && this.model.without(name, places);
    this.root.classList.toggle("asking", Boolean(name));
    this.show();
  }

  /** The model without what the quiz asks for. */
  get told() {
    return this.asked ?? this.model;
  }

  printed(name, at) {
    if (this.asked && Number.isNaN(this.asked.steps.get(name)?.values[at] ?? NaN)) return "?";
    return signed(this.lines.text(this.lines.number(name, at)));
  }

  /** Whether a number is another than without the mistake. */
  differs(name, at) {
    const right = this.right?.steps.get(name)?.values[at];
    if (right === undefined) return false;
    const wrong = this.model.steps.get(name).values[at];
    return wrong !== right && !(Math.abs(wrong - right) <= NEAR_RIGHT * Math.max(1, Math.abs(right)));
  }

  /** What the mistake works out instead, at each step that it changes, and how many numbers it changes. */
  showMistake() {
    for (const note of this.main.querySelectorAll(".what-if")) note.remove();
    for (const section of this.main.querySelectorAll(".mistaken")) section.classList.remove("mistaken");
    const { mistake, instead, steps } = this.model;
    const { whatIf, effect } = this.controls;
    const known = this.model.mistakes();
    if (known.join() !== this.offered) {
      this.offered = known.join();
      const changed = new Map(known.map((name) => [name, this.model.firstChanged(name)]));
      const options = (step) => known.filter((name) => changed.get(name) === step).map((name) => element("option", { value: name }, name));
      const steps = [...new Set([...this.model.steps.keys(), ...changed.values()])];
      const groups = steps.map((step) => element("optgroup", { label: this.titleOf(step) }, ...options(step)));
      whatIf.replaceChildren(element("option", { value: "" }, "nobody made a mistake"), ...groups.filter((group) => group.firstChild));
    }
    whatIf.value = mistake;
    effect.hidden = !mistake;
    if (!mistake) return;
    const made = [...instead].filter(([name]) => steps.has(name)).map(([name, at]) => [name, this.lines.formula(this.model.rules[at])]);
    const moved = [...steps].flatMap(([name, { values }]) => Array.from(values, (_, at) => this.differs(name, at))).filter(Boolean).length;
    effect.replaceChildren(...made.flatMap(([, formula]) => [math(formula), ". "]), `${moved === 1 ? "1 number differs and is" : `${moved || "No"} numbers differ${moved ? " and are" : ""}`}${moved ? " marked." : ": this problem cannot show the mistake."}`);
    for (const [name, formula] of made)
      for (const section of this.main.querySelectorAll("section[id]")) {
        if (stepOf(section.firstElementChild) !== name) continue;
        const note = element("aside", { class: "warning what-if" }, element("p", {}, element("b", {}, "What if: "), mistake), element("div", { class: "formula" }, math(formula, "block")));
        section.classList.add("mistaken");
        ([...section.querySelectorAll(":scope > .formula")].at(-1) ?? section.firstElementChild).after(note);
      }
  }

  titleOf(step) {
    const section = [...this.main.querySelectorAll("section[id]")].find((each) => stepOf(each.firstElementChild) === step);
    return section?.querySelector("h2, h3").lastChild.textContent.trim() ?? "";
  }

  /** Whether hidden keys are marked in a step: in those of queries by keys, from the mask on. */
  hiding(rule) {
    const names = [...this.model.steps.keys()];
    const mask = names.indexOf(this.model.data.mask);
    return mask >= 0 && names.indexOf(rule.name) >= mask && rule.axes.at(-2) === "query" && rule.axes.at(-1) === "key";
  }

  work(known) {
    const { rule, fixed, start, length, list } = known;
    known.isOld = known.isNear = false;
    const places = this.model.data.detail === "cells" ? Array.from({ length }, (_, at) => start + at) : this.representatives(rule, start, length);
    list.replaceChildren(...places.map((at) => {
      const { label, work, relation, result, remark } = this.lines.line(rule, at, fixed);
      known.isNear ||= `${relation} ${work}`.includes(this.lines.notation.nearly);
      const said = element("span", {}, ...raised(signed(work && `${work} ${relation} `)));
      if (result) said.append(element("b", {}, ...raised(signed(result))));
      if (remark.length) said.append(" ", element("i", {}, ...this.remark(remark)));
      const line = element("li", {}, ...(label ? [element("span", {}, element("bdi", {}, label)), " "] : []), said);
      line.dataset.at = at;
      return line;
    }));
  }

  /** A remark with its formulas, none of which is parted from the sign after it. A number is text. */
  remark(parts) {
    const found = [];
    for (const part of parts) {
      const [sign = ""] = (found.at(-1)?.localName === "math" && /^[),.;:?]/.exec(part)) || [];
      if (sign) found.push(element("span", { class: "together" }, found.pop(), sign));
      if (!part.formula) found.push(part.slice(sign.length));
      else if (isNumber(part.formula)) found.push(signed(this.lines.text(part.formula)));
      else found.push(math(this.lines.mathml.text(part.formula)));
    }
    return found;
  }

  /** The cells that stand for their rows: where the query looks most, else the first. */
  representatives(rule, start, length) {
    const along = rule.shape.length > 1 && rule.axes.at(-1) !== "query";
    if (!along) return Array.from({ length }, (_, at) => start + at);
    const width = rule.shape.at(-1);
    const rows = Array.from({ length: length / width }, (_, row) => start + row * width);
    if (rule.axes.at(-2) !== "query" || rule.axes.at(-1) !== "key") return rows;
    const weights = this.model.steps.get(this.model.data.weights);
    return rows.map((first) => {
      const own = this.model.steps.get(rule.name).values.subarray(first, first + width);
      if (rule.name === this.model.data.mask && own.includes(-Infinity)) return first + own.indexOf(-Infinity);
      const place = this.model.place(rule, first);
      const row = this.model.at(weights.rule.shape, weights.rule.cell.map((letter) => place[letter] ?? 0));
      const shares = weights.values.subarray(row, row + width);
      const unknown = shares.findIndex(Number.isNaN);
      return first + (unknown < 0 ? shares.indexOf(Math.max(...shares)) : unknown);
    });
  }

  // --- what is pointed at

  /** Mark the matrices that the symbol under the pointer names, in a formula or in a sentence. */
  pointOut(target) {
    const symbol = this.symbolAt(target);
    if (symbol === this.pointedOut) return;
    this.pointedOut = symbol;
    for (const each of this.tables) each.table.classList.toggle("named", each.symbol === symbol);
  }

  /** The largest part of a formula around an element that is the symbol of a matrix, whatever its indices. */
  symbolAt(target) {
    const around = [];
    for (let node = target; node.closest?.("math") && node.localName !== "math"; node = node.parentNode) around.unshift(node);
    const symbols = new Set(this.tables.map((each) => each.symbol));
    return around.map(symbolOf).find((each) => symbols.has(each)) ?? "";
  }

  find(target) {
    const cell = target.closest?.("td");
    const table = cell && this.byTable.get(cell.closest("table"));
    const at = table ? table.cells.indexOf(cell) : -1;
    return at < 0 ? null : { table, at, cell };
  }

  move({ table, at }, key) {
    const [down, right] = ARROWS[key];
    const [row, column] = [Math.floor(at / table.width) + down, (at % table.width) + right];
    if (column < 0 || column >= table.width || row < 0 || row * table.width >= table.cells.length) return;
    table.cells[row * table.width + column].focus();
  }

  // --- changing numbers

  /** Let a given number be typed over. What is no number is marked, and is not kept when the field closes. */
  edit({ table, at, cell }, text) {
    const { name, start } = table;
    const typing = new Typing(this.model, name, start + at);
    const { before } = typing;
    const label = `${symbolName(table.rule.symbol)}: ${this.lines.label(table.rule, this.model.place(table.rule, start + at), table.fixed)}`;
    const input = element("input", { value: text ?? before, "aria-label": label, inputmode: "text", autocomplete: "off", spellcheck: "false" });
    this.open = cell;
    input.style.setProperty("--typed", input.value.length);
    input.classList.toggle("late", (at % table.width) * 2 >= table.width); // to the left, where there is room
    cell.append(input); // over its text, so that the matrix keeps its shape
    const take = (written) => {
      input.style.setProperty("--typed", written.length);
      const isGood = typing.take(written);
      input.setAttribute("aria-invalid", String(!isGood));
      if (isGood) this.changed(name, start + at);
      else this.oneNumber.line.textContent = `${typing.why}. Escape brings back ${signed(before)}.`;
    };
    const close = (focus) => {
      if (input.closing || this.arranging) return; // sections that change their places take the field out and put it back
      input.closing = true;
      input.remove(); // a cell whose number has not changed is not written again
      this.open = null;
      const { why } = typing;
      this.oneNumber.notice(why && `${why}. ${label} stays ${signed(before)}.`);
      if (why) typing.giveUp();
      if (why) this.changed(name, start + at);
      else this.show();
      if (focus) cell.focus();
    };
    input.addEventListener("input", () => take(input.value));
    input.addEventListener("blur", () => close(false));
    input.addEventListener("keydown", (event) => {
      const up = event.key === "ArrowUp" || event.key === "ArrowDown";
      if (event.key === "Escape") take(before);
      if (event.key === "Escape" || (event.key === "Enter" && input.getAttribute("aria-invalid") !== "true")) close(true);
      else if (up) {
        const by = event.shiftKey ? 0.1 : 1;
        input.value = typing.stepped(event.key === "ArrowUp" ? by : -by);
        take(input.value);
      } else if (event.key !== "Tab") return event.stopPropagation();
      if (event.key !== "Tab") event.preventDefault();
      event.stopPropagation();
    });
    input.focus();
    if (text === undefined) input.select();
    else take(text);
  }

  changed(name, at) {
    const array = this.model.arrays.get(name);
    if (array.written[at] === this.original(name, at)) this.edits.delete(`${name}.${at}`);
    else this.edits.set(`${name}.${at}`, array.written[at]);
    this.model.work();
    this.show();
  }

  original(name, at) {
    const { written, numbers } = this.live.data.arrays[name];
    return written ? written[at] : `${numbers[at]}`;
  }

  /** Let a query see a key, or hide it; in all heads and entries that share the mask which is shown. */
  toggle({ table, at }) {
    const { model } = this;
    const { mask: before, scaled } = model.setting;
    const { rule, values } = model.steps.get(model.data.mask);
    const over = model.data.settings.find((each) => each.mask === "over");
    const mask = over && before !== "own" && before !== "causal" ? "over" : "own";
    const { plain } = model.data.settings.find((each) => each.mask === mask);
    const own = model.rules[plain.find((each) => model.rules[each].name === model.data.mask)];
    const clicked = table.start + at;
    const seen = values[clicked] === -Infinity;
    model.arrays.get(model.data.own).values.forEach((_, place) => {
      const cell = model.place(own, place);
      const shown = model.at(rule.shape, rule.cell.map((letter) => cell[letter]));
      if (shown === clicked) this.setKeep(place, seen);
      else if (before !== mask) this.setKeep(place, values[shown] !== -Infinity);
    });
    this.set(mask, scaled);
    if (seen && model.steps.get(model.data.mask).values[clicked] === -Infinity)
      this.say("The numbers that the problem adds hide this key. In a mask of your own it can be seen.");
  }

  setKeep(at, seen) {
    this.model.edit(this.live.data.own, at, seen ? "1" : "0");
    if (seen) this.edits.delete(`${this.live.data.own}.${at}`);
    else this.edits.set(`${this.live.data.own}.${at}`, "0");
  }

  /** Take a mask, a scale and a mistake; one that cannot be made in this setting is given up. */
  set(mask, scaled, mistake = this.model.mistake) {
    const { table: { name, start } = {}, at } = this.oneNumber.chosen ?? {};
    this.model.held.clear();
    this.oneNumber.notice("");
    this.model.choose(mask, scaled);
    if (this.model.mistakes().includes(mistake)) this.model.choose(mask, scaled, mistake);
    this.oneNumber.chosen = null;
    this.show();
    this.controls.mask.value = mask;
    this.controls.scale.checked = scaled;
    const table = this.tables.find((each) => each.name === name && each.start === start && each.labelled);
    const cell = table?.cells[at];
    if (!cell) this.oneNumber.leave();
    else if (document.activeElement === document.body) cell.focus({ preventScroll: true });
    else this.oneNumber.choose({ table, at, cell });
  }

  reset() {
    for (const key of this.edits.keys()) {
      const [name, at] = splitKey(key);
      this.model.edit(name, at, this.original(name, at));
    }
    this.edits.clear();
    const { mask, scaled } = this.live.data.settings[0];
    this.set(mask, scaled, "");
    this.say("as it was given");
  }

  // --- what can be chosen, kept and taken away

  addControls() {
    this.edits = new Map(); // of given numbers, by "X.3": the texts that were typed
    const { settings } = this.live.data;
    const masks = [...new Set(settings.map((each) => each.mask))];
    const select = element("select", {}, ...masks.map((mask) => element("option", { value: mask }, this.live.masks[mask])));
    const scale = element("input", { type: "checkbox" });
    scale.checked = settings[0].scaled;
    const button = (text) => element("button", { type: "button" }, text);
    const [reset, ask, save] = [button("Reset"), button("Quiz"), button("Save as YAML")];
    const switched = settings.some((each) => each.scaled !== settings[0].scaled);
    const bar = element("div", { class: "controls", role: "group", "aria-label": "What is worked out" });
    bar.append(element("label", {}, "Mask ", select));
    if (switched) bar.append(element("label", {}, scale, " Scaled scores"));
    const whatIf = element("select", { class: "what-if-choice" });
    const effect = element("p", { class: "effect", role: "status" });
    bar.append(element("label", {}, "What if ", whatIf), reset, ask);
    ask.setAttribute("aria-expanded", "false");
    this.quiz = new Quiz(this);
    const command = element("p", { class: "hint" }, save, " In a terminal: ", element("code", {}, this.live.data.command), " ");
    const copy = button("Copy");
    copy.setAttribute("aria-label", "Copy the command line");
    const unsaved = element("span", { class: "unsaved" });
    command.append(copy, unsaved);
    const hint = element("p", { class: "hint changes" });
    this.query = new Query(this);
    this.map = new FlowMap(this);
    (this.root.querySelector("header") ?? this.root).append(element("div", { class: "live" }, this.map.root, this.query.root, bar, effect, this.quiz.root, hint));
    if (this.live.data.yaml) this.root.append(element("footer", { class: "live" }, command));
    const tabs = element("div", { class: "tabs controls", role: "group", "aria-label": "Heads and entries" });
    this.controls = { tabs, mask: select, scale, whatIf, effect, reset, save, ask, copy, unsaved, hint };
    this.oneNumber = new OneNumber(this);
    this.root.append(this.oneNumber.root);
    this.status = element("p", { class: "unseen", role: "status" });
    this.root.append(this.status);
  }

  /** Where the head and the entry that are shown begin in a step. */
  leading(rule) {
    return rule.cell.slice(0, -2).map((letter) => this.place[letter] ?? 0);
  }

  say(text) {
    this.status.textContent = text;
  }

  listen() {
    const { mask, scale, whatIf, reset, save, ask, copy } = this.controls;
    mask.addEventListener("change", () => {
      this.set(mask.value, this.model.setting.scaled);
      const { setting, data } = this.model;
      if (CLICKED.has(setting.mask)) this.tables.find((each) => each.name === data.mask && each.labelled && each.table.offsetParent)?.table.scrollIntoView({ block: "center" });
    });
    scale.addEventListener("change", () => this.set(this.model.setting.mask, scale.checked));
    whatIf.addEventListener("change", () => this.set(this.model.setting.mask, this.model.setting.scaled, whatIf.value));
    reset.addEventListener("click", () => this.reset());
    save.addEventListener("click", () => this.save());
    ask.addEventListener("click", () => ask.setAttribute("aria-expanded", String(this.quiz.toggle())));
    copy.addEventListener("click", () => this.copy());
    this.main.addEventListener("focusin", ({ target }) => {
      const found = this.find(target);
      if (found) this.oneNumber.choose(found);
    });
    this.main.addEventListener("mouseover", ({ target }) => {
      const found = this.find(target);
      if (found) this.oneNumber.show(found.table, found.at);
      this.pointOut(target);
    });
    this.main.addEventListener("mouseleave", () => this.oneNumber.rest());
    this.main.addEventListener("click", ({ target }) => {
      const found = this.find(target);
      if (!found || target.matches("input")) return;
      found.cell.focus();
      this.act(found);
    });
    this.main.addEventListener("keydown", (event) => {
      const found = this.find(event.target);
      if (!found || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in ARROWS) this.move(found, event.key);
      else if (event.key === "Enter" || event.key === " ") this.act(found);
      else if (found.table.editable && /^[-+.,0-9s]$/.test(event.key)) this.edit(found, event.key);
      else if (!this.oneNumber.takes(event, found)) return;
      event.preventDefault();
    });
    this.root.addEventListener("click", (event) => {
      const link = event.target.closest("nav a, .map a");
      const section = link && document.getElementById(link.hash.slice(1));
      if (!section) return;
      event.preventDefault(); // the address keeps what was changed
      const part = this.parts.indexOf(section.closest(".part"));
      if (this.parts[part]?.matches(".away")) this.turnTo(part);
      section.scrollIntoView();
    });
  }

  act(found) {
    if (found.table.editable) this.edit(found);
    else if (found.table.name === this.model.data.mask) this.toggle(found);
  }

  /** Keep what was changed in the address, so that it can be sent to others. */
  remember() {
    const { mask, scaled } = this.model.setting;
    const [first] = this.live.data.settings;
    const said = [...this.edits];
    if (mask !== first.mask) said.push(["mask", mask]);
    if (scaled !== first.scaled) said.push(["scaled", String(scaled)]);
    if (this.model.mistake) said.push(["what-if", this.model.mistake]);
    for (const [name, held] of this.model.held) for (const [at, number] of held) said.push([`${name}.${at}`, `${number}`]);
    if (this.part) said.push(["part", `${this.part}`]);
    const hash = said.length ? `#!${new URLSearchParams(said)}` : "";
    if (this.open) return; // what is half typed is nothing to keep
    if (hash === location.hash || (!hash && !location.hash.startsWith("#!"))) return;
    try {
      history.replaceState(null, "", hash || location.href.split("#")[0]);
    } catch {
      // an address that cannot be changed, as inside a notebook
    }
  }

  restore() {
    if (!location.hash.startsWith("#!")) return;
    const said = new URLSearchParams(location.hash.slice(2));
    const { settings } = this.live.data;
    const [first] = settings;
    const [mask, scaled] = [said.get("mask") ?? first.mask, said.get("scaled") ?? String(first.scaled)];
    const setting = settings.find((each) => each.mask === mask && String(each.scaled) === scaled);
    const mistake = said.get("what-if") ?? "";
    const fits = new Set(["part"]); // keys that were of use
    const take = (key, isTaken) => isTaken && fits.add(key);
    for (const [key, text] of said) {
      const [name, at] = splitKey(key);
      const array = this.model.arrays.get(name);
      take(key, array && at < array.values.length && this.model.edit(name, at, text) && this.edits.set(key, array.written[at]));
    }
    this.model.choose(...(setting ? [setting.mask, setting.scaled] : [first.mask, first.scaled]));
    if (setting) fits.add("mask").add("scaled");
    take("what-if", this.model.mistakes().includes(mistake));
    if (fits.has("what-if")) this.model.choose(this.model.setting.mask, this.model.setting.scaled, mistake);
    for (const [key, text] of said) {
      const [name, at] = splitKey(key);
      const step = this.model.steps.get(name);
      const canHold = step && !step.given && Number.isFinite(step.values[at]) && Number.isFinite(Number(text || NaN));
      take(key, canHold && (this.model.hold(name, at, Number(text)), true));
    }
    this.model.work();
    this.part = Math.max(0, Math.trunc(said.get("part")) || 0);
    this.misfits = [...said.keys()].some((key) => !fits.has(key));
    this.controls.mask.value = this.model.setting.mask;
    this.controls.scale.checked = this.model.setting.scaled;
  }

  /** The problem as it is now, in a file that attncli reads. */
  yaml() {
    const text = `${this.live.data.yaml}${this.model.setting.yaml}`;
    return text.replace(/⟨(\w+):(\d+)⟩/g, (_, name, at) => {
      const array = this.model.arrays.get(name);
      return array.written?.[at] ?? `${array.values[at]}`.replace("Infinity", "inf");
    });
  }

  /** The command line that works the saved problem out, to the clipboard; where there is none, it is marked to copy. */
  copy() {
    const { command } = this.live.data;
    const mark = () => getSelection().selectAllChildren(this.controls.copy.previousElementSibling);
    const more = this.unsaved();
    const done = navigator.clipboard?.writeText(command) ?? Promise.reject();
    done.then(() => this.say(`copied. ${more}`), () => (mark(), this.say(`marked, to be copied. ${more}`)));
  }

  /** What no file can say, and the command therefore does not know; empty where it is all saved. */
  unsaved() {
    const held = [...this.model.held.values()].reduce((sum, numbers) => sum + numbers.size, 0);
    const numbers = held && (held > 1 ? `the ${held} numbers that you hold` : "the number that you hold");
    const said = [numbers, this.model.mistake && "the mistake of What if"].filter(Boolean);
    return said.length ? `Not saved: ${said.join(" and ")}.` : "";
  }

  save() {
    const link = element("a", { href: URL.createObjectURL(new Blob([this.yaml()], { type: "text/yaml" })), download: "problem.yaml" });
    link.click();
    URL.revokeObjectURL(link.href);
    this.say(`saved as problem.yaml. ${this.unsaved()}`);
  }
}

/** The step that a section is about: step-scores, or head-0-step-scores. */
const stepOf = (node) => /(?:^|-)step-(\w+)/.exec(node.closest("section").id)?.[1];
/** The places on leading axes that are written at a part of the page: { h: 1 } for h=1. */
const placeOf = (part) =>
  Object.fromEntries((part?.dataset.place ?? "").split(" ").filter(Boolean).map((each) => each.split("=")).map(([letter, place]) => [letter, Number(place)]));
const titleOf = (part) => part.querySelector("h2").textContent;
const splitKey = (key) => [key.slice(0, key.lastIndexOf(".")), Number(key.slice(key.lastIndexOf(".") + 1))];

new Page(document.querySelector(".attncli"), JSON.parse(document.getElementById("attncli-live").textContent));
