"""The forms of a mask that fit what is seen: those that hide nothing of it, and those that show
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from attncli.features.mask.positions import Positions, Seen, seen
from attncli.problem.keys import Corner
from attncli.problem.matrix import Matrix
from attncli.problem.parts.masks import Mask, MaskPart
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.chunk import Chunk
from attncli.problem.parts.masks.documents import Documents
from attncli.problem.parts.masks.lengths import Counted, First, Lengths
from attncli.problem.parts.masks.padding import Padding
from attncli.problem.parts.masks.window import Window

Row = TypeVar("Row")
# How long a form is: a word is 1, and so is each number of it.
WORD = 1.0
ONE_NUMBER = 2.0
TWO_NUMBERS = 2.5
# With causal, a window [2, 0] says more than [2, -1].
CAUSAL_WINDOW = WORD + ONE_NUMBER - 0.25
# A list says what holds for these positions alone, so any other form is shorter.
LIST = 6.0
# It says least, but more than several lists together.
MATRIX = 9.0
OF_EACH_ITEM = 0.1
# Of more, the combinations would take long to try; those left out are longer, or chunks.
MOST_PIECES = 16
MOST_CHUNKS = 12


class Piece(NamedTuple):
    """One form, or two that belong together, with the cells that they show, a bit for each, and how
    long they are.
    """

    parts: tuple[MaskPart, ...]
    cells: int
    cost: float


def bits(visible: Seen) -> int:
    """Truth values as the bits of one number."""
    return int.from_bytes(np.packbits(visible).tobytes(), "big")


@dataclass(frozen=True)
class Ground:
    """Entries of queries and keys, whose positions are counted from one corner of the mask."""

    positions: Positions
    corner: Corner
    entries: int

    @cached_property
    def distances(self) -> NDArray[np.int64]:
        """How many positions each key is before each query; below 0 for keys behind it."""
        positions = np.array(self.positions.queries) + self.shift
        found: NDArray[np.int64] = positions[:, None] - np.array(self.positions.keys)
        return found

    @property
    def shift(self) -> int:
        """The position of query 0."""
        return 0 if self.corner == "top-left" else self.positions.offset

    @property
    def everything(self) -> int:
        """The bits of all cells."""
        return bits(np.ones((self.entries, *self.positions.shape), dtype=bool))

    def shown(self, *parts: MaskPart) -> Seen:
        """What these parts show together, the same in each entry."""
        one = seen(Mask(parts, self.corner), self.positions)
        return np.broadcast_to(one, (self.entries, *one.shape))

    def piece(self, cost: float, *parts: MaskPart) -> Piece:
        """Parts that say the same of each entry."""
        return Piece(parts, bits(self.shown(*parts)), cost)

    @cached_property
    def chunks(self) -> tuple[Piece, ...]:
        """The chunks of all lengths that hide something."""
        longest = int(max(self.positions.keys[-1], self.positions.queries[-1] + self.shift))
        found = [self.piece(ONE_NUMBER, Chunk(length)) for length in range(2, longest + 1)]
        return tuple(each for each in found if each.cells != self.everything)


# What hides nothing that is seen


def hiding(ground: Ground, visible: Seen) -> list[Piece]:
    """The forms that show all that is visible, of those that show the same the shortest."""
    wanted = bits(visible)
    found = [
        *_around(ground, visible),
        *_as_far_as_seen(ground, visible),
        *_documents_around(ground, visible),
        *ground.chunks,
    ]
    # Of chunks, a shorter one hides more.
    fitting = [each for each in found if not wanted & ~each.cells]
    useful = [each for each in _different(fitting) if each.cells != ground.everything]
    return useful[:MOST_PIECES]


def _around(ground: Ground, visible: Seen) -> Iterator[Piece]:
    """Causal, and the smallest windows."""
    distances = ground.distances[visible.any(axis=0)]
    if not distances.size:
        return
    left, right = int(distances.max()), int(-distances.min())
    if right <= 0:
        yield from _with_end(ground, left, 0)
        yield ground.piece(WORD, Causal())
    if left >= 0:
        yield ground.piece(ONE_NUMBER, Window(left, -1))
    if right > 0:
        yield ground.piece(ONE_NUMBER, Window(-1, right))
    if left >= 0 and right > 0:
        yield ground.piece(TWO_NUMBERS, Window(left, right))


def _with_end(ground: Ground, left: int, right: int) -> Iterator[Piece]:
    """The window to these sides, as people say it: one that ends at the query is causal, too."""
    if right != 0:
        yield ground.piece(TWO_NUMBERS if left >= 0 else ONE_NUMBER, Window(left, right))
    elif left < 0:
        yield ground.piece(WORD, Causal())
    else:
        yield ground.piece(CAUSAL_WINDOW, Causal(), Window(left, 0))


def _as_far_as_seen(ground: Ground, visible: Seen) -> Iterator[Piece]:
    """The first keys, or any others, that somebody sees in an entry."""
    there: Seen = np.any(visible, axis=1)
    last = [int(row.nonzero()[0].max(initial=-1)) + 1 for row in there]
    # At the bottom-right corner, positions are counted from the last key that exists.
    form = Lengths if ground.corner == "top-left" else First
    yield _counted(ground, form, last)
    if ground.corner == "top-left":
        rows = tuple(tuple(map(bool, row)) for row in there)
        exists = np.broadcast_to(there[:, None], visible.shape)
        yield Piece((Padding(_one_or_all(rows)),), bits(exists), _of_list(ground))


def _counted(ground: Ground, form: type[Counted], numbers: Sequence[int]) -> Piece:
    """So many keys of each entry."""
    keys = np.array(ground.positions.keys)
    shown = keys < np.array(numbers)[:, None]
    shape = (len(numbers), *ground.positions.shape)
    cells = np.broadcast_to(shown[:, None], shape)
    lengths = _one_or_all(numbers)
    more = len(lengths) - 1
    cost = ONE_NUMBER + OF_EACH_ITEM * more
    return Piece((form(lengths),), bits(cells), cost)


def _one_or_all(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The row of all entries, or one for each where these differ."""
    return tuple(rows[:1] if all(row == rows[0] for row in rows) else rows)


