"""Every step is listed and explained, with each of its forms, in words that hold for the rules as
they are.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from attncli.attention.registry import FORWARD, GIVEN, RULES
from attncli.attention.steps import COMPUTED
from attncli.attention.variants import variants_of
from attncli.cli.main import run
from attncli.equation.notation import UNICODE
from attncli.equation.own_parser import read_equation
from attncli.errors import AttncliError
from attncli.features.steps import page
from attncli.features.steps.page import full_page, plain_page, rule_page
from attncli.page.document import Document, Formula, Listing, Paragraph, Table, formula, plain
from attncli.problem.parts.masks import forms
from attncli.render import FORMATS, Style, render
from tests.cases import in_one_test


def sentences(document: Document) -> list[str]:
    """The page's sentences and formulas, one by one."""
    lines = []
    for block in document.blocks:
        match block:
            case Paragraph(text=text):
                lines.append(plain(text))
            case Listing(items=items):
                lines += map(plain, items)
            case Formula(equation=equation):
                lines.append(formula(equation, UNICODE))
    return lines


def test_every_rule_says_when_it_is_there() -> None:
    assert [written.name for written in (*GIVEN, *COMPUTED) if not written.when] == []


INPUTS = Path(__file__).parents[3] / "inputs"
SENTENCE_ENDS = re.compile(r"[.!?](?= |$)")


def test_pages_give_a_reason_in_two_sentences_at_most() -> None:
    every = [rule for name, own in RULES.items() for rule in (own, *variants_of(name).values())]
    reasons = {each for rule in every for each in (rule.why, rule.through_why, rule.gradient_why)}
    assert len(reasons) > 20
    assert [reason for reason in reasons if len(SENTENCE_ENDS.findall(reason)) > 2] == []


