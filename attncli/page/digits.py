"""The numbers of a large matrix, of which many are printed alike: each text is made once, and NumPy puts them together.

Each number is a whole number of units of its last decimal. Far from ties the units come from binary rounding, which
is then what `show` prints; for all others `show` itself is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from attncli.page.document import Cell
from attncli.page.number_format import NEAR_TIE as NEAR
from attncli.page.number_format import SAFE, format_number
from attncli.page.texts import NOTHING, Texts, texts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGE = 2**12  # numbers; for fewer it is not worth it
REPEATED = 4  # times that a text must be used on average to be worth making in advance
AT_ONCE = 2**16  # numbers, so that what is made of them stays in the cache
PIECE = 2**16  # bytes of text made at once; above 2^17 the system is asked for each anew
SURE = 1e-12  # a number is whole, or further than this from being so in relation, as `show` sees it


@dataclass(frozen=True, slots=True, eq=False)
class DigitRows(Sequence[tuple[Cell, ...]]):
    """A matrix as `units` of its last decimal, from `low` to `high`; `whole` are those printed without decimals."""

    units: NDArray[np.int32]
    whole: NDArray[np.bool_] | None
    decimals: int
    low: int
    high: int

    @classmethod
    def of(cls, values: NDArray[Any], decimals: int) -> DigitRows | None:
        """The rows of a matrix, or None where it is small, not finite, or hardly two of its numbers are alike."""
        if values.size < LARGE or values.ndim != 2:
            return None
        units = np.empty(values.shape, np.int32)
        whole = np.zeros(values.shape, bool)
        rows = max(1, AT_ONCE // values.shape[1])
        for top in range(0, len(values), rows):
            part = slice(top, top + rows)
            if not _round(values[part].astype(np.float64), decimals, units[part], whole[part]):
                return None
        low, high = int(units.min()), int(units.max())
        if (high - low) * REPEATED > values.size:
            return None
        return cls(units, whole if decimals and whole.any() else None, decimals, low, high)

    @overload
    def __getitem__(self, place: int) -> tuple[Cell, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[tuple[Cell, ...], ...]: ...
    def __getitem__(self, place: int | slice) -> tuple[Cell, ...] | tuple[tuple[Cell, ...], ...]:
        if isinstance(place, slice):
            return tuple(self[row] for row in range(*place.indices(len(self))))
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        whole = [False] * self.units.shape[1] if self.whole is None else self.whole[place].tolist()
        return tuple(
            Cell(_text(unit, self.decimals, short))
            for unit, short in zip(self.units[place].tolist(), whole, strict=True)
        )

    def __len__(self) -> int:
        return len(self.units)

    @property
    def shortened(self) -> bool:
        return self.whole is not None

    def longest(self) -> list[int]:
        if self.whole is None:
            return [before + after for before, after in self.widths()]
        whole = _before(np.where(self.whole, self.units, 0), self.decimals)
        others = _before(np.where(self.whole, 0, self.units), self.decimals) + self.decimals + 1
        widest: list[int] = np.where(self.whole.all(axis=0), whole, np.maximum(whole, others)).tolist()
        return widest

    def widths(self, minus: int = 1) -> list[tuple[int, int]]:
        before = _before(self.units, self.decimals, minus)
        after = np.full(len(before), self.decimals + 1 if self.decimals else 0)
        if self.whole is not None:
            after[self.whole.all(axis=0)] = 0
        return list(zip(before.tolist(), after.tolist(), strict=True))

    def lines(
        self, heads: Sequence[str], between: str, rooms: Sequence[tuple[int, int]] | None = None,
        columns: slice = slice(None), end: str = "", together: int = 1,
    ) -> Iterator[str]:  # fmt: skip
        units = self.units[:, columns]
        whole = None if self.whole is None else self.whole[:, columns]
        rooms = rooms or [(0, 0)] * units.shape[1]
        kinds = tuple(dict.fromkeys(rooms))
        cells = _numbers(self.low, self.high, self.decimals, self.shortened, between, kinds)
        first = np.array([kinds.index(room) for room in rooms]) * (len(cells.rest) // len(kinds)) - self.low
        first_whole = first + self.high + 1 - self.low // 10**self.decimals
        close = np.void(f"{end}\n".encode())
        longest = len(heads[-1]) + units.shape[1] * cells.dtype.itemsize + close.itemsize
        rows = max(1, PIECE // (longest * together)) * together
        for top in range(0, len(units), rows):
            part = slice(top, top + rows)
            places = units[part] + first
            if whole is not None:
                np.copyto(places, units[part] // 10**self.decimals + first_whole, where=whole[part])
            side = texts_of(tuple(heads[part]))
            line = [("side", side.dtype), ("cells", cells.dtype, units.shape[1]), ("close", close.dtype)]
            lines = np.empty(len(places), line)
            lines["side"]["alike"], lines["side"]["rest"] = side.alike, side.rest
            lines["cells"]["alike"], lines["cells"]["rest"] = cells.alike, cells.rest[places]
            lines["close"] = close
            even = cells.even and side.even
            for start in range(0, len(lines), together):
                text = lines[start : start + together].tobytes()
                yield (text if even else text.translate(None, NOTHING)).decode()


@lru_cache(maxsize=4)
def _numbers(
    low: int, high: int, decimals: int, shortened: bool, between: str, kinds: tuple[tuple[int, int], ...]
) -> Texts:
    """For each kind of column all numbers from the lowest to the highest, and then the whole ones among them."""
    found = []
    for width, after in kinds:
        found += [_text(unit, decimals).rjust(width) for unit in range(low, high + 1)]
        if shortened:
            whole = range(low // 10**decimals, high // 10**decimals + 1)
            found += [(str(number) + " " * after).rjust(width) for number in whole]
    return texts_of(tuple(between + text for text in found))


def _text(unit: int, decimals: int, whole: bool = False) -> str:
    return f"{unit / 10**decimals:.{0 if whole else decimals}f}"


def _round(values: NDArray[np.float64], decimals: int, units: NDArray[np.int32], whole: NDArray[np.bool_]) -> bool:
    """Put the rounded values where they belong; whether all could be."""
    size = np.abs(values)
    if not size.max() < SAFE / 10.0**decimals:  # which no NaN is, either
        return False
    scaled = size * 10.0**decimals
    rounded = np.rint(scaled)
    np.copyto(units, np.copysign(rounded, values), casting="unsafe")
    nearest = np.rint(size)
    away = np.abs(size - nearest)
    np.equal(away, 0, out=whole)
    doubtful = np.abs(scaled - rounded) >= 0.5 - NEAR
    doubtful |= (away <= SURE * nearest) & ~whole
    for place in np.flatnonzero(doubtful):
        head, point, tail = format_number(float(values.flat[place]), decimals).partition(".")
        units.flat[place] = int(head + tail.ljust(decimals, "0"))
        whole.flat[place] = not point
    return True


def _before(units: NDArray[np.int32], decimals: int, minus: int = 1) -> NDArray[np.int64]:
    """The most characters that stand before the point in each column."""
    low, high = units.min(axis=0), units.max(axis=0)
    before: NDArray[np.int64] = np.maximum(_digits(high, decimals), _digits(-low, decimals) + minus * (low < 0))
    return before


def _digits(units: NDArray[np.int32], decimals: int) -> NDArray[np.int64]:
    """How many digits stand before the point."""
    powers = 10 ** np.arange(decimals + 1, decimals + 10)
    return np.searchsorted(powers, units, side="right").astype(np.int64) + 1
