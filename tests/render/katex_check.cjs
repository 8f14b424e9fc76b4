// Reads {"formulas": ["…", …]} on standard input and reports those that KaTeX cannot typeset.
const katex = require("katex");
const { formulas } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const failures = [];
for (const formula of formulas) {
  try {
    katex.renderToString(formula, { throwOnError: true, strict: "error", displayMode: true });
  } catch (error) {
    failures.push(`${formula}: ${error.message}`);
  }
}
console.log(JSON.stringify({ checked: formulas.length, failures }));
