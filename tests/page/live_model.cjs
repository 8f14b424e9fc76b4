// Reads the script, and problems as data, one JSON a line, with edits; writes the numbers, texts and worked lines that
// the page has.
const fs = require("fs");
const vm = require("vm");

const [source, ...questions] = fs.readFileSync(0, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const names = "Model, savedText, Typing, sliderRange, warningsOf, Lines, judge, readNumber, formatNumber, percent, termsOf, Signs, FLOATS, EXACT";
vm.runInThisContext(`${source}\n;globalThis.page = { ${names} };`);
const { Model, savedText, Typing, sliderRange, warningsOf, Lines, judge, readNumber, formatNumber, percent, termsOf, Signs, FLOATS, EXACT } = globalThis.page;

// Where the scale is a number that a reader slides, it is the one that the settings of attncli have there.
const NUMBER = "0.918273645";

function modelOf(data) {
  const model = new Model(data);
  model.scale = NUMBER;
  return model;
}

// What a reader does; places are shares of what there is now, so that they fit whatever was done before.
function act(model, [kind, of, ...rest]) {
  const part = (share, length) => Math.min(length - 1, Math.floor(share * length));
  const { sizes, arrays, data } = model;
  if (kind === "add") return sizes.add(of, part(rest[0], sizes.lengths[of] + 1));
  if (kind === "remove") return sizes.remove(of, part(rest[0], sizes.lengths[of]));
  if (kind === "rename") return sizes.rename(of, part(rest[0], data.labels[of].length), rest[1]);
  if (kind === "take") return sizes.take(of, ...rest);
  const { values } = arrays.get(of);
  return model.edit(of, part(rest[0], values.length), rest[1]) ? "" : "no number";
}

const answers = {
  // The file after what was done, and why some of it was not; and whether the first state comes back.
  saved({ data, mask, scaled, actions }) {
    const model = modelOf(data);
    if (mask !== undefined) model.choose(mask, scaled);
    const first = [savedText(model), model.state()];
    const refused = actions.map((action) => act(model, action));
    model.work();
    const text = savedText(model);
    const last = model.state();
    model.restore(first[1]);
    if (savedText(model) !== first[0]) throw new Error("another state came back");
    model.restore(last);
    if (savedText(model) !== text) throw new Error("the last state did not come back");
    return { text, refused, lengths: model.sizes.lengths };
  },
  trace({ data, mask, scaled, edits, cells, actions }) {
    const model = modelOf(data);
    if (mask !== undefined) model.choose(mask, scaled);
    for (const action of actions ?? []) act(model, action);
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
    const model = modelOf(data);
    const lines = new Lines(model);
    return cells.map(([name, at, fixed]) => lines.walk(model.steps.get(name).rule, at, fixed).map(({ text, relation, total, cells }) => [text, relation, total, cells]));
  },
  without({ data, cells }) {
    const model = modelOf(data);
    return cells.map(([name, at]) => [...model.without([[name, [at]]]).steps].flatMap(([step, { values }]) => {
      const missing = [...values.keys()].filter((place) => Number.isNaN(values[place]));
      return missing.length ? [[step, missing]] : [];
    }));
  },
  giving({ data, cells }) {
    const model = modelOf(data);
    return cells.map(([name, at, written]) => model.mistakesThatGive(name, at, (value) => judge(value, written, data.judging) === "right"));
  },
  signs({ data }) {
    const model = modelOf(data);
    return model.mistakes().map((name) => [name, new Signs(model, model.with(name)).sentence()]);
  },
  terms({ data }) {
    const model = modelOf(data);
    const { rule, values } = model.steps.get(data.mixed);
    const terms = termsOf(model, rule);
    return { terms: Array.from(values, (_, at) => terms(at)), name: rule.name };
  },
  // Which mistakes there are in every setting, with the numbers of each so-manieth of them.
  mistakes({ data, each }) {
    const model = modelOf(data);
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
    const model = modelOf(data);
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
    const model = modelOf(data);
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
    const model = modelOf(data);
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
