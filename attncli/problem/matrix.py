"""A matrix of a problem: its numbers with the way they were written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Cells: TypeAlias = "NDArray[Any] | list[Any] | Callable[[], NDArray[Any] | list[Any]]"


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, contiguous and frozen."""
    import numpy as np

    array = np.asarray(array, order="C")  # np.ascontiguousarray would give a number an axis
    array.flags.writeable = False
    return array


class Matrix:
    """Numbers with the way they were written.

    `value` is an array of float64 (of bool for the truth values of a mask). `written` is one of the same shape that
    holds each number's text as given ("1/3", "0.50", "1e3"), or None where the numbers came from a file or a generator.

    Where a `shape` is given, both may be lists of all cells, row after row, or functions that make such a list or an
    array: a read-only array is then made of them where somebody asks for it. So errors in a problem that was typed are
    reported before NumPy is imported, and nobody waits for the texts of a million numbers that no page shows.
    """

    __slots__ = ("_value", "_written", "shape")

    def __init__(self, value: Cells, written: Cells | None = None, shape: tuple[int, ...] | None = None) -> None:
        self._value, self._written = value, written
        self.shape: tuple[int, ...] = self.value.shape if shape is None else shape

    def __reduce__(self) -> tuple[type[Matrix], tuple[NDArray[Any], NDArray[np.object_] | None]]:
        return Matrix, (self.value, self.written)

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def value(self) -> NDArray[Any]:
        """The numbers."""
        if isinstance(self._value, list) or callable(self._value):
            self._value = _array(self._value, self.shape)
        return self._value

    @property
    def written(self) -> NDArray[np.object_] | None:
        """Each number's text as given."""
        if isinstance(self._written, list) or callable(self._written):
            self._written = _array(self._written, self.shape, object)
        return self._written

    def rows(self) -> list[list[Any]]:
        """The numbers in lists as long as the last axis."""
        width = self.shape[-1]
        cells = self._value if isinstance(self._value, list) else self.value.ravel().tolist()
        return [cells[start : start + width] for start in range(0, len(cells), width)]

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]], shape: tuple[int, ...]) -> Matrix:
        """The same numbers in another arrangement of this shape, such as their first entry, or cut into heads."""

        def written() -> NDArray[np.object_]:
            texts = self.written
            assert texts is not None
            return arrange(texts)

        return Matrix(lambda: arrange(self.value), None if self._written is None else written, shape)


def _array(cells: list[Any] | Callable[[], Any], shape: tuple[int, ...], dtype: type | None = None) -> NDArray[Any]:
    import numpy as np

    made = cells() if callable(cells) else cells
    return read_only(np.array(made, dtype).reshape(shape) if isinstance(made, list) else made)
