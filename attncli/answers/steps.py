"""Which step of a trace an answer is to, by its name or its letter, and whether the answer has its
shape.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.answers.headings import HeadingNames, names_in
from attncli.answers.model import OtherShape
from attncli.answers.percent import without_percent
from attncli.attention.losses import LOSS_RULES
from attncli.attention.registry import RULES, STEP_NAMES
from attncli.english import count, listed, shorten
from attncli.equation.nodes import Name
from attncli.equation.notation import LATEX
from attncli.equation.printer import write
from attncli.equation.rule import Rule
from attncli.equation.symbols import plain_name, primed, unicode_name
from attncli.errors import did_you_mean
from attncli.problem.keys import KEYS
from attncli.tracing.model import Step, Trace

_LATEX = {write(Name(rule.symbol), LATEX): rule.name for rule in RULES.values()}
# Some spellings in LaTeX are letters of steps already.
LATEX_NAMES = {spelled: name for spelled, name in _LATEX.items() if spelled not in STEP_NAMES}
_PRIMED = {
    spell(primed(rule.symbol))
    for spell in (str, plain_name, unicode_name)
    for rule in RULES.values()
}
# Matrices of our pages that are no steps: the Jacobian of a softmax, and what a step of gradient
# descent makes.
NOT_STEPS = {
    "J",
    *_PRIMED,
    *(write(Name(primed(rule.symbol)), LATEX) for rule in RULES.values()),
} - {
    *STEP_NAMES,
    *LATEX_NAMES,
}
_BLANKS = re.compile(r"[\s*`$]+|\\[,;:! ]|\\(?:left|right|,)")
# LaTeX sets words so: \text{Attention weights}.
_SET_AS_WORDS = re.compile(
    r"\\(?:text(?:rm|bf|it|sf|tt)?|math(?:rm|bf|it|sf)|operatorname\*?)\s*\{([^{}]*)\}"
)
# One spelling for those of LaTeX, of Python and of people, one after another.
_SPELLED_ALIKE = {
    "ᵀ": "^t",
    "\\intercal": "t",
    "\\top": "t",
    "{t}": "t",
    ".t": "^t",
    "@": "",
    "·": "",
    "\\cdot": "",
    "\\sqrt": "√",
    "sqrt": "√",
    "{": "(",
    "}": ")",
    "_(k)": "_k",
    "(d_k)": "d_k",
    "dk": "d_k",
}
_SCALED = r"(?:\(?qk\^t\)?|s)/√\(?d_k\)?|\\[dt]?frac\((?:qk\^t|s)\)\(√\(?d_k\)?\)|scaledscores?"
_CALLED = (
    (re.compile(r"qk\^?t|scores?"), "scores"),
    (re.compile(_SCALED), "scaled"),
    (re.compile(r"softmax(?:\(.*\))?|(?:attention|attn_)?weights?"), "weights"),
    (re.compile(r"av|attention\(q,k,v\)|softmax\(.*\)v|outputs?"), "output"),
)
OTHER_PROBLEM = "do these answers belong to another problem?"
# A text of many lines asks for each whether it begins with the name of a step.
MOST_SYMBOLS_KEPT = 1024
_SHORTEST_WORD = 3
_MASK, _MASKED = "mask", "masked"
# A help line names so many rows at most.
_MOST_LABELS_NAMED = 6


class NoStep(Exception):
    """No step of the trace goes by this name: what is wrong, and what would be right."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def find_step(name: str, trace: Trace) -> Step | None:
    """The step of this name or letter, weights or A, or of a heading that has no other name in it:
    Step 3: Weights A = softmax(Z). It may say that its numbers are in %. None where there is none.
    """
    name = without_percent(name)
    step = _called_exactly(name, trace)
    if step is not None:
        return step
    in_heading = _names_in(name, trace)
    steps = _that_are_meant(in_heading.steps, trace)
    if len(steps) != 1 or in_heading.other_word:
        return None
    [step] = steps
    return step


def _that_are_meant(named: Mapping[str, Step], trace: Trace) -> list[Step]:
    """The steps that a heading names, without the scores that are masked in it: Z masked is the
    step masked.
    """
    steps = [*named.values()]
    if _MASKED not in named:
        return steps
    return [step for step in steps if not _is_masked_later(step, trace)]


def _is_masked_later(step: Step, trace: Trace) -> bool:
    """Whether these are scores to which the mask is added in a later step."""
    order = [*trace.steps]
    is_of_pairs = step.rule.axis_names[-2:] == ("query", "key")
    is_before = order.index(step.name) < order.index(_MASKED)
    return is_of_pairs and is_before and step.name != _MASK


def step_named(name: str, trace: Trace) -> Step:
    """The same; raises NoStep where there is none."""
    step = find_step(name, trace)
    if step is not None:
        return step
    name = without_percent(name)
    named = list(_names_in(name, trace).steps)
    if len(named) > 1:
        message = f"{shorten(name)} names {count(len(named), 'step')}: {listed(named)}"
        raise NoStep(message, f"write the name of the step alone, such as {named[0]}")
    if named:
        message = f"{shorten(name)} may name another step than {named[0]}"
        raise NoStep(message, f"write the name alone, if you mean it: {named[0]}")
    there = listed(list(trace.steps), last="")
    found = STEP_NAMES.get(name) or LATEX_NAMES.get(name)
    # P and L may also be meant as something else than steps.
    if found and (name in RULES or found not in LOSS_RULES):
        raise NoStep(f"this problem has no step {found}", f"its steps are {there}")
    if name in KEYS:
        help = f"answers hold steps only, such as scores and weights; {OTHER_PROBLEM}"
        raise NoStep(f"{name} is a key of a problem, not a step", help)
    raise NoStep(
        f"no step is called {shorten(name)}",
        did_you_mean(name, list(trace.steps), f"the steps are {there}"),
    )


