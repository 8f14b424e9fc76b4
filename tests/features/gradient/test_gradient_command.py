"""`attncli gradient` as it is typed."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from attncli.features.gradient.page import verification_section
from attncli.features.gradient.verification import verify
from attncli.page.document import Document, Grid, Heading, Product
from attncli.page.gradient import gradient_page
from attncli.page.printer import printer_for
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.problem.matrix import Scalar
from attncli.render import Style, render
from attncli.tracing import run as run_trace
from attncli.tracing.serialization import from_dict, to_dict

TRACE_SCHEMA = json.loads(
    (Path(attncli.__file__).parent / "tracing/trace.schema.json").read_text(encoding="utf-8")
)
INPUTS = Path(__file__).parents[3] / "inputs"
LOVE = str(INPUTS / "i_love_ai.yaml")


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code, and what is written to standard output and standard error."""
    code = run(["gradient", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_page_goes_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    code, page, errors = answered(capsys, LOVE, "--forward")
    assert (code, errors) == (0, "")
    assert (
        page.index("The forward pass, in brief")
        < page.index("O = A V")
        < page.index("The backward pass\n━")
    )
    for formula in (
        "dA = dO Vᵀ",
        "dZ = A ∘ (dA - δ)",
        "J = diag(a) - a aᵀ",
        "dS = dZ / √d_k",
        "dQ = dS K",
        "dK = dSᵀ Q",
        "dV = Aᵀ dO",
        "dW_Q = Xᵀ dQ",
        "dX = dQ W_Qᵀ + dK W_Kᵀ + dV W_Vᵀ",
    ):
        assert formula in page
    assert "I, d1 through Q" in page


def matrices(file: str, view: View) -> list[str]:
    """The arrays that stand on a page of gradients as they are, in order, each with its place."""
    problem = load(str(INPUTS / file))
    page = gradient_page(run_trace(problem, gradient=True), view)
    found = []
    part = ""
    for block in page.blocks:
        match block:
            case Heading(part=True):
                part = block.text
            case Grid():
                found.append(f"{part}: {block.step}")
            case Product():
                found += [f"{part}: {each.step}" for each in block.matrices if not each.turned]
            case _:
                pass
    return found


def test_what_the_backward_pass_reads_stands_once_where_it_is_first_read() -> None:
    found = [each.rpartition(" ")[2] for each in matrices("i_love_ai.yaml", View())]
    # V before dA, its product with dO; K beside dS, whose product with it is dQ.
    assert found[:3] == ["d_output", "V", "d_output"]
    read = ["V", "weights", "K", "Q", "X", "W_Q", "W_K", "W_V"]
    assert [name for name in found if name in read] == read
    with_forward = [
        each.rpartition(": ") for each in matrices("i_love_ai.yaml", View(forward=True))
    ]
    again = [name for part, _, name in with_forward if "backward" in part and name in read]
    # In a product with it a matrix stands again, since all that is multiplied stands there.
    assert again == ["K", "Q"]


def test_what_heads_read_stands_once_in_each_head() -> None:
    found = matrices("grouped_query.yaml", View())
    of_weights = [each for each in found if each.endswith(": weights")]
    assert of_weights == [f"Head {head}: weights" for head in range(4)]
    # Two query heads share the values, which the first of them shows.
    of_values = [each for each in found if each.endswith(": V")]
    assert of_values == ["Head 0: V", "Head 2: V"]


@pytest.mark.parametrize("format", ["txt", "md", "tex"])
def test_every_head_shows_what_one_head_shows(tmp_path: Path, format: str) -> None:
    """Where the product of one head is too wide for the page, and that of the other one is not."""
    problem, page = tmp_path / "problem.yaml", tmp_path / f"page.{format}"
    problem.write_text(
        "X: [[-1, 0]]\n"
        "context: [[2, 3, 3, 0], [-1, -2, 2, -3], [1, 1, 0, -1]]\n"
        "W_Q: [[1/3, 1/3, 1/3, 1/3, 1, 2, 3, 4], [0, 0, 0, 0, 1, 2, 3, 4]]\n"
        "W_K: [[3, 2, 3, 3, 3000, -2.123, -3000, -1], [3, -2, 3, -1, 1, -3.123, -2, 1],"
        " [-1, 3, 3, -3, 2.123, 3, 0, 2], [-3, 1, -3, -2, 0, 3.123, -3, 3]]\n"
        "W_V: [[1, 0, 1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0, 1, 0],"
        " [1, 0, 1, 0, 1, 0, 1, 0]]\n"
        "heads: 2\n"
        "d_output: [[3, 0, 0, 3, 0, 3, -2, -1]]\n"
    )
    assert run(["gradient", str(problem), "-o", str(page)]) == 0
    assert run(["check", str(problem), str(page), "-q"]) == 0
    data = tmp_path / "check.json"
    assert run(["check", str(problem), str(page), "-o", str(data)]) == 0
    assert json.loads(data.read_text())["counts"]["missing"] == 0


def test_data(capsys: pytest.CaptureFixture[str]) -> None:
    code, page, _ = answered(capsys, LOVE, "--format", "json")
    steps = json.loads(page)["steps"]
    assert code == 0
    order = [
        "d_output",
        "d_weights",
        "d_scaled",
        "d_scores",
        "d_Q",
        "d_K",
        "d_V",
        "d_W_Q",
        "d_W_K",
        "d_W_V",
        "d_X",
    ]
    assert [name for name in steps if name.startswith("d_")] == order
    assert steps["d_V"]["equation"] == "d_V[j, c] = sum(i, weights[i, j] * d_output[i, c])"
    assert steps["d_V"]["formula"] == "dV = A^T dO"
    assert steps["d_Q"]["axes"] == ["query", "feature"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "file", ["grouped_query", "bahdanau", "sink", "gpt2_layer", "kv_cache", "batch"]
)
def test_data_is_a_trace_of_the_published_schema(
    capsys: pytest.CaptureFixture[str], file: str
) -> None:
    _, page, _ = answered(
        capsys, str(INPUTS / f"{file}.yaml"), "--format", "json", "--verify", "-q"
    )
    jsonschema.validate(json.loads(page), TRACE_SCHEMA)
    assert json.dumps(to_dict(from_dict(json.loads(page)))["steps"]) == json.dumps(
        json.loads(page)["steps"]
    )


def test_a_cell_of_the_softmax_comes_with_the_jacobian_of_its_row(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, page, _ = answered(capsys, LOVE, "--cell", "d_scaled[AI,love]")
    assert 'Look at one row, that of "AI"' in page
    assert "dZ[2, j] = Σ_l J[j, l]·dA[2, l]" in page


@pytest.mark.parametrize("name", ["d_Q", "dQ"])
def test_steps_by_name_or_letter(capsys: pytest.CaptureFixture[str], name: str) -> None:
    _, page, _ = answered(capsys, LOVE, "--steps", f"{name},scores")
    assert "Gradient of the queries" in page
    assert "Q Kᵀ" in page
    assert "Gradient of the keys" not in page


def test_a_step_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, errors = answered(capsys, LOVE, "--steps", "d_W_O")
    assert code == 2
    assert "this problem has no step d_W_O" in errors


@pytest.mark.at_most(82)
@pytest.mark.sampled(5)
@pytest.mark.parametrize("file", sorted(INPUTS.glob("*.yaml")), ids=lambda path: path.stem)
@pytest.mark.parametrize("format", ["table", "markdown", "latex", "html", "json"])
def test_every_example_in_every_format(
    capsys: pytest.CaptureFixture[str], file: Path, format: str
) -> None:
    code, page, _ = answered(capsys, str(file), "--format", format, "-q")
    assert code == 0
    assert "nan" not in page.lower()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("rounding", ["paper", "exact"])
@pytest.mark.parametrize(
    "file", ["i_love_ai", "base_two", "sink", "multi_head", "bahdanau", "rope"]
)
def test_other_roundings(capsys: pytest.CaptureFixture[str], file: str, rounding: str) -> None:
    code, page, _ = answered(capsys, str(INPUTS / f"{file}.yaml"), "--rounding", rounding)
    assert code == 0
    assert "The backward pass" in page


@pytest.mark.long
def test_heads_that_share_keys(capsys: pytest.CaptureFixture[str]) -> None:
    _, page, _ = answered(capsys, str(INPUTS / "grouped_query.yaml"), "--detail", "cells")
    assert (
        page.index("Before the heads")
        < page.index("KV head 0\n━")
        < page.rindex("All heads together")
    )
    assert "dV[j, c] = Σ_q Σ_i A[2 + q, i, j]·dH[2 + q, i, c]" in page
    assert "dogs, d1 through head 1" in page


def test_one_head(capsys: pytest.CaptureFixture[str]) -> None:
    _, page, _ = answered(capsys, str(INPUTS / "grouped_query.yaml"), "--head", "1")
    assert "Gradient of the queries" in page
    assert "Gradient of the keys" not in page


def test_a_gradient_of_another_shape_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("Q: [[1, 0]]\nK: [[1, 0]]\nV: [[1, 0, 2]]\nd_output: [[1, 1]]\n")
    code, _, errors = answered(capsys, str(file))
    assert code == 3
    assert "4:1: d_output: is 1×2, but the output is 1×3" in errors


def test_gradients_beside_finite_differences(capsys: pytest.CaptureFixture[str]) -> None:
    code, page, _ = answered(capsys, LOVE, "--verify")
    assert code == 0
    assert "All 10 gradients agree with their quotients." in page
    code, data, _ = answered(capsys, LOVE, "--verify", "--format", "json")
    assert json.loads(data)["verified"]["agrees"] is True


@pytest.mark.long
def test_what_agrees_has_no_error_that_says_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of scores in the hundreds some gradients are far smaller than their neighbours, and nothing
    but rounding.
    """
    numbers = "".join(
        f"W_{name}: {{random: [4, 3], seed: {11 + seed}, low: -1}}\n"
        for seed, name in enumerate("QKV")
    )
    (tmp_path / "p.yaml").write_text(
        f"X: {{random: [6, 4], seed: 1, low: -30, high: 30}}\n{numbers}mask: causal\n"
    )
    for file in (str(tmp_path / "p.yaml"), str(INPUTS / "sentinel.yaml")):
        code, page, _ = answered(capsys, file, "--verify")
        rows = page[page.index("rel. error") :].splitlines()[2:-2]
        errors = [
            float(row.split()[-1])
            for row in rows
            if row.startswith("  d") and not row.endswith("0             0")
        ]
        assert (code, max(errors) <= 1e-6, len(errors) > 5) == (0, True, True)


def test_cells_are_counted_with_their_thousands_parted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text(
        "\n".join(f"{name}: {{random: [40, 30], seed: {ord(name)}}}" for name in "QKV")
    )
    _, page, _ = answered(
        capsys, str(tmp_path / "p.yaml"), "--steps", "dV", "--verify", "--detail", "brief"
    )
    assert " 100 of 1,200 " in page


@pytest.mark.parametrize("option", [("--rounding", "paper"), ("--dtype", "float16")])
def test_finite_differences_need_all_digits(
    capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    code, _, errors = answered(capsys, LOVE, "--verify", *option)
    assert code == 2
    assert f"--verify cannot be used with {' '.join(option)}" in errors


def test_the_exit_code_says_that_they_disagree(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = (1.0, 2.0, "disagree")
    monkeypatch.setattr(
        "attncli.features.gradient.verification.compare", lambda *arguments, **settings: found
    )
    code, page, _ = answered(capsys, LOVE, "--verify")
    assert code == 1
    assert "Gradient and quotient disagree in" in page


def test_the_one_cell_that_is_asked_for_is_held(capsys: pytest.CaptureFixture[str]) -> None:
    code, page, _ = answered(capsys, LOVE, "--verify", "--cell", "dX[0,0]", "--format", "json")
    gradients = json.loads(page)["verified"]["gradients"]
    assert (code, list(gradients), gradients["d_X"]["where"], gradients["d_X"]["cells"]) == (
        0,
        ["d_X"],
        [0, 0],
        1,
    )
    heads = str(INPUTS / "grouped_query.yaml")
    _, page, _ = answered(
        capsys, heads, "--verify", "--head", "1", "--cell", "dQ[2,1]", "--format", "json"
    )
    assert json.loads(page)["verified"]["gradients"]["d_Q"]["where"] == [1, 2, 1]


def test_the_steps_that_are_asked_for_are_held_or_their_gradients(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for steps in ("d_X,dS", "X,scores"):
        _, page, _ = answered(capsys, LOVE, "--verify", "--steps", steps, "--format", "json")
        assert list(json.loads(page)["verified"]["gradients"]) == ["d_scores", "d_X"]
    code, _, errors = answered(capsys, LOVE, "--verify", "--steps", "dO")
    assert code == 2
    assert "--verify has no gradient to hold against differences in --steps dO" in errors


def test_every_cell_beside_its_difference(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--verify", "--steps", "dX", "--detail", "cells")
    page = answered(capsys, LOVE, *options)[1].partition("Check by finite differences")[2]
    assert (
        sum(line.startswith(("  I, d", "  love, d", "  AI, d")) for line in page.splitlines()) == 12
    )
    data = json.loads(answered(capsys, LOVE, *options, "--format", "json")[1])
    assert [cell["where"] for cell in data["verified"]["gradients"]["d_X"]["beside"]][-1] == [2, 3]


def test_what_rounding_leaves_is_shown_as_0(capsys: pytest.CaptureFixture[str]) -> None:
    page = answered(capsys, LOVE, "--verify")[1]
    assert "1e+0" not in page
    assert "e-17" not in page


@pytest.mark.parametrize("format", ["latex", "markdown"])
def test_numbers_beside_differences_are_typeset(
    capsys: pytest.CaptureFixture[str], format: str
) -> None:
    page = answered(capsys, LOVE, "--verify", "--steps", "dS", "--format", format)[1]
    assert r"6 \cdot 10^{-6} \cdot \max(1" in page
    assert "$-0.0286" in page.replace("`", "")
    assert "U+" not in page
    assert "&#" not in page.partition("Check by")[2]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("file", ["batch", "gpt2_layer", "twelve_tokens", "grouped_query"])
def test_differences_fit_on_a_terminal(file: str) -> None:
    problem = load(str(INPUTS / f"{file}.yaml"))
    trace = run_trace(problem, gradient=True)
    view = View(precision=8)
    beside = verification_section(
        printer_for(trace, view), tuple(verify(trace)), detail=view.detail, part=False
    )
    page = gradient_page(trace, view, tuple(beside))
    titles = [block.text if isinstance(block, Heading) else "" for block in page.blocks]
    text = render(
        Document("", page.blocks[titles.index("Check by finite differences") :]),
        "table",
        Style(width=80),
    )
    assert max(map(len, text.splitlines())) <= 80


def test_what_differences_cannot_tell_is_said(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "large.yaml"
    file.write_text("Q: [[1, 2]]\nK: [[1, 0], [0, 1]]\nV: [[1e200], [-1e200]]\n")
    assert run(["gradient", str(file), "--verify", "--step-size", "0.1"]) == 0
    page, errors = capfd.readouterr()
    assert "Finite differences cannot check d_V" in page
    beside = page.partition("Check by finite differences")[2].partition("One step of")[0]
    assert max(map(len, beside.splitlines()[1:-2])) <= 80
    assert "is too large for float64, so the step has no result" in " ".join(page.split())
    told = (
        "after the step, scores: 2 of 2 cells do not fit into float64 (the first at scores[t1,c1])"
    )
    assert errors == f"attncli: warning: {told}\n"


NEXT = str(INPUTS / "next_token.yaml")


def test_a_step_of_gradient_descent(capsys: pytest.CaptureFixture[str]) -> None:
    code, page, _ = answered(capsys, NEXT, "--step-size", "1/2", "--steps", "loss")
    assert code == 0
    assert "W'_O = W_O - 1/2·dW_O" in page
    code, data, _ = answered(capsys, NEXT, "--step-size", "0.5", "--format", "json")
    descent = json.loads(data)["descent"]
    assert (
        descent["loss"]["after"]
        < descent["loss"]["before"]
        == json.loads(data)["steps"]["loss"]["value"]
    )
    assert list(descent["arrays"]) == ["W_Q", "W_K", "W_V", "W_O"]


def test_a_step_too_far_is_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        "The loss has grown, so the step is too large."
        in answered(capsys, NEXT, "--step-size", "100")[1]
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--step-size", "0"), "--step-size cannot be '0'"),
        (("--step-size", "x"), "--step-size x is not a number"),
        (
            ("--step-size", "1", "--rounding", "paper"),
            "--step-size cannot be used with --rounding paper",
        ),
    ],
)
def test_a_size_that_is_none(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    code, _, errors = answered(capsys, NEXT, *options)
    assert code == 2
    assert message in errors


@pytest.mark.long
def test_a_step_beyond_all_numbers_is_a_page_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, page, _ = answered(capsys, NEXT, "--step-size", "1e308", "-q")
    assert code == 0
    assert "A loss or a gradient is too large" in page
    assert "-inf" not in page
    code, _, told = answered(capsys, NEXT, "--step-size", "1e305")
    assert (code, told.startswith("attncli: warning: after the step, scores: ")) == (0, True)
    code, data, _ = answered(capsys, NEXT, "--step-size", "1e308", "--format", "json", "-q")
    assert any(told.startswith("after the step, ") for told in json.loads(data)["warnings"])
    assert code == 0
    assert json.loads(data)["descent"]["loss"]["after"] in ("NaN", "Infinity")


@pytest.mark.parametrize("file", ["next_token", "sink", "i_love_ai"])
def test_bfloat16_rounds_single_numbers_too(capsys: pytest.CaptureFixture[str], file: str) -> None:
    """Of 16 bits, 7 are of the mantissa: every number of a step is one whose float32 ends in 16
    zeros.
    """
    path = str(INPUTS / f"{file}.yaml")
    code, data, _ = answered(capsys, path, "--dtype", "bfloat16", "--format", "json", "-q")
    assert code == 0
    for name, step in json.loads(data)["steps"].items():
        if "equation" in step and name not in ("mask", "masked"):
            bits = np.asarray(step["value"], dtype=np.float32).view(np.uint32)
            assert not (bits & 0xFFFF).any(), name


def test_on_paper_a_number_of_one_head_may_be_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The maximum is written with fewer digits than the sink: e to what is left does not fit, and
    0·∞ is no number.
    """
    heads = "".join(f"{name}: [[[1]], [[1]]]\n" for name in "QKV")
    (tmp_path / "p.yaml").write_text(heads + "sink: [6.620000000000001e+29, 1]\n")
    code, page, _ = answered(
        capsys, str(tmp_path / "p.yaml"), "--rounding", "paper", "--detail", "cells"
    )
    assert code == 0
    assert "-(0 / ∞·∞) ≈ nan" in page


@pytest.mark.parametrize("text", ["loss", "L", "loss[]"])
def test_a_single_number_is_a_cell(capsys: pytest.CaptureFixture[str], text: str) -> None:
    code, page, _ = answered(capsys, NEXT, "--cell", text)
    assert code == 0
    assert "    L   (1.006 + 1.391 + 1.831) / 3 ≈ 1.410\n" in page


def test_on_paper_a_single_number_is_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    _, page, _ = answered(capsys, NEXT, "--rounding", "paper", "--format", "json")
    jsonschema.validate(json.loads(page), TRACE_SCHEMA)


def test_the_jacobian_is_as_exact_as_the_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Two weights of 1/2; and 1/5, 2/5, 2/5 in some order, of powers of 2, whose ln has no closed
    form here.
    """
    (tmp_path / "p.yaml").write_text("Q: [[0]]\nK: [[1], [2]]\nV: [[1], [2]]\n")
    _, page, _ = answered(capsys, str(tmp_path / "p.yaml"), "--rounding", "exact", "--steps", "dZ")
    assert "c1, c1   1/2·(1 - 1/2) = 1/4 = 0.250" in page
    _, page, _ = answered(
        capsys, str(INPUTS / "base_two.yaml"), "--rounding", "exact", "--steps", "dS"
    )
    assert "a, a   ln(2)·(2/5·(1 - 2/5)) ≈ 0.166" in page


@pytest.mark.long
def test_the_jacobian_reads_no_numbers_but_its_own() -> None:
    """The gradient of a sink of one head, a number beside its steps, may be NaN."""
    trace = run_trace(load(LOVE), rounding="exact", gradient=True)
    other = replace(trace, parameters={**trace.parameters, "d_sink": Scalar(math.nan, "nan")})
    one, two = (render(gradient_page(each, View()), "table", Style()) for each in (trace, other))
    assert one == two


@pytest.mark.parametrize(
    ("file", "step", "words"),
    [
        ("i_love_ai", "dQ", "Each key is multiplied by the gradient of its score"),
        ("luong", "dQ", "Each key is multiplied by the score weights"),
        ("bahdanau", "dK", "a sum over all queries: the gradients of the hidden layer"),
        ("rope", "dQ", "rotated back by the same angles"),
        ("causal", "d_masked", "A hidden key has weight 0"),
        ("causal", "d_masked", "3 scores (2 of them hidden)"),
    ],
)
def test_words_are_those_of_the_way_the_gradient_takes(
    capsys: pytest.CaptureFixture[str], file: str, step: str, words: str
) -> None:
    cell = f"{step}[I,I]" if words.startswith("3 scores") else ""
    asked = ("--cell", cell) if cell else ("--steps", step)
    _, page, _ = answered(capsys, str(INPUTS / f"{file}.yaml"), *asked)
    assert words in " ".join(page.split())


def test_without_a_mask_no_key_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    assert "hidden" not in answered(capsys, LOVE)[1]


@pytest.mark.parametrize(
    ("line", "message", "help"),
    [
        (
            ["compute", NEXT, "--verify"],
            "there is no option --verify",
            "gradient has it; see attncli compute --help",
        ),
        (
            ["compute", NEXT, "--steps", "loss"],
            "loss is a step of the loss",
            "the problem must have a loss",
        ),
    ],
)
def test_what_gradient_alone_has(
    capsys: pytest.CaptureFixture[str], line: list[str], message: str, help: str
) -> None:
    assert run(line) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert help in errors


def test_classes_as_rows_of_0_and_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hot.yaml"
    path.write_text(
        "Q: [[1]]\nK: [[1]]\nV: [[1, 0]]\nloss: {kind: cross_entropy, targets: [[0, 1]]}\n"
    )
    code, _, errors = answered(capsys, str(path))
    assert code == 3
    assert "loss.targets: has a row for each row of the output, and not its class" in errors


@pytest.mark.parametrize("rounding", ["exact", "paper"])
def test_one_sink_of_several_heads(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, rounding: str
) -> None:
    """Its gradient has no axes at all, whether numbers are floats or objects."""
    path = tmp_path / "sink.yaml"
    path.write_text(
        "Q: [[[1]], [[2]]]\nK: [[[1]], [[0]]]\nV: [[[3]], [[1]]]\nsink: 1\n", encoding="utf-8"
    )
    code, page, errors = answered(capsys, str(path), "--rounding", rounding, "--precision", "6")
    assert (code, errors) == (0, "")
    assert "sinks" in page
    slope = -3 / 4 - np.e / (1 + np.e) ** 2  # of 3e / (e + e^sink) and 1 / (1 + e^sink)
    assert f"≈ {slope:.4f}" in page


def test_data_in_a_lower_format_tell_how_they_part_from_float64(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, page, _ = answered(capsys, LOVE, "--dtype", "float16", "--format", "json")
    assert code == 0
    assert json.loads(page)["parting"]["steps"]["weights"]["differs"] is True
