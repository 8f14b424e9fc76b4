// @ts-check
// The address of the page as it is now: to be copied, and short enough to be sent.

"use strict";

// Many programs cut a longer address off.
const LONGEST_ADDRESS = 2000;

class Sharing {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.button = button("Copy the address", () => this.copy());
    // A page inside a notebook has none.
    this.button.hidden = location.protocol === "about:";
    this.said = element("span", { class: "unsaved" });
  }

  show() {
    this.said.textContent = "";
  }

  copy() {
    // What was typed just now belongs to it.
    this.page.finish();
    const { href } = location;
    const done = navigator.clipboard?.writeText(href) ?? Promise.reject();
    done.then(
      () => this.tell("Copied.", href),
      () => this.tell("Copy the address from the top of the window.", href),
    );
  }

  /**
   * @param {string} done
   * @param {string} href
   */
  tell(done, href) {
    const { length } = href;
    const isLong = length > LONGEST_ADDRESS;
    const long = `It has ${length} characters, and many programs cut it off after ${LONGEST_ADDRESS}: send the saved file instead.`;
    const isOnDisk = location.protocol === "file:";
    const onDisk = "It is that of a file on this computer: send the page, too.";
    const said = [done, isLong && long, isOnDisk && onDisk].filter(Boolean).join(" ");
    this.said.textContent = said;
    this.said.classList.toggle("calm", !isLong);
    this.page.say(said);
  }
}

// --- numbers that follow each other, as one part of the address: X.4=1;0;1/3

/**
 * @param {Model} model
 * @param {string[][]} said
 */
function joined(model, said) {
  /** @type {{ key: string, text: string, next: string }[]} */
  const parts = [];
  for (const [key, text] of inOrder(said)) {
    const [name, at] = splitKey(key);
    const last = parts.at(-1);
    const goesOn = last?.next === key && model.array(name);
    if (goesOn) last.text += `;${text}`;
    else parts.push({ key, text, next: "" });
    parts.at(-1).next = `${name}.${at + 1}`;
  }
  const address = new URLSearchParams(parts.map(({ key, text }) => [key, text]));
  // These two mean nothing in this part of an address.
  return `${address}`.replaceAll("%3B", ";").replaceAll("%2F", "/");
}

/**
 * What was changed, with the numbers of an array in their order.
 *
 * @param {string[][]} said
 */
function inOrder(said) {
  const names = [...new Set(said.map(([key]) => splitKey(key)[0]))];
  return [...said].sort(([one], [other]) => {
    const [name, at] = splitKey(one);
    const [otherName, otherAt] = splitKey(other);
    return names.indexOf(name) - names.indexOf(otherName) || at - otherAt;
  });
}

/**
 * A part for each number again.
 *
 * @param {Model} model
 * @param {URLSearchParams} said
 */
function apart(model, said) {
  const parts = [...said].flatMap(([key, text]) => {
    const [name, at] = splitKey(key);
    if (!model.array(name)) return [[key, text]];
    return text.split(";").map((each, place) => [`${name}.${at + place}`, each]);
  });
  return new URLSearchParams(parts);
}
