"""What a mask and a bias do to one tile of the scores: some queries by some keys."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.attention.chunks import chunks, evaluate_chunk
from attncli.equation.functions import FUNCTIONS
from attncli.equation.indexing import index_names
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Ref, walk
from attncli.equation.rule import Rule

Array = NDArray[Any]
# For each leading letter, this says where each head of a tile is.
Places = Mapping[str, NDArray[np.intp]]
_COMPARED = ("le", "lt", "ge", "gt")


@dataclass(frozen=True, slots=True)
class Tile:
    """What is added to a tile of scores (None: nothing), and 1 for visible keys, 0 for hidden ones
    (None: all visible).

    `seen` says how many keys of the tile each query sees. Arrays have an axis of heads if the heads
    differ.
    """

    added: Array | None
    visible: Array | None
    seen: int | Array


@dataclass(frozen=True, slots=True)
class Tiles:
    """The bias and the mask of all heads: `over` says what they do to a tile of scores."""

    # What is added to the scores, term by term.
    added: tuple[Expression, ...]
    # The conditions under which a key is seen.
    visible: Expression | None
    arrays: Mapping[str, Array]
    scalars: Mapping[str, float]
    dtype: type[np.floating[Any]]

    def over(
        self, queries: slice, keys: slice, places: Places, size: int
    ) -> Iterator[tuple[slice, Tile | None]]:
        """The tile of these queries and keys; None if all keys are hidden.

        `places` says for each leading letter where the heads of the tile are. If an edge of the
        mask runs through the tile, it is cut into pieces of `size`, because the edge runs through
        few of them.
        """
        corners = self._corners(queries, keys)
        if any(any(held) and not all(held) for held in corners):
            for piece in chunks(keys.stop, size, keys.start):
                yield piece, self._at(queries, piece, places, self._corners(queries, piece))
        else:
            yield keys, self._at(queries, keys, places, corners)

    def _at(
        self, queries: slice, keys: slice, places: Places, corners: list[tuple[bool, ...]]
    ) -> Tile | None:
        if any(not any(held) for held in corners if held):
            return None
        all_visible = self.visible is None or all(held and all(held) for held in corners)
        visible = (
            None
            if all_visible or self.visible is None
            else self._cells(self.visible, queries, keys, places)
        )
        if visible is not None and not visible.max():
            return None
        added: Array | None = None
        for term in self.added:
            cells = self._cells(term, queries, keys, places)
            added = cells if added is None else added + cells
        if added is not None and added.min() == -math.inf:
            seen = (added > -math.inf).astype(self.dtype)
            visible = seen if visible is None else visible * seen
            added = np.where(seen, added, 0).astype(self.dtype)
            if not visible.max():
                return None
        if visible is None or visible.min():
            return Tile(added, None, keys.stop - keys.start)
        return Tile(added, visible, np.einsum("...j->...", visible).astype(np.int64))

    def _corners(self, queries: slice, keys: slice) -> list[tuple[bool, ...]]:
        conditions = [] if self.visible is None else _conditions(self.visible)
        return [_at_corners(condition, queries, keys, self.scalars) for condition in conditions]

    def _cells(self, expression: Expression, queries: slice, keys: slice, places: Places) -> Array:
        """The cells of an expression: for each head, if it reads a leading letter, else once for
        all heads.
        """
        read = (node.indices for node in walk(expression) if isinstance(node, Ref))
        names = {name for indices in read for index in indices for name in index_names(index)}
        own = [letter for letter in places if letter in names]
        each = list(zip(*(map(int, places[letter]) for letter in own), strict=True)) or [()]
        equation = Equation(Ref("cells", ("i", "j")), expression)
        found = {
            place: evaluate_chunk(
                equation,
                {"i": queries, "j": keys},
                self.arrays,
                self.scalars,
                dtype=self.dtype,
                place=dict(zip(own, place, strict=True)),
            )
            for place in dict.fromkeys(each)
        }
        return found[each[0]] if len(found) == 1 else np.stack([found[place] for place in each])


def tiles_of(
    rules: Sequence[Rule],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    dtype: type[np.floating[Any]],
) -> Tiles | None:
    """The tiles for the bias and the mask among these rules; None if there is neither."""
    added: list[Expression] = []
    visible = None
    for rule in rules:
        if rule.name not in ("bias", "mask"):
            continue
        expression = rule.equation.expression
        if rule.only_hides:
            assert isinstance(expression, Call)
            visible, expression, _ = expression.arguments
        if not (isinstance(expression, Number) and expression.value == 0):
            added.append(expression)
    return (
        Tiles(tuple(added), visible, arrays, scalars, dtype)
        if added or visible is not None
        else None
    )


def _conditions(expression: Expression) -> tuple[Expression, ...]:
    """The conditions that must all hold."""
    both = isinstance(expression, Call) and expression.function == "and_"
    return expression.arguments if isinstance(expression, Call) and both else (expression,)


def _at_corners(
    condition: Expression, queries: slice, keys: slice, scalars: Mapping[str, float]
) -> tuple[bool, ...]:
    """Whether a condition holds at the four corners of a tile; empty if the corners do not decide
    for all cells.

    They do decide if positions are only added and compared. Then the edge is a straight line, and
    if all corners are on one side of it, the whole tile is.
    """
    if not isinstance(condition, Call) or condition.function not in _COMPARED:
        return ()
    try:
        return tuple(
            bool(_number(condition, {**scalars, "i": i, "j": j}))
            for i in (queries.start, queries.stop - 1)
            for j in (keys.start, keys.stop - 1)
        )
    except KeyError:
        return ()


def _number(node: Expression, numbers: Mapping[str, float]) -> float:
    """A node of names, numbers, sums and differences; KeyError for another."""
    match node:
        case Name(name=name):
            return numbers[name]
        case Number(value=value) if value is not None:
            return float(value)
        case Call(function=function, arguments=arguments) if function in (*_COMPARED, "add", "sub"):
            found: float = FUNCTIONS[function].scalar(
                *(_number(part, numbers) for part in arguments)
            )
            return found
    raise KeyError(node)
