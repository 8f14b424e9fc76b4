"""One array in two layouts: heads side by side or as an axis, repeated, averaged, axes
exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.tracing.difference import CellSizes, difference, larger

Shape: TypeAlias = tuple[int, ...]
OtherLayout: TypeAlias = Literal[
    "split", "repeated", "transposed", "exchanged", "recut", "averaged"
]


def common_shape(a: Shape, b: Shape, axes: Sequence[str], group: int = 1) -> Shape | None:
    """The shape that arrays of both shapes can be brought to, by `arrange`; None where there is
    none.

    `axes` are those of the step in one head, so that an axis before them is one of heads; `group`
    is how many query heads a head of keys and values serves, for each of which it may be repeated.

    >>> common_shape((3, 4), (2, 3, 2), ["query", "feature"])
    (2, 3, 2)
    >>> common_shape((3, 4), (2, 3, 2), ["query", "key"])
    """
    for shape, wanted in ((b, a), (a, b)):
        if _fits(shape, wanted, axes):
            return wanted
        is_repeated = group > 1 and _repeats(shape, wanted, axes) == group
        if is_repeated:
            return wanted
    return None


def shared_layout(a: Shape, b: Shape, axes: Sequence[str]) -> OtherLayout | None:
    """How two shapes that can be brought to one are laid out, where that is not alike.

    >>> shared_layout((2, 3, 2), (3, 4), ["query", "feature"])
    'split'
    """
    if same_layout(a, b):
        return None
    of_a = _repeats(a, b, axes)
    of_b = _repeats(b, a, axes)
    if of_a > 1 or of_b > 1:
        return "repeated"
    return "split"


def arrange(array: NDArray[Any], shape: Shape, axes: Sequence[str]) -> NDArray[Any]:
    """The array in this shape: with leading axes of length 1 more or less, its features split into
    heads, or its heads repeated.

    >>> rows = np.array([[1, 2, 3, 4], [5, 6, 7, 8]])
    >>> arrange(rows, (2, 2, 2), ["query", "feature"]).tolist()
    [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]
    """
    times = _repeats(array.shape, shape, axes)
    if times > 1:
        at = _axis_of_heads(shape, axes)
        one_of_each = _with(shape, at, -1)
        heads = array.reshape(one_of_each)
        return np.repeat(heads, times, axis=at)
    # A single row, as a bias, has its heads in order already.
    is_a_row = len(axes) == 1
    has_order = is_a_row or same_layout(array.shape, shape)
    if has_order or _side_by_side(shape, axes) is None:
        return array.reshape(shape)
    *outer, number, rows, width = shape
    apart = array.reshape(*outer, rows, number, width)
    return _exchanged(apart)


def index_before(index: Shape, shape: Shape, own: Shape, axes: Sequence[str]) -> Shape:
    """A cell of an array brought to this shape, as one of the array in its own shape.

    Of 2 heads that were side by side, 2 × 3 × 2 → 3 × 4: the cell (1, 2, 0) was (2, 2).
    """
    if not shape:
        return ()
    times = _repeats(own, shape, axes)
    if times > 1:
        at = _axis_of_heads(shape, axes)
        own_head = index[at] // times
        number = shape[at] // times
        index = _with(index, at, own_head)
        shape = _with(shape, at, number)
    elif len(axes) == 2 and not same_layout(own, shape):
        *place, head, row, feature = index
        *outer, heads, rows, width = shape
        index = (*place, row, head * width + feature)
        shape = (*outer, rows, heads * width)
    flat = np.ravel_multi_index(index, shape)
    before = np.unravel_index(flat, own)
    return tuple(map(int, before))


def _with(lengths: Shape, at: int, length: int) -> Shape:
    """The same with another number in one place."""
    return (*lengths[:at], length, *lengths[at + 1 :])


def same_layout(a: Shape, b: Shape) -> bool:
    """Whether two shapes are the same but for leading axes of length 1.

    >>> same_layout((1, 3, 2), (3, 2)), same_layout((2, 3, 2), (3, 4))
    (True, False)
    """
    return _without_ones(a) == _without_ones(b)


def fewer_axes(a: Shape, b: Shape) -> bool:
    """Whether a has fewer axes than b, leading ones of length 1 not counted."""
    return len(_without_ones(a)) < len(_without_ones(b))


def other_layout(
    a: NDArray[Any], b: NDArray[Any], tolerance: float, sizes: CellSizes = (None, None)
) -> OtherLayout | None:
    """Which other layout of one array the other is; None where it is none.

    "transposed": the last two axes are exchanged; "exchanged": that of heads and that of rows;
    "recut": the heads of b were made of a row of all heads by a reshape alone, without an exchange
    of axes; "averaged": one of them is the mean over the heads of the other. `sizes` are those of
    the cells of a and b, as far as they are known.

    >>> scores = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> other_layout(scores, scores.T, tolerance=1e-6)
    'transposed'
    """
    of_a, of_b = sizes

    def agree(change_a: _Change, change_b: _Change) -> bool:
        """Whether both are the same after these changes, which their sizes undergo, too."""
        ours, theirs = change_a(a), change_b(b)
        if not same_layout(ours.shape, theirs.shape):
            return False
        theirs = theirs.reshape(ours.shape)
        size_of_a = of_a
        if of_a is not None:
            size_of_a = change_a(of_a)
        size_of_b = of_b
        if of_b is not None:
            size_of_b = change_b(of_b).reshape(ours.shape)
        size = larger(size_of_a, size_of_b)
        found = difference(ours, theirs, tolerance, sizes=size)
        return not found.differing

    if a.ndim > 1 and b.ndim > 1 and agree(_same, _transposed):
        return "transposed"
    if b.ndim > 2 and agree(_same, _exchanged):
        return "exchanged"
    if a.ndim > 2 and same_layout(a.shape, b.shape) and agree(_recut, _same):
        return "recut"
    if _has_heads(a) and agree(_mean, _same):
        return "averaged"
    if _has_heads(b) and agree(_same, _mean):
        return "averaged"
    return None


def _has_heads(array: NDArray[Any]) -> bool:
    return array.ndim > 2 and array.shape[-3] > 1


def _transposed(array: NDArray[Any]) -> NDArray[Any]:
    return np.swapaxes(array, -1, -2)


def _exchanged(array: NDArray[Any]) -> NDArray[Any]:
    return np.swapaxes(array, -2, -3)


_Change: TypeAlias = Callable[[NDArray[Any]], NDArray[Any]]


def _same(array: NDArray[Any]) -> NDArray[Any]:
    return array


def _recut(array: NDArray[Any]) -> NDArray[Any]:
    return np.swapaxes(array, -2, -3).reshape(array.shape)


def _fits(shape: Shape, wanted: Shape, axes: Sequence[str]) -> bool:
    if same_layout(shape, wanted):
        return True
    side_by_side = _side_by_side(wanted, axes)
    return side_by_side is not None and same_layout(shape, side_by_side)


def _repeats(own: Shape, shape: Shape, axes: Sequence[str]) -> int:
    """How often each head of keys or values in the one stands in the other; 1 where they are not
    told apart by that.
    """
    if "key" not in axes or "query" in axes:
        return 1
    own = _without_ones(own)
    missing = len(shape) - len(own)
    at = _axis_of_heads(shape, axes)
    if at < 0 or missing < 0:
        return 1
    own = (*(1,) * missing, *own)
    heads = shape[at]
    times, rest = divmod(heads, own[at])
    others_are_alike = _with(own, at, heads) == shape
    return times if others_are_alike and rest == 0 else 1


def _axis_of_heads(shape: Shape, axes: Sequence[str]) -> int:
    """Where the axis of heads is, right before those of one head; negative where a shape has
    none.
    """
    return len(shape) - len(axes) - 1


def _side_by_side(shape: Shape, axes: Sequence[str]) -> Shape | None:
    """The shape of an array that has the features of all heads in one row, if this one has an axis
    of heads.
    """
    if not axes or axes[-1] not in ("feature", "value"):
        return None
    leading = len(shape) - len(axes)
    if leading <= 0:
        return None
    *outer, heads = shape[:leading]
    *rows, width = shape[leading:]
    all_features = heads * width
    return (*outer, *rows, all_features)


def _mean(array: NDArray[Any]) -> NDArray[Any]:
    """The mean over the heads."""
    with np.errstate(all="ignore"):
        mean: NDArray[Any] = array.astype(np.float64).mean(axis=-3)
    return mean


def _without_ones(shape: Shape) -> Shape:
    while shape and shape[0] == 1:
        shape = shape[1:]
    return shape
