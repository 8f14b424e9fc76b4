"""The outputs of the heads alone, in tiles (`attention/fused/`), and what a trace tells of the steps in between."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import product

import numpy as np

from attncli.attention.fused.bounds import is_bounded, reach
from attncli.attention.fused.outputs import Exponent, Head, Rows, Scratch, Work
from attncli.attention.fused.tiles import tiles
from attncli.attention.rule import Rule
from attncli.attention.workers import Report, share_out
from attncli.backend import Host
from attncli.problem.axes import BATCH, HEAD, KEY_HEAD, LEADING
from attncli.problem.model import Matrix, Scalar
from attncli.tracing.kept import Found, Inner
from attncli.tracing.model import Row

KEPT = frozenset(("scores", "weights"))  # what may be kept besides
_PLAIN = ("scaled_dot", "dot", "multiplicative")  # scores that are products of a row of queries with one of keys
_MARGIN = 4.0  # by which no number on the way may come near the end of the format


def run_tiled(
    inner: Inner, last: Rule, keep: Collection[str], report: Report | None, threads: int | None
) -> Found | None:
    """The outputs of the heads, and what is kept; None where the steps in between have to be worked out one by one."""
    problem, dtype, settings = inner.problem, inner.worker.dtype, inner.settings
    base = problem.exp_base.value if problem.exp_base else math.e
    if problem.score not in _PLAIN or dtype.name != dtype.computed or base <= 1:
        return None
    scale, log = 1.0 if settings.scale is None else settings.scale, math.log(base) if problem.exp_base else 1.0
    exponent = Exponent(scale, settings.softcap, log)
    output = np.empty(inner.shape(last), dtype.computed)
    places = list(_places(inner, last, output))
    kept = {rule.name: np.empty(inner.shape(rule), dtype.computed) for rule in inner.rules(False) if rule.name in keep}
    if any(array.shape[:-2] != output.shape[:-2] for array in kept.values()):
        return None  # heads of values alone, which share their scores
    heads = [_head(inner, place, output, kept) for place in places]
    if not max(1, abs(scale)) * reach(heads) + _moved(inner) < dtype.largest / _MARGIN / max(1.0, log):
        return None
    if not max(float(np.abs(head.values).max()) * len(head.keys) for head in heads) < dtype.largest / _MARGIN:
        return None
    bounded = is_bounded(heads, exponent, dtype.lowest_exponent, dtype.highest_exponent)
    if not bounded and "weights" in kept:
        return None
    shifted = None
    while shifted is None:
        work = [Work.of(head, exponent, bounded) for head in heads]
        _work(work, report, threads)
        shifted = _is_shifted(inner, work)
        if shifted is None and "weights" in kept:
            return None
        bounded = False  # which finds the largest exponents themselves
    return Found(shifted, {**kept, last.name: output}, _unseeing(inner, places, [each.rows for each in work]))


def _work(work: list[Work], report: Report | None, threads: int | None) -> None:
    tasks = [(each, rows) for each in work for rows in each.blocks()]
    tasks.reverse()  # under a causal mask the last rows are the longest; the short ones at the end even threads out

    def worker() -> Callable[[tuple[Work, slice]], None]:
        scratch = Scratch(work[0].head.queries.dtype)
        return lambda task: task[0].block(task[1], scratch)

    share_out(tasks, worker, threads, report)


def _places(inner: Inner, last: Rule, output: Host) -> Iterator[dict[str, int]]:
    """Every place on the leading axes of the outputs, with the head of keys that serves it."""
    letters = [letter for letter in last.target.letters if letter in LEADING]
    for place in product(*(range(size) for size in output.shape[: len(letters)])):
        named = dict(zip(letters, place, strict=True))
        yield {**named, KEY_HEAD: named.get(HEAD, 0) // inner.plan.axes.group}


def _head(inner: Inner, place: dict[str, int], output: Host, kept: Mapping[str, Host]) -> Head:
    problem, plan, arrays = inner.problem, inner.plan, inner.worker.arrays

    def own(name: str) -> Host:
        return np.asarray(arrays[name][tuple(place[letter] for letter in plan.leads.get(name, ()))])

    queries = own("Q_rot" if problem.rope else "Q")
    if problem.score == "multiplicative":
        queries = queries @ own("W_a")
    sink = float(own("sink")) if "sink" in arrays else problem.sink.value if problem.sink else None
    masks = {name: given.value for name, given in plan.parameters.items() if isinstance(given, Matrix)}
    scalars = {name: given.value for name, given in plan.parameters.items() if isinstance(given, Scalar)}
    over = tiles(plan.rules, place, {**arrays, **masks}, {**scalars, "inf": math.inf}, queries.dtype.type)
    leading = tuple(number for letter, number in place.items() if letter in (BATCH, HEAD))
    keys, values = own("K_rot" if problem.rope else "K"), own("V")
    whole = {name: array[leading] for name, array in kept.items()}
    return Head(queries, keys, values, output[leading], over, sink, **whole)


def _moved(inner: Inner) -> float:
    """How far the bias and the mask can move a score at most."""
    slopes = inner.worker.arrays.get("slopes")
    slope = float(np.abs(slopes).max()) if slopes is not None else 0.0
    moved = slope
    for name, given in inner.plan.parameters.items():
        if name == "slopes" or name.startswith("offset"):
            slope = max(slope, abs(float(np.abs(given.value).max()))) if name == "slopes" else slope
        if name.startswith("additive"):
            array = np.asarray(given.value)
            moved += float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
    distance = inner.plan.sizes["i"] + 2 * inner.plan.sizes["j"]
    return moved + slope * distance


def _is_shifted(inner: Inner, work: list[Work]) -> bool | None:
    """Whether the trace shifts its softmax (`shift.py`); None where that cannot be told from what is known."""
    top = inner.worker.dtype.highest_exponent - math.log(inner.plan.sizes["j"]) - 0.5
    sure = maybe = False
    for each in work:
        sink = -math.inf if each.head.sink is None else each.head.sink * each.exponent.log
        low, high = (np.maximum(known, sink) for known in (each.rows.low, each.rows.high))
        low, high = low[np.isfinite(high)], high[np.isfinite(high)]
        sure = sure or bool((low > top).any() or (high < inner.lowest).any())
        maybe = maybe or bool((high > top).any() or (low < inner.lowest).any())
    return True if sure else None if maybe else False


def _unseeing(inner: Inner, places: list[dict[str, int]], rows: list[Rows]) -> tuple[Row, ...]:
    """The rows that see no key, by the leading axes of the weights."""
    rule = next(rule for rule in inner.rules(False) if rule.name == "weights")
    letters = [letter for letter in rule.target.letters if letter in LEADING]
    if not any(rule.name == "mask" for rule in inner.plan.rules):
        return ()
    found = {
        (*(place[letter] for letter in letters), int(row))
        for place, known in zip(places, rows, strict=True)
        for row in np.flatnonzero(known.seen == 0)
    }
    return tuple(row if letters else row[0] for row in sorted(found))
