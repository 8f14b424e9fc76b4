// Walks over live pages: random keys, clicks, drags, undo. One JSON a line on standard input asks for a walk, and one
// on standard output has its faults: errors of the console, a focus that was lost, and what undo did not bring back.
const readline = require("readline");
const playwright = require("playwright-core");

const { BROWSER, PROGRAM } = process.env;
const QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const LAUNCHED = { chromium: { args: QUIET }, firefox: { channel: "moz-firefox" } };
const TEXTS = ["3", "1/3", "-2.5", "sqrt(2)", "0", "10/0", "x", "1e999", "2,5", "1e3", "", "7"];
const SEARCHES = ["softmax", "scale", "W_K", "mask", "left out", "nothing is called so"];
const KEYS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Tab", "Shift+Tab", "n", "b", "h", "Enter", "Delete", "Backspace",
  "Escape", "Home", "PageDown", "Control+z", "Control+z", "Control+y", "Space", "1", "p", "c"];
// A key that leaves something, and one that leaves the page at its end.
const MAY_LEAVE = ["Escape", "Tab", "Shift+Tab"];
const MOST_STEPS_BACK = 300;

/** Numbers that follow from a seed. */
const drawn = (seed) => {
  let state = seed * 2654435761 + 12345;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

/** What has to be the same in the end. */
const whole = (page) => page.evaluate(() => ({
  hash: location.hash.replace(/[&!]?part=\d+/, "").replace(/^#$/, ""),
  numbers: [...document.querySelectorAll("main table[data-array]")].map((table) =>
    [table.dataset.array, ...[...table.querySelectorAll("td")].map((cell) => cell.textContent)].join(" ")),
}));
const focused = (page) => page.evaluate(() => {
  const { tagName, outerHTML } = document.activeElement;
  return tagName === "BODY" ? "" : outerHTML.slice(0, 120);
});

/** Something that can be seen, drawn among all that a selector finds. */
const one = async (page, selector, below) => {
  const found = page.locator(`${selector} >> visible=true`);
  const count = await found.count();
  return count ? found.nth(below(count)) : null;
};
const press = async (page, keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Whether something lies over the middle of an element, which a click would meet in its place. */
const isCovered = (each) => {
  const { x, y, width, height } = each.getBoundingClientRect();
  return !each.contains(document.elementFromPoint(x + width / 2, y + height / 2));
};
const quick = { timeout: 1500, force: true };

const acts = {
  number: async (page, below) => {
    await (await one(page, "main table[data-array] tbody td", below))?.click(quick);
    return "";
  },
  type: async (page, below) => {
    const text = TEXTS[below(TEXTS.length)];
    await (await one(page, "main table.given tbody td", below))?.click(quick);
    await press(page, ["Control+a"]);
    await page.keyboard.type(text);
    await press(page, [["Enter", "Tab", "Escape"][below(3)]]);
    return text;
  },
  key: async (page, below) => {
    const key = KEYS[below(KEYS.length)];
    await press(page, [key]);
    return key;
  },
  button: async (page, below) => {
    const found = await one(page, "button:not([aria-disabled=true], :disabled)", below);
    const text = (await found?.textContent()) ?? "";
    // These write a file, or to the clipboard.
    if (!found || /Save|Copy|Share/.test(text)) return "";
    await found.scrollIntoViewIfNeeded(quick);
    if (await found.evaluate(isCovered)) return "";
    await found.click(quick);
    return `button ${text}`;
  },
  choice: async (page, below) => {
    const select = await one(page, ".controls select", below);
    const count = (await select?.locator("option").count()) ?? 0;
    if (count) await select.selectOption({ index: below(count) }, quick);
    return "";
  },
  tick: async (page, below) => {
    await (await one(page, ".controls input[type=checkbox]", below))?.click(quick);
    return "";
  },
  mistake: async (page, below) => {
    await (await one(page, ".controls button:has-text('What if')", below))?.click(quick);
    await page.keyboard.type(SEARCHES[below(SEARCHES.length)]);
    await press(page, [["Enter", "Escape"][below(2)]]);
    return "";
  },
  drag: async (page, below) => {
    const box = await (await one(page, "input[type=range], [role=slider], .ribbons path", below))?.boundingBox();
    if (!box) return "";
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + (box.width * below(100)) / 100, box.y + below(60), { steps: 5 });
    await page.mouse.up();
    return "";
  },
  scroll: async (page, below) => {
    await page.mouse.wheel(0, below(3000) - 1000);
    return "";
  },
};
const OFTEN = ["number", "number", "type", "type", "type", "key", "key", "key", "key", "button", "button", "choice", "tick",
  "mistake", "drag", "scroll"];

/** One act, and the fault if it lost the focus. */
const step = async (page, below) => {
  const name = OFTEN[below(OFTEN.length)];
  const before = await focused(page);
  const how = await acts[name](page, below).catch((error) => `not done: ${String(error).split("\n")[0]}`);
  const isAsked = MAY_LEAVE.includes(how) || how.endsWith("×") || how.startsWith("not done");
  const mayTell = (name === "key" && before) || (name === "button" && how);
  const isLost = mayTell && !isAsked && !(await focused(page));
  return [`${name} ${how}`, isLost ? `the focus was lost by ${name} ${how}; it was at ${before}` : ""];
};

/** Close what lies over the page, and take everything back. */
const back = async (page) => {
  await press(page, ["Escape", "Escape", "Escape"]);
  await page.evaluate(() => {
    document.querySelectorAll("dialog[open]").forEach((each) => each.close());
    document.querySelectorAll(".tour:not([hidden]) .close").forEach((each) => each.click());
    document.querySelectorAll(".controls [aria-expanded=true]").forEach((each) => each.click());
    document.activeElement.blur();
  });
  const isLeft = () => page.evaluate(() =>
    [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Undo").ariaDisabled !== "true");
  for (let steps = 0; steps < MOST_STEPS_BACK && (await isLeft()); steps++) {
    await page.evaluate(() => document.activeElement.blur());
    await press(page, ["Control+z"]);
  }
  await page.waitForTimeout(350);
};

const differing = (first, last) => {
  if (first.hash !== last.hash) return [`undo did not bring back the address ${first.hash}: ${last.hash}`];
  const other = first.numbers.findIndex((text, at) => text !== last.numbers[at]);
  return other < 0 ? [] : [`undo did not bring back ${first.numbers[other]}: ${last.numbers[other]}`];
};

const walked = async (browser, { address, seed, steps }) => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
  const below = drawn(seed);
  const faults = [];
  const done = [];
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(10000);
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(String(error.stack)));
    await page.goto(address);
    await page.waitForTimeout(300);
    const first = await whole(page);
    for (let at = 0; at < steps && !faults.length; at++) {
      const [said, fault] = await step(page, below);
      done.push(said);
      if (fault) faults.push(fault);
    }
    if (faults.length) return { faults, done };
    await back(page);
    return { faults: [...faults, ...differing(first, await whole(page))], done };
  } finally {
    await context.close();
  }
};

(async () => {
  const browser = await playwright[BROWSER].launch({ executablePath: PROGRAM, ...LAUNCHED[BROWSER] });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const answer = await walked(browser, JSON.parse(line)).catch((error) => ({ faults: [String(error.stack)], done: [] }));
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await browser.close();
})();
