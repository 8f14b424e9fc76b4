"""The settings that a live page offers: each mask and scale, as problems and worked out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from attncli.attention.plan import plan_for
from attncli.equation.rule import Rule, needed_for
from attncli.errors import AttncliError
from attncli.problem import keys
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.axes import BATCH, HEAD
from attncli.problem.parts.masks import Clause, Mask, MaskSizes
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.parts.offset import Offset
from attncli.tracing.model import Trace
from attncli.tracing.run import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The mask whose cells a reader has clicked, and the same on top of the numbers that the mask of the
# problem adds.
OWN = "own"
OVER = "over"
# The scale is a number, which a reader slides. Wherever this one stands, the script puts the number
# that was slid to: nobody else writes it.
NUMBER: Final = "number"
ANY_NUMBER = Scalar(0.918273645, "0.918273645")
# Whether scores are scaled, and if so by such a number.
Scaled: TypeAlias = bool | Literal["number"]
# By the mask, the scale, and whether the softmax is shifted.
Traces: TypeAlias = Mapping[tuple[str, Scaled, bool], Trace]


def settings_of(problem: Problem) -> Iterator[tuple[str, Scaled, Problem]]:
    """Every mask and scale that a page offers, by their words, with the problem that has them.

    The given ones come first: ("given", True, problem), ("given", False, …), ("causal", True, …).
    """
    own = _OwnSteps.of(problem) if problem.system is not None else None
    for name, mask in _masks(problem):
        for scaled, scale in _scales(problem):
            other = replace(problem, mask=mask, scale=scale)
            is_given = mask is problem.mask and scale == problem.scale
            if is_given or own is None or own.allow(other):
                yield name, scaled, other


class _OwnSteps(NamedTuple):
    """The steps of a problem with equations of its own, by which another mask or scale is judged:
    the names of those of its own that the result needs, and all rules.
    """

    needed: frozenset[str]
    rules: tuple[Rule, ...]

    @classmethod
    def of(cls, problem: Problem) -> _OwnSteps:
        """Raises AttncliError (exit 3) where the equations make no plan."""
        assert problem.system is not None
        plan = plan_for(problem)
        rules = (*plan.rules, *plan.softmax_rules(shift=False), *plan.softmax_rules(shift=True))
        needed = needed_for((plan.result,), {rule.name: rule for rule in rules})
        return cls(needed.intersection(problem.system.replaced), rules)

    def allow(self, other: Problem) -> bool:
        """Whether the result needs the same equations there, and whether it changes anything."""
        try:
            there = _OwnSteps.of(other)
        except AttncliError:
            # An equation reads a step that is not there, such as `masked` without a mask.
            return False
        return there.needed == self.needed and there.rules != self.rules


def traces_of(problem: Problem, precision: int, *, first: bool = False) -> Traces:
    """The problem worked out in every setting.

    That of the page itself comes first, if it `first` is shifted.
    """
    return {
        (mask, scaled, shifted): run(other, precision=precision, shifted=shifted)
        for mask, scaled, other in settings_of(problem)
        for shifted in (first, not first)
    }


def layout_name(mask: str, scaled: Scaled, shifted: bool) -> str:
    """The words of a setting, as the script spells them: "given true false"."""
    return " ".join([mask, _as_word(scaled), _as_word(shifted)])


def _as_word(holds: Scaled) -> str:
    if holds == NUMBER:
        return NUMBER
    return "true" if holds else "false"


# Masks


def _masks(problem: Problem) -> Iterator[tuple[str, Mask]]:
    given = problem.mask
    yield "given", given
    if given.parts:
        yield "none", Mask()
    if given.parts != (Causal(),):
        yield "causal", Mask((Causal(),))
    clicked = _clicked(problem)
    yield OWN, Mask((clicked,))
    added = _added(given)
    if added:
        # Without the corner of parts that are left out: no file could say it.
        yield OVER, Mask((*added, clicked))


def _added(mask: Mask) -> tuple[Additive, ...]:
    """The parts of a mask that add numbers."""
    return tuple(part for part in mask.parts if isinstance(part, Additive) and part.adds_numbers)


def clicked_mask(problem: Problem) -> str:
    """The mask that a page takes as soon as a cell of this problem's mask is clicked."""
    return OVER if _added(problem.mask) else OWN


class _FurtherKeep(Keep):
    """A matrix with a name of its own beside that of the problem, which stays as it is."""

    __slots__ = ()
    suffix = "_own"

    def clause(self, offset: Offset, suffix: str) -> Clause:
        return super().clause(offset, self.suffix)


def clicked_name(problem: Problem) -> str:
    """What the matrix of the cells that a reader has clicked is called."""
    is_taken = any(isinstance(part, Keep) for part in problem.mask.parts)
    return f"{Keep.name}{_FurtherKeep.suffix}" if is_taken else Keep.name


def _clicked(problem: Problem) -> Keep:
    """A mask whose cells can be clicked.

    It has one matrix for each head and entry between which the mask of the problem differs.
    """
    rule = next((rule for rule in plan_for(problem).rules if rule.name == "mask"), None)
    letters = rule.target.letters if rule else ()
    sizes = MaskSizes.of(problem.sized)
    heads = sizes.heads if HEAD in letters else 1
    batch = sizes.batch if BATCH in letters else 1
    shape: tuple[int, ...] = (sizes.queries, sizes.keys)
    if heads > 1 or batch > 1:
        shape = (heads, *shape)
    if batch > 1:
        shape = (batch, *shape)
    name = clicked_name(problem)
    cells = Matrix(np.ones(shape, dtype=bool), names_of_cells(name, shape))
    return Keep(cells) if name == Keep.name else _FurtherKeep(cells)


def names_of_cells(name: str, shape: tuple[int, ...]) -> NDArray[np.object_]:
    """What stands for each number of an array in a file that the script fills in: ⟨X:0⟩, ⟨X:1⟩."""
    places = range(int(np.prod(shape)))
    names = np.array([f"⟨{name}:{place}⟩" for place in places], dtype=object)
    return names.reshape(shape)


# Scales


def _scales(problem: Problem) -> Iterator[tuple[Scaled, Scalar | keys.ScaleWord]]:
    can_scale = isinstance(problem.scale, Scalar) or keys.SCORES[problem.score].divided
    scaled = can_scale and problem.scale != "none"
    yield scaled, problem.scale
    if can_scale:
        yield not scaled, "none" if scaled else "default"
        yield NUMBER, ANY_NUMBER
