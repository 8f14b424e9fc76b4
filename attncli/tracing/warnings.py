"""The warnings about a trace: blind queries, which see no key, masks that leak, and numbers that do
not fit.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.attention.plan import Plan
from attncli.attention.registry import FORWARD
from attncli.backend import Host
from attncli.dtypes import DTYPES, Dtype
from attncli.english import count, either, listed
from attncli.equation.evaluator import Array
from attncli.equation.nodes import Call, Number, walk
from attncli.equation.rule import Rule, needed_for
from attncli.errors import nearest
from attncli.tracing.model import (
    Parameters,
    Settings,
    Step,
    StepsByName,
    WeightsRow,
    hidden_beside,
    is_built_in_softmax,
    is_plain,
    masked_out,
    over_weights,
    step_of_pairs,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How near the name of a step must be to that of a built-in one, to be taken for it.
_NEARLY_OURS = 0.8
# A bias by distance stays above it; the numbers that stand for -inf are far below.
HIGHEST_SENTINEL = -1000.0
# Scores this close give weights that look the same.
CLOSE_SCORES = 1e-3
# Queries, or heads and entries, that one sentence names.
MOST_QUERIES_NAMED = 4

# A place on the axes of entries and heads.
LeadingPlace = tuple[int, ...]
LeadingPlaces = tuple[LeadingPlace, ...]
# Those of the entries, or of the heads.
Names = tuple[str, ...]


def warnings_of(
    steps: StepsByName,
    parameters: Parameters,
    fully_masked: tuple[WeightsRow, ...],
    settings: Settings,
) -> tuple[str, ...]:
    """One sentence for each: blind queries, finite numbers in place of -inf, a mask of ones,
    overflow.

    If some step was not kept, only blind queries are possible: for the others all steps would
    have been kept.
    """
    found = list(_blind_queries(steps, fully_masked))
    if not all(step.kept for step in steps.values()):
        return tuple(found)
    dtype = DTYPES[settings.dtype]
    found += _sentinels_turned_infinite(parameters, dtype)
    found += _sentinels(steps, dtype)
    found += _added_ones(steps, settings.convention)
    found += overflows(steps, dtype, parameters)
    return tuple(found)


def unread_of(plan: Plan, steps: StepsByName) -> tuple[str, ...]:
    """One sentence about the equations of the problem's own that were to change the result, by
    their names or since there are no others, and that it does not depend on.

    A step beside the way to the result, such as the entropy of each row, is one to look at.
    """
    if plan.problem.system is None:
        return ()
    rules = {name: step.rule for name, step in steps.items()}
    needed = needed_for([plan.result], rules)
    defined = [each.name for each in plan.problem.system.equations]
    unread = [name for name in defined if name in rules and name not in needed]
    if any(name in needed for name in defined):
        unread = [name for name in unread if nearest(name, [*FORWARD], cutoff=_NEARLY_OURS)]
    if not unread:
        return ()
    them = either(len(unread), "it", "them")
    names = listed(unread)
    return (f"{plan.result} does not depend on {names}: no step that leads to it reads {them}",)


def blind_rows(steps: StepsByName) -> tuple[WeightsRow, ...]:
    """The rows of blind queries, from which the mask hides every key."""
    hidden = masked_out(steps)
    if hidden is None:
        return ()
    is_blind = hidden.all(axis=-1)
    rows = np.argwhere(is_blind).tolist()
    if hidden.ndim == 2:
        return tuple(row for (row,) in rows)
    return tuple(map(tuple, rows))


def _blind_queries(steps: StepsByName, fully_masked: tuple[WeightsRow, ...]) -> Iterator[str]:
    if not fully_masked:
        return
    for who, where, number in named_rows(steps, fully_masked):
        sees = either(number, "sees", "see")
        said = f"{who} {sees} no key{where}"
        if is_plain(steps) and is_built_in_softmax(steps):
            whose = either(number, "its weights and its output", "their weights and their outputs")
            there = " there" if where else ""
            said += f": {whose} are 0{there}"
        yield said


def _added_ones(steps: StepsByName, convention: str | None) -> Iterator[str]:
    """A mask of 0 and 1 that other software adds to the scores, though its author may have meant
    false and true.
    """
    if convention is None or "mask" not in steps:
        return
    added = steps["mask"].value
    is_one = added == 1
    is_expected = np.isin(added, (0, 1, -math.inf))
    if is_one.any() and is_expected.all():
        yield f"this mask of 0 and 1 hides no key: {convention} adds its numbers to the scores"


# Numbers that do not fit their format


def overflows(
    steps: StepsByName, dtype: Dtype, parameters: Parameters | None = None
) -> Iterator[str]:
    """One sentence for every step that does not fit its number format, though all its inputs do.

    With the `parameters`, it says of equations of the problem's own which operation is at fault.
    """
    lost: set[str] = set()
    has_own = any(step.rule.own for step in steps.values())
    # The infinities that equations of the problem's own have in them, and what is made of these.
    meant: dict[str, frozenset[float]] = {}
    for step in steps.values():
        infinities = _meant_infinities(step.rule, meant)
        if infinities:
            meant[step.name] = infinities
        with np.errstate(all="ignore"):
            total = step.value.sum()
        # A sum is finite only where every cell is.
        if np.isfinite(total):
            continue
        fits = np.isfinite(step.value)
        hidden = hidden_beside(steps, step)
        expected = expected_infinities(step.rule, step.value, hidden, np)
        if expected is not None:
            fits |= expected & (step.value == -math.inf)
        for infinity in infinities:
            fits |= step.value == infinity
        if fits.all():
            continue
        if lost.isdisjoint(step.rule.inputs):
            why = ""
            if has_own and parameters is not None and not step.rule.given:
                why = _reason(step, ~fits, steps, parameters, dtype)
            yield _at_fault(step, ~fits, why) if why else _overflow(step, ~fits, dtype)
        lost.add(step.name)


def _meant_infinities(rule: Rule, meant: Mapping[str, frozenset[float]]) -> frozenset[float]:
    """The infinities that a step may have, since its author wrote them, or those of what it
    reads.
    """
    found: set[float] = set()
    if rule.given:
        return frozenset()
    for name in rule.inputs:
        found |= meant.get(name, frozenset())
    return frozenset(found) | infinities_in(rule)


def infinities_in(rule: Rule) -> frozenset[float]:
    """The infinities that stand in an equation of the problem's own."""
    found: set[float] = set()
    if rule.given or not rule.own:
        return frozenset()
    for node in walk(rule.equation.expression):
        match node:
            case Call("neg", (Number(value=float() as infinity),)):
                found.add(-infinity)
            case Number(value=float() as infinity):
                found.add(infinity)
            case _:
                pass
    return frozenset(found)


