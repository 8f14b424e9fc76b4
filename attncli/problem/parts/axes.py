"""The leading axes of arrays: entries of a batch and heads, before the rows and columns of a single
head.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from attncli.equation.indices import BATCH as BATCH
from attncli.equation.indices import HEAD as HEAD
from attncli.equation.indices import KEY_HEAD as KEY_HEAD
from attncli.equation.parser import parse_expression
from attncli.problem.keys import ARRAYS

# These have one number for each head, whatever other axes there are.
PER_HEAD = tuple(name for name, array in ARRAYS.items() if not array.letters)
OF_QUERIES = tuple(
    name for name, array in ARRAYS.items() if array.letters and HEAD in array.leading
)
# These have as many heads as K and V.
OF_KEYS = tuple(name for name, array in ARRAYS.items() if KEY_HEAD in array.leading)
LEADING = (BATCH, HEAD, KEY_HEAD)
# A query head uses this head of keys and values.
KEY_HEAD_OF = {KEY_HEAD: parse_expression(f"{HEAD} // group")}
# People call one place on each axis so.
PLACES = {BATCH: "entry", HEAD: "head", KEY_HEAD: "head"}


class Shaped(Protocol):
    """What has axes: an array, or the shape alone of one that is not worked out yet."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How long each axis is."""
        ...

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        ...


@dataclass(frozen=True, slots=True)
class MadeShape:
    """The shape of an array that equations make: it stands for the array where only lengths are
    asked for.
    """

    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class Axes:
    """How long each leading axis is: entries, query heads, heads of keys and values; None where
    there is none.

    A batch of 2 with 8 query heads, four of which share a head of keys, has Axes(2, 8, 2).
    """

    batch: int | None = None
    heads: int | None = None
    kv_heads: int | None = None

    @property
    def has_heads(self) -> bool:
        """Whether heads are an axis of some array."""
        return self.heads is not None or self.kv_heads is not None

    @property
    def number(self) -> int:
        """How many heads there are, 1 where they are no axis."""
        return self.heads or self.kv_heads or 1

    @property
    def group(self) -> int:
        """How many query heads one head of keys and values serves."""
        return self.heads // self.kv_heads if self.heads and self.kv_heads else 1


def axes_of(given: Mapping[str, Shaped]) -> Axes:
    """The leading axes of a problem whose arrays fit together."""
    lengths: dict[str, int] = {}
    for name, matrix in given.items():
        if name in PER_HEAD:
            # It does not tell how many heads there are: it is checked against them later.
            continue
        shape = matrix.shape
        for letter, length in zip(letters_of(name, matrix.ndim), shape, strict=False):
            lengths.setdefault(letter, length)
    return Axes(lengths.get(BATCH), lengths.get(HEAD), lengths.get(KEY_HEAD))


def leads(name: str, matrix: Shaped, axes: Axes) -> tuple[str, ...]:
    """The letters of an array's leading axes: K of a single group of heads is indexed by the head
    of the query.
    """
    found = letters_of(name, matrix.ndim)
    if axes.heads in (None, axes.kv_heads):
        return tuple(HEAD if letter == KEY_HEAD else letter for letter in found)
    return found


def of_one_head(letters: Iterable[str]) -> tuple[str, ...]:
    """These letters without those of entries and heads.

    >>> of_one_head(["b", "h", "i", "k"])
    ('i', 'k')
    """
    own = []
    for letter in letters:
        if letter not in LEADING:
            own.append(letter)
    return tuple(own)


def rows_from(name: str, given: Collection[str]) -> str:
    """The array that Q, K or V has its rows from: K itself, or X where W_K makes K of it.

    >>> rows_from("K", ["X", "W_K"]), rows_from("K", ["X", "context", "W_K"])
    ('X', 'context')
    """
    return name if name in given else input_of(name, given)


def columns_from(name: str, given: Collection[str]) -> str:
    """The array that Q, K or V has its columns from: K itself, or W_K."""
    return name if name in given else f"W_{name}"


def rows(name: str, given: Mapping[str, Shaped]) -> int:
    """How many rows Q, K or V has without a cache: its own, or those of what is projected to it."""
    return int(given[rows_from(name, given)].shape[-2])


def width(name: str, given: Mapping[str, Shaped]) -> int:
    """The width of Q, K or V in one head."""
    return int(given[columns_from(name, given)].shape[-1])


def past_length(given: Mapping[str, Shaped]) -> int:
    """How many keys come from a cache."""
    return int(given["past_K"].shape[-2]) if "past_K" in given else 0


def sizes(given: Mapping[str, Shaped]) -> tuple[int, int]:
    """(n, m): how many queries and how many keys there are, those of a cache among them."""
    return rows("Q", given), past_length(given) + rows("K", given)


def key_labels(tokens: tuple[str, ...], given: Mapping[str, Shaped]) -> tuple[str, ...]:
    """The labels of keys that were given none: their tokens, after p1, p2, … from a cache; else c1,
    c2, …
    """
    past = past_length(given)
    new = rows("K", given)
    have_tokens = "context" not in given and new == len(tokens)
    if not have_tokens:
        return _numbered("c", past + new)
    cached = _numbered("p", past)
    return (*cached, *tokens)


def _numbered(letter: str, number: int) -> tuple[str, ...]:
    """So many labels: c1, c2, …"""
    return tuple(f"{letter}{place}" for place in range(1, number + 1))


def output_shape(given: Mapping[str, Shaped], joined: bool) -> tuple[int, ...]:
    """The shape of the output, where heads are put side by side if they were `joined` or there is a
    W_O.
    """
    axes = axes_of(given)
    n, _ = sizes(given)
    d_v = width("V", given)
    batch = () if axes.batch is None else (axes.batch,)
    if "W_O" in given:
        columns = int(given["W_O"].shape[-1])
        return (*batch, n, columns)
    if axes.has_heads and not joined:
        return (*batch, axes.number, n, d_v)
    return (*batch, n, axes.number * d_v)


def letters_of(name: str, rank: int) -> tuple[str, ...]:
    """The letters of an array's leading axes by its rank alone; new_K is as K, and so is new_V as
    V.

    >>> letters_of("Q", 4), letters_of("new_K", 3), letters_of("X", 2)
    (('b', 'h'), ('g',), ())
    """
    array = ARRAYS[name.removeprefix("new_")]
    number = rank - len(array.letters)
    # Leading axes are left out from the left: K of one entry has no batch.
    return array.leading[len(array.leading) - number :]


def input_of(letter: str, given: Collection[str]) -> str:
    """What W_Q, W_K or W_V projects: X, or for keys and values the context where there is one.

    >>> input_of("Q", ["X", "context"]), input_of("K", ["X", "context"])
    ('X', 'context')
    """
    return "context" if letter != "Q" and "context" in given else "X"
