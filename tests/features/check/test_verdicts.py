"""Verdicts on printed solutions whose errors are known, on solutions rounded at every step, and on
single slips.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attncli
from attncli.answers.claims import read_claim
from attncli.answers.reader import read_answers
from attncli.features.check.reachability import Effort
from attncli.features.check.verdicts import (
    JudgedCell,
    Judgement,
    differs_as_written,
    judge,
    judge_answers,
    judge_with,
    rounds_to,
)
from attncli.page.printer import format_number
from attncli.problem.loader import load, loads
from attncli.problem.text.source import decode
from attncli.tracing import Trace, run
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[3] / "inputs"
PRINTED = """
X: [[1.0, 0.5, 0.2, 0.8], [0.3, 0.9, 0.1, 0.4], [0.7, 0.2, 0.6, 0.3]]
W_Q: [[0.5, 0.3], [0.2, 0.4], [0.1, 0.6], [0.7, 0.2]]
W_K: [[0.4, 0.1], [0.3, 0.5], [0.6, 0.2], [0.2, 0.4]]
W_V: [[0.6, 0.3], [0.2, 0.7], [0.4, 0.1], [0.3, 0.5]]
"""
ITS_ANSWERS = """
Q: [[1.07, 0.77], [0.47, 0.57], [0.61, 0.55]]
K: [[0.79, 0.79], [0.35, 0.51], [0.62, 0.41]]
V: [[1.09, 0.97], [0.44, 0.59], [0.71, 0.52]]
scores: [[1.45, 0.76, 1.09], [0.66, 0.46, 0.52], [0.92, 0.49, 0.61]]
scaled: [[1.03, 0.54, 0.77], [0.47, 0.33, 0.37], [0.65, 0.35, 0.43]]
weights: [[0.48, 0.25, 0.27], [0.35, 0.31, 0.34], [0.40, 0.29, 0.31]]
output: [[0.81, 0.78], [0.64, 0.65], [0.71, 0.68]]
"""


def traced(text: str, **choices: Any) -> Trace:
    return run(loads(text.encode(), "p.yaml"), **choices)


def judged(trace: Trace, answers: str) -> Judgement:
    return judge(trace, read_answers(decode(answers.encode(), "a.yaml", None), trace))


def where(verdicts: Judgement, step: str, *of: str) -> list[tuple[int, ...]]:
    return [
        index
        for index in np.ndindex(verdicts.steps[step].shape)
        if verdicts.steps[step][index].verdict in of
    ]


def test_doubles_that_a_program_printed_are_right() -> None:
    """2/3 and √3 as NumPy prints them end in other digits than the decimals that round to them."""
    trace = traced("Q: [[1, 'sqrt(3)']]\nK: [[1, 1], ['1/3', 0]]\nV: [['2/3'], [-1]]\nscale: none")
    answers = {name: step.value.tolist() for name, step in trace.steps.items()}
    assert "0.6666666666666666" in json.dumps(answers)
    verdicts = judged(trace, json.dumps(answers))
    assert all(cell.verdict == "right" for _, cell in verdicts.cells())
    assert where(judged(trace, '{"V": [[0.6666666666696666], [-1]]}'), "V", "wrong") == [(0, 0)]
    all_digits = Decimal(2 / 3)  # 0.66666666666666662965925…
    for written in (f"{2 / 3:.15g}", f"{2 / 3:.20f}", f"{all_digits}"):
        assert where(judged(trace, f'{{"V": [[{written}], [-1]]}}'), "V", "right") == [
            (0, 0),
            (1, 0),
        ]


def test_what_a_page_of_ours_prints_is_right() -> None:
    """21/√2 = 14.849242404917498 is 14.8492424049175 in 15 digits, …918 half up; tanh(40) is 1 in
    doubles.
    """
    trace = traced("Q: [[21, 0]]\nK: [[1, 0]]\nV: [[1]]\nsoftcap: 0.5")
    assert not where(
        judged(trace, '{"scaled": [[14.849242404918]]}'), "scaled", "wrong", "rounding"
    )
    assert where(judged(trace, '{"scaled": [[14.849242404916]]}'), "scaled", "wrong", "rounding")
    assert trace["capped"] == 0.5
    assert where(judged(trace, '{"capped": [[1]]}'), "capped", "right")
    assert where(judged(trace, '{"capped": [[0]]}'), "capped", "right")


def test_a_number_times_a_power_of_ten_is_right_with_the_digits_that_a_page_keeps() -> None:
    """3 · e^34.07 is 1.8773e15 to five digits, and a page goes on with no more; as a table of five
    decimals has it.
    """
    trace = traced(
        "Q: [[1, 0]]\nK: [[34.07, 0], [34.07, 1], [34.07, 2]]\nV: [[1], [1], [1]]\nscale: none"
    )
    printed = Decimal(f"{3 * math.exp(34.07):.4e}")
    for written in (f"{printed:.5f}", str(printed)):
        assert where(judged(trace, f'{{"row_sum": [{written}]}}'), "row_sum", "right")


def test_a_number_that_only_its_50th_digit_tells_from_a_tie_is_right() -> None:
    """The weights are 1/(1 + e^-115) and e^-115/(1 + e^-115): -5.5 + 6.5·1.1e-50 is nearer to -5
    than to -6.
    """
    trace = traced("Q: [[1]]\nK: [[0], [-115]]\nV: [[-5.5], [1]]\nscore: dot")
    for output, verdict in (("-5", "right"), ("-3", "wrong")):
        assert judged(trace, f"output: [[{output}]]").steps["output"][0, 0].verdict == verdict


def test_a_zero_is_wrong_where_terms_cancel_only_in_doubles() -> None:
    """1e20 + 1 - 1e20 is 1: whoever writes 0 has lost it, as doubles do."""
    trace = traced("Q: [[1e20, 1, -1e20]]\nK: [[1, 1, 1]]\nV: [[1]]\nscale: 1e30")
    assert trace["scores"] == 0
    for zero in ("0", "0.000", "0.000e+00"):
        assert where(
            judged(trace, f'{{"scores": [[{zero}]], "scaled": [[null]]}}'),
            "scores",
            "wrong",
            "rounding",
        )
    assert where(judged(trace, '{"scores": [[1]], "scaled": [[1e30]]}'), "scaled", "right")


def test_a_written_zero_is_no_printed_double() -> None:
    trace = traced("Q: [[1e15, 1], [1, 0]]\nK: [[1e15, 1], [0, 1]]\nV: [[1], [2]]")
    for zero in ("0", "0.0", "0.000000000000000", "0e-20"):
        assert (
            len(
                where(
                    judged(trace, f'{{"scores": [[{zero}, {zero}], [{zero}, null]]}}'),
                    "scores",
                    "wrong",
                )
            )
            == 3
        )


def test_a_number_just_below_a_tie_follows_as_it_stands() -> None:
    """5.55·1.21 = 6.7155, less 0.0000000000003."""
    trace = traced(
        "X: [[1]]\nQ: [[1]]\nK: [[1]]\nW_V: [[5]]\nW_O: [[1.21]]\nb_O: [-0.0000000000003]"
    )
    assert where(
        judged(trace, '{"heads_output": [["555/100"]], "output": [["6.715"]]}'), "output", "carried"
    ) == [(0, 0)]


def test_a_printed_double_may_be_what_is_left_where_larger_terms_cancel() -> None:
    trace = traced("Q: [[0.1, 0.2, -0.3], [1, 1, 1]]\nK: [[1, 1, 1], [1, 2, 3]]\nV: [[1], [2]]")
    verdicts = judged(trace, '{"scores": [[5.551115123125783e-17, -0.4], [3, 6]]}')
    assert not where(verdicts, "scores", "wrong", "rounding")


@pytest.mark.parametrize("file", ["i_love_ai", "causal", "decimal_weights"])
def test_float32_written_as_doubles_is_right(file: str) -> None:
    """What `tensor.tolist()` writes: 0.3333333432674408 is the float32 next to 1/3, and no double
    is there.
    """
    trace = run(loads((INPUTS / f"{file}.yaml").read_bytes(), file))
    q, k, v = (np.asarray(trace["X"] @ trace[f"W_{name}"], "float32") for name in "QKV")
    scaled = (q @ k.T) / np.sqrt(np.float32(k.shape[1]))
    hidden = np.float32(0) if "mask" not in trace else trace["mask"].astype("float32")
    exp = np.exp(scaled + hidden)
    weights = exp / exp.sum(axis=-1, keepdims=True)
    answers = {"weights": weights.tolist(), "output": (weights @ v).tolist()}
    assert not where(judged(trace, json.dumps(answers)), "weights", "wrong", "rounding")
    assert not where(judged(trace, json.dumps(answers)), "output", "wrong", "rounding")
    weights[-1, -1] *= np.float32(1.001)
    assert where(judged(trace, json.dumps({"weights": weights.tolist()})), "weights", "wrong") == [
        (len(weights) - 1, weights.shape[1] - 1)
    ]


def test_a_double_that_is_no_float32_has_the_room_of_doubles() -> None:
    trace = traced("Q: [[1, 0]]\nK: [[1, 0], [1, 0], [1, 0]]\nV: [[1], [2], [3]]")
    mixed = '{"weights": [[0.3333333432674408, 0.3333333333333333, 0.3333333333333333]]}'
    assert where(judged(trace, mixed), "weights", "wrong") == [(0, 0)]


@pytest.mark.parametrize(
    "quarter", ["0.250000000000000", "0.2500000000000000", "2.5000000000000000e-01"]
)
def test_zeros_at_the_end_of_a_double_make_no_float32(quarter: str) -> None:
    """1/4 is a number of float32 with any number of zeros; a step of such numbers has the room of
    doubles.
    """
    trace = traced("Q: [[0.000004]]\nK: [[1], [0], [0], [0]]\nV: [[1], [2], [3], [4]]")
    row = f"{quarter}, {quarter}, {quarter}"
    # The weights are 0.25000075 and 0.24999975, farther from a quarter than doubles are, and nearer
    # than float32.
    assert (
        len(
            where(
                judged(trace, f'{{"weights": [[{quarter}, {row}]]}}'),
                "weights",
                "wrong",
                "rounding",
            )
        )
        == 4
    )
    single = f'{{"weights": [[0.25000080466270447, {row}]]}}'
    assert not where(judged(trace, single), "weights", "wrong", "rounding")


# What NumPy comes to, as Python, a spreadsheet or `print(f"{x:.16f}")` shows it
PASTED = pytest.mark.parametrize(
    "form", ["{!r}", "{:.15g}", "{:.17g}", "{:.15f}", "{:.16f}", "{:.16e}"]
)
FILES = pytest.mark.parametrize(
    "file", ["i_love_ai", "causal", "decimal_weights", "random_4x8", "twelve_tokens"]
)


def in_numpy(trace: Trace, slip: float = 0.0) -> dict[str, list[Any]]:
    """The steps of a problem of one head in float64; a slip is added to one query."""
    q, k, v = (
        np.einsum("nd,dk->nk", trace["X"], trace[f"W_{name}"]) if "X" in trace else trace[name]
        for name in "QKV"
    )
    q = q.copy()
    q[2, 0] += slip
    scores = np.einsum("ik,jk->ij", q, k)
    masked = scaled = scores / np.sqrt(k.shape[1])
    if "mask" in trace:
        masked = np.where(trace["mask"] == 0, scaled, -np.inf)
    exp = np.exp(masked)
    weights = exp / exp.sum(axis=1, keepdims=True)
    found = {
        "Q": q,
        "K": k,
        "V": v,
        "scores": scores,
        "scaled": scaled,
        "exp": exp,
        "row_sum": exp.sum(axis=1),
    }
    return {
        name: array.tolist()
        for name, array in {**found, "weights": weights, "output": weights @ v}.items()
    }


def pasted(file: str, form: str, slip: float = 0.0) -> Judgement:
    def text(value: Any) -> Any:
        return [text(each) for each in value] if isinstance(value, list) else form.format(value)

    trace = run(load(str(INPUTS / f"{file}.yaml")))
    return judged(
        trace, json.dumps({name: text(rows) for name, rows in in_numpy(trace, slip).items()})
    )


@pytest.mark.each_choice
@PASTED
@FILES
def test_doubles_pasted_from_a_program_are_right(file: str, form: str) -> None:
    counts = pasted(file, form).counts
    assert counts["right"] == sum(counts.values())


@pytest.mark.each_choice
@PASTED
@FILES
def test_doubles_pasted_after_a_slip_are_carried(file: str, form: str) -> None:
    verdicts = pasted(file, form, slip=0.3)
    assert (verdicts.counts["wrong"], verdicts.counts["rounding"], verdicts.first_wrong) == (
        1,
        0,
        ("Q", (2, 0)),
    )
    assert (2, 1) in where(verdicts, "output", "carried")
    assert not verdicts.carried_by_rounding


CHANGED = [
    {("K", (1, 0)): "7.00"},
    {("scores", (0, 1)): None},
    {("exp", (2, 2)): "0.10", ("row_sum", (1,)): "0.00"},
    {("weights", (0, 0)): "0.5", ("output", (1, 1)): "3.00"},
]


@pytest.mark.parametrize("slip", [0.0, 0.25])
@pytest.mark.parametrize("changed", CHANGED, ids=["K", "a blank", "a sum of 0", "few decimals"])
def test_a_solution_with_other_numbers_is_judged_as_if_they_stood_there(
    changed: dict[tuple[str, tuple[int, ...]], str | None], slip: float
) -> None:
    """What comes before them is not judged again, and is the same."""
    before = pasted("i_love_ai", "{:.2f}", slip)
    claims = {cell: text and read_claim(text) for cell, text in changed.items()}
    found = judge_with(before, claims)
    anew = judge_answers(before.trace, before.answers.with_claims(claims))
    # NaN is not itself, and its text is.
    assert [*map(repr, found.cells())] == [*map(repr, anew.cells())]
    assert [*map(repr, found.cells())] != [*map(repr, before.cells())]


def test_digits_of_a_float32_are_claims() -> None:
    """2/3 in float32 is 0.6666667 and not 0.66666669, which is what 9 digits of it say."""
    trace = traced("Q: [[1]]\nK: [[1]]\nV: [['2/3']]")
    for written, verdict in (
        ("0.6666667", "right"),
        ("0.66666669", "wrong"),
        ("0.66666666666667", "right"),
    ):
        assert where(judged(trace, f'{{"V": [[{written}]]}}'), "V", verdict)
    assert where(judged(trace, '{"V": [[0.66666666666669]]}'), "V", "wrong")  # 14 digits


@pytest.fixture(scope="module")
def printed() -> Judgement:
    """A worked example as it is printed on the web: hardly a number in it is right."""
    return judged(traced(PRINTED), ITS_ANSWERS)


def test_projections_of_a_printed_example(printed: Judgement) -> None:
    """By hand: Q = [[1.18, 0.78], …]: 0.77 is off by one unit, but 0.78 needs no rounding; K[2][1]
    = 0.41 is right.
    """
    assert {step: len(where(printed, step, "wrong")) for step in "QKV"} == {"Q": 6, "K": 5, "V": 6}
    assert printed.first_wrong == ("Q", (0, 0))


def test_its_own_errors_are_told_from_those_that_follow(printed: Judgement) -> None:
    """By intervals: 1.07·0.62 + 0.77·0.41 lies in 0.963 … 0.996, 0.47·0.79 + 0.57·0.79 in 0.809 …
    0.835.
    """
    assert where(printed, "scores", "wrong") == [(0, 2), (1, 0)]
    assert where(printed, "scaled", "wrong", "rounding") == []
    assert {(0, 0), (0, 2)} <= {*where(printed, "weights", "wrong")}
    assert where(printed, "output", "wrong") == [(1, 0), (1, 1), (2, 0), (2, 1)]
    one = printed.steps["scores"][0, 2]
    assert one.expected == pytest.approx(0.78 * 0.76 + 0.78 * 0.41, abs=0.4)
    assert one.own == pytest.approx(1.07 * 0.62 + 0.77 * 0.41)


@in_one_test(
    ("answers", "step", "verdict"),
    [
        ("scores: [[0, 4]]", "scores", "wrong"),  # 3 is 3 in whole numbers, not nearly 4
        ("scores: [[0, 2.99]]", "scores", "wrong"),
        ("scaled: [[0, 2.12]]", "scaled", "right"),  # 3 / √2 = 2.1213
        ("scaled: [[0, 2.11]]", "scaled", "rounding"),
        ("scaled: [[0, 2.10]]", "scaled", "wrong"),
        ("scores: [[0, 4]]\nscaled: [[0, 2.84]]", "scaled", "rounding"),  # 4 / √2 = 2.8284
        # a copy rounds nothing
        ("K: [[0, 0], [2.5, 0.5]]\nK_T: [[0, 2.6], [0, 0.5]]", "K_T", "wrong"),
        ("K: [[0, 0], [2.55, 0.5]]\nK_T: [[0, 2.5], [0, 0.5]]", "K_T", "carried"),
        # of 2.55, rounded down to 2.6
        ("K: [[0, 0], [2.55, 0.5]]\nK_T: [[0, 2.7], [0, 0.5]]", "K_T", "rounding"),
    ],
)
def test_only_what_has_more_digits_is_off_by_rounding(
    answers: str, step: str, verdict: str
) -> None:
    trace = traced("Q: [[1, 1]]\nX: [[0], [1]]\nW_K: [[2, 1]]\nV: [[1], [2]]")
    assert judged(trace, answers).steps[step].flat[1].verdict == verdict


def test_blank_cells_are_missing(printed: Judgement) -> None:
    verdicts = judged(
        traced(PRINTED), "scores: [[1.2, null, null], [null, null, null], [null, null, null]]"
    )
    assert verdicts.counts["missing"] == 8


@pytest.mark.long
def test_a_step_that_was_left_blank_is_no_work() -> None:
    """Each of its cells, worked out from what was written, would take minutes and gigabytes."""
    numbers = "; ".join(
        f"{name}: {{random: [150, 2], seed: {seed}}}" for seed, name in enumerate("QKV")
    )
    trace = traced(numbers.replace("; ", "\n"))
    steps = ("scores", "scaled", "exp", "weights", "output")
    verdicts = judged(
        trace, json.dumps({name: np.full(trace[name].shape, None).tolist() for name in steps})
    )
    assert verdicts.counts["missing"] == 4 * 150 * 150 + 150 * 2
    assert verdicts.steps["output"][3, 1].expected == trace["output"][3, 1]


def test_steps_that_were_left_out_are_worked_out_from_what_was_written() -> None:
    """Only scores and weights: 2 / √1 … weights of scores 0 and ln 3 are 1/4 and 3/4, and follow
    from a wrong score.
    """
    trace = traced("Q: [[1]]\nK: [[0], [1]]\nV: [[1], [2]]\nscore: dot")
    verdicts = judged(
        trace, "scores: [[0, 2.000]]\nweights: [[0.1192, 0.8808]]\noutput: [[1.8808]]"
    )
    assert [cell.verdict for cell in verdicts.steps["scores"].flat] == ["right", "wrong"]
    assert [cell.verdict for cell in verdicts.steps["weights"].flat] == ["carried", "carried"]
    assert [cell.verdict for cell in verdicts.steps["output"].flat] == ["carried"]


def test_nothing_follows_from_a_sum_that_was_rounded_to_0() -> None:
    """2·e^-3 is 0.09957, and who divides by it has more of it than 0.0; what nothing is seen of is
    0 indeed.
    """
    trace = traced("Q: [[1]]\nK: [[-3], [-3]]\nV: [[1], [2]]\nscore: dot")
    weights = judged(trace, "row_sum: [0.0]\nweights: [[0.9, 0.5]]").steps["weights"]
    assert all(math.isnan(cell.own) for cell in weights.flat)
    assert (weights[0, 0].verdict, differs_as_written(weights[0, 0])) == ("carried", False)
    hidden = traced("Q: [[1]]\nK: [[-3], [-3]]\nV: [[1], [2]]\nscore: dot\nmask: [[false, false]]")
    assert [
        cell.own
        for cell in judged(hidden, "row_sum: [0.0]\nweights: [[0, 0.5]]").steps["weights"].flat
    ] == [0, 0]


def test_a_whole_number_that_was_rounded_is_taken_for_all_that_rounds_to_it() -> None:
    """2.5, written as 3, is anything from 2.5 to 3.5, so that e^2.7 = 14.9 may be its power; a 2
    that is 2 is not.
    """
    trace = traced("Q: [[5], [4]]\nK: [[1], [0]]\nV: [[1], [2]]\nscore: dot\nscale: 0.5")
    found = judged(trace, "scaled: [[3, 0], [2, 0]]\nexp: [[15, 1], [9, 1]]").steps["exp"]
    assert [[cell.verdict for cell in row] for row in found] == [
        ["carried", "right"],
        ["wrong", "right"],
    ]


@pytest.mark.parametrize(
    ("score", "scaled", "verdict"),
    [
        ("5", "3", "carried"),  # 2.5, rounded half up
        ("5", "2", "carried"),  # 2.5, rounded to even, as Python does
        ("4", "3", "wrong"),  # 2 is 2 in whole numbers
        ("4", "2.1", "wrong"),
        ("4.0", "2.1", "rounding"),  # of 3.95 to 4.05, so that it may have been 2.02
    ],
)
def test_numbers_that_were_not_rounded_lead_to_one_number_only(
    score: str, scaled: str, verdict: str
) -> None:
    """Scores are 0 and 1; their halves follow from what was written for the second."""
    trace = traced("Q: [[1]]\nK: [[0], [1]]\nV: [[1], [2]]\nscale: 0.5")
    found = judged(trace, f"scores: [[0, {score}]]\nscaled: [[0, {scaled}]]").steps["scaled"]
    assert found[0, 1].verdict == verdict


@pytest.mark.parametrize(("query", "verdict"), [("0.5", "wrong"), ("0.52", "carried")])
def test_a_number_that_was_just_copied_is_no_other(query: str, verdict: str) -> None:
    """0.5·3 = 1.5 and nothing else; but 0.52, copied as 0.5, was rounded: it may be 0.46, which
    makes 1.38.
    """
    trace = traced(f"Q: [[{query}]]\nK: [[3], [5]]\nV: [[1], [2]]\nscore: dot")
    assert (
        judged(trace, "Q: [[0.5]]\nscores: [[1.4, 2.5]]").steps["scores"][0, 0].verdict == verdict
    )


def test_a_whole_number_in_place_of_one_that_is_hidden_was_not_rounded() -> None:
    """e^5 = 148.4, and nobody has rounded -inf to 5."""
    trace = traced("Q: [[1], [1]]\nK: [[0], [1]]\nV: [[1], [2]]\nscore: dot\nmask: causal")
    for exp, verdict in (("148", "carried"), ("150", "wrong")):
        found = judged(trace, f"masked: [[0, 5], [0, 1]]\nexp: [[1, {exp}], [1, 2.718]]").steps[
            "exp"
        ]
        assert found[0, 1].verdict == verdict


def test_an_exact_number_is_held_to_what_a_double_tells() -> None:
    """100/3 - 101/3 is -1/3, of which doubles keep 14 digits; 0.50 beside them is rounded, but not
    the largest.
    """
    trace = traced("Q: [[1]]\nK: [[1], [2], [3]]\nV: [[1], [2], [3]]\nscore: dot", shifted=True)
    answers = "scores: [[100/3, 101/3, 0.50]]\nshifted: [[{}, 0, -33.17]]"
    for claim, verdict in (
        ("-1/3", "carried"),
        ("-1/4", "wrong"),
        ("-333333333/1000000000", "wrong"),
    ):
        assert judged(trace, answers.format(claim)).steps["shifted"][0, 0].verdict == verdict


def test_an_exact_number_that_nothing_leads_to_is_wrong() -> None:
    """Of a score of 2 at most 2.005, the weights are 0.1186 and more, never just a half."""
    trace = traced("Q: [[1]]\nK: [[0], [2]]\nV: [[1], [2]]\nscore: dot")
    found = judged(trace, 'scores: [["0", 2.00]]\nweights: [["1/2", "1/2"]]').steps["weights"]
    assert [cell.verdict for cell in found.flat] == ["wrong", "wrong"]


def test_heads_that_share_keys_are_judged() -> None:
    """Both heads of queries read the one key: 1 and 2 times 3; a whole number of the equation may
    be a position.
    """
    trace = traced("heads: 2\nkv_heads: 1\nQ: [[1, 2]]\nK: [[3]]\nV: [[4]]\nW_O: [[1], [1]]")
    verdicts = judged(trace, "scores: [[[3]], [[9]]]\nconcat: [[4, 4]]\noutput: [[8]]")
    assert [cell.verdict for _, cell in verdicts.cells()] == [
        "right",
        "wrong",
        "right",
        "right",
        "right",
    ]


@in_one_test(
    ("written", "true", "right"),
    [
        ("0.71", "0.705", True),
        ("0.70", "0.705", True),  # a half has two roundings
        ("0.70", "0.7050001", False),
        ("0.71", "0.7149999", True),
        ("0.71", "0.715", True),
        ("0.71", "0.7150001", False),
        ("-0.70", "-0.705", True),
        ("-0.71", "-0.705", True),
        ("0.7", "0.65", True),
        ("5", "4.5", True),
        ("1e1", "14.9", True),
        ("1e1", "15", True),
        ("1e1", "15.1", False),
        ("0/7", "0", True),
        ("0/7", "1e-45", True),
        ("0/7", "1e-30", False),
        ("700000/7", f"100000.{'0' * 36}1", True),
        ("700000/7", f"100000.{'0' * 30}1", False),
        ("7/10", "0.7", True),
        ("7/10", "0.7000000001", False),
        ("-inf", "-Infinity", True),
        ("0", "-Infinity", False),
    ],
)
def test_a_number_rounds_to_its_claim(written: str, true: str, right: bool) -> None:
    claim = read_claim(written)
    assert claim is not None
    assert rounds_to(Decimal(true), claim) is right


@pytest.mark.parametrize(
    ("scores", "weights", "apart"),
    [
        # of scores 0 and 2 the weights are 0.11920 and 0.88080
        ("[[0, 2.00]]", "[[0.1192, 0.8808]]", False),
        # of 0 and 2.003 the second is 0.88111, of 2.005 it is 0.88132
        ("[[0, 2.00]]", "[[0.119, 0.8812]]", True),
        ("[[0, 0]]", "[[1/2, 1/2]]", False),
        ("[[0, 1.0]]", "[[0.2689, 0.7311]]", False),  # right
    ],
)
def test_what_only_rounding_lets_be_carried(scores: str, weights: str, apart: bool) -> None:
    trace = traced("Q: [[1]]\nK: [[0], [1]]\nV: [[1], [2]]\nscore: dot")
    verdicts = judged(trace, f"scores: {scores}\nweights: {weights}")
    assert differs_as_written(verdicts.steps["weights"][0, 1]) is apart


@pytest.mark.parametrize(("away", "apart"), [(0, False), (1e-13, False), (1e-11, True)])
def test_an_exact_number_is_apart_from_all_but_what_rounding_makes_of_it(
    away: float, apart: bool
) -> None:
    """12 digits of doubles agree wherever the same is worked out in another order."""
    claim = read_claim("100000/3")
    assert claim is not None
    own = 100000 / 3 * (1 + away)
    assert differs_as_written(JudgedCell("carried", claim, 1.0, own)) is apart


def solution(trace: Trace, precision: int) -> dict[str, Any]:
    """Every computed step as it stands on the paper."""
    return {
        step.name: np.vectorize(lambda value: format_number(value, precision))(step.value).tolist()
        for step in trace.computed()
    }


def as_yaml(answers: dict[str, Any]) -> str:
    return "\n".join(f"{name}: {str(rows).replace(chr(39), '')}" for name, rows in answers.items())


@st.composite
def problems(draw: st.DrawFn) -> str:
    n, d = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    number = st.integers(-4, 4)
    matrices = {
        name: [[draw(number) for _ in range(columns)] for _ in range(rows)]
        for name, rows, columns in (("X", n, d), ("W_Q", d, 2), ("W_K", d, 2), ("W_V", d, 2))
    }
    mask = draw(st.sampled_from(["", "mask: causal\n"]))
    return mask + "".join(f"{name}: {rows}\n" for name, rows in matrices.items())


@settings.get_profile("few")
@given(problem=problems(), precision=st.integers(2, 6))
def test_a_solution_rounded_at_every_step_is_never_wrong(problem: str, precision: int) -> None:
    paper = traced(problem, rounding="paper", precision=precision)
    plain = traced(problem)
    if paper.shifted != plain.shifted:
        return
    verdicts = judged(plain, as_yaml(solution(paper, precision)))
    assert verdicts.counts["wrong"] == verdicts.counts["missing"] == 0


@settings.get_profile("few")
@given(problem=problems(), precision=st.integers(2, 6), data=st.data())
def test_a_digit_that_is_altered_is_always_found(
    problem: str, precision: int, data: st.DataObject
) -> None:
    """By more than the roundings of all numbers before it may come to, in a solution that is
    otherwise right.
    """
    trace = traced(problem)
    answers = solution(trace, precision)
    name = data.draw(st.sampled_from([name for name in answers if name not in ("mask", "masked")]))
    cells = np.array(answers[name], dtype=object)
    index = tuple(data.draw(st.integers(0, size - 1)) for size in cells.shape)
    value = Decimal(cells[index])
    off = (
        Decimal(data.draw(st.sampled_from([100, -100, 1000])))
        * Decimal(10) ** -precision
        * max(1, abs(value))
    )
    cells[index] = f"{value + off:.{precision}f}"
    verdicts = judged(trace, as_yaml({**answers, name: cells.tolist()}))
    assert verdicts.steps[name][index].verdict == "wrong"


def test_numbers_whose_sum_no_double_holds() -> None:
    trace = traced("Q: [[1]]\nK: [[1]]\nV: [[1.5e308]]")
    assert where(judged(trace, "output: [[1.5e308]]"), "output", "right")
    assert where(judged(trace, "output: [[-1.5e308]]"), "output", "wrong")


def test_all_cells_of_a_solution_share_what_is_spent_on_ranges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Coarse Q and K, and none of what comes between them and the output: each of its wrong numbers
    is in doubt. Two heads may not take twice the work of one.
    """
    efforts: list[Effort] = []

    def counted() -> Effort:
        efforts.append(Effort(2000))
        return efforts[-1]

    monkeypatch.setattr("attncli.features.check.verdicts.Effort", counted)
    trace = traced(f"{PRINTED}heads: 2\n")
    answers = {
        "Q": [[["1"], ["0"], ["1"]], [["1"], ["1"], ["1"]]],
        "K": [[["1"], ["0"], ["1"]], [["1"], ["1"], ["0"]]],
        "heads_output": [[["0.55"], ["0.55"], ["0.55"]], [["0.65"], ["0.60"], ["0.65"]]],
    }
    verdicts = judged(trace, json.dumps(answers))
    assert verdicts.counts["carried"]
    assert len(efforts) == 1
    assert 0 <= efforts[0].nodes < 2000


# The weights are 0.2689 and 0.7311, and the output is 2.689 - 14.622 = -11.932.
OF_TWO_KEYS = {"Q": [[1]], "K": [[0], [1]], "V": [[10], [-20]], "scale": "none"}


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        # 0.27·10 - 0.73·20
        ("-11.90", "carried"),
        # The least of these is 0.265·10 - 0.735·20, the largest 0.275·10 - 0.725·20.
        ("-11.99", "carried"),
        ("-11.70", "wrong"),
        # 0.27·10 - 0.37·20
        ("-4.70", "carried"),
    ],
)
def test_what_follows_from_the_right_number_is_carried_where_another_one_was_written(
    output: str, verdict: str
) -> None:
    found = attncli.check(OF_TWO_KEYS, {"weights": [["0.27", "0.37"]], "output": [[output]]})
    cells = found.solution.verdicts.steps["output"]
    assert cells[0, 0].verdict == verdict
    # It is none of those that rounding alone explains.
    assert not found.solution.verdicts.carried_by_rounding
