"""What is found out about a function of FlexAttention: its mask, what it does to scores, and where
else that holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.attention.changes_of_scores import SCORES
from attncli.errors import input_error
from attncli.features.mask.alibi import Slopes, slopes_of
from attncli.features.mask.asking import USUAL_FUNCTION, Kind, Mod
from attncli.features.mask.positions import Positions, Seen
from attncli.features.mask.scores import ScoreForm, score_form, sentinels, visible_cells
from attncli.features.mask.shortest import Check, Shortest, Tried, is_whole, shortest_mask
from attncli.problem.keys import CORNERS
from attncli.testing.running.process import FunctionError, FunctionProcess, Limits
from attncli.testing.targets import target_of, way_to_load

EXAMPLE = "my_masks.py:causal"
# With more cells, a function of Python takes seconds.
MOST_CELLS = 2**16
MOST_CALLS_ELSEWHERE = 2**15
# So many positions more tell a form that fits by chance.
FEWEST_MORE, MOST_MORE = 6, 64
FARTHEST = 14
# These tell what a score_mod hides, and whether it does the same.
TWO_SCORES = (0.0, 3.0)


class Sizes(NamedTuple):
    """How many entries, heads, queries and keys a function is called for."""

    entries: int
    heads: int
    queries: int
    keys: int

    @property
    def cells(self) -> int:
        """How many calls that takes, of a mask_mod."""
        return self.entries * self.heads * self.queries * self.keys


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A function with what it does.

    `masks` are the shortest of each head, or the one of all heads; `visible` is what is seen, by
    entry, head, query and key. `checks` say where else all this holds. Of a score_mod, `values` are
    what it gives, `score` is their form, and `slopes` are those of ALiBi. `remarks` are sentences
    of warning.
    """

    name: str
    kind: Kind
    sizes: Sizes
    visible: Seen
    masks: tuple[Shortest, ...]
    checks: tuple[Check, ...]
    remarks: tuple[str, ...]
    values: NDArray[Any] | None = None
    score: ScoreForm | None = None
    slopes: Slopes | None = None

    @property
    def has_form(self) -> bool:
        """Whether keys of a problem say all that it does."""
        return self.score is None or not self.score.why_not

    @property
    def is_broken(self) -> bool:
        """Whether it makes NaN or infinity of scores."""
        return self.score is not None and self.score.is_broken

    @property
    def has_alibi(self) -> bool:
        """Whether what it adds is ALiBi as attncli has it."""
        return self.slopes is not None and self.slopes.is_abs

    @property
    def adds_matrix(self) -> bool:
        """Whether it adds numbers that are no ALiBi."""
        adds = self.score is not None and self.score.added is not None
        return adds and not self.has_alibi


def study_function(
    text: str, sizes: Sizes, limits: Limits, begin: Callable[[str], None] = lambda _: None
) -> Study:
    """Call a mask_mod or a score_mod at every position, and say what it is.

    `text` is `FILE.py:NAME` or `package.module:NAME`; `begin` is told what comes next. Raises
    AttncliError: exit 2 or 4 as `target_of`, 3 where it cannot be loaded, or fails.
    """
    target = target_of(text, "mask", EXAMPLE)
    with FunctionProcess(target, limits) as process:
        begin("loading the function")
        try:
            described = process.start()
        except FunctionError as error:
            help = way_to_load(error, USUAL_FUNCTION)
            if " of type BlockMask" in str(error):
                help = f"name its function: attncli mask {text}.mask_mod"
            raise input_error(f"{text} cannot be loaded: {error}", help=help) from None
        mod = Mod(process, text, described)
        begin("calling the function")
        try:
            return study_of(mod, sizes, begin)
        except FunctionError as error:
            raise mod.failure(error) from None


