// @ts-check
// Equations as functions of a place, so that all cells of a step are worked out quickly.

"use strict";

/**
 * @param {any} node
 * @returns {node is Call}
 */
function isCall(node) {
  return Array.isArray(node);
}

/**
 * The arrays that an equation reads, in the order of their first mention.
 *
 * @param {Tree} tree
 * @returns {string[]}
 */
function readsOf(tree) {
  if (!isCall(tree)) return [];
  const [kind, ...parts] = tree;
  const own = kind === "@" ? [parts[0]] : [];
  return [...new Set([...own, ...parts.flatMap(readsOf)])];
}

/**
 * A tree as a function of a place, whose letters have slots in the order of the cell. `numbers` says
 * what is read of an array.
 *
 * @param {Model} model
 * @param {Rule} rule
 * @param {Tree} tree
 * @param {(array: Step | Given) => any} numbers
 * @returns {Work<any>}
 */
function compiled(model, rule, tree, numbers = (array) => array.values) {
  /** @type {Map<string, number>} */
  const slots = new Map(rule.cell.map((letter, at) => [letter, at]));

  /** @type {(node: Tree) => Work<any>} */
  const compile = (node) => {
    if (typeof node === "number") return () => node;
    if (typeof node === "string") return named(node);
    const [kind, ...parts] = node;
    if (kind === "#") return constant(valueOf(parts[0]));
    if (kind === "@") return reader(model, parts[0], parts.slice(1).map(compile), numbers);
    if (kind === "sum" || kind === "largest") return reduced(kind, parts[0], parts[1]);
    const made = parts.map(compile);
    return kind === "where" ? choice(made) : applied(FLOATS[kind], made);
  };

  /** @type {(name: string) => Work} */
  const named = (name) => {
    if (!slots.has(name)) return constant(model.scalars.get(name).value);
    const slot = slots.get(name);
    return (place) => place[slot];
  };

  /** @type {(kind: "sum" | "largest", letter: string, body: Tree) => Work} */
  const reduced = (kind, letter, body) => {
    const before = slots.get(letter);
    const slot = slots.size + rule.cell.length;
    slots.set(letter, slot);
    const inside = compile(body);
    if (before === undefined) slots.delete(letter);
    else slots.set(letter, before);
    const through = kind === "sum" ? total : largest;
    return through(slot, rule.runs[letter], inside);
  };

  return compile(tree);
}

/** @type {(value: number) => Work} */
const constant = (value) => () => value;

/** @type {(made: Work<any>[]) => Work<any>} */
const choice =
  ([condition, yes, no]) =>
  (place) =>
    condition(place) ? yes(place) : no(place);

/** @type {(apply: (...values: any[]) => any, made: Work<any>[]) => Work<any>} */
function applied(apply, made) {
  const [one, other] = made;
  if (made.length === 1) return (place) => apply(one(place));
  if (made.length === 2) return (place) => apply(one(place), other(place));
  return (place) =>
    result(
      apply,
      made.map((each) => each(place)),
    );
}

/** @type {(slot: number, length: number, inside: Work) => Work} */
function total(slot, length, inside) {
  return (place) => {
    let sum = 0;
    for (place[slot] = 0; place[slot] < length; place[slot]++) sum += inside(place);
    return sum;
  };
}

/** @type {(slot: number, length: number, inside: Work) => Work} */
function largest(slot, length, inside) {
  return (place) => {
    let most = -Infinity;
    for (place[slot] = 0; place[slot] < length; place[slot]++) {
      const value = inside(place);
      if (Number.isNaN(value)) return NaN;
      if (value > most) most = value;
    }
    return most;
  };
}

/**
 * A cell of an array, or of the magnitudes of one, |X|: its numbers are those at the time of reading.
 *
 * @param {Model} model
 * @param {string} name
 * @param {Work[]} indices
 * @param {(array: Step | Given) => any} numbers
 * @returns {Work<any>}
 */
function reader(model, name, indices, numbers) {
  const own = name.startsWith("|") ? name.slice(1, -1) : name;
  const shape = model.shapeOf(own);
  const strides = shape.map((_, axis) => size(shape.slice(axis + 1)));
  const values = own === name ? numbers(model.array(own)) : model.magnitudes.of(own);
  const [row, column] = indices;
  const [stride] = strides;
  if (indices.length === 1) return (place) => values[row(place)];
  if (indices.length === 2) return (place) => values[row(place) * stride + column(place)];
  return (place) => {
    const at = indices.reduce((sum, index, axis) => sum + index(place) * strides[axis], 0);
    return values[at];
  };
}

/**
 * The terms of the sum that a rule is, by a function of the place of a cell; null where it is
 * another.
 *
 * @param {Model} model
 * @param {Rule} rule
 * @returns {(at: number) => number[]}
 */
function termsOf(model, rule) {
  const [kind, letter, body] = rule.equation;
  if (kind !== "sum") return null;
  const length = rule.runs[letter];
  const own = { ...rule, cell: [...rule.cell, letter], shape: [...rule.shape, length] };
  const work = compiled(model, own, body);
  const place = newPlace();
  return (at) => {
    place.set(indexIn(rule.shape, at));
    return range(length).map((term) => {
      place[rule.cell.length] = term;
      return work(place);
    });
  };
}
