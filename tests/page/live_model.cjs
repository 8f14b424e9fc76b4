// Reads the script, and problems as data, one JSON a line, with edits; writes the numbers, texts and worked lines that
// the page has.
const fs = require("fs");
const vm = require("vm");

const [source, ...questions] = fs.readFileSync(0, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const names = "Model, Typing, sliderRange, warningsOf, Lines, judge, readNumber, formatNumber, percent, termsOf, FLOATS, EXACT";
vm.runInThisContext(`${source}\n;globalThis.page = { ${names} };`);
const { Model, Typing, sliderRange, warningsOf, Lines, judge, readNumber, formatNumber, percent, termsOf, FLOATS, EXACT } = globalThis.page;

const answers = {
  trace({ data, mask, scaled, edits, cells }) {
    const model = new Model(data);
    if (mask !== undefined) model.choose(mask, scaled);
    for (const [name, at, text] of edits ?? []) if (!model.edit(name, at, text)) throw new Error(`${text} is no number`);
    model.work();
    const lines = new Lines(model);
    const steps = {};
    for (const [name, { rule, values }] of model.steps)
      steps[name] = {
        values: Array.from(values, (value) => (Number.isFinite(value) ? value : `${value}`)),
        texts: Array.from(values, (_, at) => model.text(name, at)),
      };
    const worked = (cells ?? []).map(([name, at, fixed]) => {
      const { label, work, relation, result, remark } = lines.line(model.steps.get(name).rule, at, fixed);
      return [label, [work, result && relation ? `${relation} ${result}` : result, lines.said(remark)].filter(Boolean).join(" ")];
    });
    return { shifted: model.shifted, steps, worked, warnings: warningsOf(model) };
  },
  walks({ data, cells }) {
    const model = new Model(data);
    const lines = new Lines(model);
    return cells.map(([name, at, fixed]) => lines.walk(model.steps.get(name).rule, at, fixed).map(({ text, relation, total, cells }) => [text, relation, total, cells]));
  },
  without({ data, cells }) {
    const model = new Model(data);
    return cells.map(([name, at]) => [...model.without(name, [at]).steps].flatMap(([step, { values }]) => {
      const missing = [...values.keys()].filter((place) => Number.isNaN(values[place]));
      return missing.length ? [[step, missing]] : [];
    }));
  },
  giving({ data, cells }) {
    const model = new Model(data);
    return cells.map(([name, at, written]) => model.mistakesThatGive(name, at, (value) => judge(value, written, data.judging) === "right"));
  },
  terms({ data }) {
    const model = new Model(data);
    const { rule, values } = model.steps.get(data.mixed);
    const terms = termsOf(model, rule);
    return { terms: Array.from(values, (_, at) => terms(at)), name: rule.name };
  },
  // Which mistakes there are in every setting, with the numbers of each so-manieth of them.
  mistakes({ data, each }) {
    const model = new Model(data);
    const lines = new Lines(model);
    let place = 0;
    return data.settings.flatMap(({ mask, scaled }) => {
      model.choose(mask, scaled);
      return model.mistakes().map((name) => {
        if (place++ % each) return { mask, scaled, name };
        model.choose(mask, scaled, name);
        const steps = {};
        for (const [step, { rule, values }] of model.steps) {
          steps[step] = Array.from(values, (value) => (Number.isFinite(value) ? value : `${value}`));
          for (const at of values.keys()) lines.line(rule, at); // which must not stumble
        }
        const formulas = [...model.instead.values()].map((at) => lines.formula(model.rules[at]));
        return { mask, scaled, name, shifted: model.shifted, steps, formulas };
      });
    });
  },
  // From where to where each number can be slid that is worked out, with every mistake and with none.
  sliders({ data }) {
    const model = new Model(data);
    const { mask, scaled } = model.setting;
    return ["", ...model.mistakes()].map((mistake) => {
      model.choose(mask, scaled, mistake);
      const cells = [...model.steps].filter(([, { given }]) => !given).flatMap(([name, { values }]) =>
        [...values].map((value, at) => [name, at, value]));
      const sliders = cells.filter(([, , value]) => Number.isFinite(value)).map(([name, at, value]) => {
        model.hold(name, at, value);
        const { least, most, computed } = sliderRange(model, name, at);
        model.hold(name, at);
        return { name, value, least, most, computed };
      });
      return { mistake, sliders };
    });
  },
  formulas({ data }) {
    const model = new Model(data);
    const lines = new Lines(model);
    return data.settings.map(({ mask, scaled }) => {
      model.choose(mask, scaled);
      return [...model.steps.values()].filter(({ rule }) => rule.equation).map(({ rule }) => [rule.name, lines.formula(rule)]);
    });
  },
  verdicts: ({ claims, judging }) => claims.map(([value, text]) => judge(value, text, judging)),
  numbers: ({ texts }) => texts.map((text) => {
    const found = readNumber(text);
    return found && [Number.isFinite(found.value) ? found.value : `${found.value}`, found.text];
  }),
  // What the page shows after each text that stands in a field, and what is left of each edit in the end.
  typed({ data, edits }) {
    const model = new Model(data);
    return edits.map(([name, at, texts]) => {
      const typing = new Typing(model, name, at);
      const array = model.arrays.get(name);
      const shown = texts.map((text) => (typing.take(text), array.values[at]));
      const { why } = typing;
      if (why) typing.giveUp();
      return { shown, why, value: array.values[at], written: array.written?.[at] ?? null };
    });
  },
  functions: () => Object.keys(FLOATS).filter((name) => name in EXACT),
  shares: ({ values }) => values.map(percent),
  printed: ({ values, precision }) => values.map((value) => formatNumber(value, precision)),
};

for (const asked of questions) process.stdout.write(`${JSON.stringify(answers[asked.ask](asked))}\n`);
