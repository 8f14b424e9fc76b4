"""The file that a page saves: its text, with holes for what a reader can change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from attncli.attention.plan import Plan
from attncli.page.live.offered_settings import names_of_cells
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.axes import BATCH
from attncli.problem.parts.masks import MaskPart
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.keep_and_hide import Truths
from attncli.problem.parts.offset import Offset
from attncli.problem.parts.positions import Position
from attncli.problem.saving import as_yaml

# All numbers of an array, in the brackets of its rows.
_NUMBERS = re.compile(r"(\[+)⟨(\w+):\d+⟩(?:[\[\],\s]*⟨\2:\d+⟩)*\]+")
# A text of the problem has none of the signs of holes.
_OPENING, _ESCAPED = "⟨", r"\u27e8"


def yaml_of(plan: Plan) -> tuple[str, str]:
    """The file of a problem, with holes: ⟨X⟩ for all numbers of X, ⟨X:0⟩ for a single number,
    ⟨tokens⟩ for the lines of labels, ⟨heads⟩ for the number of heads. ⟨keep-1⟩ has an axis of 1 in
    the file as its axis 1.

    What settings change stands apart from the rest. Both are empty where there are so many numbers
    that they need a file of their own.
    """
    text, arrays = as_yaml(_with_names_of_cells(plan), "")
    if arrays:
        return "", ""
    rest = changed = ""
    for key in _with_holes(text, plan):
        if key.startswith(("mask:", "scale:")):
            changed += key
        else:
            rest += key
    return rest, changed


def _with_holes(text: str, plan: Plan) -> Iterator[str]:
    """The keys of a file, each with what stands under it."""

    def hole(found: re.Match[str]) -> str:
        _, name = found.groups()
        matrix = plan.parameters.get(name)
        # A mask of several entries that is alike for all heads.
        has_one = plan.leading_axes.get(name) == (BATCH,)
        if isinstance(matrix, Matrix) and matrix.ndim > 2 and has_one:
            return f"⟨{name}-1⟩"
        return f"⟨{name}⟩"

    for key in re.split(r"^(?=\w)", text, flags=re.MULTILINE):
        if key.startswith("tokens:"):
            yield "⟨tokens⟩"
        elif key.startswith(("heads:", "kv_heads:")):
            name, _, _ = key.partition(":")
            yield f"{name}: ⟨{name}⟩\n"
        elif key.startswith("title:"):
            yield key.replace(_OPENING, _ESCAPED)
        elif not key.startswith("context_tokens:"):
            yield _NUMBERS.sub(hole, key)


def joined_names(plan: Plan) -> list[str]:
    """The arrays whose heads stand side by side in a file."""
    named = _with_names_of_cells(plan)
    text, _ = as_yaml(named, "")
    found = []
    for brackets, name in _NUMBERS.findall(text):
        given = plan.given.get(name)
        if given is None:
            continue
        if len(brackets) < given.ndim:
            found.append(name)
    return found


def _with_names_of_cells(plan: Plan) -> Problem:
    """The problem with a name in the place of each number."""
    problem = plan.problem
    given: dict[str, Matrix] = {}
    # Those of equations of the problem's own come behind these.
    for kept, renamed in zip(problem.given, plan.given, strict=False):
        given[kept] = _with_names(problem.given[kept], renamed)
    system = problem.system
    if system is not None:
        own = [replace(each, matrix=_with_names(each.matrix, each.name)) for each in system.arrays]
        system = replace(system, arrays=tuple(own))
    parts = tuple(map(_part_with_names, problem.mask.parts))
    return replace(
        problem,
        given=given,
        system=system,
        mask=replace(problem.mask, parts=parts),
        positions=tuple(_position_with_names(each, given) for each in problem.positions),
    )


def _position_with_names(position: Position, given: dict[str, Matrix]) -> Position:
    """A position whose arrays are those that are given: a single number is none of these."""
    arrays = {name: given[name] for name in position.arrays if name in given}
    # Every position is a dataclass, which the base class cannot say.
    return replace(position, **arrays)  # type: ignore[type-var]


def _part_with_names(part: MaskPart) -> MaskPart:
    match part:
        case Truths():
            # That of a reader's own mask may have another name than its form.
            [name] = part.clause(Offset((0,)), "").parameters
            return replace(part, truths=_with_names(Matrix.of(part.matrix), name))
        case Additive():
            return replace(part, matrix=_with_names(part.matrix, part.name))
        case _:
            return part


def _with_names(matrix: Matrix, name: str) -> Matrix:
    return Matrix(matrix.value, names_of_cells(name, matrix.shape))