def expected_infinities(rule: Rule, value: Array, hidden: Array | None, xp: Any) -> Array | None:
    """Where a step may be -inf: in cells that a mask hides, and in rows that it hides whole; None
    for nowhere.

    `hidden` marks the keys that are hidden, in the places of the step and for each key, which is an
    axis of the step or one more at the end; all arrays are those of `xp`.
    """
    if hidden is None:
        return None
    if rule.name == "mask":
        return value == -math.inf
    axes = rule.axis_names
    is_of_pairs = {"query", "key"} <= {*axes}
    if is_of_pairs and value.shape == hidden.shape:
        return hidden
    is_of_queries = axes[-1:] == ("query",)
    if is_of_queries and value.shape == hidden.shape[:-1]:
        return xp.all(hidden, axis=-1)
    return None


def _reason(step: Step, bad: Host, steps: StepsByName, parameters: Parameters, dtype: Dtype) -> str:
    """Which operation makes the first of the bad cells so; empty where none does by itself."""
    # Few traces have such a cell, and what works one again takes a while to import.
    from attncli.tracing.not_finite import reason

    first = tuple(map(int, np.argwhere(bad)[0]))
    return reason(step, first, steps, parameters, dtype)


def _at_fault(step: Step, bad: Host, why: str) -> str:
    """How many cells are infinite or NaN, and why the first one is."""
    unknown = np.isnan(step.value) & bad
    what = "infinite or NaN"
    if unknown.sum() == bad.sum():
        what = "NaN"
    elif not unknown.any():
        what = "infinite"
    if not step.shape:
        return f"in {step.name}, the number is {what}: {why}"
    number = int(bad.sum())
    cells = f"{number:,} of {count(step.value.size, 'cell')}"
    is_so = either(number, "is", "are")
    return f"in {step.name}, {cells} {is_so} {what}. The first is {_first_cell(step, bad)}: {why}"


def _first_cell(step: Step, bad: Host) -> str:
    """The name of the first of these cells: lg[t1,t2]."""
    first = np.argwhere(bad)[0]
    labels = []
    for of_axis, at in zip(step.labels, first, strict=True):
        labels.append(of_axis[at])
    return f"{step.name}[{','.join(labels)}]"


