"""A scheme of marks, as marking.yaml has it: what each step is worth, and what mistakes cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from attncli.attention.registry import STEP_NAMES, step_meant
from attncli.dtypes import PRECISION
from attncli.english import listed
from attncli.errors import Place, input_error
from attncli.page.view import steps_back
from attncli.problem.text.nodes import Leaf, MappingNode, describe
from attncli.problem.text.numbers import as_exact
from attncli.problem.text.reading import Reading
from attncli.problem.text.source import Source
from attncli.problem.text.tree import read_tree
from attncli.problem.text.values import Value, read_integer, read_number, require_keys
from attncli.tracing.model import Trace

MOST_MARKS = 1000
# What to write for each key; those that may be left out come last.
_EXAMPLES = {
    "marks": "marks: 20",
    "steps": "steps: {scores: 8, weights: 6, output: 6}",
    "mistake": "mistake: 2",
    "decimals": "decimals: 2",
    "slip": "slip: 1",
    "digit": "digit: 0.5",
}
_NEEDED = ("marks", "steps", "mistake")
HELP_IF_EMPTY = f"write {_EXAMPLES['marks']}, and what each step is worth"


@dataclass(frozen=True, slots=True)
class Scheme:
    """How marks are given: `marks` for the whole, so many of them for each of the `steps`.

    A mistake takes off `mistake`, a single wrong number `slip`. `decimals` are asked of every
    number; None where the digits that are written say how precise it is. For each of them that is
    missing, a number loses the part `digit` of its share. `places` says where each step stands in
    the file.
    """

    marks: int
    steps: Mapping[str, Fraction]
    mistake: Fraction
    slip: Fraction
    decimals: int | None = None
    digit: Fraction = Fraction(1)
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def marks_gradients(self) -> bool:
        """Whether a step of the backward pass is marked, or of a loss."""
        return bool(steps_back([*self.steps]))

    @property
    def warnings(self) -> list[str]:
        """What is hardly meant so: a mistake that costs more than there is, and a slip that costs
        more than a mistake.
        """
        found = []
        mistake, slip = f"{float(self.mistake):g}", f"{float(self.slip):g}"
        if self.mistake > self.marks:
            found.append(f"a mistake costs {mistake}, more than all {self.marks} marks")
        if self.slip > self.mistake:
            found.append(f"a slip costs {slip}, more than a mistake, which costs {mistake}")
        return found

    def require_steps(self, trace: Trace) -> None:
        """Raises AttncliError (exit 3) for steps that a problem has not, or that it gives."""
        computed = [step.name for step in trace.computed()]
        lacking = [name for name in self.steps if name not in computed]
        errors = []
        for name in lacking:
            help = step_meant(name, computed, f"its steps are {listed(computed)}")
            what = f"this problem has no step {name}"
            if name in trace.steps:
                what = f"this problem gives {name}, so there is nothing to work out"
            place = self.places.get(name)
            errors.append(input_error(what, path="steps", place=place, help=help))
        if errors:
            first, *others = errors
            first.more = tuple(others)
            raise first


def read_scheme(source: Source) -> Scheme:
    """The scheme in a file; AttncliError (exit 3) for what is none, all errors at once.

    The steps may stand in any order, by their names or letters.
    """
    errors, root = read_tree(source, example=HELP_IF_EMPTY)
    reading = Reading(errors)
    if not isinstance(root, MappingNode):
        help = f"write one key in each line: {_EXAMPLES['marks']}"
        errors.fail(f"must be keys with values, not {describe(root)}", at=root.at, help=help)
    found = {key: Value(node, key, reading) for key, node in root.values.items()}
    marks = _whole(found.get("marks"), 1, MOST_MARKS)
    steps, places = _steps(found.get("steps"))
    if not errors.count and marks is not None and steps:
        _require_sum(found["steps"], steps, marks)
    whole = Value(root, "", reading)
    require_keys(whole, tuple(_EXAMPLES))
    for key in _NEEDED:
        if key not in root.values:
            message = f"the marking lacks the key {key}"
            errors.add(message, at=root.at, help=f"add {_EXAMPLES[key]}")
    mistake = _amount(found.get("mistake"))
    slip = _amount(found.get("slip"))
    decimals = _whole(found.get("decimals"), PRECISION[0], PRECISION[-1])
    digit = _part(found.get("digit"))
    errors.stop()
    assert marks is not None
    assert mistake is not None
    if slip is None:
        slip = mistake / 2
    return Scheme(marks, steps, mistake, slip, decimals, digit, places)


def _whole(value: Value | None, least: int, most: int) -> int | None:
    if value is None:
        return None
    help = f"write {_EXAMPLES[value.path]}"
    number = read_integer(value, least=least, help=help)
    is_too_large = number is not None and number > most
    if is_too_large:
        value.wrong(f"must be at most {most}, not {number}", help)
    return number


def _amount(value: Value | None) -> Fraction | None:
    """A number of marks, which is exact and not below 0; None after reporting anything else."""
    if value is None:
        return None
    before = value.errors.count
    number = read_number(value)
    if number is None or value.errors.count != before:
        return None
    exact = as_exact(value.text)
    if exact is None or not 0 <= exact <= MOST_MARKS:
        example = _EXAMPLES.get(value.path, f"{value.name}: 4")
        value.wrong(
            f"must be a number of marks from 0 to {MOST_MARKS}, not {value.text}",
            f"write {example}",
        )
        return None
    return exact


def _part(value: Value | None) -> Fraction:
    """The part of its share that a number loses for each decimal that is missing: all of it, if
    nothing else is said.
    """
    if value is None:
        return Fraction(1)
    part = _amount(value)
    if part is not None and part > 1:
        help = f"write {_EXAMPLES[value.path]}"
        value.wrong(f"must be a part of a share, from 0 to 1, not {value.text}", help)
    return Fraction(1) if part is None else part


def _steps(value: Value | None) -> tuple[dict[str, Fraction], dict[str, Place]]:
    """The marks of each step, and where it stands."""
    steps: dict[str, Fraction] = {}
    places: dict[str, Place] = {}
    if value is None:
        return steps, places
    if not isinstance(value.node, MappingNode) or not value.node.values:
        what = "a mapping without keys" if value.keys else describe(value.node)
        value.wrong(f"must say the marks of each step, not {what}", f"write {_EXAMPLES['steps']}")
        return steps, places
    for written, at in value.keys.items():
        name = STEP_NAMES.get(written, written)
        if name in steps:
            value.wrong(f"{name} is there twice", "write each step once", at=at)
        amount = _amount(value.key(written))
        steps[name] = Fraction(0) if amount is None else amount
        if value.errors.source.name:
            places[name] = value.errors.source.place(at)
    return steps, places


def _require_sum(value: Value, steps: Mapping[str, Fraction], marks: int) -> None:
    total = sum(steps.values(), Fraction(0))
    if total == marks:
        return
    written = " + ".join(
        value.key(key).text for key in value.keys if isinstance(value.key(key).node, Leaf)
    )
    sum_of_steps = float(total)
    help = f"write other marks here, or marks: {sum_of_steps:g}"
    value.wrong(f"{written} is {sum_of_steps:g}, but marks is {marks}", help)
