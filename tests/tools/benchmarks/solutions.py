"""How `check` judges solutions that are right, and such with one digit altered.

    python tests/tools/benchmarks/solutions.py [PROBLEMS]

Problems of every kind are drawn, worked out as on paper with 2 to 6 decimals, and judged: none of
their numbers may be wrong. Then the leading digit of one number is altered in a solution with 6
decimals: it must be found there. The number of problems may be given; it is 1,000.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[3]))

from attncli.answers.reader import read_answers
from attncli.features.check.verdicts import Solution, judge_solution
from attncli.problem.loader import loads
from attncli.problem.text.source import decode
from attncli.tracing import run
from tests.conformance.drawn import problem_files

PROBLEMS, DECIMALS, LEAST = 1000, 6, 0.01

Answers = dict[str, Any]


def on_paper(problem: str, precision: int) -> Answers:
    """The steps of a solution, rounded one after the other, in all their decimals."""
    trace = run(loads(problem.encode(), "problem.json"), rounding="paper", precision=precision)
    text = np.vectorize(
        lambda written: (
            "-inf"
            if "Inf" in written
            else (
                written
                if "e" in written.lower()  # times a power of ten, with as many digits as are known
                else f"{Decimal(written):.{precision}f}"
            )
        ),
        otypes=[object],
    )
    return {step.name: text(step.written).tolist() for step in trace.computed()}


def solution(problem: str, answers: Answers) -> Solution:
    source = decode(json.dumps(answers).encode(), "answers.json", None)
    return judge_solution(
        loads(problem.encode(), "problem.json"), lambda trace: read_answers(source, trace)
    )


def altered(answers: Answers, choice: random.Random) -> tuple[Answers, str, tuple[int, ...]] | None:
    """The answers with another leading digit in one number, and where; None where all are nearly
    0.
    """
    places = [
        (name, index)
        for name, rows in answers.items()
        for index, text in np.ndenumerate(np.array(rows, dtype=object))
        if re.fullmatch(r"-?[\d.]+", text) and abs(float(text)) >= LEAST
    ]
    if not places:
        return None
    name, index = choice.choice(places)
    cells = np.array(answers[name], dtype=object)
    text = cells[index]
    at = re.search(r"[1-9]", text).start()  # type: ignore[union-attr]
    cells[index] = (
        text[:at]
        + choice.choice([digit for digit in "123456789" if digit != text[at]])
        + text[at + 1 :]
    )
    return {**answers, name: cells.tolist()}, name, index


def main() -> None:
    problems = int(sys.argv[1]) if len(sys.argv) > 1 else PROBLEMS
    counts = dict.fromkeys(("solutions", "cells", "called wrong", "digits altered", "found"), 0)
    choice, spent = random.Random(0), 0.0

    @settings(
        max_examples=problems,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(problem_files(), st.integers(2, 6))
    def judge_all(drawn: dict[str, Any], precision: int) -> None:
        nonlocal spent
        problem = json.dumps(drawn)
        answers = on_paper(problem, precision)
        start = time.perf_counter()
        verdicts = solution(problem, answers).verdicts
        spent += time.perf_counter() - start
        counts["solutions"] += 1
        counts["cells"] += sum(verdicts.counts.values())
        counts["called wrong"] += verdicts.counts["wrong"]
        if verdicts.first_wrong:
            print(f"called wrong: {verdicts.first_wrong} with {precision} decimals in {problem}")
        changed = altered(on_paper(problem, DECIMALS), choice)
        if changed is None:
            return
        answers, name, index = changed
        counts["digits altered"] += 1
        found = solution(problem, answers).verdicts.steps[name][index].verdict == "wrong"
        counts["found"] += found
        if not found:
            print(
                f"not found: {name}{list(index)} = {np.array(answers[name], dtype=object)[index]}"
                f" in {problem}"
            )

    judge_all()
    for name, number in counts.items():
        print(f"{name:15} {number:9,}")
    print(
        f"{1000 * spent / counts['solutions']:.0f} ms for a solution,"
        f" {1e6 * spent / counts['cells']:.0f} µs for a cell"
    )


if __name__ == "__main__":
    main()
