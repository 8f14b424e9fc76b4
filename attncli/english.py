"""Counts, sizes, lists, shapes and long words in English: 1 row, 2 MiB; a, b and c; 3×4; begin…end
(99 characters).
"""

from __future__ import annotations

from collections.abc import Sequence

_COUNTS = ("", " thousand", " million", " billion", " trillion", " quadrillion", " quintillion")
_BYTES = (" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB")


def count(number: int, one: str, many: str | None = None) -> str:
    """1 row, 2 rows, 1,024 queries; `many` is the plural where it is not a regular one."""
    return f"{number:,} {either(number, one, many or _plural(one))}"


def a(word: str) -> str:
    """a head, an entry."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def either(number: int, one: str, many: str) -> str:
    """The word that goes with a number: 1 does, 2 do."""
    return one if number == 1 else many


def listed(words: Sequence[str], last: str = "and", most: int | None = None) -> str:
    """a, b and c; with an empty `last`, only commas. Of more than `most` words the first, and an
    ellipsis.
    """
    if most is not None and len(words) > most:
        return f"{', '.join(words[:most])}, …"
    if not last or len(words) < 2:
        return ", ".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def shorten(text: str, limit: int = 40) -> str:
    """Text of an input inside a message: long ones keep both ends and tell their length."""
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}…{text[-limit // 4 :]} ({len(text):,} characters)"


def as_written(value: object) -> str:
    """A value of Python inside a message, as it is written in Python."""
    try:
        return shorten(repr(value))
    except ValueError:
        # Python writes no whole number of more than 4,300 digits.
        return f"a value of type {type(value).__name__}"


def entitled(what: str, title: str) -> str:
    """What something is, with its title if it has one: problem 'I love AI'."""
    return f"{what} {shorten(repr(title))}" if title else what


def named(key: str) -> str:
    """A key inside a message, in quotes where it could not be seen without."""
    return shorten(key) if key.strip() else f'"{shorten(key)}"'


def shape_text(shape: Sequence[int], times: str = "×") -> str:
    """3×4."""
    return times.join(map(str, shape))


def grouped(number: int) -> str:
    """Every digit, in groups of three: 1,347,416,072."""
    return f"{number:,}"


def rounded_count(number: int) -> str:
    """A count in words, with ≈ where that rounds it; below ten thousand with every digit."""
    return grouped(number) if number < 10_000 else _scaled(number, 1000, _COUNTS)


def byte_size(number: int) -> str:
    """A number of bytes in units of 1024, with ≈ where that rounds it."""
    return _scaled(number, 1024, _BYTES)


def _scaled(number: int, base: int, units: tuple[str, ...]) -> str:
    """In the largest unit that leaves at least one, rounded half up to one decimal."""
    power = 0
    while power < len(units) - 1 and _tenths(number, base**power) >= 10 * base:
        power += 1
    unit = base**power
    tenths = _tenths(number, unit)
    whole, tenth = divmod(tenths, 10)
    sign = "" if tenths * unit == 10 * number else "≈ "
    return f"{sign}{grouped(whole)}{f'.{tenth}' if tenth else ''}{units[power]}"


def _tenths(number: int, unit: int) -> int:
    return (20 * number + unit) // (2 * unit)


def _plural(one: str) -> str:
    return f"{one[:-1]}ies" if one.endswith("y") and one[-2:-1] not in "aeiou" else f"{one}s"
