"""What a trace is made of: steps with their rules, labels and values, and the choices they follow,
all read-only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from attncli.attention.registry import step_called
from attncli.attention.softmax import INSIDE_OF_SOFTMAX
from attncli.english import count, entitled, listed, shape_text
from attncli.equation.evaluator import Array
from attncli.equation.indexing import GROUP_MEMBER, LeadingAxes
from attncli.equation.nodes import Equation
from attncli.equation.rule import Rule
from attncli.equation.shapes import index_sizes
from attncli.equation.symbols import unicode_name
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import BATCH, HEAD, LEADING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.attention.plan import Plan

Cells = TypeVar("Cells", bound=np.generic)
# What equations read besides steps, by name.
Parameters: TypeAlias = Mapping[str, Scalar | Matrix]
# A row of the weights: its number, with the entry and the head before it if there are such axes.
WeightsRow: TypeAlias = int | tuple[int, ...]


# What each place is called, axis by axis.
Labels: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Step:
    """One step: the rule that made it, its value, and a label for every place on every axis.

    Of the weights of "I love you", `value` is 3 × 3, and `labels` has ("I", "love", "you") for the
    queries, and again for the keys.

    `value` is a read-only array in the computer's own memory. `written` holds given numbers as
    their author wrote them ("1/3"), in the shape of the value, where they were written out. `exact`
    holds the numbers of a step that was worked out exactly, each a Fraction, an ExactNumber
    (`equation/exact`), a Decimal of 50 digits where there is no closed form, or -inf. Where a step
    was not `kept`, only the shape of its value means anything.
    """

    rule: Rule
    value: NDArray[Any]
    labels: Labels
    written: NDArray[np.object_] | None = None
    exact: NDArray[np.object_] | None = None
    kept: bool = True

    def __repr__(self) -> str:
        return (
            f"<step {self.name}: {shape_text(self.shape) or 'a number'},"
            f" {self.rule.source or 'given'}>"
        )

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)

    def cell_label(self, index: tuple[int, ...], *, in_sentence: bool = False) -> str:
        """Which cell: I → love for a query and a key, I, d2 for a feature; of a single number its
        letter. `in_sentence`, words are in quotes.
        """
        if not index:
            return unicode_name(self.rule.symbol)
        axes = self.rule.axis_names
        # A hidden feature of an additive score belongs to a query and a key.
        if axes[-3:-1] == ("query", "key"):
            *row, feature = index
            pair = self.row_label(tuple(row), in_sentence=in_sentence)
            *_, features = self.labels
            return f"{pair}, {features[feature]}"
        of_pairs = axes[-2:] == ("query", "key")
        return cell_text(self.labels, index, of_pairs=of_pairs, in_sentence=in_sentence)

    def row_label(self, row: tuple[int, ...], *, in_sentence: bool = False) -> str:
        """Which row of a matrix: I, or I → love where it is that of a query with a key."""
        of_pairs = self.rule.axis_names[-3:-1] == ("query", "key")
        return cell_text(self.labels[:-1], row, of_pairs=of_pairs, in_sentence=in_sentence)


def cell_text(
    labels: Sequence[Sequence[str]],
    index: Sequence[int],
    *,
    of_pairs: bool,
    in_sentence: bool = False,
) -> str:
    """Which cell: I → love where its last two axes are those of a query and a key, else I, d2.
    `in_sentence`, "I" → "love", as these may be words of it.
    """
    words = []
    for names, place in zip(labels, index, strict=True):
        word = names[place]
        if in_sentence and not _NO_WORD.fullmatch(word):
            word = f'"{word}"'
        words.append(word)
    if of_pairs:
        *words, query, key = words
        pair = f"{query} → {key}"
        words.append(pair)
    return ", ".join(words)


# What nobody takes for a word of a sentence: t1, d2, head 0.
_NO_WORD = re.compile("[A-Za-z]+ ?[0-9]+")
StepsByName: TypeAlias = Mapping[str, Step]

# Data has these settings only where they apply.
OPTIONAL_SETTINGS = (
    "corner",
    "convention",
    "softcap",
    "exp_base",
    "precision",
    "heads",
    "kv_heads",
    "position",
    "pairing",
    "result",
)


class Settings(NamedTuple):
    """How the scores were made and bounded, and how the numbers were kept.

    `scale` is what the scores were multiplied by, None if by nothing; `corner` is None at the top
    left; `convention` names the software as which the mask was read, None for our own; `softcap`
    and `exp_base` are None where there are none; `precision` is the decimals of a trace on paper.
    `heads` is None where there is no axis of heads, `kv_heads` where keys and values have as many;
    `position` names what positions do ("rope", "alibi"), `pairing` which features rope turns
    together. `result` is the step that the page ends with, None for the output.
    """

    score: str
    scale: float | None
    mask: tuple[str, ...]
    dtype: str
    device: str
    rounding: str
    corner: str | None = None
    convention: str | None = None
    softcap: float | None = None
    exp_base: float | None = None
    precision: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    position: tuple[str, ...] | None = None
    pairing: str | None = None
    result: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The settings as data, without what does not apply."""
        data = self._asdict() | {
            "mask": list(self.mask),
            "position": list(self.position) if self.position else None,
        }
        return {
            name: value
            for name, value in data.items()
            if value is not None or name not in OPTIONAL_SETTINGS
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """The settings that `to_dict` wrote; raises KeyError where one is missing, whatever else
        there is.
        """
        known: dict[str, Any] = {}
        for name in cls._fields:
            if name in OPTIONAL_SETTINGS:
                known[name] = data.get(name)
            else:
                known[name] = data[name]
        known["mask"] = tuple(data["mask"])
        position = known["position"]
        known["position"] = tuple(position) if position else None
        return cls(**known)

    @classmethod
    def of(
        cls,
        plan: Plan,
        *,
        dtype: str = "float64",
        device: str = "cpu",
        precision: int | None = None,
        rounding: str = "shown",
    ) -> Settings:
        """The settings of a trace by this plan."""
        problem = plan.problem
        return cls(
            problem.score,
            _scale(plan),
            tuple(problem.mask.names),
            dtype,
            device,
            rounding,
            corner=problem.mask.corner if problem.mask.corner != "top-left" else None,
            convention=problem.convention,
            softcap=problem.softcap.value if problem.softcap else None,
            exp_base=problem.exp_base.value if problem.exp_base else None,
            precision=precision,
            heads=plan.axes.number if plan.axes.has_heads else None,
            kv_heads=plan.axes.kv_heads if plan.axes.group > 1 else None,
            position=tuple(position.name for position in problem.positions) or None,
            pairing=problem.rope.pairing if problem.rope else None,
            result=plan.result if plan.result != "output" else None,
        )


def _scale(plan: Plan) -> float | None:
    """What the scores are multiplied by; None where nothing scales them."""
    if not any(rule.name == "scaled" for rule in plan.rules):
        return None
    given = plan.parameters.get("scale")
    if given:
        return float(given.value)
    width = float(plan.parameters["d_k"].value)
    return 1 / math.sqrt(width)


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """All steps of one problem in order, and how they were worked out.

    trace["weights"] is the value of a step, trace.steps["weights"] the step with its rule and its
    labels, and list(trace) the names of all steps.

    `settings` are the choices made (scale, mask, dtype, device, rounding, …); `parameters` the
    numbers and arrays that equations read besides steps (d_k, offset, exists, …), as they were
    written; `fully_masked` the rows that see no key, as numbers, or as (head, row) or (entry, head,
    row) where there are such axes. `truth` is the same trace at full precision where this one was
    rounded as on paper.
    """

    title: str
    tokens: tuple[str, ...]
    context_tokens: tuple[str, ...]
    settings: Settings
    parameters: Parameters
    steps: Mapping[str, Step]
    warnings: tuple[str, ...] = ()
    fully_masked: tuple[WeightsRow, ...] = ()
    truth: Trace | None = field(default=None)

    def __repr__(self) -> str:
        sizes = listed((count(len(self.tokens), "query"), count(len(self.context_tokens), "key")))
        return f"<{entitled('trace', self.title)}: {sizes}; {' '.join(self.steps)}>"

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The value of a step: trace["weights"]; raises KeyError naming the steps there are, or if
        it was not kept.
        """
        step = self.steps.get(name) if isinstance(name, str) else None
        if step is None:
            names = ", ".join(self.steps)
            meant = step_called(name) if isinstance(name, str) else ""
            help = f"did you mean {meant!r}?" if meant in self.steps else f"there are {names}"
            raise KeyError(f"no step {name!r}; {help}")
        if not step.kept:
            raise KeyError(f"{name} was not kept")
        return step.value

    def __iter__(self) -> Iterator[str]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __contains__(self, name: object) -> bool:
        return name in self.steps

    def computed(self) -> tuple[Step, ...]:
        """The steps that were worked out, without the given ones."""
        return tuple(step for step in self.steps.values() if not step.rule.given)

    @property
    def leading_letters(self) -> tuple[str, ...]:
        """The letters of the leading axes, of the scores, of the values alone, or of what is added
        up at once: none, h, b, or b and h.
        """
        letters: set[str] = set()
        for step in self.steps.values():
            own = step.rule.target.letters
            # An array of one number for each head is not shown head by head.
            if not step.rule.given or not {*own} <= {*LEADING}:
                letters.update(own)
        found = []
        for letter in (BATCH, HEAD):
            if letter in letters:
                found.append(letter)
        return tuple(found)

    @property
    def self_attention(self) -> bool:
        """Whether queries and keys are the same tokens, so that a token can attend to itself."""
        return self.tokens == self.context_tokens and "context" not in self.steps

    def own_key(self, query: int) -> int | None:
        """The key of a query's own token: the last keys are those of the new tokens; None in
        cross-attention.
        """
        past = 0
        if "past_K" in self:
            past = self["past_K"].shape[-2]
        new_tokens = self.context_tokens[past:]
        if "context" in self or self.tokens != new_tokens:
            return None
        return past + query

    @property
    def shifted(self) -> bool:
        """Whether the largest score of each row was subtracted before the exponentials."""
        return "shifted" in self.steps

    @property
    def result(self) -> str:
        """The step that the page ends with, and from which gradients start."""
        return self.settings.result or "output"

    @property
    def is_plain(self) -> bool:
        """Whether weights and output are worked out as attention has them, and not by equations of
        the problem's own.
        """
        return is_plain(self.steps)

    @property
    def takes_softmax(self) -> bool:
        """Whether there is the built-in softmax of logits."""
        first = self.steps.get("shifted" if self.shifted else "exp")
        return first is not None and not first.rule.own

    @property
    def logits(self) -> str:
        """The step whose softmax is taken, which the exponentials, or the shift before them, are
        made of; KeyError where nothing says what they are made of.
        """
        name = "exp"
        if self.shifted:
            name = "shifted"
        first_of_softmax = self.steps[name]
        if not first_of_softmax.rule.inputs:
            raise KeyError(f"{name} is made of no step")
        return first_of_softmax.rule.inputs[0]

    def sizes(self, equation: Equation) -> dict[str, int]:
        """How far each letter runs that an equation reads arrays with; `q` runs through a group of
        heads.
        """
        step = self.steps.get(equation.target.name)
        known = dict(step.rule.lengths) if step else {}
        sizes = index_sizes(equation, self._shapes, known)
        group = self.parameters.get("group")
        if isinstance(group, Scalar):
            sizes[GROUP_MEMBER] = int(group.value)
        return sizes

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of everything an equation may read."""
        return dict(self._shapes)

    # For each mistake that is sought these are asked for once more.
    @cached_property
    def _leading(self) -> LeadingAxes:
        found = {}
        for name, step in self.steps.items():
            letters = tuple(letter for letter in step.rule.target.letters if letter in LEADING)
            if letters:
                found[name] = letters
        return found

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        found = {}
        for name, given in self.parameters.items():
            if isinstance(given, Matrix):
                found[name] = given.value.shape
        for name, step in self.steps.items():
            found[name] = step.shape
        return found


def leading_axes(trace: Trace) -> LeadingAxes:
    """The letters of the leading axes of each step that has such."""
    return trace._leading


def is_plain(steps: StepsByName) -> bool:
    """Whether weights and output are those of attention, and not of equations of the problem's
    own.
    """
    # The trace of one head has no output of all heads together.
    outputs = [name for name in ("heads_output", "output") if name in steps]
    needed = ["weights", "V", *outputs]
    return bool(outputs) and all(name in steps and not steps[name].rule.own for name in needed)


def is_built_in_softmax(steps: StepsByName) -> bool:
    """Whether no part of the softmax is an equation of the problem's own, so that the weights of a
    row are shares of 1.
    """
    parts = [steps[name] for name in (*INSIDE_OF_SOFTMAX, "weights") if name in steps]
    return not any(step.rule.own for step in parts)


def step_of_pairs(steps: StepsByName) -> Step | None:
    """The weights; without them, as with equations of the problem's own, the step of queries by
    keys that has most heads and entries, be it the mask. None where there is none.
    """
    needed = {"i", "j"}
    if "mask" in steps:
        needed.update(steps["mask"].rule.target.letters)
    found = []
    for step in steps.values():
        letters = step.rule.target.letters
        is_of_pairs = letters[-2:] == ("i", "j") and {*letters[:-2]} <= {*LEADING}
        if is_of_pairs and needed <= {*letters}:
            found.append(step)
    return max(found, key=lambda step: (len(step.shape), step.name == "weights"), default=None)


def hidden_beside(steps: StepsByName, step: Step) -> NDArray[np.bool_] | None:
    """The keys that the mask hides, in the places of a step and for each key: an axis of the step,
    or one more at the end.

    None without a mask, and for a step that has no queries, or not all heads and entries of the
    mask.
    """
    if "mask" not in steps:
        return None
    mask = steps["mask"]
    own = mask.rule.target.letters
    letters, shape = step.rule.target.letters, step.shape
    if own[-1] not in letters:
        letters, shape = (*letters, own[-1]), (*shape, mask.shape[-1])
    lengths = dict(zip(letters, shape, strict=True))
    # A step of a problem's own may count only some of the keys.
    if any(lengths.get(letter) != size for letter, size in zip(own, mask.shape, strict=True)):
        return None
    hidden: NDArray[np.bool_] = repeat_along(mask.value == -np.inf, own, letters, shape, np)
    return hidden


def masked_out(steps: StepsByName) -> NDArray[np.bool_] | None:
    """The cells of the weights that the mask hides, by head and entry where these have any, or of
    what stands in their place; None without a mask.
    """
    if "mask" not in steps:
        return None
    added = steps["mask"].value
    is_hidden = added == -np.inf
    return over_weights(steps, "mask", is_hidden)


def over_weights(steps: StepsByName, name: str, cells: NDArray[Cells]) -> NDArray[Cells]:
    """Cells of a step of queries by keys, repeated along the heads and entries that the weights
    have and it has not.
    """
    own = steps[name].rule.target
    weights = step_of_pairs(steps)
    assert weights is not None
    repeated: NDArray[Cells] = repeat_along(
        cells,
        own.letters,
        weights.rule.target.letters,
        weights.shape,
        np,
    )
    return repeated


def repeat_along(
    cells: Array, own: Sequence[str], letters: Sequence[str], shape: Sequence[int], xp: Any
) -> Array:
    """Cells of a step whose letters are its `own`, repeated along those of a larger array of this
    shape, which may have them in another order.

    >>> mask = np.array([[True, False]])
    >>> repeat_along(mask, own="ij", letters="hij", shape=(2, 1, 2), xp=np).tolist()
    [[[True, False]], [[True, False]]]
    >>> repeat_along(mask, own="ij", letters="ji", shape=(2, 1), xp=np).tolist()
    [[True], [False]]
    """
    order = [own.index(letter) for letter in letters if letter in own]
    if order != sorted(order):
        cells = xp.transpose(cells, order)
    sizes = []
    for letter, size in zip(letters, shape, strict=True):
        if letter in own:
            sizes.append(size)
        else:
            sizes.append(1)
    aligned = xp.reshape(cells, tuple(sizes))
    return xp.broadcast_to(aligned, tuple(shape))


def hides_keys(trace: Trace) -> bool:
    """Whether a mask hides a key from a query."""
    masked = trace.steps.get("masked")
    return masked is not None and bool(np.isneginf(masked.value).any())
