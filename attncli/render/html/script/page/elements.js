// @ts-check
// Elements of the page, and how numbers and formulas stand in them.

"use strict";

const SVG = "http://www.w3.org/2000/svg";
// Of more heads or entries, one is chosen from a list.
const MOST_TABS = 8;
/**
 * Rows down and columns to the right.
 *
 * @type {Record<string, [number, number]>}
 */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * An element with attributes, or with properties where the value is no text.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} attributes
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    const isProperty = name in made && typeof value !== "string";
    if (isProperty) /** @type {any} */ (made)[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/**
 * @param {string} text
 * @param {() => void} act
 * @param {Record<string, any>} attributes
 */
function button(text, act, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

/**
 * A text that someone wrote, in whatever direction.
 *
 * @param {string} text
 */
const label = (text) => element("bdi", {}, text);

/**
 * A shape of a picture, or the picture with its shapes.
 *
 * @param {string} tag
 * @param {Record<string, any>} attributes
 * @param {Node[]} children
 */
function drawn(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return /** @type {SVGElement} */ (made);
}

/**
 * All elements that a selector finds.
 *
 * @template {Element} [Kind=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {Kind[]}
 */
const all = (root, selector) => /** @type {Kind[]} */ ([...root.querySelectorAll(selector)]);

/**
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {HTMLElement}
 */
const first = (root, selector) => root.querySelector(selector);

/**
 * @param {Event} event
 * @returns {HTMLElement}
 */
const targetOf = (event) => /** @type {HTMLElement} */ (event.target);

/**
 * The section that an element stands in.
 *
 * @param {Element} node
 */
const sectionOf = (node) => node.closest("section");

/** A page that scrolls below a pointer at rest brings there what nobody points at. */
function watchPointer() {
  /** @type {number[]} */
  let place = [];
  addEventListener("mousemove", ({ clientX, clientY }) => {
    place = [clientX, clientY];
  });
  const stop = (/** @type {MouseEvent} */ event) => {
    const [x, y] = place;
    if (event.clientX === x && event.clientY === y) event.stopPropagation();
  };
  addEventListener("mouseover", stop, true);
}

/**
 * Elements of a piece of HTML. Python wrote it, or a formula.
 *
 * @param {string} html
 */
function fragment(html) {
  const holder = element("template");
  holder.innerHTML = html;
  return holder.content;
}

// --- numbers and formulas

/**
 * A text with the sign for minus.
 *
 * @param {string | number} text
 */
const signed = (text) => `${text}`.replaceAll("-", "−");

/**
 * A line of text whose powers stand higher; read and copied, they have their sign.
 *
 * @param {string} text
 */
function raised(text) {
  const parts = text.split(/\^(\([^()]*\)|[^\s()·+,]+)/);
  return parts.map((part, at) => (at % 2 ? power(part) : part));
}

/** @param {string} part */
function power(part) {
  const isClosed = part.startsWith("(");
  const [open, close] = isClosed ? ["^(", ")"] : ["^", ""];
  const inside = isClosed ? part.slice(1, -1) : part;
  return element("sup", {}, element("span", {}, open), inside, element("span", {}, close));
}

/**
 * A formula of the script's own.
 *
 * @param {string} markup
 */
function math(markup, display = "inline") {
  return fragment(`<math display="${display}">${markup}</math>`).firstChild;
}

/**
 * What a part of a formula is called: its letter and what stands above it, without its indices.
 *
 * @param {Element} part
 */
function symbolOf({ localName, children, outerHTML }) {
  const [base, below, above = below] = children;
  if (localName === "msub") return base.outerHTML;
  const hasAbove = localName === "msup" || localName === "msubsup";
  return hasAbove ? base.outerHTML + above.outerHTML : outerHTML;
}

// --- choices

/**
 * A button for each of these, or one list called `name` where there are many; `take` is told the
 * place of the chosen one.
 *
 * @param {string[]} titles
 * @param {string} name
 * @param {(at: number) => void} take
 * @returns {HTMLElement[]}
 */
function choices(titles, name, take) {
  if (titles.length <= MOST_TABS + 1)
    return titles.map((title, at) => button(title, () => take(at)));
  const options = titles.map((title, at) => element("option", { value: `${at}` }, title));
  const select = element("select", { "aria-label": name }, ...options);
  select.addEventListener("change", () => take(Number(select.value)));
  return [select];
}

/**
 * Show which of its choices was taken.
 *
 * @param {HTMLElement} group
 * @param {number} taken
 */
function choose(group, taken) {
  [...group.children].forEach((each, at) => {
    if (each instanceof HTMLSelectElement) each.value = `${taken}`;
    else each.setAttribute("aria-pressed", String(at === taken));
  });
}

// --- places on the page

/**
 * The step that a section is about: step-scores, or head-0-step-scores.
 *
 * @param {Element} node
 */
const stepOf = (node) => /(?:^|-)step-(\w+)/.exec(node.closest("section").id)?.[1];

/**
 * The places on leading axes that are written at a part of the page: { h: 1 } for h=1.
 *
 * @param {HTMLElement} part
 * @returns {Places}
 */
function placeOf(part) {
  const written = (part?.dataset.place ?? "").split(" ").filter(Boolean);
  const pairs = written.map((each) => each.split("="));
  return Object.fromEntries(pairs.map(([letter, place]) => [letter, Number(place)]));
}

/** @param {Element} part */
const titleOf = (part) => part.querySelector("h2").textContent;

/**
 * The name of an array and a place in its numbers: X and 3 for X.3.
 *
 * @param {string} key
 * @returns {Cell}
 */
function splitKey(key) {
  const point = key.lastIndexOf(".");
  return [key.slice(0, point), Number(key.slice(point + 1))];
}
