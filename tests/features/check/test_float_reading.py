"""What floats tell of a cell is what 50 digits say, or nothing: for every mistake, rounded on the
way and not.
"""

from __future__ import annotations

import json
from typing import cast

import numpy as np
import pytest

from attncli.answers.model import Answers, Claim
from attncli.answers.reader import read_answers
from attncli.features.check.cell_values import CellValues
from attncli.features.check.float_reading import FloatReading
from attncli.features.check.trials import (
    RoundedOnTheWay,
    Trials,
    WithinPrecision,
)
from attncli.features.check.verdicts import Judgement, judge, rounds_to
from attncli.problem.loader import loads
from attncli.problem.text.source import decode
from attncli.tracing import Trace, run
from tests.reference.mistaken import BACK, LAYER, MASKED, SHARED, TURNED
from tests.reference.on_paper import Needs, drawn_problem

NEEDS = [
    Needs(),
    *(Needs(**needs) for needs in (MASKED, LAYER, SHARED, TURNED, BACK)),
    Needs(softcap=True),
]


def problem_and_answers(seed: int) -> tuple[Trace, Answers]:
    """A drawn problem, and its last step answered with every second number off, with 2 to 5
    decimals, or all of them.

    Every third problem has large numbers, whose exponentials vanish or overflow.
    """
    random = np.random.default_rng(seed)
    drawn = drawn_problem(random, NEEDS[seed % len(NEEDS)])
    if seed % 3 == 0:
        large = {name: np.array(drawn[name]) * 40 for name in ("X", "Q") if name in drawn}
        drawn |= {name: array.tolist() for name, array in large.items()}
    trace = run(loads(json.dumps(drawn).encode(), "p.json"), gradient="d_output" in drawn)
    last = list(trace.steps)[-1]
    value = trace[last] + random.choice([0, 0.1, -1e-3], trace[last].shape)
    decimals = random.choice([2, 3, 5, 17])
    texts = {
        last: [
            [f"{number:.{decimals}f}" for number in row] for row in value.reshape(len(value), -1)
        ]
    }
    if value.ndim > 2:
        texts[last] = np.array(texts[last]).reshape(value.shape).tolist()
    return trace, read_answers(decode(json.dumps(texts).encode(), "answers.json"), trace)


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 14))]
)
def test_floats_say_what_decimals_say_or_nothing(seed: int) -> None:
    trace, answers = problem_and_answers(seed)
    judgement = judge(trace, answers)
    trials, decided = Trials(judgement), 0
    plain = [trials.within_precision, trials.rounded_on_the_way(2), trials.rounded_on_the_way(4)]
    for trial in trials.of_mistakes[:: 1 + seed % 3]:
        for reading in plain:
            by = trials.by(trial, reading)
            assert isinstance(by, WithinPrecision | RoundedOnTheWay)
            decided += compared(judgement, by)
    assert decided > 0


def compared(judgement: Judgement, by: WithinPrecision | RoundedOnTheWay) -> int:
    """In how many cells floats say anything; that is what decimals say."""
    decided = 0
    for name, answer in judgement.answers.steps.items():
        if judgement.trace.steps[name].rule.given:
            continue
        for index in list(np.ndindex(answer.cells.shape))[:3]:
            claim = cast("Claim", answer.cells[index])
            said = by.floats.gives(name, index, claim)
            if said is None:
                continue
            decided += 1
            exact = (
                by.values.true(name, index)
                if isinstance(by, WithinPrecision)
                else by._worked(name, index)
            )
            assert said is rounds_to(exact, claim), (name, index, claim, exact)
    return decided


def test_what_vanishes_in_floats_is_left_to_decimals() -> None:
    """The exponentials of -1000 and -1001 are 0 in doubles, and e times as large as each other in
    truth.
    """
    problem = loads(b"Q: [[1]]\nK: [[-1000], [-1001]]\nV: [[0], [1]]\nscale: none\n", "p.yaml")
    trace = run(problem, shifted=False)
    answers = read_answers(decode(b'{"output": [["0.2689"]]}', "a.json"), trace)
    claim = cast("Claim", answers.steps["output"].cells[0, 0])
    values = CellValues(trace, answers)
    assert FloatReading(values).gives("output", (0, 0), claim) is None
    assert rounds_to(values.true("output", (0, 0)), claim)
