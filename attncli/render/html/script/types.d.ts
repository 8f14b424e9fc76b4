// The types of the script, for editors and for `tsc`: no page has this file. Everything in it is
// global, as everything in the script is: its files are written into a page as one.

// --- constants: `page/live/constants.py` writes them into the data

interface Shared {
  /** How a decimal is written; the other patterns are fractions and roots. */
  plain: string;
  forms: string[];
  minus_infinity: string[];
  longest_number: number;
  /** Signs that people type or paste for a minus, and how a decimal without an end is written. */
  dashes: string;
  recurring: string;
  /** Decimals with a comma, those whose comma may be one of thousands, and 0.33…. */
  grouped: string;
  with_comma: string;
  without_end: string;
  /** What numbers look like, and what is wrong with those that do not. */
  examples: string;
  complaints: Record<
    | "no_number"
    | "too_long"
    | "too_large"
    | "too_small"
    | "by_zero"
    | "negative_root"
    | "recurring"
    | "without_end"
    | "dash",
    string
  >;
  /** Patterns of the reader of pasted matrices. */
  pasted: Record<"pair" | "decimal" | "one_group" | "turned", string>;
  /** How files and pages spell what is no finite number, and the sign of lines and formulas. */
  infinity: string;
  infinity_sign: string;
  nan: string;
  /** A decimal is written without a power of ten if its first digit has one from here to here. */
  plain_powers: [least: number, most: number];
  /** Significant digits that a double always keeps. */
  float_digits: number;
  /** When binary rounding is right: below so many units, and so far from a tie and from a whole. */
  sure_below: number;
  near_tie: number;
  near_whole: number;
  /** A higher power of a fraction is not multiplied out. */
  most_exact_power: number;
  /** So many digits of a root are worked out. */
  root_digits: number;
  /** Its digits. */
  pi: string;
  /** Numbers that differ by less than one unit of this digit are the same. */
  same_digits: number;
  /** In relation: weights that are the same, and numbers that differ by their last bits alone. */
  tie: number;
  alike_within: number;
  /** A share of less than this is almost none, one that is missing less almost all. */
  half_a_tenth_percent: number;
  /** What roundings may do to the sum of a row of weights. */
  nearly_1: number;
  almost_none: string;
  almost_all: string;
  /** Queries, or heads and entries, in one sentence. */
  most_queries_named: number;
  /** Keys, or queries, that have a colour of their own. */
  most_told_apart: number;
}

// --- numbers

interface Fraction {
  top: bigint;
  bottom: bigint;
}

/** A fraction, or an infinity as a number; null is a number that is no fraction, such as a root. */
type Exact = Fraction | number | null;

/** A number that was read: as a double, exactly, and in the one spelling that pages print. */
interface NumberRead {
  value: number;
  exact: Exact;
  text: string;
  /** A root to sixty digits, where it is no fraction. */
  near?: Fraction;
}

/** A whole number times a power of ten. */
interface DecimalParts {
  digits: bigint;
  exponent: number;
}

type Verdict = "right" | "rounding" | "wrong" | "";

// --- pasted matrices

/** Cells with the names beside them and above them; how many rows stand together, none for a list. */
interface PastedTable {
  rows: string[][];
  names?: string[];
  columns?: string[];
  groups?: number[];
}

/** The numbers of a matrix in the spelling of files, row after row, and the names of its rows. */
interface Pasted {
  shape: number[];
  texts: string[];
  names: string[];
}

// --- equations and sentences

/** ["sum", "k", ["mul", ["@", "Q", "i", "k"], …]]; ["@", name, ...indices] is a cell. */
type Call = [kind: string, ...parts: any[]];
type Tree = string | number | Call;

/** A printed number in a sentence; `float` where it has all its digits, `cell` where it stands. */
interface PrintedNumber {
  text: string;
  value: Exact;
  float?: number;
  cell?: Cell;
}

type Sentence = string | PrintedNumber | Call;
/** The name of a step, and a place in its numbers. */
type Cell = [name: string, at: number];
/** Where each letter of a cell is: { i: 0, j: 2 }. */
type Places = Record<string, number>;
type PutNumber = (name: string, at: number) => PrintedNumber;
type Remark = (string | { formula: Sentence })[];