def _overflow(step: Step, bad: Host, dtype: Dtype) -> str:
    if not step.shape:
        return f"{step.name} does not fit into {dtype.name}"
    number = int(bad.sum())
    is_nan = np.isnan(step.value)
    does = _do_not_fit(number, int(is_nan.sum()), dtype)
    cells = f"{number:,} of {step.value.size:,} cells"
    return f"{step.name}: {cells} {does} (the first at {_first_cell(step, bad)})"


def _do_not_fit(number: int, undefined: int, dtype: Dtype) -> str:
    """What so many numbers do that do not fit, of which some are NaN."""
    if undefined == number:
        verb = either(number, "is", "are")
        return f"{verb} NaN, because intermediate results do not fit into {dtype.name}"
    verb = either(number, "does", "do")
    does = f"{verb} not fit into {dtype.name}"
    if undefined:
        does += f", {undefined:,} of them NaN"
    return does


# Sentinels: large negative numbers in place of -inf


def may_have_sentinels(parameters: Parameters) -> bool:
    """Whether some number of a mask may be a sentinel, or become one together with others."""
    return sum(_lowest_added(parameters)) <= HIGHEST_SENTINEL


def _lowest_added(parameters: Parameters) -> list[float]:
    """The lowest finite number, or 0, of every matrix that the mask adds."""
    found = []
    for name, given in parameters.items():
        if name.startswith("additive"):
            array = np.asarray(given.value)
            finite = array[np.isfinite(array)]
            found.append(float(finite.min(initial=0.0)))
    return found


def _sentinels_turned_infinite(parameters: Parameters, dtype: Dtype) -> Iterator[str]:
    """One sentence on numbers of a mask that are too low for the format: they become -inf."""
    lowest = min(_lowest_added(parameters), default=0.0)
    if lowest <= -dtype.overflow:
        yield (
            f"{dtype.name} has no number as low as {_spelled(lowest)}: it becomes -inf and hides a"
            " key completely"
        )


def _sentinels(steps: StepsByName, dtype: Dtype) -> Iterator[str]:
    """One sentence on weight that leaks, and one for each outcome of rows that see only
    sentinels.
    """
    ours = ("mask", "masked", "weights")
    if any(name not in steps or steps[name].rule.own for name in ours):
        return
    added = steps["mask"].value
    soft = (added <= HIGHEST_SENTINEL) & (added > -np.inf)
    if not soft.any():
        return
    weights = steps["weights"].value.astype(np.float64)
    if not np.isfinite(weights).all():
        return
    soft = over_weights(steps, "mask", soft)
    mask = over_weights(steps, "mask", added)
    shut = soft | (mask == -np.inf)
    alone = shut.all(axis=-1) & soft.any(axis=-1)
    in_other_rows = soft & ~alone[..., None]
    leaked = np.where(in_other_rows, weights, 0.0)
    yield from _leaks(steps, leaked, mask)
    yield from _only_sentinels(steps, dtype, mask, soft, alone)


def _only_sentinels(
    steps: StepsByName, dtype: Dtype, mask: Host, soft: Host, alone: Host
) -> Iterator[str]:
    """One sentence for each outcome of rows that see only sentinels, which `alone` marks.

    `soft` marks the sentinels of the mask.
    """
    found: defaultdict[str, list[LeadingPlace]] = defaultdict(list)
    for row in map(tuple, np.argwhere(alone).tolist()):
        own = soft[row]
        highest = mask[row][own].max()
        by = _spelled(highest)
        # Scores that do not fit have a warning of their own.
        with np.errstate(all="ignore"):
            outcome = _outcome(steps, row, own, dtype)
        found[f"only keys that {by} should hide; {outcome}"].append(row)
    for outcome, rows in found.items():
        for who, where, number in named_rows(steps, rows):
            sees = either(number, "sees", "see")
            yield f"{who}{where} {sees} {outcome}"


def _leaks(
    steps: StepsByName, leaked: NDArray[np.float64], mask: NDArray[np.float64]
) -> Iterator[str]:
    """How much of a row's attention goes to keys that should be hidden from it, if any."""
    rows = leaked.sum(axis=-1)
    is_giving = rows > 0
    number_giving = int(np.count_nonzero(is_giving))
    if not number_giving:
        return
    farthest = np.argmax(rows)
    place = np.unravel_index(farthest, rows.shape)
    worst = tuple(map(int, place))
    key = np.argmax(leaked[worst])
    sentinel = mask[worst][key]
    by = _spelled(float(sentinel))
    [(who, where, _)] = named_rows(steps, [worst])
    share = f"{rows[worst]:.3g}"
    said = f"{who}{where} gives {share} of its attention to keys that {by} should hide"
    if number_giving > 1:
        said += f" (the most in {count(number_giving, 'row')})"
    yield said