def test_what_goes_beyond_stands_on_the_page_of_the_step_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    beyond = "If the terms are independent and each has variance 1, their sum has variance d_k."
    assert beyond in sentences(rule_page("scaled"))[0]
    assert run(["compute", str(INPUTS / "i_love_ai.yaml")]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "Without the division, if d_k is large" in page
    assert beyond not in page
    # A scale of one's own does not divide by the root.
    assert "variance" not in variants_of("scaled")["scale: a number"].more


def test_the_steps_of_a_plain_problem_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --all there are only the steps of a problem with X and its three projections, within
    80 columns.
    """
    (table,) = (block for block in plain_page().blocks if isinstance(block, Table))
    assert [(plain(name), plain(formula)) for name, formula, _ in table.rows] == [
        ("X", "given"),
        ("W_Q", "given"),
        ("W_K", "given"),
        ("W_V", "given"),
        ("Q", "Q = X W_Q"),
        ("K", "K = X W_K"),
        ("V", "V = X W_V"),
        ("K_T", "Kᵀ = transpose of K"),
        ("scores", "S = Q Kᵀ"),
        ("scaled", "Z = S / √d_k"),
        ("exp", "E = exp(Z)"),
        ("row_sum", "r = row sums of E"),
        ("weights", "A = softmax(Z)"),
        ("output", "O = A V"),
    ]
    assert run(["steps"]) == 0
    page = capsys.readouterr().out
    assert max(map(len, page.splitlines())) == 80
    assert "attncli steps --all lists all steps" in page
    assert "softcap" not in page
    for width in (20, 40, 60):
        assert (
            max(map(len, render(plain_page(), "table", Style(width=width)).splitlines())) <= width
        )
    narrow = render(plain_page(), "table", Style(width=40))  # too narrow for sentences in a column
    assert (
        "\n  step      scores\n  formula   S = Q Kᵀ\n  meaning   Row i, column j is the dot\n"
        in narrow
    )


def test_all_steps_fit_into_80_columns_of_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", "--all"]) == 0
    page = capsys.readouterr().out
    assert max(map(len, page.splitlines())) == 80
    assert [name for name in RULES if f"\n  {name} " not in page] == []


def test_programs_get_all_steps_with_and_without_all(capsys: pytest.CaptureFixture[str]) -> None:
    for options in (["steps"], ["steps", "--all"]):
        assert run([*options, "--format", "json"]) == 0
        assert list(json.loads(capsys.readouterr().out)["steps"]) == list(RULES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["scores"], "--all cannot be used with the step scores"),
        ([""], "--all cannot be used with the step ''"),
        (["--mistakes"], "--all cannot be used with --mistakes"),
    ],
)
def test_all_steps_or_one(
    capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert run(["steps", "--all", *options]) == 2
    assert capsys.readouterr().err.startswith(f"attncli: error: {message}\n")


def test_all_steps_in_the_order_of_work() -> None:
    given, forward, _, back = (block for block in full_page().blocks if isinstance(block, Table))
    rows = [[plain(cell) for cell in row] for row in (*given.rows, *forward.rows)]
    assert [row[0] for row in rows] == [
        "X",
        "context",
        "W_Q",
        "W_K",
        "W_V",
        "W_O",
        "b_Q",
        "b_K",
        "b_V",
        "b_O",
        "past_K",
        "past_V",
        "W_a",
        "W_1",
        "W_2",
        "v",
        "sink",
        "slopes",
        "Q",
        "new_K",
        "K",
        "new_V",
        "V",
        "PE",
        "X_pos",
        "base_frequencies",
        "ramp_low",
        "ramp_high",
        "ramp",
        "stretched_theta",
        "frequencies",
        "angles",
        "Q_angles",
        "K_angles",
        "attention_factor",
        "Q_rot",
        "K_rot",
        "K_T",
        "scores",
        "scaled",
        "capped",
        "bias",
        "mask",
        "masked",
        "row_max",
        "shifted",
        "exp",
        "row_sum",
        "weights",
        "heads_output",
        "concat",
        "output",
    ]
    by_name = {row[0]: row[1:] for row in rows}
    assert by_name["context"][0] == "C"
    assert by_name["K"] == ["K = X W_K", "K[j, k] = Σ_d X[j, d]·W_K[d, k]"]
    assert by_name["K_T"] == ["Kᵀ = transpose of K", "Kᵀ[k, j] = K[j, k]"]
    assert by_name["scores"] == ["S = Q Kᵀ", "S[i, j] = Σ_k Q[i, k]·Kᵀ[k, j]"]
    assert by_name["K_rot"][0] == "K_rot = K rotated by angles"
    assert by_name["bias"] == ["", "B[i, j] = -slopes·|i - j|"]
    assert by_name["concat"] == [
        "concat = the heads of H, side by side",
        "concat[i, e] = H[⌊e/d_v⌋, i, e mod d_v]",
    ]
    assert by_name["weights"] == ["A = softmax(Z)", "A[i, j] = E[i, j] / r[i]"]
    gradients = {plain(row[0]): plain(row[1]) for row in back.rows}
    assert gradients["d_output"] == "given"
    assert gradients["d_K"] == "dK = dSᵀ Q"
    assert gradients["d_masked"] == "dZ' = A ∘ (dA - δ)"


def test_one_step_in_full() -> None:
    page = rule_page("scaled")
    assert page.title == "scaled: Scaled scores"
    lines = sentences(page)
    assert lines[0].startswith(
        "Every score is divided by the square root of d_k, the number of features in a key."
        " Without the division"
    )
    assert lines[1:] == [
        "Z = S / √d_k",
        "Z[i, j] = S[i, j] / √d_k",
        "i: a query",
        "j: a key",
        (
            "A problem has it with score: scaled_dot, unless the problem has scale: none; with"
            " other scores, if it has a scale."
        ),
        "It is worked out from scores.",
        "As an equation of your own: scaled[i, j] = scores[i, j] / sqrt(d_k)",
        "scale: a number: Every score is multiplied by the scale that the problem gives.",
        "Z = scale·S",
        "Z[i, j] = S[i, j]·scale",
    ]


def test_a_given_step() -> None:
    assert sentences(rule_page("b_V")) == [
        "Added to every value.",
        "b_V[c]",
        "c: a feature of values",
        "A problem has it if the problem gives it, beside W_V.",
    ]


@pytest.mark.long
def test_no_step_has_names_of_our_own_equations(capsys: pytest.CaptureFixture[str]) -> None:
    """A reader would write these otherwise: a quotient, a sum, and the step that a name stands
    for.
    """
    ours = re.compile(r"\b(logits\[|source|share\(|add_mask|finite\(|Present:|Reads:)")
    for name in RULES:
        assert run(["steps", name]) == 0
        page = capsys.readouterr().out
        assert not ours.search(page), page
    assert run(["steps", "--all"]) == 0
    assert not ours.search(capsys.readouterr().out)


def test_what_stands_for_the_scores_so_far_is_said() -> None:
    lines = sentences(rule_page("exp"))
    assert "E = exp(Z)" in lines
    assert any(line.startswith("Z: the scores so far. With a softcap, a mask") for line in lines)
    assert "As an equation of your own: exp[i, j] = exp(scaled[i, j])" in lines


@in_one_test("name", FORWARD)
def test_the_equation_of_a_step_can_be_one_of_your_own(name: str) -> None:
    """It is one of the language, and the built-in step is its own replacement."""
    lines = sentences(rule_page(name))
    written = [line.partition(": ")[2] for line in lines if line.startswith("As an equation")]
    # Only a mask has a condition for which a letter stands.
    assert len(written) == (name != "mask" and not FORWARD[name].given)
    for each in written:
        assert read_equation(each).target.name == name


@in_one_test(
    ("name", "forms"),
    [
        ("Q", ["with b_Q", "given directly"]),
        ("V", ["with a context", "with b_V", "given directly", "with past"]),
        ("scores", ["score: multiplicative", "score: additive"]),
        ("exp", ["exp_base: a number"]),
        ("weights", ["exp_base: a number", "sink: a number, or one per head"]),
        ("concat", []),
        (
            "Q_rot",
            [
                "rope, with pairing: interleaved",
                "rope, with partial_rotary_factor",
                "rope, with attention_factor",
                "rope, with positions",
                "rope, with past",
            ],
        ),
        (
            "output",
            [
                "with W_O",
                "with W_O and several heads",
                "with W_O, b_O and several heads",
                "several heads without W_O",
            ],
        ),
    ],
)
def test_variants(name: str, forms: list[str]) -> None:
    assert list(variants_of(name)) == forms


def test_every_form_of_a_mask() -> None:
    assert {
        form.partition(" ")[2]: rule.source.partition(" = ")[2]
        for form, rule in variants_of("mask").items()
    } == {
        "causal": "where(j <= i, 0, -inf)",
        "{causal: true, corner: bottom-right}": "where(j <= i + offset, 0, -inf)",
        "{window: [left, right]}": "where(j >= i - left and j <= i + right, 0, -inf)",
        "{padding: [1, 1, 0]}": "where(exists[j] == 1, 0, -inf)",
        "{lengths: [2]}": "where(j < length, 0, -inf)",
        "{keep: …}, or a matrix of true and false": "where(keep[i, j] == 1, 0, -inf)",
        "{hide: …}": "where(hide[i, j] == 0, 0, -inf)",
        "{additive: …}, or a matrix of other numbers": "additive[i, j]",
        "{documents: [0, 0, 1]}": "where(document_q[i] == document_k[j], 0, -inf)",
        "{chunk: 2}": "where(i // chunk == j // chunk, 0, -inf)",
        "{first: 2}": "where(j < first, 0, -inf)",
        "{any: [causal, {first: 1}]}": "where(j <= i or j < first, 0, -inf)",
    }


@pytest.mark.each_choice
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("format", FORMATS)
def test_every_step_in_every_format(name: str, format: str) -> None:
    assert name.partition("_")[0] in render(rule_page(name), format)


def test_data() -> None:
    data = full_page().data()
    assert json.loads(json.dumps(data)) == data
    assert list(data["steps"]) == list(RULES)
    assert data["steps"]["scores"]["formula"] == "S = Q K^T"
    assert data["steps"]["K"]["variants"][0] == {
        "when": "with a context",
        "equation": "K[j, k] = sum(d, context[j, d] * W_K[d, k])",
        "formula": "K = C W_K",
        "inputs": ["context", "W_K"],
    }
    assert rule_page("exp").data()["steps"] == {"exp": data["steps"]["exp"]}


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("weigths", "did you mean weights?"),
        ("scaled_scores", "did you mean scaled?"),
        ("q", "did you mean Q?"),
        ("zzz", "attncli steps --all lists all steps"),
    ],
)
def test_an_unknown_step(name: str, help: str) -> None:
    with pytest.raises(AttncliError) as caught:
        rule_page(name)
    assert caught.value.exit_code == 2
    assert str(caught.value) == f"no step is called {name!r}"
    assert caught.value.help == help


def test_every_form_of_a_mask_is_a_variant() -> None:
    assert [name for name in forms() if f"{name}: " not in " ".join(variants_of("mask"))] == []


def test_every_gradient_has_an_equation_but_the_first() -> None:
    assert [name for name, rule in page.gradient_rules().items() if rule.given] == ["d_output"]


@pytest.mark.long
def test_a_gradient_that_no_example_has_is_listed_without_an_equation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So a new step is listed before there is an example of its gradient."""
    first, *_ = page._examples()
    examples = [{key: value for key, value in first.items() if key != "softcap"}]
    monkeypatch.setattr(page, "_examples", lambda: examples)
    monkeypatch.setattr(page, "gradient_rules", page.gradient_rules.__wrapped__)
    *_, back = (block for block in page.full_page().blocks if isinstance(block, Table))
    rows = {plain(row[0]): [plain(cell) for cell in row[1:]] for row in back.rows}
    assert rows["d_capped"] == ["", "dS_cap[i, j]"]
    assert rows["d_output"] == ["given", "dO[i, c]"]
    for format in FORMATS:
        assert "capped" in render(page.rule_page("d_capped"), format)
