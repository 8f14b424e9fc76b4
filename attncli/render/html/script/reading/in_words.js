// @ts-check
// Where each query looks and what its output is made of, in the words of `page/in_words.py`.

"use strict";

// So many keys are named one by one. The others are summed up.
const MOST_KEYS_NAMED = 4;
// A smaller part of an output says little about it; one of more than these is most of it, or nearly all.
const LEAST_PART_SAID = 0.4;
const MOST_OF_IT = 0.5;
const NEARLY_ALL = 0.95;

/** @typedef {{ weight: number, keys: number[] }} KeysAlike */

class InWords {
  /**
   * @param {Model} model
   * @param {Places} place The entry and the head.
   */
  constructor(model, place) {
    const { steps, data } = model;
    this.model = model;
    const { rule, values } = steps.get(data.weights);
    const leading = rule.cell.slice(0, -2).map((letter) => place[letter] ?? 0);
    this.rule = rule;
    this.values = values;
    this.start = placeIn(rule.shape, [...leading, 0, 0]);
    const [queries, keys] = rule.labels.slice(-2).map((at) => data.labels[at]);
    this.queries = queries;
    this.keys = keys;
    const past = steps.get("past_K")?.rule.shape.at(-2) ?? 0;
    const isOwn = !steps.has("context") && `${this.queries}` === `${this.keys.slice(past)}`;
    // The key of the first query's own token.
    this.own = isOwn ? past : NaN;
    this.hasSink = steps.has("sink") || model.arrays.has("sink") || model.scalars.has("sink");
    this.output = steps.has("heads_output") ? "its output in this head" : "its output";
    const names = [...steps.keys()];
    const isBehind = (/** @type {string} */ name) => names.indexOf(name) > names.indexOf(rule.name);
    // Then the output need not be made of the values.
    this.isOutputOther = Boolean(model.mistake) || [...model.held.keys()].some(isBehind);
  }

  /** Of each query. */
  sentences() {
    return this.queries.map((_, row) => {
      const [said, output] = this.ofQuery(row);
      return output && !this.isOutputOther ? `${said} ${output}` : said;
    });
  }

  /**
   * How a query spreads its attention, and what its output is made of, where there is something to
   * say of it.
   *
   * @param {number} row
   * @returns {string[]}
   */
  ofQuery(row) {
    const who = `"${this.queries[row]}"`;
    const first = this.start + row * this.keys.length;
    const weights = [...this.values.subarray(first, first + this.keys.length)];
    const upper = capitalized(this.output);
    if (!weights.every(Number.isFinite)) return [`${who} ${this.unknown()}.`];
    const isBlind = !weights.some(Boolean) && this.model.seesNoKey(placesOf(this.rule, first));
    if (isBlind) {
      const said = `${who} sees no key: it pays no attention to anything`;
      return [this.isOutputOther ? `${said}.` : `${said}, and ${this.output} is 0.`];
    }
    const sum = weights.reduce((total, weight) => total + weight, 0);
    const isWhole = Math.abs(sum - 1) <= SHARED.nearly_1 && weights.every((weight) => weight >= 0);
    const seen = [...weights.keys()].filter((key) => weights[key] > 0);
    if (!seen.length)
      return [
        `${who} pays so little attention to each key that every weight is rounded to 0.`,
        `So ${this.output} is 0, too.`,
      ];
    if (this.hasSink && 1 - sum > SHARED.tie) {
      const shares = this.shares(row, this.ranked(weights, seen)).join(", ");
      const toSink = `${percent(1 - sum)} to the sink`;
      return [
        `${who} pays ${shares}, and ${toSink}.`,
        `${upper} is the sum of the values, each times its share.`,
      ];
    }
    if (!isWhole) {
      const any = [...weights.keys()].filter((key) => weights[key]);
      const shares = together(this.shares(row, this.ranked(weights, any)));
      return [
        `${who} pays ${shares}. Together, this is ${percent(sum)}.`,
        `${upper} is the sum of the values, each times its weight.`,
      ];
    }
    if (seen.length === 1) {
      const said = `${who} pays all of its attention to ${this.name(row, seen[0])}`;
      const value = this.value(row, seen[0]);
      return [this.isOutputOther ? `${said}.` : `${said}, so ${this.output} is ${value}.`];
    }
    const all = this.ranked(weights, seen);
    if (all.length === 1) return [this.alike(who, first, all[0]), this.average(upper, seen)];
    const origin = this.origin(row, all);
    return [`${who} pays ${together(this.shares(row, all))}.`, origin && `${upper} is ${origin}.`];
  }

  unknown() {
    if (this.model.mistake) return "has weights that are no numbers";
    return "has scores that do not fit into float64, so its weights are unknown";
  }

