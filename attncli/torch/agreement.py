"""Whether attncli's numbers are those that a recorded call gave back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attncli.dtypes import DTYPES
from attncli.english import count
from attncli.page.comparison import steps_table
from attncli.page.document import Document, Paragraph
from attncli.render import Style, render
from attncli.torch.tensors import cut, to_numpy
from attncli.tracing.comparison import Comparison, Operand, compare
from attncli.tracing.model import WeightsRow
from attncli.tracing.run import run

if TYPE_CHECKING:
    from attncli.problem.model import Problem

# Weights that are worked out at once: about 32 MiB for each of the steps that have as many.
WEIGHTS_AT_ONCE = 2**22


class RecordedCall(Protocol):
    """What is asked of a `Call`: what it was given as a problem, and what it gave back."""

    @property
    def heads(self) -> int: ...
    @property
    def entries(self) -> int: ...
    @property
    def shapes(self) -> tuple[torch.Size, torch.Size, torch.Size]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def output(self) -> Tensor | None: ...
    @property
    def heads_output(self) -> Tensor | None: ...
    @property
    def weights(self) -> Tensor | None: ...

    def problem(
        self,
        *,
        head: int | None = ...,
        entry: int | None = ...,
        from_inputs: bool = ...,
        latent: bool = ...,
        absorbed: bool = ...,
    ) -> Problem: ...


class Agreement(NamedTuple):
    """attncli's numbers beside the recorded ones. It is true where they agree, and printed as a
    sentence.
    """

    comparison: Comparison

    def __bool__(self) -> bool:
        return self.comparison.first is None

    def _repr_markdown_(self) -> str:
        said = repr(self)
        # The name of the program keeps its small letter.
        if not self:
            said = f"{said[0].upper()}{said[1:]}"
        steps = steps_table(self.comparison, precision=3, everything=True)
        first = Paragraph((f"{said}.",))
        page = Document("attncli beside the recorded call", (first, *steps))
        return render(page, "markdown", Style(math="dollars"))

    def __repr__(self) -> str:
        first = self.comparison.first or self.comparison["output"]
        assert first.difference is not None
        differ = first.difference
        if self:
            return (
                "attncli's output is the one that was recorded: they differ by at most"
                f" {differ.absolute:.2g}"
            )
        cells = count(differ.differing, "cell")
        return (
            f"the first step that differs is {first.name}: {cells}, by at most"
            f" {differ.absolute:.2g}"
        )


def agreement(
    call: RecordedCall,
    *,
    head: int | None = None,
    entry: int | None = None,
    from_inputs: bool | None = None,
    latent: bool = False,
    absorbed: bool = False,
) -> Agreement:
    """Compare the recorded output, and the weights where the call gave them, with what attncli
    works out.

    It is the problem of this head and this entry that is worked out, or of all; from the inputs of
    its linear layers, or by default only where the recorded output is after W_O; or from its latent
    vectors, as `Call.problem` has it. The tolerance is
    that of the recorded number format. Blind queries, which see no key, are left out: attncli has
    0 there, and others have NaN, or the plain mean of all values.
    """
    joined = call.heads_output is not None
    problem = call.problem(
        head=head,
        entry=entry,
        from_inputs=joined if from_inputs is None else from_inputs,
        latent=latent,
        absorbed=absorbed,
    )
    trace = run(problem)
    joins = "W_O" in problem.given
    arrays = recorded_arrays(call, head, entry, joins=joins)
    if "weights" in arrays:
        # From the inputs, one head of all entries has no axis of heads.
        arrays["weights"] = arrays["weights"].reshape(trace["weights"].shape)
    for name, array in arrays.items():
        for row in trace.fully_masked:
            at = _without_head(row) if joins and call.heads > 1 and name == "output" else row
            array[at] = trace[name][at]
    recorded = Operand(
        "the recorded call", "recorded", "in the call", arrays, DTYPES[call.dtype], {}
    )
    return Agreement(
        compare(
            Operand.of_trace(trace, "attncli", "attncli", "in attncli"),
            recorded,
            steps=list(arrays),
        )
    )


def recorded_arrays(
    call: RecordedCall, head: int | None, entry: int | None, *, joins: bool
) -> dict[str, NDArray[Any]]:
    """What a call gave back, by the names of steps: its output, after W_O where the problem `joins`
    the heads, and its weights where it gave these.
    """
    arrays = {"output": _recorded(call, head, entry, joins)}
    if call.weights is not None:
        arrays["weights"] = _numbers(call.weights, call, head, entry)
    return arrays


def _without_head(row: WeightsRow) -> WeightsRow:
    """A row of all heads as one of what joins them."""
    assert isinstance(row, tuple)
    return (*row[:-2], row[-1])


def disagreement(call: RecordedCall, **options: Any) -> Agreement | None:
    """The first disagreement in what `options` take of a call, as `Call.problem` does; None where
    there is none.

    Of a large call, one entry and one head after the other is worked out.
    """
    for part in _parts(call, options):
        found = agreement(call, **part)
        if not found:
            return found
    return None


def _parts(call: RecordedCall, options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What is worked out at once: all that is asked for, or of a large call each head of each entry
    of it.
    """
    head, entry = options.get("head"), options.get("entry")
    beginning = {
        "from_inputs": options.get("from_inputs", True),
        "latent": options.get("latent", False),
        "absorbed": options.get("absorbed", False),
    }
    heads = range(call.heads) if head is None else (head,)
    entries = range(call.entries) if entry is None else (entry,)
    queries, keys = call.shapes[0][-2], call.shapes[1][-2]
    weights = len(heads) * len(entries) * queries * keys
    if weights <= WEIGHTS_AT_ONCE:
        yield {"head": head, "entry": entry, **beginning}
        return
    for one_entry in entries:
        for one_head in heads:
            yield {"head": one_head, "entry": one_entry, **beginning}


def _recorded(call: RecordedCall, head: int | None, entry: int | None, joins: bool) -> NDArray[Any]:
    """The recorded output: after W_O, or what these heads gave."""
    assert call.output is not None
    if joins:
        output = call.output if _all_entries(call, entry) else call.output[entry or 0]
        return np.array(to_numpy(output))
    output = call.output if call.heads_output is None else call.heads_output
    return _numbers(output, call, head, entry)


def _all_entries(call: RecordedCall, entry: int | None) -> bool:
    """Whether the problem has an axis for the entries of a batch."""
    return entry is None and call.entries > 1


def _numbers(
    tensor: Tensor, call: RecordedCall, head: int | None, entry: int | None
) -> NDArray[Any]:
    """What was recorded of a head and an entry, without an axis for the only entry of a batch."""
    if entry is None and call.entries == 1:
        entry = 0
    chosen = cut(tensor, head, entry)
    return np.array(to_numpy(chosen))
