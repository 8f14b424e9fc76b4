// Reads the script, and texts with the rank that is wanted, one JSON a line; writes the matrix that each has, or why not.
const fs = require("fs");
const vm = require("vm");

const [source, ...questions] = fs.readFileSync(0, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
vm.runInThisContext(`${source}\n;globalThis.page = { readPasted, readNumber };`);
const { readPasted, readNumber } = globalThis.page;

function answer([text, rank]) {
  try {
    const { shape, texts, names } = readPasted(text, rank);
    return { shape, texts, canonical: texts.map((each) => readNumber(each).text), names };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { refused: error.message };
  }
}

for (const question of questions) console.log(JSON.stringify(answer(question)));