def _of_list(ground: Ground) -> float:
    return LIST + OF_EACH_ITEM * len(ground.positions.keys)


def _documents_around(ground: Ground, visible: Seen) -> Iterator[Piece]:
    """The smallest documents, and the fewest."""
    queries, keys = ground.positions.shape
    if queries > keys:
        return
    tight = []
    for entry in visible:
        numbers = _joined(ground, entry)
        if numbers is None:
            return
        tight.append(numbers)
    yield _documents(ground, tight)
    fewest = []
    for numbers, entry in zip(tight, visible, strict=True):
        fewest.append(_fewest(ground, numbers, entry))
    if fewest != tight:
        yield _documents(ground, fewest)


def _documents(ground: Ground, numbers: Sequence[list[int]]) -> Piece:
    """These numbers of documents, a row for each entry."""
    shown = []
    for row in numbers:
        alone = Documents(Matrix.of(row))
        shown.append(ground.shown(alone)[0])
    cells = bits(np.stack(shown))
    rows = _one_or_all(numbers)
    different = np.array(rows)
    if len(rows) == 1:
        different = different[0]
    # Whole numbers are written so.
    written = different.astype(str).astype(object)
    matrix = Matrix(different.astype(np.float64), written)
    most = max(max(row) for row in rows)
    return Piece((Documents(matrix),), cells, _of_list(ground) + OF_EACH_ITEM * most)