def _names_in(heading: str, trace: Trace) -> HeadingNames:
    return names_in(heading, partial(_called_exactly, trace=trace))


def _called_exactly(name: str, trace: Trace) -> Step | None:
    """The step that goes by this name, letter, title or formula; None for none."""
    names = _names_of(trace)
    return names.written.get(name) or _in_words(name, names)


class _Names(NamedTuple):
    """What each step of a trace is called: as pages write it, and as people say its title."""

    written: dict[str, Step]
    said: dict[str, Step]


# A text of many lines asks for each whether it is the name of a step.
@lru_cache(2)
def _names_of(trace: Trace) -> _Names:
    """Where two steps could have one name, the first of these has it: a step with exactly this
    name, a step of the problem's own equations, and the one that has this letter in other problems.
    """
    steps = trace.steps
    written = dict(steps)
    own = [step for step in steps.values() if step.rule.own]
    for step in own:
        _add_spellings(written, step)
    for name, found in (*LATEX_NAMES.items(), *STEP_NAMES.items()):
        if found in steps:
            written.setdefault(name, steps[found])
    said: dict[str, Step] = {}
    for step in steps.values():
        _add_spellings(written, step)
        title = _in_small_letters(step.rule.title)
        said.setdefault(title, step)
    for name, step in steps.items():
        # Scaled is what a heading makes of scaled; a single letter is another one than its capital.
        if len(name) >= _SHORTEST_WORD:
            said.setdefault(_in_small_letters(name), step)
    return _Names(written, said)


def _add_spellings(written: dict[str, Step], step: Step) -> None:
    for name in _spellings(step.rule):
        written.setdefault(name, step)


def _in_words(name: str, names: _Names) -> Step | None:
    """The step that people call so: by the heading of our pages, or by the formula of the paper;
    None for none.
    """
    said = _in_small_letters(name)
    if said in names.said:
        return names.said[said]
    for sign, meant in _SPELLED_ALIKE.items():
        said = said.replace(sign, meant)
    called = next((step for form, step in _CALLED if form.fullmatch(said)), "")
    return names.written.get(called)


def _in_small_letters(name: str) -> str:
    """A name without blanks and layout."""
    plain = _SET_AS_WORDS.sub(r"\1", name)
    return _BLANKS.sub("", plain.lower())


def own_step_named(name: str, trace: Trace) -> Step | None:
    """The step of the problem's own equations, or its gradient, that pages call so; None where
    there is none.
    """
    for step in trace.steps.values():
        if step.rule.own and name in _spellings(step.rule):
            return step
    return None


def _spellings(rule: Rule) -> set[str]:
    """What pages call a step, be it of a problem's own equations, or a gradient of what these
    read.
    """
    return {rule.name, *spellings(rule.symbol)}


@lru_cache(MOST_SYMBOLS_KEPT)
def spellings(symbol: str) -> frozenset[str]:
    """How pages write a symbol, in any format."""
    names = (symbol, write(Name(symbol), LATEX), plain_name(symbol), unicode_name(symbol))
    return frozenset(names)


def in_shape_of(cells: NDArray[np.object_], target: tuple[int, ...]) -> NDArray[np.object_] | None:
    """The cells in the shape of a step, or None where they do not fit.

    They may differ in leading axes of length 1, and a vector may stand as a row or as a column.
    """
    shape = _without_leading_ones(cells.shape)
    fitting = [_without_leading_ones(target)]
    if len(target) == 1:
        column = (*target, 1)
        row = (1, *target)
        fitting += [column, row]
    if shape not in fitting:
        return None
    return cells.reshape(target)


def _without_leading_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    return shape


@dataclass(frozen=True, slots=True)
class StepPart:
    """What a matrix of an answer should be like: a whole step, or its part in one head or entry."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, step: Step, index: tuple[int, ...] = ()) -> StepPart:
        """The part of a step at these places on its first axes."""
        own = slice(len(index), None)
        return cls(step.name, step.shape[own], step.rule.axis_names[own], step.labels[own])

    def as_shown(self) -> StepPart:
        """As a page shows it: a number as a row of one, and what has several axes before its
        columns in rows of all.
        """
        if not self.shape:
            return replace(self, shape=(1,), axes=("number",), labels=(("",),))
        if len(self.shape) < 3:
            return self
        *before, columns = self.shape
        *labels_before, column_labels = self.labels
        return StepPart(
            self.name,
            shape=(math.prod(before), columns),
            axes=self.axes[-2:],
            labels=(tuple(map(" → ".join, product(*labels_before))), column_labels),
        )


def shape_error(other: OtherShape, part: StepPart) -> tuple[str, str]:
    """(message, help) for an answer of another shape than its part of a step."""
    axes = [_COUNTED.get(axis, axis) for axis in part.axes]
    if other.is_turned:
        rows, columns = axes[-2:]
        return (
            other.said,
            f"exchange rows and columns: one row for each {rows}, one column for each {columns}",
        )
    needed = listed([*map(_needed, part.shape, axes, part.labels)])
    return other.said, f"{part.name} needs {needed}; write _ for a number that is not there yet"


def _needed(size: int, axis: str, labels: tuple[str, ...]) -> str:
    """So many of an axis, and what they are called: 3 queries (I, love, AI)."""
    named = listed(labels, last="", most=_MOST_LABELS_NAMED)
    return f"{count(size, axis)} ({named})"


# What people call one place on an axis.
_COUNTED = {"kv_head": "head", "batch": "entry", "cached": "key", "new": "key"} | dict.fromkeys(
    ("model", "value", "joined", "output", "hidden"), "feature"
)
