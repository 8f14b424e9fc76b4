"""A problem as the person gave it: checked once, then frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from attncli.english import entitled, listed, shape_text
from attncli.problem.keys import Corner, ScaleWord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attncli.problem.parts.masks import MaskPart
    from attncli.problem.parts.positions import Alibi, Position, Rope

Cells: TypeAlias = "NDArray[Any] | list[Any] | Callable[[], NDArray[Any] | list[Any]]"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number with the way it was written: `written` is its text as given, such as "1/3"."""

    value: float
    written: str

    @classmethod
    def of(cls, number: float) -> Scalar:
        """A number that nobody wrote, in its shortest spelling."""
        return cls(float(number), repr(float(number)))


class Matrix:
    """Numbers with the way they were written.

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
        """The same numbers in another arrangement of this shape, such as their first entry, or cut
        into heads.
        """

        def written() -> NDArray[np.object_]:
            texts = self.written
            assert texts is not None
            return arrange(texts)

        return Matrix(
            lambda: arrange(self.value), None if self._written is None else written, shape
        )


@dataclass(frozen=True, slots=True)
class Mask:
    """All parts of a mask: a key is visible only if every one of them allows it."""

    parts: tuple[MaskPart, ...] = ()
    corner: Corner = "top-left"

    @property
    def names(self) -> list[str]:
        """The parts in words, as in the settings of a trace: ["causal", "padding"]."""
        return [part.name for part in self.parts]


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """How far the output is from what it should have been: `target`, in the shape of the output.

    mse is the mean, over all numbers of the output, of the squared differences. cross_entropy takes
    each row of the output as logits, has a 1 in each row of the target, in the column of its class,
    and is the mean over all rows.
    """

    kind: str
    target: Matrix


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Problem:
    """One attention layer's input, complete and consistent: what `attncli.load` returns.

    `given` holds the arrays by name, in the order of `ARRAYS`, with their heads and batch entries
    on leading axes (`axes.py`). `tokens` label the queries, `context_tokens` the keys, those of a
    cache first. `scale` is a number, "default" (1/√d_k for scaled_dot) or "none"; `sink` is the one
    number of all heads, where it is not given per head. `positions` are the kinds that the problem
    has: `rope`, `alibi` and `slope` tell of these. `joined` says that heads were columns side by
    side, and so that their outputs are put side by side again. `convention` names the software by
    whose meaning the mask was read, None for our own. `d_output` is the gradient of the output,
    from which a backward pass begins, in the output's shape; None for all ones, or where there is a
    `loss`.
    """

    title: str
    tokens: tuple[str, ...]
    context_tokens: tuple[str, ...]
    given: Mapping[str, Matrix]
    mask: Mask = field(default_factory=Mask)
    score: str = "scaled_dot"
    scale: Scalar | ScaleWord = "default"
    softcap: Scalar | None = None
    exp_base: Scalar | None = None
    sink: Scalar | None = None
    positions: tuple[Position, ...] = ()
    joined: bool = False
    convention: str | None = None
    d_output: Matrix | None = None
    loss: Loss | None = None

    def __repr__(self) -> str:
        arrays = listed(
            [f"{name} {shape_text(given.shape)}" for name, given in self.given.items()], last=""
        )
        mask = f"; mask {listed(self.mask.names)}" if self.mask.names else ""
        return f"<{entitled('problem', self.title)}: {arrays}{mask}>"

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Problem], tuple[dict[str, Any]]]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return _unpickled_problem, ({**values, "given": dict(self.given)},)

    @property
    def rope(self) -> Rope | None:
        """How queries and keys are rotated by their positions; None where they are not."""
        return cast("Rope | None", self._position("rope"))

    @property
    def alibi(self) -> bool:
        """Whether distances are taken off the scores."""
        return self._position("alibi") is not None

    @property
    def slope(self) -> Scalar | None:
        """The slope that is given for a single head; those of several heads are in `given`."""
        alibi = cast("Alibi | None", self._position("alibi"))
        return (
            None
            if alibi is None or alibi.slopes is None or "slopes" in self.given
            else alibi.slopes.only_number
        )

    def _position(self, name: str) -> Position | None:
        return next((position for position in self.positions if position.name == name), None)


def _unpickled_problem(values: dict[str, Any]) -> Problem:
    return Problem(**{**values, "given": MappingProxyType(values["given"])})


def _unpickled_matrix(value: NDArray[Any], written: NDArray[np.object_] | None) -> Matrix:
    return Matrix(read_only(value), None if written is None else read_only(written))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, contiguous and frozen."""
    import numpy as np

    # np.ascontiguousarray would give a number an axis
    array = np.asarray(array, order="C")
    array.flags.writeable = False
    return array


def _array(
    cells: list[Any] | Callable[[], Any], shape: tuple[int, ...], dtype: type | None = None
) -> NDArray[Any]:
    import numpy as np

    made = cells() if callable(cells) else cells
    return read_only(np.array(made, dtype).reshape(shape) if isinstance(made, list) else made)
