"""What commands do with a problem that has equations of its own: they know its steps by name and by
letter, and step aside where they need those of attention.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from attncli.cli.main import run as run_command
from attncli.features.gradient.verification import verify_view
from attncli.mistakes.catalogue import applicable
from attncli.page.view import View
from attncli.problem.loader import loads
from attncli.tracing import run

GIVEN = """\
tokens: [I, love, AI]
X: [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]]
W_Q: [[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]]
W_K: [[0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]]
W_V: [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]
"""
LINEAR = f"""{GIVEN}
equations:
  - equation: "memory[k, c] = sum(j, K[j, k] * V[j, c])"
    symbol: M
  - "output[i, c] = sum(k, Q[i, k] * memory[k, c])"
"""
SCALED = f'{GIVEN}equations: ["scaled[i, j] = 3 * scores[i, j]"]\n'
WEIGHTS_ALONE = f"{GIVEN}result: weights\n"
ENTROPY = f"""{GIVEN}
equations: ["entropy[i] = -sum(j, weights[i, j] * log(weights[i, j]))"]
result: entropy
"""
PROBLEMS = {"linear": LINEAR, "scaled": SCALED, "weights": WEIGHTS_ALONE, "entropy": ENTROPY}


@pytest.fixture(params=PROBLEMS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "p.yaml"
    path.write_text(PROBLEMS[request.param])
    return str(path)


@pytest.mark.sampled(5)
@pytest.mark.each_choice
@pytest.mark.parametrize(
    "line",
    [
        "compute {} --format html",
        "compute {} --pictures --format html",
        "compute {} --query love",
        "compute {} --rounding exact",
        "gradient {} --step-size 0.1",
        "gradient {} --verify",
        "picture {} --of dimensions",
        "worksheet {}",
        "export {} --to moodle",
        "cost {}",
        "compare {} --set softcap=2",
        "generate --audit {}",
    ],
)
def test_no_command_ends_in_a_fault(
    line: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run_command(line.format(file).split())
    out, err = capsys.readouterr()
    # What only attention has is refused with an error that says so.
    assert code in (0, 1, 2), err
    assert out if code < 2 else "help: " in err


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("linear", "picture {} --of flow"),
        ("linear", "picture {} --of output"),
        ("linear", "picture {} --of softmax"),
        ("weights", "picture {} --of output"),
        ("scaled", "scaling {}"),
        ("scaled", "cost {} --n 100"),
    ],
)
def test_what_needs_attention_is_refused(
    name: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(PROBLEMS[name])
    assert run_command(line.format(path).split()) == 2
    assert "equations of its own" in capsys.readouterr().err


@pytest.mark.parametrize("of", ["memory", "M", "d_memory"])
def test_a_picture_of_a_step_by_name_or_letter(
    of: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(LINEAR)
    assert run_command(["picture", str(path), "--of", of]) == 0
    assert "<svg" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["memory", "M"])
def test_a_dump_of_other_software_by_name_or_letter(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, dump = tmp_path / "p.yaml", tmp_path / "dump.npz"
    path.write_text(LINEAR)
    given = loads(LINEAR.encode(), "p.yaml").given
    keys, values = (given["X"].value @ given[weights].value for weights in ("W_K", "W_V"))
    np.savez(dump, **{name: keys.T @ values})
    assert run_command(["compare", str(path), str(dump)]) == 0
    np.savez(dump, **{name: keys.T @ values + 1})
    assert run_command(["compare", str(path), str(dump), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))
    assert found["first_difference"]["step"] == "memory"


def test_no_mistake_of_ours_is_made_in_a_step_of_ones_own() -> None:
    trace = run(loads(SCALED.encode(), "p.yaml"))
    changed = {name for each, changes in applicable(trace) if not each.of_own for name in changes}
    assert "scaled" not in changed
    assert {"scores", "weights"} & changed
    own = {name for each, changes in applicable(trace) if each.of_own for name in changes}
    assert own == {"scaled"}


def test_a_question_asks_for_weights_and_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(LINEAR)
    assert run_command(["export", str(path), "--to", "moodle"]) == 0
    out = capsys.readouterr().out
    # There are no weights; the output has nine numbers.
    assert out.count("NUMERICAL") == 9


def test_a_step_down_the_gradient_changes_arrays_of_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.yaml"
    equations = 'arrays: {tau: 2}\nequations: ["output[i, c] = tau * V[i, c]"]\n'
    path.write_text(f"Q: [[1]]\nK: [[1]]\nV: [[3]]\n{equations}")
    line = ["gradient", str(path), "--step-size", "0.1", "--format", "json"]
    assert run_command(line) == 0
    after = json.loads(capsys.readouterr().out)["descent"]
    # dτ = 3 and dV = 2, so that the output is (2 - 0.3)·(3 - 0.2) = 4.76.
    assert after["loss"]["after"] == pytest.approx(4.76, abs=1e-12)


def test_a_step_that_nothing_reads_is_shown() -> None:
    text = f'{GIVEN}equations: ["peak[i] = max(j, weights[i, j])"]\n'
    trace = run(loads(text.encode(), "p.yaml"), gradient=True)
    np.testing.assert_array_equal(trace["peak"], trace["weights"].max(axis=1))
    assert "d_peak" not in trace


@pytest.mark.parametrize(
    "equations",
    [
        '["scaled[i, j] = where(j > 0, scores[i, j - 1], 2 * scores[i, j])"]',
        '["scaled[i, j] = scores[i, j] + where(j < 2, scores[i, j + 1], 0)"]',
        '["scaled[i, j] = scores[i, j] + where(j <= i, rel[i - j], 0)"]\n'
        'arrays: {"rel[r]": [1, 2, 3]}',
        '["scaled[i, j] = sum(t, where(t <= j, Q[i, 0] * K[t, 1], 0)) + K[0, 1] * Q[i, 1]"]',
        '["output[i, c] = K_T[0, 0] * V[i, c]", "K_T[k, j] = 2 * K[j, k]"]',
    ],
)
def test_gradients_through_places_that_are_chosen(equations: str) -> None:
    problem = loads(f"{GIVEN}equations: {equations}\n".encode(), "p.yaml")
    trace = run(problem, gradient=True)
    assert all(check.verdict == "agree" for check in verify_view(trace, View()))