def study_of(mod: Mod, sizes: Sizes, begin: Callable[[str], None] = lambda _: None) -> Study:
    """What is found out about a function that is loaded.

    Raises FunctionError where it fails, and AttncliError (exit 3) where it gives something else the
    second time.
    """
    here = Positions.of(sizes.queries, sizes.keys)
    entries, heads = range(sizes.entries), range(sizes.heads)
    values = mod.values(here, entries, heads)
    again = mod.values(here, entries, heads, TWO_SCORES)
    if not _is_alike(mod, values, again):
        raise input_error(
            f"{mod.text} does not give the same when it is called again",
            help="take out what is drawn at random, or what it keeps from one call to the next",
        )
    remarks = [*_by_flex_attention(mod, here, sizes, values)]
    remarks += _of_others(mod, here, sizes, values)
    begin("looking for its form")
    asked = range(sizes.entries), range(sizes.heads)
    visible = _visible(mod, values)
    others = _elsewhere(mod, here, sizes)
    called = [_tried(mod, each, *asked) for each in others]
    tried = tuple(each for each in called if each is not None)
    masks = _masks(visible, here, tried)
    checks = tuple(map(_worst, zip(*(each.checks for each in masks), strict=True)))
    study = Study(mod.text, mod.kind, sizes, visible, masks, checks, tuple(remarks))
    if mod.kind == "mask_mod":
        return study
    found = _with_scores(mod, study, values)
    said = [*found.remarks, *_of_sentinels(values)]
    checks = tuple(_check_of_scores(mod, found, each) for each in checks)
    return replace(found, remarks=tuple(said), checks=checks)


def _worst(checks: Sequence[Check]) -> Check:
    """Of the checks of each head, one that says that the form does not hold, if there is one."""
    failed = [each for each in checks if not each.holds]
    return failed[0] if failed else checks[0]


def _with_scores(mod: Mod, study: Study, values: NDArray[Any]) -> Study:
    """The study with what a score_mod does to scores."""
    score = score_form(values, mod.value)
    mask = study.masks[0].mask
    shift = 0
    if mask.corner != CORNERS[0]:
        shift = study.sizes.keys - study.sizes.queries
    return replace(study, values=values, score=score, slopes=slopes_of(score, shift))


def _check_of_scores(mod: Mod, study: Study, check: Check) -> Check:
    """The check, if the same also becomes of scores there, which is not asked far away."""
    if not check.holds:
        return check
    if study.adds_matrix:
        return check._replace(holds=False)
    if not is_whole(check.positions):
        return check
    try:
        values = mod.values(check.positions, range(study.sizes.entries), range(study.sizes.heads))
        queries, keys = check.positions.shape
        sizes = study.sizes._replace(queries=queries, keys=keys)
        there = _with_scores(mod, replace(study, sizes=sizes), values)
    except FunctionError as error:
        return check._replace(holds=False, error=str(error))
    assert study.score is not None
    assert there.score is not None
    is_alike = (
        there.score.settings == study.score.settings
        and there.slopes == study.slopes
        and there.adds_matrix == study.adds_matrix
    )
    return check._replace(holds=is_alike)


def _is_alike(mod: Mod, values: NDArray[Any], found: NDArray[Any]) -> bool:
    """Whether it gives, for two scores, what is found."""
    if mod.kind == "mask_mod":
        return np.array_equal(values, found)
    places = [SCORES.index(score) for score in TWO_SCORES]
    return np.array_equal(values[..., places], found, equal_nan=True)


def _visible(mod: Mod, values: NDArray[Any]) -> Seen:
    """Which keys are seen."""
    if mod.kind == "mask_mod":
        return values
    return visible_cells(values)


def _of_sentinels(values: NDArray[Any]) -> Iterator[str]:
    """That a score_mod hides keys by a number that only looks like minus infinity."""
    found = sentinels(values)
    if found.size:
        yield (
            f"It hides keys by {found.max():g}, not by -inf. A query that sees no other key then"
            " attends to all of them."
        )


# Other ways to call it


