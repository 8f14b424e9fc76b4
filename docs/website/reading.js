// @ts-check
// What helps to read a page: buttons that copy code, and wide things that the keyboard can scroll.

"use strict";

for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => copyCode(block, button));
  block.append(button);
}

const wide = new ResizeObserver((entries) => {
  for (const { target } of entries) followWidth(/** @type {HTMLElement} */ (target));
});
for (const each of document.querySelectorAll(".code pre, .wide")) wide.observe(each);

// The list of pages begins where this page is.
const here = document.querySelector("#pages [aria-current]");
here?.scrollIntoView({ block: "nearest" });

/**
 * The commands of a block, without what they print; of other blocks all.
 *
 * @param {Element} block
 * @param {HTMLElement} button
 */
async function copyCode(block, button) {
  const commands = [...block.querySelectorAll("pre b")].map((each) => each.textContent);
  const text = commands.length ? commands.join("\n") : block.querySelector("pre").textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Nothing may be copied here: it is marked instead.
    getSelection().selectAllChildren(block.querySelector("pre"));
    button.textContent = "Marked";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

/**
 * Only what is wider than its room is a stop of the keyboard.
 *
 * @param {HTMLElement} each
 */
function followWidth(each) {
  if (each.scrollWidth > each.clientWidth) {
    each.tabIndex = 0;
    each.setAttribute("role", "group");
    each.ariaLabel ||= "Table";
  } else {
    each.removeAttribute("tabindex");
    each.removeAttribute("role");
  }
}