interface WorkedLine {
  label: string;
  work: string;
  relation: string;
  result: string;
  remark: Remark;
}

/** One part of a sum, and what the parts up to it come to. */
interface Term {
  text: string;
  relation: string;
  total: string;
  cells: Cell[];
}

// --- the data of a page: `page/live/data.py` writes it

interface LiveData {
  shared: Shared;
  precision: number;
  detail: "rows" | "cells";
  given_decimals: number;
  /** Those of entries and heads, and which of them the parts of the page are of. */
  letters: { leading: string[]; group: string; parts: string[] };
  /**
   * Names of steps: those given, the mask, the weights, and the product of the weights. These two
   * are missing where equations of the problem's own stand in their places.
   */
  given: string[];
  mask: string;
  weights?: string;
  mixed?: string;
  /** Whether weights and output are those of attention. */
  plain: boolean;
  /** What is said of equations that the result does not depend on. */
  unread: string[];
  /** Whether a step is an equation of the problem's own. */
  has_own: boolean;
  /** The array that has the mask's cells which are clicked. */
  own: string;
  /** The file, with holes for numbers and labels; and the arrays whose heads it has side by side. */
  yaml: string;
  joined: string[];
  arrays: Record<string, ArrayData>;
  labels: string[][];
  /**
   * Of each of these: "words", or how places are counted, such as "head {}", "d" for features from
   * d1 on; and their dimension, -1 where no array has it.
   */
  naming: [how: string, dimension: number][];
  /** The labels of queries and of keys that a file has. */
  tokens: { tokens: number; context_tokens: number };
  sizes: SizesData;
  /** The matrices whose shapes are said together at the beginning. */
  flow: string[][];
  rules: (Partial<Rule> & { instead?: number })[];
  settings: Setting[];
  mistakes: string[];
  /** Kinds of mistakes, with the places of these. */
  groups: Record<string, number[]>;
  shift: { steepness: number; terms: number; highest: number; lowest: number };
  residue: { noise: number; epsilon: number; smallest: number; most: number };
  judging: Judging;
  command: string;
  functions: Record<string, FunctionData>;
  notation: Forms;
  mathml: Forms & { functions: Record<string, Spelling> };
  words: Record<
    "no_key" | "no_divisor" | "divisor_is_0" | "true" | "false" | "visible" | "hidden" | "rounded",
    string
  >;
}

/** Which axes are one dimension, and what follows from its length. */
interface SizesData {
  dimensions: Dimension[];
  /** Of each array, the dimensions of its axes. */
  arrays: Record<string, number[]>;
  /** Those of the letters whose lengths no array says. */
  letters: Record<string, number>;
  /** By how much numbers such as d_k, and the lengths of letters of rules, move with dimensions. */
  scalars: Record<string, [dimension: number, by: number][]>;
  rules: Record<string, [dimension: number, by: number][]>;
  /** The arrays of masks in which 1 is a key that is seen. */
  seen: string[];
  /** So many numbers may be worked out, and so long may a dimension be. */
  most: number;
  longest: number;
}

/** Places that are called so; `fixed` says why their number cannot be changed. */
interface Dimension {
  name: string;
  size: number;
  fewest?: number;
  fixed?: string;
  /** Those that stand one behind the other in it, and those that it has each pair of. */
  sum?: number[];
  product?: number[];
}

interface ArrayData {
  shape: number[];
  written?: string[];
  numbers?: (number | string)[];
}

/** A step without an equation is given. */
interface Rule {
  name: string;
  symbol: string;
  title: string;
  cell: string[];
  shape: number[];
  axes: string[];
  labels: number[];
  equation?: Call;
  /** How far the letters of its sums run. */
  runs?: Record<string, number>;
  magnitude?: Tree;
  copies?: true;
  hides?: true;
  divides?: true;
  /** What is multiplied, if it is a product; X' is the transpose of X. */
  factors?: string[];
  /** The signs of infinities that the equation has in it. */
  meant?: number[];
  /** Of shares of exponentials: how much faster these grow than powers of e. */
  softmax?: number;
}

/** Whether scores are scaled, and if so by a number that is slid. */
type Scaled = boolean | "number";

