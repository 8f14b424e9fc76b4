// @ts-check
// Numbers as people write them, in a file or in a field of the page.

"use strict";

const PLAIN = new RegExp(`^(?:${SHARED.plain})$`);
const FORMS = SHARED.forms.map((form) => new RegExp(`^(?:${form})$`));
const RECURRING = new RegExp(`^[-+]?${SHARED.recurring}$`);
const DASHES = new RegExp(`[${SHARED.dashes}]\\s*`, "g");
const WITHOUT_END = new RegExp(`^${SHARED.without_end}$`);
const WITH_COMMA = new RegExp(`^${SHARED.with_comma}$`, "i");
const GROUPED = new RegExp(`^${SHARED.grouped}$`);
// What books have and files spell otherwise.
const SIGNS_BY_HAND = /[√^¼½¾⅐-⅞⁰¹²³⁴-⁹]/;
const COMPLAINTS = SHARED.complaints;
const LOOK_LIKE = `write ${SHARED.examples}`;
const LONGEST_SHOWN = 20;

/**
 * The whole number and the power of ten that a decimal is made of: 1.50e3 is 150 · 10^1.
 *
 * @param {string} text
 * @returns {DecimalParts}
 */
function decimalParts(text) {
  const [mantissa, exponent = "0"] = text.toLowerCase().split("e");
  const [before, after = ""] = mantissa.split(".");
  const digits = BigInt(before.replace("+", "") + after || "0");
  return { digits, exponent: Number(exponent) - after.length };
}

/** @param {DecimalParts} parts */
function decimalFraction({ digits, exponent }) {
  if (digits === 0n) return ZERO;
  if (exponent < 0) return fraction(digits, 10n ** BigInt(-exponent));
  return fraction(digits * 10n ** BigInt(exponent));
}

/**
 * A number as it stands in a problem, 1/3, sqrt(2), .5 or 1e3. `exact` is null for a root that is
 * no fraction; `text` is the one spelling that pages print. Null for what is no number.
 *
 * @param {string} written
 */
