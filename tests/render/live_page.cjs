// Opens pages in the browser BROWSER, whose program is PROGRAM, and plays what standard input asks for: one JSON a line,
// and one answer a line, until standard input ends.
const fs = require("fs");
const os = require("os");
const path = require("path");
const readline = require("readline");
const playwright = require("playwright-core");

const QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const { BROWSER, PROGRAM } = process.env;
const LAUNCHED = { chromium: { args: QUIET }, firefox: { channel: "moz-firefox" } }; // a Firefox as people have it
const DOWNLOADS = fs.mkdtempSync(path.join(os.tmpdir(), "attncli-downloads-"));
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** What a reader sees: the matrices, the worked lines, and the titles. */
const read = () => {
  const texts = (selector, text) => [...document.querySelectorAll(selector)].map(text);
  return {
    matrices: texts("main table[data-array]:not(.wide > .factor:not(:last-child) *)", (table) => [table.dataset.array, ...[...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))]),
    lines: texts("main ul.worked li", (line) => {
      const copy = line.cloneNode(true);
      copy.querySelectorAll("i").forEach((remark) => remark.remove()); // in which there may be formulas
      return copy.textContent.trim();
    }),
    titles: texts("main :is(h2, h3)", (title) => title.textContent),
  };
};

/** All that a page says of its numbers and is in sight, as text, with the formulas in worked lines. */
const told = () => {
  const seen = (selector, text) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility()).map(text);
  const plain = (each) => each.textContent.replace(/\s+/g, " ").trim();
  const formula = (math) => math.innerHTML.replace(/\s+/g, " ");
  return {
    lead: seen(".lead", plain),
    // Where ≈ is explained depends on where it stood first.
    remarks: seen("main > aside, .remarks > aside", plain).filter((said) => !said.startsWith("Note: ≈")),
    titles: seen("main :is(h2, h3)", plain),
    matrices: seen("main table[data-array]", (table) => [table.dataset.array, ...[...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))]),
    lines: seen("main ul.worked li", (line) => [plain(line), ...[...line.querySelectorAll("math")].map(formula)]),
    summary: seen("main table.rows tr", (row) => [plain(row), ...[...row.querySelectorAll("math")].map(formula)]),
    shapes: seen("#summary > p", plain),
    words: seen("[id$='in-words'] li", plain),
  };
};

