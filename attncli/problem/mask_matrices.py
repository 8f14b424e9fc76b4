"""Reads the matrices of a mask: truth values that keep or hide, numbers that are added, and 0/1 told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attncli.problem.conventions import OWN, Convention, Polarity
from attncli.problem.later import Cells, Later
from attncli.problem.many import Many
from attncli.problem.matrices import DEEPEST, read_cells, read_matrix
from attncli.problem.model import Additive, Hide, Keep
from attncli.problem.nodes import Leaf, Mapping, Node, Sequence, describe, truth
from attncli.problem.numbers import NumberError, as_float, is_plain
from attncli.problem.runs import Runs, different, truths
from attncli.problem.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attncli.problem.stored import Array

_SPELLINGS = "write {keep: [[1, 0], …]} where 1 means may attend, or {hide: [[0, 1], …]} where 1 means hidden"
_NO_INTEGERS = "write true and false, {keep: …} or {hide: …}; or for numbers to add {additive: …}, or 1.0 and 0.0"
_EXAMPLES = {1: "[1, 1, 0]", 2: "[[1, 0], [1, 1]]"}
_TRUTHS = "[[true, false], [true, true]]"  # which need no form that says what 1 means
_DEEPEST = {1: 2, 2: DEEPEST}  # batch × keys; batch × heads × queries × keys
_OLD_TRUTHS = ("yes", "no", "on", "off")  # meant as true and false, and told so
_PARTS: dict[Polarity, type[Keep | Hide]] = {"attend": Keep, "hidden": Hide}


def read_bare(value: Value, convention: Convention = OWN) -> Keep | Hide | Additive | None:
    """A matrix without a word on its polarity: truth values keep, numbers are added, 0 and 1 alone are refused.

    Another convention than our own says what true means, and what 0 and 1 alone mean, as integers or as floats.
    """
    if isinstance(value.node, Mapping):
        import numpy as np

        array = _stored(value)
        if array is None:
            return None
        if array.dtype.kind == "b":
            matrix = _of_rank(_truths(array), 2, value)
            return None if matrix is None else _PARTS[convention.true](matrix)
        only_zero_one, integers = bool(np.isin(array, (0, 1)).all()), array.dtype.kind in "iu"
    else:
        cells = _different(value)
        if not cells:
            value.wrong("is empty", f"write causal, or rows such as {_TRUTHS}")
            return None
        said = [cell for cell in cells if truth(cell) is not None or cell.text.lower() in _OLD_TRUTHS]
        if said and not any(_is_number(cell) for cell in cells):
            return _read_truths(value, convention.true)
        if said:
            help = "write true and false only, or numbers to add only"
            value.wrong("mixes truth values and numbers", help, at=said[0].at)
            return None
        only_zero_one, integers = all(map(_zero_or_one, cells)), all(map(_is_integer, cells))
    if only_zero_one and convention.one is None:
        value.wrong("a mask of only 0 and 1 could mean either", _SPELLINGS)
        return None
    if only_zero_one and convention.one == "refused" and integers:
        value.wrong(f"{convention.name} takes no mask of integers: 0 and 1 could mean either", _NO_INTEGERS)
        return None
    if only_zero_one and convention.one in _PARTS:
        return _read_truths(value, convention.one)
    if not convention.adds:
        help = "write true and false, or {additive: …} for numbers that are added"
        value.wrong(f"{convention.name} adds no matrix to the scores: its masks hold true and false, or 1 and 0", help)
        return None
    return read_additive(value)


def read_additive(value: Value) -> Additive | None:
    """Numbers to add, -inf among them; None after reporting what is wrong."""
    matrix = read_matrix(value, deepest=DEEPEST, minus_infinity=True)
    return None if matrix is None else Additive(matrix)


def read_booleans(value: Value, rank: int = 2, example: str = "") -> Later | None:
    """true and false, or 1 and 0, in a list or a matrix, or several of them; None after reporting what is wrong.

    The help is to write the `example`, or one of this rank.
    """
    example = example or _EXAMPLES[rank]
    if isinstance(value.node, Mapping):
        import numpy as np

        array = _stored(value)
        if array is None:
            return None
        if not np.isin(array, (0, 1)).all():
            value.wrong("holds other values than true and false, 1 and 0", "save it as booleans")
            return None
        return _of_rank(_truths(array), rank, value)
    if not isinstance(value.node, Sequence):
        what = describe(value.node)
        value.wrong(f"must be a list of true and false, or 1 and 0, not {what}", f"write {example}")
        return None
    read = read_cells(value, _boolean, Runs(truths, _boolean), empty=f"write {example}")
    return None if read is None else _of_rank(Cells(*read, bool), rank, value)


def _read_truths(value: Value, polarity: Polarity) -> Keep | Hide | None:
    matrix = read_booleans(value, example=_TRUTHS)
    return None if matrix is None else _PARTS[polarity](matrix)


def _stored(value: Value) -> Array | None:
    from attncli.problem.arrays import read_array

    return read_array(value)


def _truths(array: Array) -> Later:
    cells = array.astype(bool)
    return Later(cells.shape, lambda: cells)


def _of_rank(array: Later, rank: int, value: Value) -> Later | None:
    """The array; None after reporting that it has fewer axes, or more than a batch of it would have."""
    if array.ndim > _DEEPEST[rank]:
        value.wrong(f"is {array.ndim} lists deep", f"write {_EXAMPLES[rank]}")
    elif array.ndim < rank:
        value.wrong("must be a list of rows, not a flat list", "one row per query, one column per key")
    else:
        return array
    return None


def _boolean(cell: Value) -> bool | None:
    value = truth(cell.node)
    if value is None and _zero_or_one(cell.node):
        return float(cell.text) == 1
    if value is None:
        cell.wrong(f"must be true or false, 1 or 0, not {describe(cell.node)}", "write true or false")
    return value


def _zero_or_one(node: Node) -> bool:
    return isinstance(node, Leaf) and not node.quoted and is_plain(node.text) and float(node.text) in (0, 1)


def _is_integer(leaf: Leaf) -> bool:
    return leaf.text.lstrip("+-").isdigit()


def _is_number(leaf: Leaf) -> bool:
    try:
        as_float(leaf.text)
    except NumberError:
        return False
    return True


def _different(value: Value) -> list[Leaf]:
    """The single values, of those with one text the first."""
    firsts: dict[tuple[str, bool], Leaf] = {}
    for leaf in _leaves(value):
        firsts.setdefault((leaf.text, leaf.quoted), leaf)
    return list(firsts.values())


def _leaves(value: Value) -> Iterator[Leaf]:
    if isinstance(value.node, Many):
        yield from different(value.node)
    elif isinstance(value.node, Leaf):
        yield value.node
    else:
        for item in value.each():
            yield from _leaves(item)
