"""Large whole numbers for people: 1,347,416,072 is ≈ 1.3 billion, 1048576 bytes are 1 MiB."""

from __future__ import annotations

_COUNTS = ("", " thousand", " million", " billion", " trillion", " quadrillion", " quintillion")
_BYTES = (" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB")


def grouped(number: int) -> str:
    """Every digit, in groups of three: 1,347,416,072."""
    return f"{number:,}"


def rounded(number: int) -> str:
    """A count in words, with ≈ where that rounds it; below ten thousand with every digit."""
    return grouped(number) if number < 10_000 else _scaled(number, 1000, _COUNTS)


def size(number: int) -> str:
    """A number of bytes in units of 1024, with ≈ where that rounds it."""
    return _scaled(number, 1024, _BYTES)


def _scaled(number: int, base: int, units: tuple[str, ...]) -> str:
    """In the largest unit that leaves at least one, rounded half up to one decimal."""
    place = 0
    while place < len(units) - 1 and _tenths(number, base**place) >= 10 * base:
        place += 1
    unit = base**place
    tenths = _tenths(number, unit)
    whole, tenth = divmod(tenths, 10)
    sign = "" if tenths * unit == 10 * number else "≈ "
    return f"{sign}{grouped(whole)}{f'.{tenth}' if tenth else ''}{units[place]}"


def _tenths(number: int, unit: int) -> int:
    return (20 * number + unit) // (2 * unit)