const acts = {
  click: (page, selector) => page.locator(selector).first().click(),
  hover: (page, selector) => page.locator(selector).first().hover(),
  press: (page, keys, { keyboard }) => keys.split(" ").reduce((before, key) => before.then(() => keyboard.press(key)), Promise.resolve()),
  type: (page, text, { keyboard }) => keyboard.type(text),
  choose: (page, mask) => page.selectOption(".controls select", mask),
  "what-if": (page, name) => page.selectOption(".what-if-choice", name),
  slide: (page, value) => page.locator(".one-number input").fill(value),
  to: async (page, array, { keyboard }) => { // by Tab alone
    for (let stops = 0; stops < 40 && (await answers.focus(page)) !== array; stops++) await keyboard.press("Tab");
  },
  scroll: (page, selector) => page.locator(selector).evaluate((found) => (found.scrollLeft = found.scrollWidth)),
  print: (page) => page.emulateMedia({ media: "print" }),
  fill: (page, texts) => texts.split(" ").reduce((before, text, at) => before.then(() => page.locator("main input").nth(at).fill(text)), Promise.resolve()),
  name: (page, text) => page.getByLabel("Name").fill(text),
  open: (page, text) => page.setInputFiles("input[type=file]", { name: "answers.yaml", mimeType: "text/yaml", buffer: Buffer.from(text) }),
  wait: (page) => page.evaluate(() => new Promise((done) => setTimeout(done, 200))), // until the lines have followed
};
const answers = {
  // Milliseconds that the page needs to follow a number typed into the open field: the median of some.
  follows: (page) => page.evaluate(() => {
    const input = document.querySelector("td input");
    const times = Array.from({ length: 21 }, (_, at) => {
      input.value = `${at / 8}`;
      const before = performance.now();
      input.dispatchEvent(new Event("input", { bubbles: true }));
      return performance.now() - before;
    });
    return times.sort((a, b) => a - b)[10];
  }),
  read: (page) => page.evaluate(read),
  told: async (page) => {
    await acts.wait(page);
    await page.evaluate(() => [...document.querySelectorAll(".tabs button")].at(-1)?.click()); // all parts
    return page.evaluate(told);
  },
  line: (page) => page.locator(".one-number [aria-live]").innerText(),
  focus: (page) => page.evaluate(() => document.activeElement.closest("table")?.dataset.array ?? document.activeElement.tagName),
  address: (page) => page.waitForTimeout(400).then(() => page.evaluate(() => location.hash)),
  marked: (page) => page.evaluate(() => [...document.querySelectorAll("table .operand")].map((cell) => `${cell.closest("table").dataset.array} ${cell.textContent}`)),
  arrays: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((table) => table.dataset.array)),
  blanks: (page) => page.locator("main input").evaluateAll((found) => found.map((each) => each.closest("[data-array]").dataset.array)),
  values: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => each.value)),
  texts: (page, selector) => page.locator(selector).allInnerTexts(),
  labels: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => each.label)),
  keys: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => each.dataset.key)),
  // The colour of an edge, and whether it is one line or, as of hollow keys, two.
  looks: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => {
    const { borderInlineStartColor, borderInlineStartStyle } = getComputedStyle(each);
    return `${borderInlineStartStyle} ${borderInlineStartColor}`;
  })),
  sizes: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => [each.offsetWidth, each.offsetHeight])),
  left: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => Math.round(each.getBoundingClientRect().left))),
  top: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => Math.round(each.getBoundingClientRect().top))),
  shades: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => Number(each.getAttribute("fill-opacity")))),
  formulas: (page, selector) => page.locator(`${selector} math`).evaluateAll((found) => found.map((math) => math.textContent.replace(/\s+/g, ""))),
  styles: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => each.style.cssText)),
  invalid: (page) => page.locator("[aria-invalid=true]").count(),
  shown: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => each.checkVisibility())),
  announced: (page) => page.locator("[aria-live], [role=status]").allTextContents(),
  // Looked for on the disk, as Playwright hears nothing of it from Firefox.
  saved: async (page, button) => {
    for (const file of fs.readdirSync(DOWNLOADS)) fs.rmSync(path.join(DOWNLOADS, file));
    await page.getByText(button || "Save as YAML").click({ timeout: 3000 });
    for (let waited = 0; waited < 100; waited++, await pause(50)) {
      const texts = fs.readdirSync(DOWNLOADS).map((file) => fs.readFileSync(path.join(DOWNLOADS, file), "utf8"));
      if (texts.length === 1 && texts[0].endsWith("\n")) return texts[0];
    }
    throw new Error("nothing was saved");
  },
  axe: async (page) => {
    await page.evaluate(require("axe-core").source);
    return page.evaluate(async () =>
      (await axe.run({ resultTypes: ["violations"] })).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`));
  },
  wider: (page, selector) => page.locator(selector).evaluateAll((found) =>
    found.filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 200))),
  // Mistakes whose map cannot be drawn.
  undrawn: (page) => page.evaluate(() => {
    const select = document.querySelector(".what-if-choice");
    const drawn = () => document.querySelector(".map").innerHTML;
    return [...select.options].map(({ value }) => value).filter((name) => {
      select.value = name;
      select.dispatchEvent(new Event("change"));
      return /NaN|Infinity|undefined/.test(drawn()) || !document.querySelector(".map .edge");
    });
  }),
  // Matrices of the map with a point of an arrow inside.
  crossed: (page) => page.evaluate(() => {
    const boxes = [...document.querySelectorAll(".map .frame")].map((each) => each.getBoundingClientRect());
    const points = [...document.querySelectorAll(".map .edge")].flatMap((path) => {
      const { x, y } = path.ownerSVGElement.getBoundingClientRect();
      return Array.from({ length: 400 }, (_, at) => path.getPointAtLength((at / 399) * path.getTotalLength())).map((each) => [each.x + x, each.y + y]);
    });
    return boxes.flatMap(({ left, right, top, bottom }, at) => (points.some(([x, y]) => x > left && x < right && y > top && y < bottom) ? [at] : []));
  }),
  // Numbers typed over one after the other, [place, keys, how it ends]: what the page shows and says after each.
  edits: async (page, edits, { keyboard }) => {
    const cells = page.locator("#what-is-given table[data-array=X] tbody td");
    const field = page.locator("td input");
    const text = (selector) => page.evaluate((found) => document.querySelector(found)?.textContent ?? "", selector);
    const found = [];
    for (const [place, keys, end] of edits) {
      await cells.nth(place).click();
      for (const key of keys) await (key.length > 1 ? keyboard.press(key) : keyboard.type(key));
      const said = (await field.getAttribute("aria-invalid")) === "true" ? await text(".one-number [aria-live]") : "";
      if (end === "click") await page.locator("h1").click();
      // A cell of another row: the one beside it may be under the open field, which is wider than a cell.
      else if (end === "other") await cells.nth((place + 4) % 12).click();
      else await keyboard.press(end);
      const isOpen = end === "Enter" && (await field.count()) > 0;
      const notice = await text(".one-number .notice");
      if (await field.count()) await keyboard.press("Escape");
      found.push({ said, isOpen, notice, texts: await cells.allInnerTexts() });
    }
    return found;
  },
  // What the ribbons, the bars and the sentence say of every attention that can be chosen, and of every part of the page.
  attentions: (page) => page.evaluate(() => {
    const texts = (selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent);
    const said = () => [...document.querySelectorAll(".words button")].map((word) => {
      word.click();
      const rest = [".ribbons li b", ".sum p > b", ".query > p:first-child b"].map(texts);
      return [texts(".query > p:first-child")[0], texts(".sum figcaption")[0], ...rest];
    });
    const each = (group) => [...group.children].flatMap((child) => {
      const take = (at) => ((child.value = at), child.dispatchEvent(new Event("change")));
      return child.matches("select") ? [...child.options].map(({ text }, at) => [text, () => take(at)]) : [[child.textContent, () => child.click()]];
    });
    const rows = [...document.querySelectorAll(".query > .controls")].map(each);
    const chosen = rows.reduce((before, row) => before.flatMap((some) => row.map((one) => [...some, one])), [[]]);
    const taken = (choices) => choices.forEach(([, take]) => take());
    const ribbons = chosen.map((choices) => (taken(choices), [choices.map(([name]) => name), said()]));
    const parts = each(document.querySelector(".tabs")).map((choice) => (taken([choice]), [choice[0], said()]));
    return { ribbons, parts };
  }),
  // The rules of each style sheet, as the browser has read them.
  rules: (page) => page.evaluate(() => [...document.styleSheets].map((sheet) => [...sheet.cssRules].map((rule) => rule.cssText))),
  shift: (page) => page.evaluate(() => new Promise((done) => {
    let sum = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((each) => (sum += each.value))).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(sum), 200);
  })),
};

/** What a page answers, and the faults that it had; in a context of its own, so that no page knows of another. */
const played = async (browser, { address, play, options }) => {
  const context = await browser.newContext({ acceptDownloads: true, viewport: { width: 1200, height: 800 }, ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(10000);
    const faults = [];
    const half = /^Invalid markup: Incorrect number of children/; // Firefox, of a formula that it has read half of
    const fault = (text) => half.test(text) || faults.push(text);
    page.on("console", (message) => message.type() === "error" && fault(message.text()));
    page.on("pageerror", (error) => fault(String(error.stack)));
    page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || faults.push(request.url()));
    page.on("dialog", (dialog) => faults.push(dialog.message()) && dialog.dismiss());
    await page.goto(address);
    const found = [];
    let part = page;
    for (const [what, how] of play) {
      if (what === "frame") part = page.frames()[1];
      else if (what in acts) await acts[what](part, how, page);
      else found.push(await answers[what](part, how, page));
    }
    return { faults, found };
  } finally {
    await context.close();
  }
};

(async () => {
  const browser = await playwright[BROWSER].launch({ executablePath: PROGRAM, downloadsPath: DOWNLOADS, ...LAUNCHED[BROWSER] });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const answer = await played(browser, JSON.parse(line)).catch((error) => ({ failed: String(error.stack) }));
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await browser.close();
  fs.rmSync(DOWNLOADS, { recursive: true });
})();
