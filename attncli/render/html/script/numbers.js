// Numbers as people write them and as pages print them, and exact arithmetic with them.
//
// A fraction is { top, bottom } of BigInts in lowest terms; an infinity, or what is no number, is a plain number.

"use strict";

const PLAIN = /^[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/;
const AMOUNT = String.raw`[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?`;
const ROOT = String.raw`sqrt\(\s*(?<radicand>${AMOUNT})(?:\s*/\s*(?<under>${AMOUNT}))?\s*\)`;
const FORMS = [
  String.raw`(?<times>${AMOUNT})\s*/\s*(?<by>${AMOUNT})`,
  String.raw`(?<sign>[-+]?)(?:(?<times>${AMOUNT})\s*\*\s*)?${ROOT}(?:\s*/\s*(?<by>${AMOUNT}))?`,
  String.raw`(?<times>${AMOUNT})\s*/\s*${ROOT}`,
].map((form, at) => [new RegExp(`^${form}$`), at === 2]);
const MINUS_INFINITY = ["-inf", "-.inf", "-.Inf", "-.INF", "-Infinity"];
const FLOAT_DIGITS = 15; // significant ones that a double always keeps
const SAFE = 1e9; // units of the last decimal; up to here binary rounding is right where a number is not near a tie
const NEAR_TIE = 1e-4; // of such a unit
const NEAR_WHOLE = 1e-12; // in relation
const ROOT_DIGITS = 60n; // of a root that is compared with a printed number
const LONGEST = 400; // characters of a number
const WITH_COMMA = /^([-+]?[0-9]*),([0-9]+(?:[eE][-+]?[0-9]+)?)$/;
const GROUPED = /^[-+]?[1-9][0-9]{0,2},[0-9]{3}$/; // 1,500 may be 1.5, and fifteen hundred
const LOOK_LIKE = "write 3, -0.5, 1e3, 1/3 or sqrt(2)";

const ZERO = { top: 0n, bottom: 1n };
const ONE = { top: 1n, bottom: 1n };

const absolute = (whole) => (whole < 0n ? -whole : whole);

function fraction(top, bottom = 1n) {
  if (bottom === 0n) throw new RangeError("divides by 0");
  let [a, b] = [absolute(top), absolute(bottom)];
  while (b) [a, b] = [b, a % b];
  const sign = bottom < 0n ? -1n : 1n;
  return a > 1n ? { top: (sign * top) / a, bottom: absolute(bottom) / a } : { top: sign * top, bottom: absolute(bottom) };
}

const isFraction = (value) => value !== null && typeof value === "object";
const asNumber = (value) => (isFraction(value) ? Math.sign(Number(value.top)) : value); // enough beside an infinity

function plus(a, b) {
  if (!isFraction(a) || !isFraction(b)) return asNumber(a) + asNumber(b);
  return fraction(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
}

function negative(a) {
  return isFraction(a) ? { top: -a.top, bottom: a.bottom } : -a;
}

function times(a, b) {
  return isFraction(a) && isFraction(b) ? fraction(a.top * b.top, a.bottom * b.bottom) : asNumber(a) * asNumber(b);
}

function over(a, b) {
  if (isFraction(b) && b.top === 0n) throw new RangeError("divides by 0");
  if (isFraction(a) && isFraction(b)) return fraction(a.top * b.bottom, a.bottom * b.top);
  return isFraction(a) ? ZERO : asNumber(a) / asNumber(b);
}

/** Less than 0, 0 or more, as a is less than b, equal, or more. */
function compare(a, b) {
  if (!isFraction(a) || !isFraction(b)) {
    const [one, two] = [isFraction(a) ? 0 : a, isFraction(b) ? 0 : b];
    return one === two ? 0 : one < two ? -1 : 1;
  }
  const difference = a.top * b.bottom - b.top * a.bottom;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function floor(a) {
  const whole = a.top / a.bottom;
  return fraction(a.top < 0n && whole * a.bottom !== a.top ? whole - 1n : whole);
}

/** The largest whole number whose square is not above this one. */
function wholeRoot(square) {
  if (square < 2n) return square;
  let root = 1n << BigInt((square.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** The root of a fraction if that is one, else null. */
function rationalRoot(value) {
  if (!isFraction(value) || value.top < 0n) return null;
  const [top, bottom] = [wholeRoot(value.top), wholeRoot(value.bottom)];
  return top * top === value.top && bottom * bottom === value.bottom ? { top, bottom } : null;
}

/** The root of a fraction to sixty digits. */
function nearRoot(value) {
  const scale = 10n ** ROOT_DIGITS;
  return fraction(wholeRoot(value.top * value.bottom * scale * scale), value.bottom * scale);
}

/** The double nearest to a fraction. */
function toNumber(value) {
  if (!isFraction(value)) return value;
  const limit = BigInt(Number.MAX_SAFE_INTEGER);
  if (absolute(value.top) <= limit && value.bottom <= limit) return Number(value.top) / Number(value.bottom);
  const power = 30 + value.bottom.toString().length - absolute(value.top).toString().length;
  const top = power > 0 ? value.top * 10n ** BigInt(power) : value.top;
  const bottom = power > 0 ? value.bottom : value.bottom * 10n ** BigInt(-power);
  const more = top % bottom ? 1 : 0; // a digit for all that follow: a number near a tie is no tie
  return Number(`${top / bottom}${more}e${-power - 1}`);
}

/** The whole number and the power of ten that a decimal is made of: 1.50e3 is 150 · 10^1. */
function decimalParts(text) {
  const [mantissa, exponent = "0"] = text.toLowerCase().split("e");
  const [before, after = ""] = mantissa.split(".");
  return { digits: BigInt(before.replace("+", "") + after || "0"), exponent: Number(exponent) - after.length };
}

function decimalFraction({ digits, exponent }) {
  if (digits === 0n) return ZERO;
  return exponent < 0 ? fraction(digits, 10n ** BigInt(-exponent)) : fraction(digits * 10n ** BigInt(exponent));
}

/**
 * A number as it stands in a problem, 1/3, sqrt(2), .5 or 1e3: { value, exact, text }. `exact` is null for a root that
 * is no fraction; `text` is the one spelling that pages print. Null for what is no number.
 */
function readNumber(written) {
  try {
    return numberIn(written.trim());
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The same, but of what is no number a RangeError says why. */
function numberIn(text) {
  if (MINUS_INFINITY.includes(text)) return { value: -Infinity, exact: -Infinity, text: "-inf" };
  if (text.length > LONGEST) throw new RangeError("is too long for a number");
  const found = PLAIN.test(text) ? readDecimal(text) : readSurd(text);
  const isZero = isFraction(found.exact) && found.exact.top === 0n;
  return isZero ? found : { ...found, value: inRange(found.value) };
}

function inRange(value) {
  if (!Number.isFinite(value)) throw new RangeError("is too large");
  if (value === 0) throw new RangeError("is too small: it would become 0");
  return value;
}

/**
 * What somebody types, in the spelling of a file. In a field of its own a comma can only be that of a decimal, but for
 * 1,500. The page itself writes − for a minus.
 */
function typed(text) {
  const written = text.trim().replaceAll("−", "-");
  return GROUPED.test(written) ? written : written.replace(WITH_COMMA, "$1.$2");
}

/** Why what somebody types is no finite number, as a sentence without its end; empty where it is one. */
function whyNoNumber(text) {
  const written = typed(text);
  const shown = shorten(text.trim());
  if (!written) return `There is no number: ${LOOK_LIKE}`;
  if (GROUPED.test(written)) return `${shown} is a decimal or has thousands: write ${written.replace(",", ".")} or ${written.replace(",", "")}`;
  if (MINUS_INFINITY.includes(written)) return `${shown} is not finite: only a mask hides keys with it`;
  try {
    numberIn(written);
    return "";
  } catch (error) {
    if (error instanceof RangeError) return `${shown} ${error.message}`;
    throw error;
  }
}

const shorten = (text) => (text.length > 20 ? `${text.slice(0, 19)}…` : text);

function readDecimal(text) {
  const parts = decimalParts(text.replace(/^\./, "0.").replace(/^([-+])\./, "$10."));
  if (parts.digits === 0n) return { value: 0, exact: ZERO, text: "0" };
  const value = inRange(Number(text)); // before all digits of 1e999999999 are written
  return { value, exact: decimalFraction(parts), text: canonicalDecimal(parts) };
}

function readSurd(text) {
  for (const [form, rootBelow] of FORMS) {
    const part = form.exec(text)?.groups;
    if (!part) continue;
    const amount = (given) => decimalFraction(decimalParts(given ?? "1"));
    let coefficient = over(amount(part.times), rootBelow ? ONE : amount(part.by));
    let radicand = over(amount(part.radicand), amount(part.under));
    if (rootBelow) [coefficient, radicand] = [over(coefficient, radicand), radicand];
    if (radicand.top < 0n) throw new RangeError("is the root of a negative number");
    if (part.sign === "-") coefficient = negative(coefficient);
    const root = rationalRoot(radicand);
    if (root) {
      const exact = times(coefficient, root);
      return { value: toNumber(exact) + 0, exact, text: exact.bottom === 1n ? `${exact.top}` : `${exact.top}/${exact.bottom}` };
    }
    const near = times(coefficient, nearRoot(radicand));
    return { value: toNumber(near), exact: null, near, text: canonicalRoot(coefficient, radicand) };
  }
  throw new RangeError(`is not a number: ${LOOK_LIKE}`);
}

/** A root in one spelling: lowest terms, and a whole number under it. */
function canonicalRoot(coefficient, radicand) {
  const { top, bottom } = fraction(coefficient.top, coefficient.bottom * radicand.bottom);
  const before = absolute(top) === 1n ? "" : `${absolute(top)}*`;
  return `${top < 0n ? "-" : ""}${before}sqrt(${radicand.top * radicand.bottom})${bottom === 1n ? "" : `/${bottom}`}`;
}

/** A decimal in one spelling, 0.5 for .50, which loses no digit. */
function canonicalDecimal({ digits, exponent }) {
  const all = absolute(digits).toString();
  const figures = all.replace(/0+$/, "");
  exponent += all.length - figures.length;
  const lead = exponent + figures.length - 1;
  const mantissa = figures[0] + (figures.length > 1 ? `.${figures.slice(1)}` : "");
  const powered = `${mantissa}e${lead < 0 ? "" : "+"}${lead}`;
  let plain;
  if (exponent >= 0) plain = figures + "0".repeat(exponent);
  else if (lead >= 0) plain = `${figures.slice(0, lead + 1)}.${figures.slice(lead + 1)}`;
  else plain = `0.${"0".repeat(-lead - 1)}${figures}`;
  const readable = (lead > -7 && lead < 16) || plain.length <= powered.length;
  return (digits < 0n ? "-" : "") + (readable ? plain : powered);
}

/**
 * The verdict on a number that somebody wrote, by the digits that were written: "right" if the true one rounds to it,
 * "rounding" if it is a unit of the last digit off, else "wrong"; null for what is no number. 1/3 and sqrt(2) are exact.
 */
function judge(value, written, { one_unit_off: offBy, exactly }) {
  const claim = readNumber(written);
  if (!claim) return null;
  const tolerance = exactly * Math.max(1, Math.abs(value));
  const unit = PLAIN.test(written.trim()) ? 10 ** decimalParts(written.trim()).exponent : 0;
  const off = Math.abs(value - claim.value);
  if (unit / 2 < tolerance) return off <= tolerance ? "right" : "wrong";
  const rounded = unit < 1 ? readNumber(formatNumber(value, Math.round(-Math.log10(unit)))).value : Math.floor(value / unit + 0.5 + exactly) * unit;
  if (Math.abs(rounded - claim.value) <= tolerance) return "right";
  const units = value / unit;
  const hasNoMoreDigits = Math.abs(units - Math.round(units)) <= exactly * Math.max(1, Math.abs(units));
  return off <= (offBy * unit) / 2 && !hasNoMoreDigits ? "rounding" : "wrong";
}

// --- printing

/** A number at so many decimals, rounded half up from the fifteen significant digits that it stands for. */
function formatNumber(value, precision) {
  if (!Number.isFinite(value)) return value !== value ? "nan" : value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const scaled = Math.abs(value) * 10 ** precision;
  const whole = Math.round(value);
  if (scaled < SAFE && Math.abs((scaled % 1) - 0.5) > NEAR_TIE && Math.abs(value - whole) > NEAR_WHOLE * Math.abs(whole)) {
    const shown = value.toFixed(precision);
    return scaled < 0.5 ? shown.replace("-", "") : shown;
  }
  let parts = significant(value.toExponential(FLOAT_DIGITS - 1));
  if (parts.lead + precision >= FLOAT_DIGITS && parts.lead < FLOAT_DIGITS) {
    parts = significant(value.toExponential()); // all its digits; further decimals would be zeros that nobody worked out
    precision = Math.min(precision, Math.max(-parts.exponent, FLOAT_DIGITS - parts.lead));
  }
  if (parts.lead < FLOAT_DIGITS) return decimals(parts, precision);
  return `${decimals({ ...parts, exponent: parts.exponent - parts.lead }, precision)}e+${parts.lead}`;
}

/** The digits of a number such as -1.250e+3: a whole number times a power of ten, and the power of its first digit. */
function significant(text) {
  const [mantissa, lead] = text.split("e");
  const [before, after = ""] = mantissa.replace("-", "").split(".");
  return { negative: text.startsWith("-"), digits: BigInt(before + after), exponent: Number(lead) - after.length, lead: Number(lead) };
}

function decimals({ negative: below, digits, exponent }, precision) {
  const scale = 10n ** BigInt(Math.abs(exponent));
  const isWhole = exponent >= 0 || digits % scale === 0n;
  if (isWhole) return `${below ? "-" : ""}${exponent >= 0 ? digits * scale : digits / scale}`;
  const shift = precision + exponent; // of the digits to those that are kept
  const unit = 10n ** BigInt(Math.abs(shift));
  const kept = shift >= 0 ? digits * unit : (2n * digits + unit) / (2n * unit);
  const text = kept.toString().padStart(precision + 1, "0");
  const shown = precision ? `${text.slice(0, -precision)}.${text.slice(-precision)}` : text;
  return below && kept ? `-${shown}` : shown;
}
