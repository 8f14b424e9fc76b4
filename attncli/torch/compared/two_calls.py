"""Two recorded calls held against each other, step by step, as `attncli compare` holds two
problems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from numpy.typing import NDArray

from attncli.comparison.compared import Compared
from attncli.dtypes import DTYPES
from attncli.problem.python_values import problem as new_problem
from attncli.torch.agreement import RecordedCall, agreement, recorded_arrays
from attncli.tracing.comparison import Operand, compare
from attncli.tracing.run import run

# What a rotation makes of these.
_ROTATED = {"Q": "Q_rot", "K": "K_rot"}
# What the layers before worked out; a problem begins at some of these.
_HANDED_ON = frozenset(("X", "context", "Q", "K", "V"))
# What each side is called in words.
_WORDS = ("A", "B")


class ProjectedCall(RecordedCall, Protocol):
    """What is asked of a `Call` that is compared, too: the linear layers before it."""

    def projected_keys(self, head: int | None = ..., entry: int | None = ...) -> dict[str, Any]: ...


def compared(
    ours: ProjectedCall,
    theirs: ProjectedCall,
    names: tuple[str, str],
    options: Mapping[str, Any],
    tolerance: float | None,
) -> Compared:
    """Both calls worked out and compared; `options` say what of each becomes a problem.

    The tolerance is that of the coarser of both number formats, where none is given.
    """
    each = [*zip((ours, theirs), names, _WORDS, strict=True)]
    sides = [_side(call, name, word, options) for call, name, word in each]
    # A mask may hide the largest scores of one side. Exponentials are alike only if both softmaxes
    # are shifted, or none is.
    if any(map(_is_shifted, sides)):
        sides = [
            side if _is_shifted(side) else _side(call, name, word, options, shifted=True)
            for side, (call, name, word) in zip(sides, each, strict=True)
        ]
    a, b = sides
    a, b = _with_rotation(a, b, ours, options), _with_rotation(b, a, theirs, options)
    return Compared(compare(a, b, tolerance=tolerance))


def _is_shifted(side: Operand) -> bool:
    return side.trace is not None and side.trace.shifted


def _side(
    call: ProjectedCall,
    name: str,
    word: str,
    options: Mapping[str, Any],
    *,
    shifted: bool | None = None,
) -> Operand:
    """All steps of a call; of one that attncli does not reproduce, only what was recorded."""
    trace = run(call.problem(**options), shifted=shifted)
    # The trace is in float64, but what it was given is as precise as the model.
    side = replace(
        Operand.of_trace(trace, name, word, f"in {word}"),
        dtype=DTYPES[call.dtype],
        handed_on=_HANDED_ON,
    )
    head, entry = options.get("head"), options.get("entry")
    if agreement(call, head=head, entry=entry):
        return side
    given = {step.name: side.arrays[step.name] for step in trace.steps.values() if step.rule.given}
    joins = "W_O" in given
    recorded = recorded_arrays(call, head, entry, joins=joins)
    return replace(side, arrays={**given, **recorded}, trace=None)


def _with_rotation(
    side: Operand, other: Operand, call: ProjectedCall, options: Mapping[str, Any]
) -> Operand:
    """This side with what was rotated under its own name, where only the other side has a rotation,
    and this one begins at queries and keys that were rotated already.
    """
    if "Q_rot" not in other or "Q_rot" in side or "X" in side:
        return side
    renamed = {_ROTATED.get(name, name): array for name, array in side.arrays.items()}
    arrays = {**_before_rotation(call, options), **renamed}
    # Its steps are no longer those of its own trace.
    return replace(side, arrays=arrays, trace=None)


def _before_rotation(call: ProjectedCall, options: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Inputs and weights, and the queries and keys that they give; empty where no linear layer was
    seen.
    """
    keys = call.projected_keys(options.get("head"), options.get("entry"))
    if not keys:
        return {}
    trace = run(new_problem(**keys), keep=tuple(_ROTATED))
    names = [step.name for step in trace.steps.values() if step.rule.given]
    return {name: trace[name] for name in (*names, *_ROTATED)}
