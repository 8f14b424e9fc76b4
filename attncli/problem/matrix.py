"""The numbers of a problem, each with the way it was written: scalars and matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Cells: TypeAlias = "NDArray[Any] | list[Any] | Callable[[], NDArray[Any] | list[Any]]"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number with the way it was written: 1/3 is Scalar(0.333…, "1/3")."""

    value: float
    written: str

    @classmethod
    def of(cls, number: float) -> Scalar:
        """A number that nobody wrote, in its shortest spelling."""
        return cls(float(number), repr(float(number)))


class Matrix:
    """Numbers with the way they were written: of [[1/3, 0.50]], `written` is [["1/3", "0.50"]].

    `value` is an array of float64 (of bool for the truth values of a mask). `written` is one of the
    same shape that holds each number's text as given ("1/3", "0.50", "1e3"), or None where the
    numbers came from a file or a generator.

    Where a `shape` is given, both may be lists of all cells, row after row, or functions that make
    such a list or an array: a read-only array is then made of them where somebody asks for it. So
    errors in a problem that was typed are reported before NumPy is imported, and nobody waits for
    the texts of a million numbers that no page shows.
    """

    __slots__ = ("_value", "_written", "shape")

    def __init__(
        self, value: Cells, written: Cells | None = None, shape: tuple[int, ...] | None = None
    ) -> None:
        self._value, self._written = value, written
        self.shape: tuple[int, ...] = self.value.shape if shape is None else shape

    def __repr__(self) -> str:
        return f"Matrix(value={self.value!r}, written={self.written!r})"

    def __reduce__(
        self,
    ) -> tuple[Callable[..., Matrix], tuple[NDArray[Any], NDArray[np.object_] | None]]:
        return _unpickled_matrix, (self.value, self.written)

    @classmethod
    def of(cls, numbers: Any) -> Matrix:
        """Numbers that nobody wrote, in nested lists or an array of any type."""
        import numpy as np

        return cls(np.array(numbers, dtype=np.float64))

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

    @property
    def only_number(self) -> Scalar:
        """The number of an array that has just one."""
        number = float(self.value.item())
        return (
            Scalar.of(number) if self.written is None else Scalar(number, str(self.written.item()))
        )

    def arranged(
        self, arrange: Callable[[NDArray[Any]], NDArray[Any]], shape: tuple[int, ...]
    ) -> Matrix:
        """The same numbers in another arrangement of this shape.

        `matrix.arranged(itemgetter(0), matrix.shape[1:])` is the first entry of a batch.
        """

        def written() -> NDArray[np.object_]:
            texts = self.written
            assert texts is not None
            return arrange(texts)

        return Matrix(
            lambda: arrange(self.value), None if self._written is None else written, shape
        )


def _unpickled_matrix(value: NDArray[Any], written: NDArray[np.object_] | None) -> Matrix:
    return Matrix(read_only(value), None if written is None else read_only(written))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, contiguous and frozen."""
    import numpy as np

    # np.ascontiguousarray would give a number an axis.
    array = np.asarray(array, order="C")
    array.flags.writeable = False
    return array


def _array(
    cells: list[Any] | Callable[[], Any], shape: tuple[int, ...], dtype: type | None = None
) -> NDArray[Any]:
    import numpy as np

    made = cells() if callable(cells) else cells
    return read_only(np.array(made, dtype).reshape(shape) if isinstance(made, list) else made)