  /**
   * The keys with these weights, those alike together, the heaviest first.
   *
   * @param {number[]} weights
   * @param {number[]} keys
   */
  ranked(weights, keys) {
    /** @type {KeysAlike[]} */
    const groups = [];
    for (const key of [...keys].sort((one, other) => weights[other] - weights[one])) {
      const { weight, keys: others } = groups.at(-1) ?? { weight: Infinity, keys: [] };
      if (weights[key] >= weight - SHARED.tie * Math.abs(weight)) others.push(key);
      else groups.push({ weight: weights[key], keys: [key] });
    }
    for (const group of groups) group.keys.sort((one, other) => one - other);
    return groups;
  }

  /**
   * The largest shares of attention: 70.7 % of its attention to itself, 15 % each to …
   *
   * @param {number} row
   * @param {KeysAlike[]} groups
   */
  shares(row, groups) {
    /** @type {string[]} */
    const said = [];
    let named = 0;
    for (const [at, { weight, keys }] of groups.entries()) {
      if (named && named + keys.length > MOST_KEYS_NAMED) {
        const rest = groups.slice(at);
        const others = rest.flatMap((group) => group.keys);
        const sum = rest.reduce((total, group) => total + group.weight * group.keys.length, 0);
        const areMany = others.length > 1;
        const whom = areMany ? `the ${others.length} others together` : this.name(row, others[0]);
        return [...said, `${percent(sum)} to ${whom}`];
      }
      const share = [
        percent(weight),
        !said.length && "of its attention",
        keys.length > 1 && "each",
      ];
      const isFew = keys.length <= MOST_KEYS_NAMED;
      const names = listed(keys.map((key) => this.name(row, key)));
      said.push(`${share.filter(Boolean).join(" ")} to ${isFew ? names : `${keys.length} tokens`}`);
      named += keys.length;
    }
    return said;
  }

  /**
   * What a query says that pays the same attention to all keys with a weight.
   *
   * @param {string} who
   * @param {number} first
   * @param {KeysAlike} seen
   */
  alike(who, first, { weight, keys }) {
    const visible = this.keys.filter(
      (_, key) => !this.model.hides(placesOf(this.rule, first + key)),
    );
    const vanished = visible.length - keys.length;
    const tokens = `${keys.length} ${vanished ? "of the tokens" : "tokens"} it sees`;
    const areAll = keys.length === this.keys.length;
    const whom = areAll ? "every token" : `${vanished ? "" : "the "}${tokens}`;
    const said = `${who} pays the same attention to ${whom} (${percent(weight)} each).`;
    if (!vanished) return said;
    const [what, they] = vanished === 1 ? ["weight of the other one is", "it is"] : [];
    const others = what ?? `weights of the other ${vanished} are`;
    return `${said} The ${others} so small that ${they ?? "they are"} rounded to 0.`;
  }

  /**
   * @param {string} upper
   * @param {number[]} seen
   */
  average(upper, seen) {
    const whose = seen.length === this.keys.length ? "all" : "their";
    return `${upper} is the average of ${whose} values.`;
  }

  /**
   * What an output is made of; nothing where no value has a large part in it.
   *
   * @param {number} row
   * @param {KeysAlike[]} groups
   */
  origin(row, [{ weight, keys }]) {
    const share = weight * keys.length;
    const areMany = keys.length > 1;
    const isFew = keys.length <= MOST_KEYS_NAMED;
    const values = listed(keys.map((key) => this.value(row, key)));
    const names = isFew ? values : `${keys.length} values of equal weight`;
    const total = areMany ? `together ${percent(share)}` : percent(share);
    if (share < LEAST_PART_SAID) return "";
    const largest = areMany ? "parts are" : "part is";
    if (share <= MOST_OF_IT) return `a mixture. Its largest ${largest} ${names} (${total})`;
    return `${share > NEARLY_ALL ? "almost entirely" : "mostly"} ${names} (${total})`;
  }

  /**
   * @param {number} row
   * @param {number} key
   */
  value(row, key) {
    return key === this.own + row ? "its own value" : `the value of ${this.name(row, key)}`;
  }

  /**
   * @param {number} row
   * @param {number} key
   */
  name(row, key) {
    if (key === this.own + row) return "itself";
    const word = this.keys[key];
    const isDouble = this.keys.filter((each) => each === word).length > 1;
    return isDouble ? `"${word}" (key ${key})` : `"${word}"`;
  }
}

/**
 * a, b and c.
 *
 * @param {string[]} words
 */
function listed(words) {
  const before = words.slice(0, -1).join(", ");
  return before ? `${before} and ${words.at(-1)}` : words[0];
}

/**
 * Shares as people say them. Beside an "and" within a share, a comma tells them apart.
 *
 * @param {string[]} shares
 */
function together(shares) {
  const before = shares.slice(0, -1).join(", ");
  const hasAnd = shares.some((share) => share.includes(" and "));
  return before ? `${before}${hasAnd ? ", and" : " and"} ${shares.at(-1)}` : shares[0];
}

/** @param {string} text */
const capitalized = (text) => text[0].toUpperCase() + text.slice(1);
