"""A problem as the person gave it: checked once, then frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.problem.keys import Corner, LossKind, Pairing, ScaleWord, Score
from attncli.records import dataclass, field

GIVEN = (
    "X", "context", "W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O", "past_K", "past_V", "Q", "K", "V",
    "W_a", "W_1", "W_2", "v", "slopes", "sink",
)  # fmt: skip


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, contiguous and frozen."""
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

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]]) -> Matrix:
        """The same numbers in another arrangement, such as their first entry, or cut into heads."""
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

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]]) -> Matrix:
        """The same numbers in another arrangement, whose texts are arranged where someone asks for them."""
        return WrittenLater(arrange(self.value), lambda: arrange(self._write()))


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number with the way it was written: `written` is its text as given, such as "1/3"."""

    value: float
    written: str

    @classmethod
    def of(cls, number: float) -> Scalar:
        """A number that nobody wrote, in its shortest spelling."""
        return cls(float(number), repr(float(number)))


@dataclass(frozen=True, slots=True)
class Causal:
    """Key j is visible to query i if j <= i + offset."""

    name: ClassVar[str] = "causal"


@dataclass(frozen=True, slots=True)
class Window:
    """Keys from `left` before to `right` after position i + offset; -1 is unbounded."""

    name: ClassVar[str] = "window"
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Padding:
    """Which keys exist: one row for all entries of a batch, or one for each."""

    name: ClassVar[str] = "padding"
    exists: tuple[tuple[bool, ...], ...]


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many keys exist, counted from the left: one number for all entries of a batch, or one for each."""

    name: ClassVar[str] = "lengths"
    lengths: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Keep:
    """Truth values, n × m, or with a head and a batch axis before it: True may attend. An axis of 1 is for all."""

    name: ClassVar[str] = "keep"
    matrix: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Hide:
    """Truth values of the same shapes: True is hidden."""

    name: ClassVar[str] = "hide"
    matrix: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Additive:
    """Numbers of the same shapes, added to the scaled scores; -inf hides."""

    name: ClassVar[str] = "additive"
    matrix: Matrix


MaskPart: TypeAlias = Causal | Window | Padding | Lengths | Keep | Hide | Additive


@dataclass(frozen=True, slots=True)
class Mask:
    """All parts of a mask: a key is visible only if every one of them allows it."""

    parts: tuple[MaskPart, ...] = ()
    corner: Corner = "top-left"


@dataclass(frozen=True, slots=True)
class Rope:
    """Rotary positions: pair r of a query or key at position t is turned by t / theta^(2r / d_k)."""

    theta: Scalar
    pairing: Pairing


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """How far the output is from what it should have been: `target`, in the shape of the output.

    mse is the mean, over all numbers of the output, of the squared differences. cross_entropy takes each row of the
    output as logits, has a 1 in each row of the target, in the column of its class, and is the mean over all rows.
    """

    kind: LossKind
    target: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One attention layer's input, complete and consistent: what `attncli.load` returns.

    `given` holds the arrays by name, in the order of `GIVEN`, with their heads and batch entries on leading
    axes (`axes.py`). `tokens` label the queries, `context_tokens` the keys, those of a cache first. `scale` is a
    number, "default" (1/√d_k for scaled_dot) or "none"; `sink` is the one number of all heads, where it is not given
    per head; `alibi` asks for biases by distance, of the slopes given (`slope` for a single head) or of the usual ones;
    `joined` says that heads were columns side by side, and so that their outputs are put side by side again.
    `convention` names the software by whose meaning the mask was read, None for our own. `d_output` is the gradient of
    the output, from which a backward pass begins, in the output's shape; None for all ones, or where there is a `loss`.
    """

    title: str
    tokens: tuple[str, ...]
    context_tokens: tuple[str, ...]
    given: Mapping[str, Matrix]
    mask: Mask = field(default_factory=Mask)
    score: Score = "scaled_dot"
    scale: Scalar | ScaleWord = "default"
    softcap: Scalar | None = None
    exp_base: Scalar | None = None
    sink: Scalar | None = None
    rope: Rope | None = None
    alibi: bool = False
    slope: Scalar | None = None
    joined: bool = False
    convention: str | None = None
    d_output: Matrix | None = None
    loss: Loss | None = None
