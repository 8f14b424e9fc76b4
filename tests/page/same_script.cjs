// Reads a script twice, as it is written and as pages have it, in JSON; says whether both are the same but for notes,
// blanks and lines. Node.js has a parser inside: run it with --expose-internals.
const fs = require("fs");
const { parse } = require("internal/deps/acorn/acorn/dist/acorn");

const withoutPlaces = (name, value) => {
  if (name === "start" || name === "end") return undefined;
  return typeof value === "bigint" ? `${value}n` : value;
};
const tree = (text) => JSON.stringify(parse(text, { ecmaVersion: 2022 }), withoutPlaces);

const scripts = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(scripts.map(([written, kept]) => tree(written) === tree(kept))));
