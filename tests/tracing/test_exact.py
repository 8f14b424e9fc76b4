"""Exact traces: by hand in fractions, against mpmath to 50 digits, and against floats."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.equation.exact import ExactNumber, decimal_of, float_of, text_of
from attncli.errors import AttncliError
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.render import Style, render
from attncli.tracing import run
from attncli.tracing.model import Trace
from attncli.tracing.serialization import from_dict, to_dict

Build = Callable[..., Problem]
INPUTS = sorted((Path(__file__).parents[2] / "inputs").glob("*.[yj][as][mo][ln]*"))


def texts(trace: Trace, name: str) -> Any:
    exact = trace.steps[name].exact
    assert exact is not None
    return np.vectorize(text_of, otypes=[object])(exact).tolist()


def test_i_love_ai_in_closed_forms(love: Problem) -> None:
    """The scores 1 5 3 / 3 3 3 / 2 4 3 over the root of 3."""
    trace = run(love, rounding="exact")
    first = "e^(1/sqrt(3)) + e^(5/sqrt(3)) + e^sqrt(3)"
    last = "e^(2/sqrt(3)) + e^(4/sqrt(3)) + e^sqrt(3)"
    assert texts(trace, "scores") == [["1", "5", "3"], ["3", "3", "3"], ["2", "4", "3"]]
    assert texts(trace, "scaled")[0] == ["1/sqrt(3)", "5/sqrt(3)", "sqrt(3)"]
    assert texts(trace, "exp")[2] == ["e^(2/sqrt(3))", "e^(4/sqrt(3))", "e^sqrt(3)"]
    assert texts(trace, "row_sum") == [first, "3*e^sqrt(3)", last]
    assert texts(trace, "weights")[0] == [
        f"e^(1/sqrt(3))/({first})",
        f"e^(5/sqrt(3))/({first})",
        f"e^sqrt(3)/({first})",
    ]
    assert texts(trace, "weights")[1] == ["1/3"] * 3
    assert texts(trace, "output") == [
        ["1", f"(2*e^(5/sqrt(3)) + e^sqrt(3))/({first})", f"e^(1/sqrt(3))/({first})"],
        ["1", "1", "1/3"],
        ["1", f"(2*e^(4/sqrt(3)) + e^sqrt(3))/({last})", f"e^(2/sqrt(3))/({last})"],
    ]
    assert trace.settings.rounding == "exact"
    assert trace.steps["X"].exact is None


def test_i_love_ai_to_50_digits(love: Problem) -> None:
    trace = run(love, rounding="exact")
    with mpmath.workdps(70):
        scores = mpmath.matrix([[1, 5, 3], [3, 3, 3], [2, 4, 3]]) / mpmath.sqrt(3)
        powers = scores.apply(mpmath.exp)
        for i in range(3):
            for j in range(3):
                expected = powers[i, j] / mpmath.fsum(powers[i, :])
                found = decimal_of(trace.steps["weights"].exact[i, j])
                assert abs(found - Decimal(mpmath.nstr(expected, 60))) < Decimal("1e-50")


@pytest.mark.parametrize("base", [2, 3])
def test_all_is_rational_where_the_base_is_and_d_k_is_a_square(problem: Build, base: int) -> None:
    """Q = K = 2, d_k = 4: scores 16·q·k / 2, here with q·k = 1/4 each, so 2; and 1 for the other
    key.
    """
    rows = {
        "Q": [["1", "1", "1", "1"]],
        "K": [["1", "1", "1", "1"], ["1", "1", "0", "0"]],
        "V": [["3"], ["6"]],
    }
    trace = run(problem(**rows, exp_base=base), rounding="exact")
    assert trace.steps["exp"].exact.tolist() == [[Fraction(base**2), Fraction(base)]]
    total = base**2 + base
    assert trace.steps["weights"].exact.tolist() == [
        [Fraction(base**2, total), Fraction(base, total)]
    ]
    assert trace.steps["output"].exact.tolist() == [[Fraction(3 * base**2 + 6 * base, total)]]


def test_decimals_are_fractions_and_roots_are_roots(problem: Build) -> None:
    trace = run(
        problem(Q=[["0.1", "sqrt(2)"]], K=[["0.2", "-sqrt(2)/2"]], V=[["1/3"]]), rounding="exact"
    )
    assert texts(trace, "scores") == [["-49/50"]]
    assert texts(trace, "scaled") == [["-49/(50*sqrt(2))"]]
    assert texts(trace, "output") == [["1/3"]]
    assert trace.steps["K_T"].written.tolist() == [["0.2"], ["-sqrt(2)/2"]]


def test_masks_hide_and_rows_without_keys_are_0(problem: Build) -> None:
    parts = (
        Keep(np.array([[True, False], [False, False]])),
        Additive(Matrix(np.array([[0.25, 1], [0, -np.inf]]))),
    )
    trace = run(
        problem(Q=[["1"], ["1"]], K=[["1"], ["2"]], V=[["3"], ["5"]], mask=parts), rounding="exact"
    )
    assert texts(trace, "masked") == [["5/4", "-inf"], ["-inf", "-inf"]]
    assert texts(trace, "weights") == [["1", "0"], ["0", "0"]]
    assert texts(trace, "output") == [["3"], ["0"]]
    assert trace.fully_masked == (1,)


def test_a_number_for_minus_infinity_leaks_as_much_as_it_does(problem: Build) -> None:
    mask = (Additive(Matrix(np.array([[0, -1e9]]))),)
    trace = run(problem(Q=[["0"]], K=[["1"], ["1"]], V=[["0"], ["1"]], mask=mask), rounding="exact")
    assert texts(trace, "output") == [["e^(-1000000000)/(1 + e^(-1000000000))"]]
    assert trace["output"].tolist() == [[0]]


def test_softcap_sink_scale_and_alibi(problem: Build) -> None:
    trace = run(
        problem(
            Q=[["6"]],
            K=[["1"], ["2"]],
            V=[["1"], ["0"]],
            scale="1/3",
            softcap=4,
            sink="1/2",
            alibi=True,
            slope="1/4",
        ),
        rounding="exact",
    )
    assert texts(trace, "scaled") == [["2", "4"]]
    assert texts(trace, "capped") == [[None, None]]
    assert texts(trace, "row_sum") == [None]
    with mpmath.workdps(60):
        one, other = 4 * mpmath.tanh(mpmath.mpf(1) / 2), 4 * mpmath.tanh(1) - mpmath.mpf(1) / 4
        expected = mpmath.exp(one) + mpmath.exp(other) + mpmath.exp(mpmath.mpf(1) / 2)
        assert (
            abs(
                decimal_of(trace.steps["row_sum"].exact[0]) / Decimal(mpmath.nstr(expected, 58)) - 1
            )
            < 1e-46
        )


def test_a_rotation_depends_on_the_distance_alone(problem: Build) -> None:
    rows = [["3", "1"]] * 3
    trace = run(problem(Q=rows, K=rows, V=[["1"]] * 3, rope=(10000, "half")), rounding="exact")
    assert texts(trace, "scores") == [
        ["10", None, None],
        [None, None, None],
        [None, None, None],
    ]
    with mpmath.workdps(60):
        for i, j in np.ndindex(3, 3):
            expected = Decimal(mpmath.nstr(10 * mpmath.cos(i - j), 58))
            assert abs(decimal_of(trace.steps["scores"].exact[i, j]) / expected - 1) < 1e-46


def test_the_hidden_layer_of_the_additive_score(problem: Build) -> None:
    arrays = {
        "Q": [["1"]],
        "K": [["0"]],
        "V": [["1"]],
        "W_1": [["1", "2"]],
        "W_2": [["1", "1"]],
        "v": ["2", "1"],
    }
    trace = run(problem(**arrays, score="additive"), rounding="exact")
    with mpmath.workdps(60):
        expected = Decimal(mpmath.nstr(2 * mpmath.tanh(1) + mpmath.tanh(2), 58))
    assert abs(decimal_of(trace.steps["scores"].exact[0, 0]) / expected - 1) < 1e-46
    assert texts(trace, "weights") == [[None]]


def test_heads_that_are_mixed_keep_their_own_denominators(problem: Build) -> None:
    heads = {
        "Q": [[["1"]], [["2"]]],
        "K": [[["1"], ["0"]], [["1"], ["0"]]],
        "V": [[["1"], ["0"]]] * 2,
    }
    trace = run(problem(**heads, W_O=[["1"], ["1"]]), rounding="exact")
    assert texts(trace, "output") == [["e/(e + 1) + e^2/(e^2 + 1)"]]


def test_large_scores_are_shifted(problem: Build) -> None:
    trace = run(
        problem(Q=[["1000"], ["-1000"]], K=[["1"], ["2"]], V=[["1"], ["2"]]), rounding="exact"
    )
    assert texts(trace, "shifted") == [["-1000", "0"], ["0", "-1000"]]
    assert texts(trace, "weights")[0] == ["e^(-1000)/(e^(-1000) + 1)", "1/(e^(-1000) + 1)"]


whole = st.integers(-4, 4)


@given(data=st.data())
def test_floats_agree_on_small_problems(problem: Build, data: st.DataObject) -> None:
    n, d_model, d_k, d_v = (data.draw(st.integers(1, 3)) for _ in range(4))

    def rows(height: int, width: int) -> list[list[int]]:
        return data.draw(
            st.lists(
                st.lists(whole, min_size=width, max_size=width), min_size=height, max_size=height
            )
        )

    shapes = {
        "X": (n, d_model),
        "W_Q": (d_model, d_k),
        "W_K": (d_model, d_k),
        "W_V": (d_model, d_v),
    }
    one = problem(
        **{name: rows(*shape) for name, shape in shapes.items()},
        mask=data.draw(st.sampled_from([(), (Causal(),)])),
        exp_base=data.draw(st.sampled_from([None, 2, 3, "3/2"])),
        softcap=data.draw(st.sampled_from([None, 5])),
        sink=data.draw(st.sampled_from([None, 1])),
        scale=data.draw(st.sampled_from(["default", "none", "1/3", "sqrt(2)"])),
        alibi=data.draw(st.booleans()),
        rope=data.draw(st.sampled_from([None, (100, "half")])) if d_k == 2 else None,
    )
    agrees(run(one, rounding="exact"), run(one))


@pytest.mark.sampled(10)
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_floats_agree_on_every_example(path: Path) -> None:
    one = load(str(path))
    exact, floats = run(one, rounding="exact"), run(one)
    if path.name == "sentinel.yaml":  # of -1e9 and a score, floats lose digits of the score
        np.testing.assert_allclose(exact["weights"], floats["weights"], atol=1e-6)
    else:
        agrees(exact, floats)


def agrees(exact: Trace, floats: Trace) -> None:
    """Step for step to 12 digits, where floats hold the numbers at all."""
    assert list(exact) == list(floats)
    for name in floats:
        np.testing.assert_allclose(exact[name], floats[name], rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_closed_forms_survive_json(path: Path) -> None:
    trace = run(load(str(path)), rounding="exact")
    again = from_dict(to_dict(trace))
    for name, step in trace.steps.items():
        assert (step.exact is None) == step.rule.given
        if step.exact is not None:
            for one, other in zip(step.exact.flat, again.steps[name].exact.flat, strict=True):
                assert (
                    float_of(one) == float_of(other) if isinstance(one, Decimal) else one == other
                )


def test_exact_numbers_of_another_shape_are_no_trace(love: Problem) -> None:
    data = to_dict(run(love, rounding="exact"))
    data["steps"]["scores"]["exact"] = [["1"]]
    with pytest.raises(ValueError, match="its exact numbers have shape"):
        from_dict(data)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"Q": np.ones((33, 1)), "K": np.ones((33, 1)), "V": np.ones((33, 1))},
            "rounding 'exact' works out at most 1,024 numbers in a step, and scores has 1,089",
        ),
        (
            {
                "Q": np.ones((32, 32)),
                "K": np.ones((32, 32)),
                "V": np.ones((32, 1)),
                "W_a": np.ones((32, 32)),
                "score": "multiplicative",
            },
            (
                "rounding 'exact' works out at most 100,000 terms, and up to scores there are"
                " 1,049,600"
            ),
        ),
    ],
)
def test_what_is_too_much_is_refused(problem: Build, choices: dict[str, Any], message: str) -> None:
    with pytest.raises(AttncliError) as raised:
        run(problem(**choices), rounding="exact")
    assert raised.value.message == message
    assert raised.value.exit_code == 2
    assert raised.value.help.startswith("use --rounding shown, or a smaller problem")


def test_the_terms_of_all_steps_are_added_up(
    problem: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """8·8·4 for each of Q, K and V, 8·8 for the transposed K, and 8·8·8 for the scores."""
    monkeypatch.setattr("attncli.tracing.cell_workers.MOST_TERMS_OF_ALL_SUMS", 1_000)
    one = problem(X=np.ones((8, 4)), W_Q=np.ones((4, 8)), W_K=np.ones((4, 8)), W_V=np.ones((4, 8)))
    with pytest.raises(AttncliError, match="at most 1,000 terms, and up to scores there are 1,344"):
        run(one, rounding="exact")


@pytest.mark.parametrize(
    "choices",
    [
        {
            "Q": [["3000"]],
            "K": [["2"], ["1"]],
            "V": [["1"], ["1"]],
            "exp_base": "1000",
            "scale": "3",
        },
        {"Q": [["1"]], "K": [["1"]], "V": [["sqrt(1000036000099)"]]},
        {"Q": [["1", "2"]], "K": [["1", "3"]], "V": [["1"]], "exp_base": "sqrt(2)"},
        {"Q": [["1e-300"]], "K": [["1e-300"]], "V": [["1"]]},
    ],
    ids=["1000^-9000", "a root", "roots of roots", "digits"],
)
def test_what_has_no_closed_form_or_too_long_a_one_is_worked_in_decimals(
    problem: Build, choices: dict[str, Any]
) -> None:
    exact, floats = (
        run(problem(**choices), rounding="exact", gradient=True),
        run(problem(**choices), gradient=True),
    )
    assert any(
        isinstance(number, Decimal) for step in exact.computed() for number in step.exact.flat
    )
    agrees(exact, floats)


@pytest.mark.long
def test_a_step_of_very_many_characters_is_worked_in_decimals(problem: Build) -> None:
    values = np.array([[number % 6] for number in range(32)])
    # 1,024 weights such as e^10/(6 + 6·e^2 + … + 5·e^10)
    many = problem(Q=1 + values, K=values, V=values)
    exact = run(many, rounding="exact")
    assert isinstance(exact.steps["row_sum"].exact[0], ExactNumber)
    assert all(isinstance(number, Decimal) for number in exact.steps["weights"].exact.flat)
    agrees(exact, run(many))
    few = run(problem(Q=values[:6], K=values[:6], V=values[:6]), rounding="exact")
    assert not any(isinstance(number, Decimal) for number in few.steps["weights"].exact.flat)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tokens", "features", "numbers"),
    [
        (3, 30, [-3, -2, 0, 1, 3, 2, -1]),
        (20, 11, [0.25, -1.5, 2.125, 0.5, -0.875]),
        (4, 16, [0, 1, 1, 0, 0]),
        (32, 4, ["sqrt(2)", "1/3", "-2*sqrt(3)/5", 2]),
    ],
    ids=["features", "decimals", "zeros and ones", "roots"],
)
def test_no_page_of_closed_forms_takes_long(
    problem: Build, tokens: int, features: int, numbers: list[Any]
) -> None:
    def rows(count: int, start: int) -> list[list[str]]:
        cells = [
            str(numbers[(start + place * place) % len(numbers)])
            for place in range(count * features)
        ]
        return [cells[row * features : (row + 1) * features] for row in range(count)]

    weights = {name: rows(features, start) for start, name in enumerate(("W_Q", "W_K", "W_V"))}
    begin = process_time()
    trace = run(problem(X=rows(tokens, 5), **weights), rounding="exact", gradient=True)
    render(gradient_page(trace, View(detail="cells", precision=15)), "table", Style())
    assert process_time() - begin < 20  # half of it on a quiet machine


@pytest.mark.parametrize("choices", [{"dtype": "float32"}, {"device": "gpu"}])
def test_exact_numbers_have_no_format_and_no_gpu(love: Problem, choices: dict[str, str]) -> None:
    with pytest.raises(AttncliError) as raised:
        run(love, rounding="exact", **choices)
    assert raised.value.exit_code == 2
    assert raised.value.message.startswith("rounding 'exact' cannot be used with")
