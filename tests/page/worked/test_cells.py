"""Which cell of each row is worked out: varied ones, and one that the mask hides."""

from __future__ import annotations

import numpy as np

from attncli.page.document import plain_line
from attncli.page.printer import Printer
from attncli.page.worked.cells import worked
from attncli.problem.model import Problem
from attncli.problem.python_values import problem
from attncli.tracing import run
from attncli.tracing.model import Trace


def lines(trace: Trace, step: str) -> list[str]:
    found = worked(Printer(trace, 3), trace.steps[step], "rows").lines
    return [f"{line.label}: {plain_line(line)}" for line in found]


def test_columns_go_on_with_the_rows(love: Problem) -> None:
    trace = run(love)
    for step in ("Q", "K", "V", "output"):
        cells = [line.partition(":")[0] for line in lines(trace, step)]
        assert cells == ["I, d1", "love, d2", "AI, d3"]
    # By hand: row 2 of X is 0 1 0 1, and column 2 of W_Q is 0 1 0 1.
    assert lines(trace, "Q")[1] == "love, d2: 0·0 + 1·1 + 0·0 + 1·1 = 2"


def test_more_rows_than_columns_begin_again() -> None:
    trace = run(problem(Q=np.eye(3), K=np.eye(3), V=[[1, 2], [3, 4], [5, 6]]))
    cells = [line.partition(":")[0] for line in lines(trace, "output")]
    assert cells == ["t1, d1", "t2, d2", "t3, d1"]


def test_a_rotation_shows_a_second_pair() -> None:
    for pairing in ("half", "interleaved"):
        one = problem(
            Q=np.ones((3, 4)),
            K=np.ones((3, 4)),
            V=np.ones((3, 1)),
            position={"rope": {"theta": 100, "pairing": pairing}},
        )
        third = lines(run(one), "Q_rot")[2 if pairing == "interleaved" else 1]
        # The second pair turns by t / 100^(2/4) = t / 10.
        assert "cos(0.200)" in third or "cos(0.100)" in third


def test_one_hidden_key_is_worked_between_the_mask_and_the_weights() -> None:
    given = {name: [[1, 0], [0, 1], [1, 1]] for name in "QKV"}
    trace = run(problem(**given, mask="causal", scale="none"))
    # The scores of t1 are 1, 0, 1, and it sees only itself.
    assert lines(trace, "masked")[0] == "t1 → t2: 0 + (-∞) = -∞"
    assert lines(trace, "exp")[0] == "t1 → t2: e^(-∞) = 0"
    for step in ("masked", "exp"):
        assert len(lines(trace, step)) == 3
        assert sum("∞" in line for line in lines(trace, step)) == 1
    # What the query sees stands everywhere else.
    assert lines(trace, "weights")[0] == "t1 → t1: 2.718 / 2.718 = 1"


def test_without_a_hidden_key_it_is_the_one_that_is_seen_most() -> None:
    given = {name: [[1, 0], [0, 1]] for name in "QKV"}
    trace = run(problem(**given, mask={"keep": [[1, 1], [1, 1]]}, scale="none"))
    assert lines(trace, "masked") == ["t1 → t1: 1 + 0 = 1", "t2 → t2: 1 + 0 = 1"]


def test_each_head_has_a_hidden_key_of_its_own() -> None:
    given = {name: np.ones((2, 2, 1)) for name in "QKV"}
    trace = run(problem(**given, mask={"keep": [[[1, 0], [1, 1]], [[1, 1], [0, 1]]]}, scale="none"))
    hidden = [line for line in lines(trace, "masked") if "∞" in line]
    assert [line.partition(":")[0] for line in hidden] == ["head 0, t1 → t2", "head 1, t2 → t1"]