def _by_flex_attention(
    mod: Mod, here: Positions, sizes: Sizes, values: NDArray[Any]
) -> Iterator[str]:
    """That PyTorch makes no mask of it, or another one."""
    try:
        made = mod.by_flex_attention(here, range(sizes.entries), range(sizes.heads))
    except FunctionError as error:
        said = str(error).rstrip(" .")
        yield f"PyTorch makes no mask of it: create_mask of FlexAttention fails with {said}."
        return
    if made is None:
        return
    left = values
    if mod.kind == "score_mod":
        # PyTorch takes no other number for this.
        left = np.any(~np.isneginf(values), axis=-1)
    wrong = np.argwhere(made != left)
    if not len(wrong):
        return
    _, _, query, key = wrong[0].tolist()
    yield (
        "PyTorch makes another mask of it: create_mask of FlexAttention gives"
        f" {str(bool(made[tuple(wrong[0])])).lower()} for q_idx = {query} and kv_idx = {key}."
    )


def _of_others(mod: Mod, here: Positions, sizes: Sizes, values: NDArray[Any]) -> Iterator[str]:
    """That it does something else in another head or entry, where there is one alone."""
    others = {
        "--heads": (sizes.heads, [0], [1], "the head"),
        "--batch": (sizes.entries, [1], [0], "the entry of the batch"),
    }
    for option, (number, entries, heads, what) in others.items():
        if number > 1:
            continue
        try:
            found = mod.values(here, entries, heads, TWO_SCORES)
        except FunctionError as error:
            if error.ended:
                return
            continue
        if not _is_alike(mod, values[:1, :1], found):
            yield f"It depends on {what}: {option} 2 shows two."


def _elsewhere(mod: Mod, here: Positions, sizes: Sizes) -> Iterator[Positions]:
    """More positions, and some that are far away, if they are not too many to call it for."""
    queries, keys = here.shape
    more = min(max(queries, FEWEST_MORE), MOST_MORE)
    powers = [2**power for power in range(1, FARTHEST + 1)]
    far = sorted({0, *powers, *(each - 1 for each in powers)})
    others = [
        Positions.of(queries + more, keys + more),
        Positions(tuple(far), tuple(far), here.offset),
    ]
    times = sizes.entries * sizes.heads
    if mod.kind == "score_mod":
        times *= len(SCORES)
    for each in others:
        if times * prod(each.shape) <= MOST_CALLS_ELSEWHERE:
            yield each


def _tried(
    mod: Mod, positions: Positions, entries: Sequence[int], heads: Sequence[int]
) -> Tried | None:
    """What is seen there; None where that takes too long."""
    try:
        values = mod.values(positions, entries, heads, TWO_SCORES)
    except FunctionError as error:
        return None if error.ended else Tried(positions, None, str(error))
    return Tried(positions, _visible(mod, values))


def _masks(visible: Seen, here: Positions, tried: tuple[Tried, ...]) -> tuple[Shortest, ...]:
    """The shortest mask of each head; one where they are all alike."""
    found = []
    for head in range(visible.shape[1]):
        elsewhere = []
        for each in tried:
            of_head = None if each.visible is None else each.visible[:, head]
            elsewhere.append(each._replace(visible=of_head))
        found.append((Tried(here, visible[:, head]), tuple(elsewhere)))
    first, *others = found
    if all(_sees_alike(first, other) for other in others):
        return (shortest_mask(*first),)
    return tuple(shortest_mask(*each) for each in found)


def _sees_alike(
    one: tuple[Tried, tuple[Tried, ...]], other: tuple[Tried, tuple[Tried, ...]]
) -> bool:
    """Whether two heads see the same, here and elsewhere."""
    pairs = zip((one[0], *one[1]), (other[0], *other[1]), strict=True)
    for this, that in pairs:
        if this.visible is None or that.visible is None:
            continue
        if not np.array_equal(this.visible, that.visible):
            return False
    return True
