"""What a difference may come from: a factor, another layout, a bias left out, KV heads that serve other heads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from attncli.english import either, listed
from attncli.page.document import Text
from attncli.page.measures import legible_number, number
from attncli.problem.keys import SCORES
from attncli.tracing.comparison import Comparison, Operand, StepComparison
from attncli.tracing.difference import difference
from attncli.tracing.head_layouts import Layout, fewer_axes
from attncli.tracing.model import Trace

_BIASES = {"Q": "b_Q", "K": "b_K", "V": "b_V", "new_K": "b_K", "new_V": "b_V", "output": "b_O"}


def factor_names(factor: float, trace: Trace) -> tuple[str, ...]:
    """All that this factor may be in a problem of these sizes, the likeliest first: a root forgotten, one of another
    length in its place, one put in twice; what is unlikely only where nothing else is."""
    d_k, n = float(trace.parameters["d_k"].value), trace["scores"].shape[-2]
    joined = d_k * (trace.settings.heads or 1)
    d_model = trace["X"].shape[-1] if "X" in trace else 0
    lengths = {"√d_model": d_model, "√(heads·d_k)": joined if joined not in (d_k, d_model) else 0}
    widths = {name: length / d_k for name, length in lengths.items() if length}
    likely = {"√d_k": d_k, **{f"√d_k/{name}": 1 / ratio for name, ratio in widths.items()},
              "1/√d_k": 1 / d_k, "d_k": d_k**2, "1/d_k": 1 / d_k**2}  # fmt: skip
    unlikely = {"√d_k/√n": d_k / n, **{f"{name}/√d_k": ratio for name, ratio in widths.items()}}
    return _fitting(factor, likely) or _fitting(factor, unlikely)


def _fitting(factor: float, squares: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(
        name
        for name, square in squares.items()
        if square != 1 and math.isclose(factor, math.sqrt(square), rel_tol=1e-3)
    )


def bias_left_out(comparison: Comparison) -> tuple[str, Operand, Operand] | None:
    """The bias that one side adds and the other does not, where the first step that differs shows it: b_O, the side
    without it, the side with it."""
    for has, lacks in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        step = comparison.first
        name = _BIASES.get(step.name) if step else None
        if step and name and step.difference and has.trace and name in has.trace:
            bias = has.trace[name].astype(np.float64)[..., np.newaxis, :]
            if _agrees(comparison, has[step.name] - bias, lacks):
                return name, lacks, has
    return None


def tiled_kv_heads(comparison: Comparison) -> tuple[int, Operand, Operand] | None:
    """How many KV heads there are, where one side has them serve every so many query heads, not consecutive ones;
    that side, and ours. The scores must be the first step that differs, or keys or values repeated for all heads."""
    for ours, theirs in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        step, trace = comparison.first, ours.trace
        if not (step and step.difference and trace and "group" in trace.parameters):
            continue
        found = _served(step, ours, int(trace.parameters["group"].value))
        if found is not None and _agrees(comparison, found, theirs):
            return trace["K"].shape[-3], theirs, ours
    return None


def _served(step: StepComparison, ours: Operand, group: int) -> NDArray[Any] | None:
    """The step as it is where query head h reads KV head h mod their number."""
    if step.layout == "repeated":
        return np.concatenate([ours[step.name]] * group, axis=-3)
    trace = ours.trace
    if trace is None or step.name != "scores" or not SCORES[trace.settings.score].is_dot:
        return None
    queries = ours["Q_rot" if "Q_rot" in trace else "Q"].astype(np.float64)
    with np.errstate(all="ignore"):  # what does not fit is a difference like any other
        scores: NDArray[Any] = queries @ np.concatenate([trace["K_T"].astype(np.float64)] * group, axis=-3)
    return scores


def _agrees(comparison: Comparison, array: NDArray[Any], side: Operand) -> bool:
    """Whether an array is the first step that differs, as it is on this side."""
    step = comparison.first
    assert step is not None
    wanted, there = step.arranged(array), step.arranged(side[step.name])
    return not difference(wanted, there, comparison.tolerance, sizes=step.sizes).differing


_HOW = {
    "transposed": "transposed",
    "exchanged": "with heads and rows exchanged",
    "recut": "cut into heads row by row, not by features",
    "averaged": "averaged over the heads",
}


def causes(comparison: Comparison, precision: int) -> Iterator[Text]:
    """A sentence for each thing that was found in the numbers."""
    first, a, b = comparison.first, comparison.a, comparison.b
    if first is not None and first.factor is not None:
        yield (
            f"Every cell of {first.name} {b.phrase} is ", *number(legible_number(first.factor, precision)),
            f" times that {a.phrase}", *_known_factor(comparison, first.factor), ".",
        )  # fmt: skip
    for said in _layouts(comparison):
        yield (said,)
    if (found := bias_left_out(comparison)) and first is not None:
        bias, lacks, has = found
        yield (f"{first.name} {lacks.phrase} is that {has.phrase} without {bias}.",)
    if (serving := tiled_kv_heads(comparison)) and first is not None:
        heads, theirs, ours = serving
        what = (
            f"The scores {theirs.phrase} are those"
            if first.name == "scores"
            else f"{first.name} {theirs.phrase} is that"
        )
        yield (
            f"{what} of tiled KV heads, query head h reading KV head h mod {heads}; "
            f"{ours.phrase} each serves consecutive query heads, as if repeated.",
        )


def _known_factor(comparison: Comparison, factor: float) -> Text:
    """Names for the factor where it is one that people forget, put in twice, or take for another."""
    traces = [side.trace for side in (comparison.a, comparison.b) if side.trace]
    names = dict.fromkeys(name for trace in traces for name in factor_names(factor, trace))
    return (f", which is {listed(list(names), last='or')}",) if names else ()


def _layouts(comparison: Comparison) -> Iterator[str]:
    """Which steps are the same in another layout, and which were brought to one to be compared."""
    for layout in get_args(Layout):
        of_one: dict[bool, list[str]] = {}
        for step in comparison.steps:
            if step.layout == layout:
                of_one.setdefault(_first_is_flat(step), []).append(step.name)
        for first, names in of_one.items():
            yield _layout_sentence(comparison, layout, names, first=first)


def _first_is_flat(step: StepComparison) -> bool:
    """Whether the sentence begins with the first side: it has no axis of heads, or repeated ones, unlike the second."""
    a, b = step.shapes
    if a is None or b is None:
        return False
    return prod(a) > prod(b) if step.layout == "repeated" else fewer_axes(a, b)


def _layout_sentence(comparison: Comparison, layout: Layout, names: list[str], *, first: bool) -> str:
    flat, other = (comparison.a, comparison.b) if first else (comparison.b, comparison.a)
    what, number = f"{listed(names)} {flat.phrase}", len(names)
    if layout == "split":
        have, are = either(number, "has its", "have their"), either(number, "is", "are")
        return f"{what} {have} heads side by side, and {are} compared split into heads."
    if layout == "repeated":
        are = either(number, "is", "are")
        return f"{what} {are} repeated for all query heads that a KV head serves, and {are} compared so."
    return f"{what} {either(number, 'is that', 'are those')} {other.phrase} {_HOW[layout]}."
