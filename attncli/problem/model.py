"""A problem as the person gave it: checked once, then frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from attncli.problem.keys import Corner, Pairing, ScaleWord
from attncli.problem.matrix import Matrix as Matrix
from attncli.problem.matrix import read_only as read_only

if TYPE_CHECKING:
    from attncli.problem.masks import MaskPart


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
class Mask:
    """All parts of a mask: a key is visible only if every one of them allows it."""

    parts: tuple[MaskPart, ...] = ()
    corner: Corner = "top-left"

    @property
    def names(self) -> list[str]:
        """The parts in words, as in the settings of a trace: ["causal", "padding"]."""
        return [part.name for part in self.parts]


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

    kind: str
    target: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One attention layer's input, complete and consistent: what `attncli.load` returns.

    `given` holds the arrays by name, in the order of `ARRAYS`, with their heads and batch entries on leading
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
    score: str = "scaled_dot"
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
