"""A matrix of a problem: its numbers with the way they were written, read in one go or typed one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attncli.problem.later import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, contiguous and frozen."""
    import numpy as np

    array = np.asarray(array, order="C")  # np.ascontiguousarray would give a number an axis
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Numbers with the way they were written.

    `value` is a read-only float64 array; `written` is one of the same shape that holds each number's text
    as given ("1/3", "0.50", "1e3"), or None where the numbers came from a file or a generator.
    """

    value: NDArray[np.float64]
    written: NDArray[np.object_] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the value, and of the texts."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]], shape: tuple[int, ...]) -> Matrix:
        """The same numbers in another arrangement of this shape, such as their first entry, or cut into heads."""
        return Matrix(arrange(self.value), None if self.written is None else arrange(self.written))


class WrittenLater(Matrix):
    """Numbers of which there are so many that their texts are looked up only where someone asks for them."""

    __slots__ = ("_write",)
    _write: Callable[[], NDArray[np.object_]]

    def __init__(self, value: NDArray[np.float64], write: Callable[[], NDArray[np.object_]]) -> None:
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "_write", write)

    @property
    def written(self) -> NDArray[np.object_]:
        """Each number's text as given, in the shape of the value."""
        return read_only(self._write())

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]], shape: tuple[int, ...]) -> Matrix:
        """The same numbers in another arrangement, whose texts are arranged where someone asks for them."""
        return WrittenLater(arrange(self.value), lambda: arrange(self._write()))


class Typed(Matrix):
    """Numbers typed one by one, which become an array where someone calculates with them: checks need their shape."""

    __slots__ = ("_texts", "_value")
    _value: Later
    _texts: Later

    def __init__(self, value: Later, texts: Later) -> None:
        object.__setattr__(self, "_value", value)
        object.__setattr__(self, "_texts", texts)

    def __reduce__(self) -> tuple[type[Matrix], tuple[NDArray[np.float64], NDArray[np.object_]]]:
        return Matrix, (self.value, self.written)

    @property
    def value(self) -> NDArray[np.float64]:
        """The numbers."""
        return self._value.array

    @property
    def written(self) -> NDArray[np.object_]:
        """Each number's text as given."""
        return self._texts.array

    @property
    def shape(self) -> tuple[int, ...]:
        return self._value.shape

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]], shape: tuple[int, ...]) -> Matrix:
        """The same numbers in another arrangement of this shape, still to become an array."""
        return Typed(self._value.arranged(arrange, shape), self._texts.arranged(arrange, shape))