function readNumber(written) {
  try {
    return numberIn(written.trim());
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * The same, but of what is no number a RangeError says why.
 *
 * @param {string} text
 * @returns {NumberRead}
 */
function numberIn(text) {
  if (SHARED.minus_infinity.includes(text))
    return { value: -Infinity, exact: -Infinity, text: `-${SHARED.infinity}` };
  if (text.length > SHARED.longest_number) throw new RangeError(COMPLAINTS.too_long);
  const found = PLAIN.test(text) ? readDecimal(text) : readSurd(text);
  const isZero = isFraction(found.exact) && found.exact.top === 0n;
  return isZero ? found : { ...found, value: inRange(found.value) };
}

/** @param {number} value */
function inRange(value) {
  if (!Number.isFinite(value)) throw new RangeError(COMPLAINTS.too_large);
  if (value === 0) throw new RangeError(COMPLAINTS.too_small);
  return value;
}

/**
 * @param {string} text
 * @returns {NumberRead}
 */
function readDecimal(text) {
  const parts = decimalParts(text.replace(/^\./, "0.").replace(/^([-+])\./, "$10."));
  if (parts.digits === 0n) return { value: 0, exact: ZERO, text: "0" };
  // Before all digits of 1e999999999 are written.
  const value = inRange(Number(text));
  return { value, exact: decimalFraction(parts), text: canonicalDecimal(parts) };
}

/**
 * A fraction or a root: coefficient · √radicand.
 *
 * @param {string} text
 * @returns {NumberRead}
 */
function readSurd(text) {
  const part = FORMS.map((form) => form.exec(text)?.groups).find(Boolean);
  if (!part) throw new RangeError(`${COMPLAINTS.no_number}: ${LOOK_LIKE}`);
  /** @param {string} given */
  const amount = (given) => decimalFraction(decimalParts(given ?? "1"));
  let coefficient = /** @type {Fraction} */ (over(amount(part.times), amount(part.by)));
  const radicand = /** @type {Fraction} */ (over(amount(part.radicand), amount(part.under)));
  // a / √r is (a / r) · √r
  if (part.over) coefficient = /** @type {Fraction} */ (over(coefficient, radicand));
  if (radicand.top < 0n) throw new RangeError(COMPLAINTS.negative_root);
  if (part.sign === "-") coefficient = /** @type {Fraction} */ (negative(coefficient));
  const root = rationalRoot(radicand);
  if (root) {
    const exact = /** @type {Fraction} */ (times(coefficient, root));
    return { value: toNumber(exact) + 0, exact, text: spelledFraction(exact) };
  }
  const near = /** @type {Fraction} */ (times(coefficient, nearRoot(radicand)));
  return { value: toNumber(near), exact: null, near, text: canonicalRoot(coefficient, radicand) };
}

/** @param {Fraction} value */
const spelledFraction = ({ top, bottom }) => (bottom === 1n ? `${top}` : `${top}/${bottom}`);

/**
 * A root in one spelling: lowest terms, and a whole number under it.
 *
 * @param {Fraction} coefficient
 * @param {Fraction} radicand
 */
function canonicalRoot(coefficient, radicand) {
  const { top, bottom } = fraction(coefficient.top, coefficient.bottom * radicand.bottom);
  const sign = top < 0n ? "-" : "";
  const before = absolute(top) === 1n ? "" : `${absolute(top)}*`;
  const below = bottom === 1n ? "" : `/${bottom}`;
  return `${sign}${before}sqrt(${radicand.top * radicand.bottom})${below}`;
}

/**
 * A decimal in one spelling, 0.5 for .50, which loses no digit.
 *
 * @param {DecimalParts} parts
 */
function canonicalDecimal({ digits, exponent }) {
  const all = absolute(digits).toString();
  const figures = all.replace(/0+$/, "");
  exponent += all.length - figures.length;
  const lead = exponent + figures.length - 1;
  const plain = withoutPower(figures, exponent, lead);
  const mantissa = figures.length > 1 ? `${figures[0]}.${figures.slice(1)}` : figures;
  const powered = `${mantissa}e${lead < 0 ? "" : "+"}${lead}`;
  const [least, most] = SHARED.plain_powers;
  const isReadable = (lead >= least && lead <= most) || plain.length <= powered.length;
  return (digits < 0n ? "-" : "") + (isReadable ? plain : powered);
}

/**
 * @param {string} figures
 * @param {number} exponent
 * @param {number} lead
 */
function withoutPower(figures, exponent, lead) {
  if (exponent >= 0) return figures + "0".repeat(exponent);
  if (lead >= 0) return `${figures.slice(0, lead + 1)}.${figures.slice(lead + 1)}`;
  return `0.${"0".repeat(-lead - 1)}${figures}`;
}

// --- in a field of the page

/**
 * What somebody types, in the spelling of a file. In a field of its own a comma can only be that of
 * a decimal, but for 1,500. The page itself writes − for a minus. Signs such as ½, √2 and 2² are
 * read as they are in files.
 *
 * @param {string} text
 */
function typed(text) {
  const withMinus = text.trim().replaceAll("−", "-");
  const written = SIGNS_BY_HAND.test(withMinus) ? spelledForFile(withMinus) : withMinus;
  const hasPoint = !GROUPED.test(written) && WITH_COMMA.test(written);
  return hasPoint ? written.replace(",", ".") : written;
}

/**
 * Why what somebody types is no finite number, as a sentence without its end; empty where it is one.
 *
 * @param {string} text
 */
function whyNoNumber(text) {
  const written = typed(text);
  if (!written) return `There is no number: ${LOOK_LIKE}`;
  const shown = shorten(text.trim());
  if (GROUPED.test(written)) {
    const [decimal, grouped] = [written.replace(",", "."), written.replace(",", "")];
    return `${shown} is a decimal or has thousands: write ${decimal} or ${grouped}`;
  }
  if (SHARED.minus_infinity.includes(written))
    return `${shown} is not finite: only a mask hides keys with it`;
  try {
    numberIn(written);
    return "";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${shown} ${whyUnlike(written) || error.message}`;
  }
}

/**
 * What to write for spellings that look like a number; empty for all others. Files with them have
 * the same errors.
 *
 * @param {string} written
 */
function whyUnlike(written) {
  if (written.length > SHARED.longest_number) return "";
  const withPoint = written.replace(",", ".");
  if (RECURRING.test(withPoint))
    return `${COMPLAINTS.recurring}: write ${spelledFraction(recurring(withPoint))}`;
  const [, begun] = WITHOUT_END.exec(written) ?? [];
  if (begun) {
    const decimal = shorten(begun.replaceAll(",", ".").replace(/\.$/, ""));
    return `${COMPLAINTS.without_end}: write ${decimal}, or a fraction such as 1/3`;
  }
  const withMinus = written.replace(DASHES, "-");
  if (withMinus === written) return "";
  const instead = readNumber(typed(withMinus)) ? `write ${withMinus}` : "write it as in -1";
  return `${COMPLAINTS.dash}: ${instead}`;
}

/**
 * The number that a recurring decimal is: 1/3 for 0.(3).
 *
 * @param {string} text
 */
function recurring(text) {
  const [whole, decimals] = text.split(".");
  const mark = decimals.search(/[^0-9]/);
  const first = decimals[mark] === "(" ? mark : mark - 1;
  const period = decimals.slice(first).replace(/[^0-9]/g, "");
  const begun = BigInt(whole.replace(/[-+]/, "") + decimals.slice(0, first));
  const nines = 10n ** BigInt(period.length) - 1n;
  const value = fraction(begun * nines + BigInt(period), nines * 10n ** BigInt(first));
  return text.startsWith("-") ? fraction(-value.top, value.bottom) : value;
}

/** @param {string} text */
function shorten(text) {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1)}…` : text;
}
