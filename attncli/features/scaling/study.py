"""Saturation: a problem with and without the scale 1/√d_k, with queries and keys drawn at random
for growing d_k.

Every number of the queries and keys is drawn independently from the standard normal distribution.
So the argument for the scale holds: their dot product has variance d_k. Everything else is the
problem's: values, masks, cap, base, sinks, heads, and d_output or the loss; without these, d_output
is drawn, too. RoPE is left out, because a rotation does not change the distribution. Both sides of
a row have the same draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from attncli.english import count
from attncli.errors import input_error, usage_error
from attncli.problem.keys import ARRAYS, SCORES, ScaleWord
from attncli.problem.limits import ELEMENT_LIMIT
from attncli.problem.matrix import Matrix, read_only
from attncli.problem.model import Problem
from attncli.problem.parts.axes import BATCH
from attncli.tracing import Trace, run
from attncli.tracing.model import masked_out, over_weights

D_K = (2, 8, 32, 128, 512)
USUAL_DRAWS = 50
SCALES: tuple[ScaleWord, ...] = ("default", "none")
# So many numbers, in all draws of one d_k, are in memory together.
MOST_DRAWN = 4 * ELEMENT_LIMIT
KEPT_ARRAYS = ("past_V", "W_O", "b_O", "slopes", "sink")


@dataclass(frozen=True, slots=True)
class Measurements:
    """Means over the draws of one d_k, either with the scale or without it.

    `variance` is the variance of the scores (after the scale, if there is one) that no mask hides,
    in all draws together. `entropy` is the mean entropy, in nats, of the rows of weights that see
    more than one key. `through_softmax` and `of_queries` are the mean norms (the root of the sum of
    squares) of two gradients: that of the softmax's input, and that of the queries.
    """

    variance: float
    entropy: float
    through_softmax: float
    of_queries: float


@dataclass(frozen=True, slots=True)
class Row:
    """One d_k, with the scale 1/√d_k and without; `drawn` is False for the problem's own
    numbers.
    """

    d_k: int
    scaled: Measurements
    unscaled: Measurements
    drawn: bool = True


def compare_scales(
    problem: Problem, *, sizes: Sequence[int] = D_K, draws: int = USUAL_DRAWS, seed: int = 0
) -> Iterator[Row]:
    """The problem's own numbers first, then a row for each d_k; raises AttncliError (exit 2) for
    other scores.
    """
    if not SCORES[problem.score].is_dot:
        raise usage_error(
            "scaling needs scores that are dot products, and the score of this problem is"
            f" {problem.score}",
            help="use a problem with score: scaled_dot or dot",
        )
    if problem.system is not None:
        raise usage_error(
            "scaling draws queries and keys for the equations of attention, and this problem has"
            " equations of its own",
            help="use a problem without equations",
        )
    own = run(problem)
    if not _visible(own).any():
        raise usage_error(
            "scaling needs scores, and the mask of this problem hides all of them",
            help="use a problem with another mask",
        )
    first = replace(
        _with_output_gradient(problem, own, np.random.default_rng([seed, 0])), score="scaled_dot"
    )
    yield Row(own["K"].shape[-1], *_with_and_without_scale([first]), drawn=False)
    _require_few_draws(own, max(sizes, default=0), draws)
    for d_k in sizes:
        numbers = np.random.default_rng([seed, d_k])
        yield Row(
            d_k,
            *_with_and_without_scale(
                [_with_drawn_vectors(problem, own, d_k, numbers) for _ in range(draws)]
            ),
        )


def _require_few_draws(own: Trace, d_k: int, draws: int) -> None:
    """Raises AttncliError (exit 3) if the draws would have too many numbers."""
    rows = sum(own[name].size // own[name].shape[-1] for name in ("Q", "K"))
    numbers = draws * rows * d_k
    if numbers > MOST_DRAWN:
        what = f"{count(draws, 'draw')} of queries and keys with d_k = {d_k:,}"
        raise input_error(
            f"{what} would need {numbers:,} numbers; the limit is {MOST_DRAWN:,}",
            help="give a smaller --d-k, or fewer --draws",
        )


def _with_output_gradient(problem: Problem, own: Trace, numbers: np.random.Generator) -> Problem:
    """The problem with its own d_output or loss, or with a d_output drawn at random, because all
    ones may cancel.
    """
    if problem.d_output or problem.loss:
        return problem
    return replace(
        problem, d_output=Matrix(read_only(numbers.standard_normal(own["output"].shape)))
    )


def _with_and_without_scale(problems: Sequence[Problem]) -> tuple[Measurements, Measurements]:
    """The same problems measured with the scale and without it."""
    of_scales = []
    for scale in SCALES:
        scaled_so = [replace(each, scale=scale) for each in problems]
        of_scales.append(_measure(scaled_so))
    scaled, unscaled = of_scales
    return scaled, unscaled


def _with_drawn_vectors(
    problem: Problem, own: Trace, d_k: int, numbers: np.random.Generator
) -> Problem:
    """The problem with queries and keys of this d_k drawn at random; the values and all later steps
    are its own.
    """
    cached = "past_K" in own
    made = {
        "past_K": "past_K",
        "Q": "Q",
        "K": "new_K" if cached else "K",
        "V": "new_V" if cached else "V",
    }
    alone = own.leading_letters == (BATCH,)
    heads = max(own[name].shape[1] if own[name].ndim == 4 else 1 for name in "KV")
    read: dict[str, NDArray[np.float64]] = {}
    for name, step in made.items():
        if step in own:
            array = (
                own[step] if name == "V" else numbers.standard_normal((*own[step].shape[:-1], d_k))
            )
            entries_alone = own.steps[step].rule.axis_names[:-2] == ("batch",)
            # A given array with entries has heads as well.
            if entries_alone:
                array = np.repeat(array[:, None], 1 if name == "Q" else heads, axis=1)
            read[name] = array
    kept = {name: problem.given[name] for name in KEPT_ARRAYS if name in problem.given}
    drawn = {
        name: Matrix(read_only(np.array(array, dtype=np.float64))) for name, array in read.items()
    } | kept
    given = {name: drawn[name] for name in ARRAYS if name in drawn}
    return replace(
        _with_output_gradient(problem, own, numbers),
        given=given,
        score="scaled_dot",
        positions=tuple(position for position in problem.positions if position.bias),
        joined=problem.joined or alone,
    )


# Numbers too large for float64 become inf or NaN, which the page explains.
@np.errstate(all="ignore")
def _measure(problems: Sequence[Problem]) -> Measurements:
    # The mean and the variance of the scores of each problem; all have equally many.
    spread: list[tuple[float, float]] = []
    entropies: list[NDArray[np.float64]] = []
    norms: list[tuple[float, float]] = []
    for problem in problems:
        trace = run(problem, gradient=True)
        weights, visible = trace["weights"], _visible(trace)
        seen = "scaled" if "scaled" in trace else "scores"
        scores = over_weights(trace.steps, seen, trace[seen])[visible]
        spread.append((float(scores.mean()), float(scores.var())))
        # NaN stays NaN.
        terms = np.where(weights > 0, -weights * np.log(weights), weights * 0)
        entropies.append(terms.sum(axis=-1)[visible.sum(axis=-1) > 1])
        through = next(name for name, step in trace.steps.items() if "delta" in step.rule.inputs)
        norms.append((float(np.linalg.norm(trace[through])), float(np.linalg.norm(trace["d_Q"]))))
    rows = np.concatenate(entropies)
    of_softmax, of_queries = np.mean(norms, axis=0)
    means, variances = np.transpose(spread)
    variance = float(variances.mean() + means.var())
    return Measurements(
        variance, float(rows.mean()) if rows.size else 0.0, float(of_softmax), float(of_queries)
    )


def _visible(trace: Trace) -> NDArray[np.bool_]:
    """The cells of the weights that no mask hides."""
    hidden = masked_out(trace.steps)
    return np.ones(trace["weights"].shape, dtype=bool) if hidden is None else ~hidden
