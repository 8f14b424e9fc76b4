"""The shapes of arrays that a problem's own equations make where attention expects one that is
given or projected: K of latent vectors, W_Q of two thin matrices.

They are known before anything is worked out: a letter is as long as the axis where it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from attncli.equation.indices import KEPT
from attncli.equation.nodes import Equation, Reduce, Ref, cells, names_used, walk
from attncli.problem.keys import ARRAYS
from attncli.problem.parts.axes import (
    BATCH,
    HEAD,
    KEY_HEAD,
    LEADING,
    PER_HEAD,
    MadeShape,
    Shaped,
    input_of,
    letters_of,
    of_one_head,
    past_length,
)
from attncli.problem.parts.equations import System

_OF_ATTENTION = tuple(name for name in ARRAYS if name not in PER_HEAD)
# The first of these that is there has a row for each query, or for each new key.
_QUERIES, _KEYS = ("Q", "X"), ("K", "V", "context", "X")


def with_made(given: Mapping[str, Shaped], system: System) -> dict[str, Shaped]:
    """All that is given, and the shapes of what equations make in place of it, by name.

    Where Q, K or V is neither made nor projected, nobody reads it, or a plan will say that it is
    missing. It still has the shape that its letters tell.
    """
    lengths = _MadeLengths.of(given, system)
    made = {own.name.removeprefix("new_"): own.name for own in system.equations}
    found: dict[str, Shaped] = {}
    for name in _OF_ATTENTION:
        # What has another number of axes, the plan refuses.
        if name in made and lengths.has_axes_of(name, made[name]):
            found[name] = lengths.shape(made[name], past_length(given))
    there = {**given, **found}
    for letter in "QKV":
        is_projected = {f"W_{letter}", input_of(letter, there)} <= there.keys()
        if letter not in there and not is_projected:
            found[letter] = lengths.unread(letter, past_length(given))
    in_order = {**given, **found}
    return {name: in_order[name] for name in ARRAYS if name in in_order}


@dataclass
class _MadeLengths:
    """How long axes are: of arrays and steps in one head and entry, of the axes before these, and
    of the letters that keep their meaning.
    """

    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    leading: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, Shaped], system: System) -> _MadeLengths:
        """Those of a problem with these arrays and equations."""
        found = cls()
        past = past_length(given)
        found._take_rows(given, past)
        for name, array in given.items():
            if name in PER_HEAD:
                continue
            # Behind a cache, K and V are steps, and what is given are their new rows.
            is_new = past > 0 and name in ("K", "V")
            letters = (*letters_of(name, array.ndim), *ARRAYS[name].letters)
            found._take(f"new_{name}" if is_new else name, letters, array.shape)
        for own in system.arrays:
            found._take(own.name, own.letters, own.matrix.shape)
        for equation in _in_order(system):
            found._add(equation)
        return found

    def has_axes_of(self, array: str, step: str) -> bool:
        """Whether a step has as many axes as the array in whose place it is, in one head."""
        return len(self.shapes[step]) == len(ARRAYS[array].letters)

    def shape(self, name: str, past: int) -> MadeShape:
        """The shape of what an equation makes; of keys and values, without the rows of a cache."""
        before = tuple(self.kept.get(letter, 1) for letter in self._leading_as_given(name))
        own = self.shapes[name]
        if past and name in ("K", "V"):
            rows, columns = own
            own = max(rows - past, 0), columns
        return MadeShape((*before, *own))

    def _leading_as_given(self, name: str) -> tuple[str, ...]:
        """The leading letters of what an equation makes, as a given array of its rank has them: one
        axis before rows and columns is that of heads, so entries that all heads share have both.
        """
        leading = self.leading[name]
        if leading != (BATCH,):
            return leading
        of_heads = KEY_HEAD if name in ("K", "V") and KEY_HEAD in self.kept else HEAD
        return (BATCH, of_heads) if of_heads in self.kept else leading

    def unread(self, name: str, past: int) -> MadeShape:
        """The shape of an array that nobody makes."""
        rows, columns = ARRAYS[name].letters
        number = self.kept.get(rows, 1)
        if name != "Q":
            number -= past
        return MadeShape((number, self.kept.get(columns, 1)))

    def _take_rows(self, given: Mapping[str, Shaped], past: int) -> None:
        queries = next((given[name] for name in _QUERIES if name in given), None)
        if queries is not None:
            self.kept["i"] = queries.shape[-2]
        keys = next((given[name] for name in _KEYS if name in given), None)
        if keys is not None:
            self.kept["j"] = past + keys.shape[-2]

    def _take(self, name: str, letters: tuple[str, ...], shape: tuple[int, ...]) -> None:
        for letter, length in zip(letters, shape, strict=True):
            if letter in KEPT:
                self.kept.setdefault(letter, length)
        own = of_one_head(letters)
        number = len(letters) - len(own)
        self.leading[name] = letters[:number]
        self.shapes[name] = shape[number:]

    def _add(self, equation: Equation) -> None:
        """The shape of the step that an equation makes."""
        name = equation.target.name
        always: dict[str, int] = {}
        # A cell that a `where` chooses need not be there for every place.
        chosen: dict[str, int] = {}
        for cell, is_chosen in cells(equation.expression):
            found = chosen if is_chosen else always
            for letter, length in self._lengths_of(cell):
                found.setdefault(letter, length)
        lengths = {**chosen, **self.kept, **always}
        shape = []
        for letter in of_one_head(equation.target.letters):
            length = lengths.get(letter, 1)
            shape.append(length)
            if letter in KEPT:
                self.kept.setdefault(letter, length)
        self.shapes[name] = tuple(shape)
        self.leading[name] = self._leading_of(equation)

    def _lengths_of(self, cell: Ref) -> Iterator[tuple[str, int]]:
        """The letters of a cell that is read, with their lengths."""
        own = self.shapes.get(cell.name, ())
        indices = cell.indices[len(cell.indices) - len(own) :]
        for index, length in zip(indices, own, strict=False):
            if isinstance(index, str):
                yield index, length

    def _leading_of(self, equation: Equation) -> tuple[str, ...]:
        """The letters of heads and entries that the step has: those of all that it reads."""
        nodes = [*walk(equation.expression)]
        summed = {node.index for node in nodes if isinstance(node, Reduce)}
        read = {*equation.target.letters}
        for node in nodes:
            if isinstance(node, Ref):
                read |= {*node.letters, *self.leading.get(node.name, ())}
        read -= summed
        if HEAD in read:
            # A query head reads the one head of keys and values that serves it.
            read.discard(KEY_HEAD)
        return tuple(letter for letter in LEADING if letter in read)


def _in_order(system: System) -> Iterator[Equation]:
    """The equations, each behind those that it reads, as far as they are in no circle."""
    left = {own.name: own.equation for own in system.equations}
    while left:
        ready = [
            equation
            for equation in left.values()
            if left.keys().isdisjoint(names_used(equation.expression))
        ]
        for equation in ready or [*left.values()]:
            yield equation
            del left[equation.target.name]