def _joined(ground: Ground, visible: Seen) -> list[int] | None:
    """The number of its document for each key, where a query and what it sees are in one; None
    where a query that sees something stands at no key.
    """
    keys = len(ground.positions.keys)
    number = list(range(keys))
    for query, row in zip(ground.positions.queries, visible, strict=True):
        own = query + ground.shift
        met = [int(key) for key in row.nonzero()[0]]
        if not met:
            continue
        if not 0 <= own < keys:
            return None
        together = {number[key] for key in (own, *met)}
        number = [min(together) if each in together else each for each in number]
    return _numbered(number)


def _numbered(documents: Sequence[int]) -> list[int]:
    """The same documents as 0, 1, 2, … in their order."""
    order = {each: place for place, each in enumerate(dict.fromkeys(documents))}
    return [order[each] for each in documents]


def _fewest(ground: Ground, documents: Sequence[int], visible: Seen) -> list[int]:
    """As few documents as another mask may leave: the keys that nobody sees, and whose queries see
    nothing, share one; a key at which no query stands is in the one before.
    """
    found = list(documents)
    sees = {
        query + ground.shift: bool(row.any())
        for query, row in zip(ground.positions.queries, visible, strict=True)
    }
    shared: int | None = None
    for key in range(len(found)):
        is_alone = documents.count(documents[key]) == 1
        if not is_alone or sees.get(key):
            continue
        if key in sees:
            shared = found[key] if shared is None else shared
            found[key] = shared
        elif key > 0:
            found[key] = found[key - 1]
    return _numbered(found)


# What shows nothing that is hidden


def showing(ground: Ground, visible: Seen, allowed: Seen) -> list[Piece]:
    """The largest forms that show nothing but what is allowed, alone or together with causal, for
    what is `visible`; of those that show the same the shortest.
    """
    found = [*_single(ground, visible, allowed)]
    causal = ground.piece(WORD, Causal())
    after = ~ground.shown(Causal())
    for each in _single(ground, visible, allowed | after):
        parts = dict.fromkeys((*causal.parts, *each.parts))
        cells = causal.cells & each.cells
        cost = causal.cost + each.cost
        found.append(Piece(tuple(parts), cells, cost))
    useless = (0, ground.everything)
    return [each for each in _different(found) if each.cells not in useless]


def _single(ground: Ground, visible: Seen, allowed: Seen) -> Iterator[Piece]:
    """Forms of one kind."""
    forbidden = ground.everything & ~bits(allowed)
    yield from _windows_within(ground, allowed)
    first = [_full_columns(entry) for entry in allowed]
    if any(first):
        yield _counted(ground, First, first)
    fitting = [each for each in ground.chunks if not each.cells & forbidden]
    largest = sorted(fitting, key=lambda each: each.cells.bit_count(), reverse=True)
    yield from largest[:MOST_CHUNKS]
    is_later = np.arange(allowed.shape[-1]) >= np.array(first)[:, None, None]
    for each in _documents_around(ground, visible & is_later):
        if not each.cells & forbidden:
            yield each


def _windows_within(ground: Ground, allowed: Seen) -> Iterator[Piece]:
    """The largest window around the position of the query."""
    distances = ground.distances
    within = allowed.all(axis=0)
    # How far a window may reach to the left, and, as numbers below 0, to the right.
    least, most = int(distances.min()), int(distances.max())
    blocked = {int(each) for each in np.unique(distances[~within])}
    if 0 in blocked:
        return
    left = 0
    while left < most and left + 1 not in blocked:
        left += 1
    right = 0
    while -right > least and -right - 1 not in blocked:
        right += 1
    yield from _with_end(ground, -1 if left >= most else left, -1 if -right <= least else right)


def _full_columns(allowed: Seen) -> int:
    """How many of the first keys all queries may see."""
    is_full: Seen = np.all(allowed, axis=0)
    return int(is_full.argmin()) if not is_full.all() else len(is_full)


def _different(pieces: Iterable[Piece]) -> list[Piece]:
    """The shortest of those that show the same, the shortest first."""
    found: dict[int, Piece] = {}
    for each in sorted(pieces, key=lambda piece: piece.cost):
        found.setdefault(each.cells, each)
    return [*found.values()]
