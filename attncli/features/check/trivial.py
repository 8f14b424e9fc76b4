"""A wrong answer from which all that comes after follows without any work: all cells of a step alike, such as zeros."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

from attncli.answers.model import Claim
from attncli.features.check.verdicts import Judged, Verdicts
from attncli.tracing.model import Trace

SMALL = 0.01  # what is less may be written as 0


@dataclass(frozen=True, slots=True)
class Trivial:
    """The step whose cells all say `claim`, how many there are, and how many cells are carried from it."""

    step: str
    claim: Claim
    cells: int
    carried: int


def trivial_answer(verdicts: Verdicts) -> Trivial | None:
    """The first step with one wrong number in all its cells and no error in all that follows from it."""
    for name, cells in verdicts.steps.items():
        judged: list[Judged] = [cast("Judged", cell) for cell in cells.flat]
        claims = [one.given for one in judged if one.given is not None]
        alike = len(claims) > 1 and len({claim.value for claim in claims}) == 1
        if not alike or not any(one.verdict == "wrong" for one in judged) or len({one.expected for one in judged}) == 1:
            continue
        after = following(verdicts.trace, name)
        later = [one.verdict for step, _, one in verdicts.cells() if step in after and one.verdict != "missing"]
        if "carried" in later and "wrong" not in later:
            return Trivial(name, claims[0], len(claims), later.count("carried"))
    return None


def coarse(verdicts: Verdicts) -> int:
    """How many cells claim so little that 0 would be right as well, though they are not nearly 0."""
    return sum(
        not judged.given.exact and judged.given.half >= abs(Decimal(repr(judged.expected))) > 0
        for _, _, judged in verdicts.cells()
        if judged.given is not None
        and judged.verdict in ("right", "carried")
        and math.isfinite(judged.expected)
        and abs(judged.expected) >= SMALL
    )


def following(trace: Trace, name: str) -> set[str]:
    """The steps that are worked out from this one, directly or by way of others."""
    found = {name}
    for step in trace.computed():
        if found.intersection(step.rule.inputs):
            found.add(step.name)
    return found - {name}
