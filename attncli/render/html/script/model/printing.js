// @ts-check
// Numbers as pages print them, and the verdict on those that somebody wrote.

"use strict";

/**
 * A number at so many decimals, rounded half up from the fifteen significant digits that it stands
 * for: 0.125 at two decimals is 0.13.
 *
 * @param {number} value
 * @param {number} precision
 */
function formatNumber(value, precision) {
  if (Number.isNaN(value)) return SHARED.nan;
  if (!Number.isFinite(value)) return value > 0 ? SHARED.infinity : `-${SHARED.infinity}`;
  if (value === 0) return "0";
  if (roundsSurely(value, precision)) {
    const shown = value.toFixed(precision);
    const isNothing = Math.abs(value) * 10 ** precision < 0.5;
    return isNothing ? shown.replace("-", "") : shown;
  }
  let parts = significant(value.toExponential(SHARED.float_digits - 1));
  if (parts.lead + precision >= SHARED.float_digits && parts.lead < SHARED.float_digits) {
    // All its digits: further decimals would be zeros that nobody worked out.
    parts = significant(value.toExponential());
    const known = Math.max(-parts.exponent, SHARED.float_digits - parts.lead);
    precision = Math.min(precision, known);
  }
  if (parts.lead < SHARED.float_digits) return decimals(parts, precision);
  const mantissa = { ...parts, exponent: parts.exponent - parts.lead };
  return `${decimals(mantissa, precision)}e+${parts.lead}`;
}

/**
 * Whether binary rounding gives the digits that decimal rounding would.
 *
 * @param {number} value
 * @param {number} precision
 */
function roundsSurely(value, precision) {
  const units = Math.abs(value) * 10 ** precision;
  const whole = Math.round(value);
  if (units >= SHARED.sure_below) return false;
  if (Math.abs((units % 1) - 0.5) <= SHARED.near_tie) return false;
  return Math.abs(value - whole) > SHARED.near_whole * Math.abs(whole);
}

/**
 * The digits of a number such as -1.250e+3: a whole number times a power of ten, and the power of
 * its first digit.
 *
 * @param {string} text
 */
function significant(text) {
  const [mantissa, lead] = text.split("e");
  const [before, after = ""] = mantissa.replace("-", "").split(".");
  return {
    isNegative: text.startsWith("-"),
    digits: BigInt(before + after),
    exponent: Number(lead) - after.length,
    lead: Number(lead),
  };
}

/**
 * @param {DecimalParts & { isNegative: boolean }} parts
 * @param {number} precision
 */
function decimals({ isNegative, digits, exponent }, precision) {
  const scale = 10n ** BigInt(Math.abs(exponent));
  const isWhole = exponent >= 0 || digits % scale === 0n;
  const sign = isNegative ? "-" : "";
  if (isWhole) return `${sign}${exponent >= 0 ? digits * scale : digits / scale}`;
  // From the digits to those that are kept.
  const shift = precision + exponent;
  const unit = 10n ** BigInt(Math.abs(shift));
  const kept = shift >= 0 ? digits * unit : (2n * digits + unit) / (2n * unit);
  const text = kept.toString().padStart(precision + 1, "0");
  const shown = precision ? `${text.slice(0, -precision)}.${text.slice(-precision)}` : text;
  return isNegative && kept ? `-${shown}` : shown;
}

/**
 * A share in words, 70.7 %; what would be rounded to nothing or to all is not that.
 *
 * @param {number} share
 */
function percent(share) {
  const least = SHARED.half_a_tenth_percent;
  if (share > 0 && share < least) return SHARED.almost_none;
  if (share >= 1 - least && share < 1 - SHARED.tie) return SHARED.almost_all;
  return `${Number(formatNumber(100 * share, 1)).toFixed(1)} %`;
}

/**
 * The verdict on a number that somebody wrote, by the digits that were written: "right" if the
 * true one rounds to it, "rounding" if it is a unit of the last digit off, else "wrong"; null for
 * what is no number. 1/3 and sqrt(2) are exact.
 *
 * @param {number} value
 * @param {string} written
 * @param {Judging} judging
 * @returns {Verdict}
 */
function judge(value, written, { one_unit_off: offBy, exactly }) {
  const claim = readNumber(written);
  if (!claim) return null;
  const tolerance = exactly * Math.max(1, Math.abs(value));
  const unit = PLAIN.test(written.trim()) ? 10 ** decimalParts(written.trim()).exponent : 0;
  const off = Math.abs(value - claim.value);
  if (unit / 2 < tolerance) return off <= tolerance ? "right" : "wrong";
  const rounded = roundedTo(unit, value, exactly);
  if (Math.abs(rounded - claim.value) <= tolerance) return "right";
  const units = value / unit;
  const fromWhole = Math.abs(units - Math.round(units));
  const hasNoMoreDigits = fromWhole <= exactly * Math.max(1, Math.abs(units));
  return off <= (offBy * unit) / 2 && !hasNoMoreDigits ? "rounding" : "wrong";
}

/**
 * @param {number} unit
 * @param {number} value
 * @param {number} exactly
 */
function roundedTo(unit, value, exactly) {
  if (unit >= 1) return Math.floor(value / unit + 0.5 + exactly) * unit;
  return readNumber(formatNumber(value, Math.round(-Math.log10(unit)))).value;
}