def _outcome(
    steps: StepsByName, row: tuple[int, ...], soft: NDArray[np.bool_], dtype: Dtype
) -> str:
    """What the weights of a row are that sees only sentinels."""

    def seen(name: str) -> NDArray[np.float64]:
        return np.asarray(over_weights(steps, name, steps[name].value)[row][soft], dtype=np.float64)

    if not steps["weights"].value[row].any():
        return "no key gets any attention"
    if np.ptp(seen("mask")):
        return "the keys with the highest of these numbers get all attention"
    # The mask is added to the scores so far, and so are biases.
    added = [seen(name) for name in steps["masked"].rule.inputs if name != "mask"]
    before = np.sum(added, axis=0)
    masked = seen("masked")
    moved = (masked - masked.max()) - (before - before.max())
    if np.abs(moved).max() <= CLOSE_SCORES:
        return "equal numbers cancel out, so the weights are as if no key were hidden"
    if not np.ptp(masked):
        return (
            f"{dtype.name} has no digits left for the scores, so all {len(masked):,} keys get the"
            " same weight"
        )
    return f"{dtype.name} has too few digits left for the scores, so the weights are wrong"


def _spelled(number: float) -> str:
    """-1e9, -10000 or -3.4028e38."""
    return re.sub(r"e\+0?", "e", f"{number:.5g}")


# Rows of the weights by name: query "AI" (row 2) in head 0


def named_rows(steps: StepsByName, rows: Iterable[WeightsRow]) -> Iterator[tuple[str, str, int]]:
    """The queries of these rows by name, in which heads and entries, and how many queries these
    are.

    Queries with the same heads and entries are named together. If it is all heads, or all entries,
    they are not named.
    """
    of_pairs = step_of_pairs(steps)
    assert of_pairs is not None
    *leading, queries, _ = of_pairs.labels
    for places, alike in _by_places(rows).items():
        number = len(alike)
        names = []
        for query in alike:
            names.append(f'"{queries[query]}" (row {query})')
        word = either(number, "query", "queries")
        named = _at_most(names, "others")
        where = _where(leading, places)
        yield f"{word} {named}", where, number


def _by_places(rows: Iterable[WeightsRow]) -> Mapping[LeadingPlaces, list[int]]:
    """The queries of these rows, those together that are in the same heads and entries.

    Row 2 of heads 0 and 1, and row 3 of head 1, are {((0,), (1,)): [2], ((1,),): [3]}.
    """
    places_of: defaultdict[int, list[LeadingPlace]] = defaultdict(list)
    for row in rows:
        if isinstance(row, int):
            row = (row,)
        *place, query = row
        places_of[query].append(tuple(place))
    together: defaultdict[LeadingPlaces, list[int]] = defaultdict(list)
    for query, places in places_of.items():
        together[tuple(places)].append(query)
    return together


def _where(leading: Sequence[Names], places: LeadingPlaces) -> str:
    """In which heads and entries: an entry with all its heads goes by its own name."""
    if not leading:
        return ""
    every = len(leading[-1])
    within: defaultdict[LeadingPlace, list[int]] = defaultdict(list)
    for *outer, inner in places:
        within[tuple(outer)].append(inner)
    if all(len(found) == every for found in within.values()):
        return _where(leading[:-1], tuple(within))
    named: list[LeadingPlace] = []
    for entry, found in within.items():
        if len(found) == every:
            named.append(entry)
        else:
            named += [(*entry, inner) for inner in found]
    names = [_name_of_place(leading, place) for place in named]
    return f" in {_at_most(names, 'more')}"


def _name_of_place(leading: Sequence[Names], place: LeadingPlace) -> str:
    """entry 0, head 1; without the axes that the place does not fix."""
    names = []
    for labels, number in zip(leading, place, strict=False):
        names.append(labels[number])
    return ", ".join(names)


def _at_most(names: list[str], others: str) -> str:
    """a, b and c; of many names only the first, and how many others there are."""
    number = len(names)
    if number <= MOST_QUERIES_NAMED:
        return listed(names)
    number_named = MOST_QUERIES_NAMED - 1
    first = names[:number_named]
    named = ", ".join(first)
    left = number - number_named
    return f"{named} and {left:,} {others}"
