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
// The list of downloads would take the focus from the page.
const PREFERENCES = { "browser.download.alwaysOpenPanel": false };
const LAUNCHED = { chromium: { args: QUIET }, firefox: { channel: "moz-firefox", firefoxUserPrefs: PREFERENCES } }; // a Firefox as people have it
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
  // Somewhere in an element: a share of its width and height, then its selector.
  "click in": async (page, where) => {
    const [, right, down, selector] = /^(\S+) (\S+) (.*)$/.exec(where);
    const found = page.locator(selector).first();
    const { width, height } = await found.boundingBox();
    await found.click({ position: { x: width * right, y: height * down } });
  },
  reload: (page) => page.reload(),
  reach: (page, selector) => page.locator(selector).first().focus(),
  hover: (page, selector) => page.locator(selector).first().hover(),
  press: (page, keys, { keyboard }) => keys.split(" ").reduce((before, key) => before.then(() => keyboard.press(key)), Promise.resolve()),
  down: (page, key, { keyboard }) => keyboard.down(key),
  up: (page, key, { keyboard }) => keyboard.up(key),
  type: (page, text, { keyboard }) => keyboard.type(text),
  choose: (page, mask) => page.selectOption(".controls select", mask),
  "what-if": async (page, name, { keyboard }) => {
    await page.getByText("What if …", { exact: true }).first().click();
    await keyboard.type(name);
    await keyboard.press("Enter");
  },
  // The ribbon of the second key, from so far below its middle, by so much.
  pull: async (page, how, { mouse }) => {
    const [below, dx, dy] = how.split(" ").map(Number);
    const { x, y, width } = await page.locator(".ribbons svg").boundingBox();
    const [left, top] = [x + width - 8, y + 1.5 * 34 + below];
    await mouse.move(left, top);
    await mouse.down();
    await mouse.move(left + dx, top + 2 * dy, { steps: 4 });
    await mouse.move(left + dx, top + dy, { steps: 4 });
    await mouse.up();
  },
  "pull number": async (page, selector, { mouse }) => {
    const { x, y } = await page.locator(selector).boundingBox();
    await mouse.move(x + 8, y + 8);
    await mouse.down();
    await mouse.move(x + 88, y + 8, { steps: 4 });
    await mouse.up();
  },
  // The knob of the scale: to a mark, by its words, or to a position.
  sharpen: async (page, to) => {
    const marks = page.locator(".sharpness option").evaluateAll((all) => all.map(({ label, value }) => [label, value]));
    return page.locator(".sharpness input").fill(new Map(await marks).get(to) ?? to);
  },
  slide: (page, value) => page.locator(".one-number input").fill(value),
  part: (page, label) => page.selectOption(".presenter select", { label }),
  // From its middle to the right, in many moves.
  drag: async (page, selector, { mouse }) => {
    const { x, y, width, height } = await page.locator(selector).boundingBox();
    await mouse.move(x + width / 2, y + height / 2);
    await mouse.down();
    await mouse.move(x + width * 0.9, y + height / 2, { steps: 8 });
    await mouse.up();
  },
  // By the keys that people press, so that the browser has a say.
  paste: async (page, text, { keyboard }) => {
    const focused = await page.evaluateHandle(() => document.activeElement);
    await page.evaluate((copied) => {
      const field = document.createElement("textarea");
      document.body.append(field);
      field.value = copied;
      field.select();
    }, text);
    await keyboard.press("Control+c");
    await page.evaluate(() => document.querySelector("body > textarea").remove());
    await focused.evaluate((element) => element.focus());
    await keyboard.press("Control+v");
  },
  write: (page, text) => page.locator("textarea").fill(text),
  to: async (page, array, { keyboard }) => { // by Tab alone
    for (let stops = 0; stops < 80 && (await answers.focus(page)) !== array; stops++) await keyboard.press("Tab");
  },
  scroll: (page, selector) => page.locator(selector).evaluate((found) => (found.scrollLeft = found.scrollWidth)),
  print: (page) => page.emulateMedia({ media: "print" }),
  printing: (page, event) => page.evaluate((name) => dispatchEvent(new Event(name)), event),
  fill: (page, texts) => texts.split(" ").reduce((before, text, at) => before.then(() => page.locator("main td input").nth(at).fill(text)), Promise.resolve()),
  name: (page, text) => page.getByLabel("Name").fill(text),
  date: (page, text) => page.getByLabel("Date").fill(text),
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
    await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
    return page.evaluate(told);
  },
  line: (page) => page.locator(".one-number [aria-live]").innerText(),
  focus: (page) => page.evaluate(() => document.activeElement.closest("table")?.dataset.array ?? document.activeElement.tagName),
  address: (page) => page.waitForTimeout(400).then(() => page.evaluate(() => location.hash)),
  marked: (page) => page.evaluate(() => [...document.querySelectorAll("table .operand")].map((cell) => `${cell.closest("table").dataset.array} ${cell.textContent}`)),
  arrays: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((table) => table.dataset.array)),
  blanks: (page) => page.locator("main td input").evaluateAll((found) => found.map((each) => each.closest("[data-array]").dataset.array)),
  values: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => each.value)),
  texts: (page, selector) => page.locator(selector).allInnerTexts(),
  hrefs: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => each.hash)),
  titles: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => each.title)),
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
  // The squares of each shade of a grid: [query, key] of each.
  grid: (page, selector) => page.locator(`${selector} path`).evaluateAll((paths) =>
    paths.map((path) => [...path.getAttribute("d").matchAll(/M(\d+) (\d+)/g)].map(([, key, query]) => [Number(query), Number(key)]))),
  formulas: (page, selector) => page.locator(`${selector} math`).evaluateAll((found) => found.map((math) => math.textContent.replace(/\s+/g, ""))),
  // Pixels that do not fit, to the right and below.
  scrolls: (page, selector) => page.locator(selector).evaluate((each) => [each.scrollWidth - each.clientWidth, each.scrollHeight - each.clientHeight]),
  styles: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => each.style.cssText)),
  // A property as the browser has worked it out: "visibility .strip .row".
  computed: (page, how) => {
    const [property, ...selector] = how.split(" ");
    return page.locator(selector.join(" ")).evaluateAll((found, name) => found.map((each) => getComputedStyle(each)[name]), property);
  },
  named: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => [each.ariaLabel, each.getAttribute("aria-valuetext")])),
  pdf: async (page) => (await page.pdf({ format: "A4", preferCSSPageSize: true })).toString("base64"),
  // A property as it is computed: "color | td".
  css: (page, how) => {
    const [name, selector] = how.split(" | ");
    return page.locator(selector).evaluateAll((found, property) => found.map((each) => getComputedStyle(each)[property]), name);
  },
  edges: (page, selector) => page.locator(selector).evaluateAll((found) => found.map((each) => {
    const { left, top, right, bottom } = each.getBoundingClientRect();
    return [left, top, right, bottom].map(Math.round);
  })),
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
      (await axe.run({ resultTypes: ["violations"], preload: false })).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`));
  },
  wider: (page, selector) => page.locator(selector).evaluateAll((found) =>
    found.filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 200))),
  // Mistakes whose map cannot be drawn.
  undrawn: (page) => page.evaluate(() => {
    const open = () => {
      [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "What if …").click();
      return [...document.querySelectorAll("[role=option]")];
    };
    const drawn = () => document.querySelector(".map").innerHTML;
    return open().map(({ dataset }) => dataset.mistake).filter((name, at) => {
      open()[at].click();
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
    const fields = page.locator("td input");
    const text = (selector) => page.evaluate((found) => document.querySelector(found)?.textContent ?? "", selector);
    const found = [];
    for (const [place, keys, end] of edits) {
      const field = cells.nth(place).locator("input");
      await cells.nth(place).click();
      for (const key of keys) await (key.length > 1 ? keyboard.press(key) : keyboard.type(key));
      const said = (await field.getAttribute("aria-invalid")) === "true" ? await text(".one-number [aria-live]") : "";
      if (end === "click") await page.locator("h1").click();
      // A cell of another row: the one beside it may be under the open field, which is wider than a cell.
      else if (end === "other") await cells.nth((place + 4) % 12).click();
      else await keyboard.press(end);
      const isOpen = (await field.count()) > 0;
      // While the focus is still there, the line says why, if the reason has no room beside the matrix; then the
      // reason comes, which moves the page and waits for the end of a click.
      if (isOpen) await pause(250);
      const why = (await text("p.why:not([hidden])")) || (await text(".one-number [aria-live]"));
      const left = isOpen ? [await field.inputValue(), why] : [];
      const notice = await text(".one-number .notice");
      if ((await fields.count()) > left.length / 2) await keyboard.press("Escape"); // that of the other cell
      if (await field.count()) {
        await field.focus();
        await keyboard.press("Escape");
      }
      found.push({ said, isOpen, left, notice, texts: await cells.allInnerTexts() });
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
  // How many numbers are on their way just after a step to the next term.
  flights: (page) => page.evaluate(() => {
    document.querySelector("[aria-keyshortcuts=n]").click();
    return document.querySelectorAll(".flying").length;
  }),
  // How much has moved unasked, as browsers count it: what follows a key or a click within half a second is not.
  shift: (page) => page.evaluate(() => new Promise((done) => {
    let sum = 0;
    const count = (entry) => entry.hadRecentInput || (sum += entry.value);
    new PerformanceObserver((list) => list.getEntries().forEach(count)).observe({ type: "layout-shift", buffered: true });
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
