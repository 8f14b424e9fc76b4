"""Texts as so many bytes each, for NumPy to put together: what differs from one to the other is all that it copies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOTHING = b"\0"  # fills up texts that are shorter than others; labels have no control characters by now
_WORDS = 1, 2, 4, 8  # bytes that are copied as one


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """What all of some texts begin with, and the rest of each; `even` says that none had to be filled up."""

    alike: np.void
    rest: NDArray[Any]
    even: bool

    @property
    def dtype(self) -> np.dtype[np.void]:
        return np.dtype([("alike", self.alike.dtype), ("rest", self.rest.dtype)])


@lru_cache(maxsize=64)  # of a large matrix in LaTeX the same labels stand beside hundreds of blocks
def texts_of(texts: tuple[str, ...]) -> Texts:
    """The texts, filled up at their ends to the longest."""
    encoded = [text.encode() for text in texts]
    width = max(map(len, encoded)) or 1
    filled = [text.ljust(width, NOTHING) for text in encoded]
    differ = [one != other for one, other in zip(min(filled), max(filled), strict=True)]
    differing = width - differ.index(True) if True in differ else 1
    size = next((size for size in _WORDS if differing <= size <= width), width)
    rest = np.frombuffer(b"".join(text[-size:] for text in filled), f"u{size}" if size in _WORDS else f"V{size}")
    return Texts(np.void(filled[0][:-size]), rest, min(map(len, encoded)) == width)
