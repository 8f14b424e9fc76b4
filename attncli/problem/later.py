"""An array that is made where someone calculates with it, so that what is wrong with a file is told without NumPy."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MANY = 2**14  # values typed one by one; more are made an array at once, which takes less memory than a list


class Later:
    """An array of a shape that is known, which `make` makes once; it is read-only then."""

    __slots__ = ("_array", "_make", "shape")

    def __init__(self, shape: tuple[int, ...], make: Callable[[], NDArray[Any]]) -> None:
        self.shape = shape
        self._make: Callable[[], NDArray[Any]] | None = make
        self._array: NDArray[Any] | None = None

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def array(self) -> NDArray[Any]:
        """The array itself."""
        return self.made()

    def made(self) -> NDArray[Any]:
        """The array, made now if it was not before."""
        if self._make is not None:
            self._array = self._make()
            self._array.setflags(write=False)
            self._make = None  # and with it the values it was made of
        assert self._array is not None
        return self._array

    def rows(self) -> list[list[Any]]:
        """The values in lists as long as the last axis."""
        rows: list[list[Any]] = self.array.reshape(-1, self.shape[-1]).tolist()
        return rows

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]], shape: tuple[int, ...]) -> Later:
        """The same in another arrangement, which has this shape."""
        return Later(shape, lambda: arrange(self.array))


class Cells(Later):
    """An array of values of one kind (float, bool or object), listed row after row."""

    __slots__ = ("_cells", "_kind")

    def __init__(self, cells: list[Any], shape: tuple[int, ...], kind: type) -> None:
        if len(cells) != prod(shape):  # NumPy would repeat a single one
            raise ValueError(f"{len(cells)} values do not make an array of {shape}")
        super().__init__(shape, self._filled)
        self._cells, self._kind = cells, kind
        if len(cells) > _MANY:
            self.made()

    def rows(self) -> list[list[Any]]:
        cells, width = self._cells, self.shape[-1]
        return [cells[start : start + width] for start in range(0, len(cells), width)] or super().rows()

    def _filled(self) -> NDArray[Any]:
        import numpy as np

        array: NDArray[Any] = np.empty(self.shape, dtype=self._kind)
        array.ravel()[:] = self._cells
        self._cells = []
        return array