/** A mask with a scale or without; its plans list rules by their places. */
interface Setting {
  mask: string;
  /** What attention does, in a sentence; empty where the problem has equations of its own. */
  opening: string;
  words: string;
  scaled: Scaled;
  logits: string;
  /** The largest logit of each row, by which is decided whether the softmax is shifted. */
  maxima?: string;
  /** The weights, or the step of queries by keys that stands in their place. */
  pairs?: string;
  plain: number[];
  shifted: number[];
  /**
   * The place of a mistake, and those of the rules that it changes; of the shifted plan where it
   * differs.
   */
  mistakes: Record<"plain" | "shifted", number[][]>;
  /** The mask that is taken as soon as one of its cells is clicked. */
  clicks: string;
  yaml: string;
  scalars: Record<string, string>;
}

interface Judging {
  one_unit_off: number;
  exactly: number;
}

/** How a function is spelled, and what is known of it. */
interface FunctionData extends Spelling {
  zero_arguments?: number;
  looked_up?: true;
  /** Which arguments must not be below 0, so that the result is not; missing where it may be so. */
  signs_that_count?: boolean[];
}

interface Spelling {
  form: string;
  level: number;
  needs: number[];
  separator?: string;
  of_number?: Spelling;
  of_tall?: Spelling;
}

interface Forms {
  equals: string;
  nearly: string;
  parenthesis: string;
  sum: string;
  largest: string;
  product?: number;
  atom?: number;
  tall?: string[];
  tall_parenthesis?: string;
  /** What a name is alone, and with indices in the place of {0}. */
  names?: Record<string, [alone: string, indexed: string]>;
}

/** All that a page has beside its HTML. A layout lists sections, these list pieces of HTML. */
interface Live {
  data: LiveData;
  layouts: Record<string, number[]>;
  sections: [id: string, level: number, pieces: number[] | null][];
  pieces: string[];
  masks: Record<string, string>;
  hidden: string;
  point: number;
  product: { gap: number; around: number; widest: number };
}

// --- the model

/** A given array, or one of the mask: its numbers, and the texts that were written for them. */
interface Given {
  shape: number[];
  values: Float64Array;
  texts: string[] | null;
  written: string[] | null;
}

interface Step {
  rule: Rule;
  values: Float64Array;
  texts: string[] | null;
  given: boolean;
  /** Its numbers without residues of rounding. */
  shown?: Float64Array;
}

interface ScalarRead {
  value: number;
  node: PrintedNumber;
}

/** A function of a place, the indices of a cell in the order of its letters. */
type Work<Value = number> = (place: Int32Array) => Value;

// --- what stands on the page

/** Which numbers of a step an element shows. */
interface Shown {
  name: string;
  rule: Rule;
  /** The letters that its part of the page has fixed. */
  fixed: Places;
  start: number;
  length: number;
  editable: boolean;
}

interface Matrix extends Shown {
  table: HTMLTableElement;
  symbol: string;
  /** In the order of the step, also where the table is turned. */
  cells: HTMLTableCellElement[];
  /** The columns of the table. */
  width: number;
  /** Whether the rows of the step are the columns of the table. */
  turned: boolean;
  /** Whether it has a name of its own, unlike an operand beside others. */
  labelled: boolean;
  /** What stands in each cell now, with its marks. */
  filled: string[];
}

interface WorkedList extends Shown {
  list: HTMLUListElement;
  inView: boolean;
  isOld?: boolean;
  isNear?: boolean;
}

/** A number on the page: its matrix, its place there, and its cell. */
interface Found {
  table: Matrix;
  at: number;
  cell: HTMLTableCellElement;
}

/** A matrix on the map. */
interface Stop {
  name: string;
  rule: Rule;
  given: boolean;
  from: Stop[];
  column?: number;
  row?: number;
  rows?: number;
  columns?: number;
  square?: number;
  x?: number;
  y?: number;
}

interface Box extends Stop {
  link: HTMLAnchorElement;
  squares: Squares;
  frame: SVGElement;
}

/** What the strip shows of a query: a text that tells it from others, and its numbers. */
interface Look {
  at: number;
  whose: string;
  weights: number[];
  output: ReturnType<typeof outputOf>;
}
