"""`attncli compare` from the command line: what is compared with what, exit codes, and every wrong
use.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import jsonschema
import numpy as np
import pytest

from attncli import load, trace
from attncli.cli.main import run
from attncli.features.schema.command import schemas
from attncli.tracing.head_layouts import OtherLayout

COMPARISON_SCHEMA = json.loads(schemas()["comparison"].read_text(encoding="utf-8"))

INPUTS = Path(__file__).parents[3] / "inputs"
LOVE, CAUSAL, NEXT = (
    str(INPUTS / f"{name}.yaml") for name in ("i_love_ai", "causal", "next_token")
)
NOTHING_IN_COMMON = "the two sides have no step in common"
Compared = Callable[..., dict[str, Any]]


@pytest.fixture
def compared(capsys: pytest.CaptureFixture[str]) -> Compared:
    """`compared(file, …, code=1)` is the comparison as data, which must end so."""

    def play(*arguments: str, code: int) -> dict[str, Any]:
        assert run(["compare", *arguments, "--format", "json"]) == code
        out, err = capsys.readouterr()
        assert err == ""
        data: dict[str, Any] = json.loads(out)
        jsonschema.validate(data, COMPARISON_SCHEMA, jsonschema.Draft7Validator)
        assert data["same"] is (code == 0)
        return data

    return play


def first(data: dict[str, Any]) -> str:
    return str(data["first_difference"]["step"])


def test_the_schema_knows_all_layouts() -> None:
    step = COMPARISON_SCHEMA["definitions"]["step"]
    assert step["properties"]["layout"]["enum"] == [None, *get_args(OtherLayout)]


def test_a_file_with_itself(compared: Compared) -> None:
    assert compared(LOVE, LOVE, code=0)["first_difference"] is None


def test_two_files(compared: Compared) -> None:
    data = compared(LOVE, CAUSAL, code=1)
    assert first(data) == "exp"
    assert data["settings"] == {"mask": {"a": [], "b": ["causal"]}}


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_file_that_is_one_array_is_the_output(
    suffix: str, compared: Compared, tmp_path: Path
) -> None:
    rows = trace(load(LOVE))["output"]
    right, wrong = (tmp_path / f"{name}{suffix}" for name in ("right", "wrong"))
    right.write_text(json.dumps(rows.tolist()), "utf-8")
    wrong.write_text(json.dumps((rows + 0.5).tolist()), "utf-8")
    data = compared(LOVE, str(right), code=0)
    assert data["b"]["kind"] == "dump"
    assert first(compared(LOVE, str(wrong), code=1)) == "output"
    assert first(compared(str(wrong), LOVE, code=1)) == "output"


@pytest.mark.sampled(4, "long")
@pytest.mark.parametrize(
    ("settings", "step"),
    [
        (["mask=causal"], "exp"),
        (["scale=none"], "exp"),
        (["scale=2"], "scaled"),
        (["score=dot"], "exp"),
        (["softcap=3"], "exp"),
        (["exp_base=2"], "exp"),
        (["mask={window: [1,0]}"], "exp"),
        (["X=[[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 1]]"], "X"),
        (["tokens=[a, b]", "X=[[1, 0, 1, 0], [0, 1, 0, 1]]"], "X"),
        (["rounding=paper"], "scaled"),
    ],
)
def test_a_change(settings: list[str], step: str, compared: Compared) -> None:
    options = [part for setting in settings for part in ("--set", setting)]
    assert first(compared(LOVE, *options, code=1)) == step


@pytest.mark.parametrize(
    "setting", ["title=another", "tokens=[a, b, c]", "dtype=float32", "mask=none", "device=cpu"]
)
def test_a_change_that_changes_nothing(setting: str, compared: Compared) -> None:
    compared(LOVE, "--set", setting, code=0)


def test_a_matrix_with_decimal_commas_as_it_is_copied(compared: Compared) -> None:
    """Columns apart by tabs, or by semicolons on several lines, leave the comma to decimals
    alone.
    """
    points = "W_Q=[[0.5, 1.5, 0], [0, 1, 0], [1, 0, 0], [0, 1, 2.5]]"
    for comma in ("0,5\t1,5\t0\n0\t1\t0\n1\t0\t0\n0\t1\t2,5", "0,5;1,5;0\n0;1;0\n1;0;0\n0;1;2,5"):
        found = compared(LOVE, "--set", f"W_Q={comma}", code=1)
        assert found["steps"] == compared(LOVE, "--set", points, code=1)["steps"]


def test_a_matrix_with_commas_of_two_readings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", LOVE, "--set", "W_Q=[[0,5, 1,5, 2,0]]"]) == 2
    assert "W_Q: 0,5 can be read as 0.5, or as the two numbers 0 and 5" in capsys.readouterr().err


def test_a_key_taken_away(compared: Compared) -> None:
    assert first(compared(CAUSAL, "--set", "mask=", code=1)) == "exp"


def test_a_change_of_both_files(compared: Compared) -> None:
    assert compared(CAUSAL, CAUSAL, "--set", "dtype=float16", code=0)["b"]["dtype"] == "float16"
    data = compared(CAUSAL, str(INPUTS / "i_love_ai.yaml"), "--set", "mask=none", code=0)
    assert data["settings"] == {}


def test_where_one_side_shifts_both_do(compared: Compared) -> None:
    data = compared(
        LOVE,
        "--set",
        "dtype=float16",
        "--set",
        "X=[[9, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]]",
        code=1,
    )
    assert data["steps"]["shifted"]["present"] == ["a", "b"]


def test_some_steps(compared: Compared) -> None:
    data = compared(LOVE, "--set", "mask=causal", "--steps", "A,scores", code=1)
    assert list(data["steps"]) == ["scores", "weights"]
    compared(LOVE, "--set", "mask=causal", "--steps", "scores", code=0)


def test_a_tolerance(compared: Compared) -> None:
    change = ["--set", "W_Q=[[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1.0001]]"]
    assert first(compared(LOVE, *change, code=1)) == "W_Q"
    assert compared(LOVE, *change, "--tolerance", "1e-3", code=0)["tolerance"] == 1e-3
    compared(LOVE, LOVE, "--tolerance", "0", code=0)


@pytest.mark.long
def test_a_step_of_decoding_is_the_last_row_of_the_whole(
    tmp_path: Path, compared: Compared
) -> None:
    cache = str(INPUTS / "kv_cache.yaml")
    data = compared(CAUSAL, cache, code=0)
    assert (data["a"]["rows"], data["b"]["rows"]) == ([2], None)
    assert data["steps"]["weights"]["where"]["labels"] == ["AI", "I"]
    assert compared(cache, CAUSAL, code=0)["b"]["rows"] == [2]
    path = str(tmp_path / "whole.json")
    assert run(["compute", CAUSAL, "-o", path]) == 0
    assert compared(cache, path, code=0)["b"]["rows"] == [2]
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(Path(cache).read_text("utf-8").replace("[2, 1, 1]", "[2, 1, 0]"), "utf-8")
    data = compared(CAUSAL, str(wrong), code=1)
    assert (first(data), data["steps"]["weights"]["differs"]) == ("K", True)
    compared(CAUSAL, cache, "--set", "tokens=", code=1)  # the keys have other labels then


def test_other_queries_of_the_same_keys_are_not_matched(compared: Compared) -> None:
    assert compared(CAUSAL, "--set", "tokens=[I, love, you]", code=0)["a"]["rows"] is None


# Dumps


def saved(path: Path, arrays: dict[str, np.ndarray]) -> str:
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        path.write_text(json.dumps({name: array.tolist() for name, array in arrays.items()}))
    return str(path)


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize("name", ["dump.npz", "dump.json"])
def test_a_dump(name: str, tmp_path: Path, compared: Compared) -> None:
    ours = trace(load(CAUSAL))
    arrays = {step: ours[step] for step in ("scores", "masked", "weights")}
    assert compared(CAUSAL, saved(tmp_path / name, arrays), code=0)["b"]["kind"] == "dump"
    arrays["masked"] = np.where(np.isinf(arrays["masked"]), np.nan, arrays["masked"])
    assert first(compared(CAUSAL, saved(tmp_path / name, arrays), code=1)) == "masked"


def test_a_dump_on_either_side(tmp_path: Path, compared: Compared) -> None:
    path = saved(tmp_path / "d.npz", {"weights": np.eye(3)})
    assert compared(path, LOVE, code=1)["a"]["kind"] == "dump"
    compared(path, path, code=0)


@pytest.mark.long
def test_a_trace_written_by_compute(tmp_path: Path, compared: Compared) -> None:
    path = str(tmp_path / "trace.json")
    assert run(["compute", CAUSAL, "-o", path]) == 0
    compared(CAUSAL, path, code=0)
    assert first(compared(path, LOVE, code=1)) == "exp"
    assert run(["compute", str(INPUTS / "large_scores.yaml"), "-o", path]) == 0
    compared(str(INPUTS / "large_scores.yaml"), path, code=0)


@pytest.mark.long
def test_a_dump_against_a_changed_problem(tmp_path: Path, compared: Compared) -> None:
    path = saved(tmp_path / "d.npz", {"weights": trace(load(CAUSAL))["weights"]})
    compared(LOVE, path, code=1)
    compared(LOVE, path, "--set", "mask=causal", code=0)


def test_a_dump_with_a_shifted_softmax(tmp_path: Path, compared: Compared) -> None:
    scaled = trace(load(LOVE))["scaled"]
    exp = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    compared(LOVE, saved(tmp_path / "d.npz", {"exp": exp, "row_sum": exp.sum(axis=1)}), code=0)


def test_its_own_dump_with_a_score_of_nan(tmp_path: Path, compared: Compared) -> None:
    """A key of ∞ and 1e200 gives 0·∞, which is NaN; the other score is 1, so nothing is shifted."""
    problem, dump = tmp_path / "p.yaml", tmp_path / "dump.json"
    problem.write_text("Q: [[0, 1]]\ncontext: [[1e200], [1]]\nW_K: [[1e200, 1]]\nV: [[1], [2]]\n")
    assert run(["compute", str(problem), "-o", str(dump), "--quiet"]) == 0
    compared(str(problem), str(dump), "--quiet", code=0)


def test_on_standard_input(monkeypatch: pytest.MonkeyPatch, compared: Compared) -> None:
    for text, code in (
        ('{"weights": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}', 1),
        (Path(LOVE).read_text("utf-8"), 0),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        compared(LOVE, "-", code=code)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_the_pieces_of_pytorch(torch: Any, dtype: str, tmp_path: Path, compared: Compared) -> None:
    problem = tmp_path / "p.yaml"
    problem.write_text(
        "Q: {random: [9, 16], seed: 1, low: -1}\nK: {random: [9, 16], seed: 2, low: -1}\n"
        "V: {random: [9, 16], seed: 3, low: -1}\nmask: causal\n"
    )
    given = load(problem).given
    q, k, v = (
        torch.tensor(given[name].value).to(getattr(torch, dtype))[None, None] for name in "QKV"
    )
    scores = q @ k.transpose(-1, -2)
    scaled = scores / 16**0.5
    hidden = torch.ones(9, 9, dtype=torch.bool).triu(1)
    masked = scaled.masked_fill(hidden, torch.finfo(scaled.dtype).min)
    weights = masked.softmax(dim=-1)
    output = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    steps = {
        "scores": scores,
        "scaled": scaled,
        "masked": masked,
        "weights": weights,
        "output": output,
    }
    as_numpy = {
        name: (step.float() if dtype == "bfloat16" else step).numpy()
        for name, step in steps.items()
    }
    path = saved(tmp_path / "torch.npz", as_numpy)
    data = compared(str(problem), path, "--set", f"dtype={dtype}", code=0)
    assert data["steps"]["masked"]["hidden_both_ways"] == 36
    if dtype == "float64":
        as_numpy["weights"] = (masked * 1.1).softmax(dim=-1).numpy()
        assert (
            first(compared(str(problem), saved(tmp_path / "wrong.npz", as_numpy), code=1))
            == "weights"
        )


# Pages


@pytest.mark.at_most(82)
@pytest.mark.sampled(5)
@pytest.mark.parametrize("format", ["table", "markdown", "latex", "html", "json"])
@pytest.mark.parametrize("file", sorted(INPUTS.glob("*.[jy]*")), ids=lambda path: path.name)
def test_every_input_in_every_format(
    file: Path, format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", str(file), "--set", "scale=3", "--format", format, "-q"]) == 1
    assert run(["compare", str(file), "--dtypes", "--format", format]) == 0
    assert "float16" in capsys.readouterr().out


FILES = sorted(INPUTS.glob("*.[jy]*"))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("one", range(len(FILES)), ids=[path.name for path in FILES])
def test_any_two_inputs(one: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Some pairs, a fifth of all, in one of their two orders, by turns, and each file beside
    itself.
    """
    for other, path in enumerate(FILES):
        if other == one or ((one + other) % 5 == 0 and (other > one) == ((one + other) % 2 == 0)):
            code = run(["compare", str(FILES[one]), str(path), "--detail", "cells", "-q"])
            assert code == 0 if other == one else code in (0, 1)
    assert capsys.readouterr().err == ""


def test_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", LOVE, "--set", "mask=causal", "-o", str(tmp_path / "page.md")]) == 1
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "page.md").read_text("utf-8").startswith("# I love AI: compared\n")


def test_warnings_say_whose_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    masked = str(INPUTS / "fully_masked.yaml")
    warning = 'attncli: warning: query "two" (row 1) sees no key: its weights and its output are 0'
    assert run(["compare", masked, "--set", "mask=none"]) == 1
    assert capsys.readouterr().err == f"{warning} (before the change)\n"
    assert run(["compare", masked, masked]) == 0
    assert capsys.readouterr().err == f"{warning}\n"
    assert run(["compare", masked, masked, "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_left_out_of_a_dump_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path / "d.npz", {"A": trace(load(LOVE))["weights"], "outputs": np.eye(3)})
    warning = (
        f"attncli: warning: {path}: not compared, because no step has this name: outputs (did you"
        " mean output?)\n"
    )
    assert run(["compare", LOVE, path]) == 0
    assert capsys.readouterr().err == warning
    assert run(["compare", LOVE, path, "-q"]) == 0
    assert capsys.readouterr().err == ""


# Wrong use

NUMBER = "give a number such as 1e-6"
BAD = [
    (
        [LOVE],
        f"there is nothing to compare {LOVE} with",
        "give a second file, or a change: --set mask=causal",
    ),
    ([LOVE, "--set", "skale=1"], "--set skale: there is no such key", "did you mean scale?"),
    ([LOVE, "--set", "mask"], "--set mask has no =", "write it as in --set mask=causal"),
    ([LOVE, LOVE, "--tolerance", "x"], "--tolerance x is not a number", NUMBER),
    (
        [LOVE, LOVE, "--tolerance", "-1"],
        "--tolerance cannot be '-1'",
        "give a number such as 1e-6, or 0",
    ),
    ([LOVE, LOVE, "--tolerance", "nan"], "--tolerance nan is not a number", NUMBER),
    ([LOVE, LOVE, "--steps", "wieghts"], "no step is called 'wieghts'", "did you mean weights?"),
    ([LOVE, LOVE, "--steps", "capped"], "this problem has no step capped", None),
    (
        [LOVE, CAUSAL, "--steps", "mask"],
        f"there is nothing to compare: {NOTHING_IN_COMMON}",
        "leave out --steps",
    ),
    ([LOVE, LOVE, "--dtypes"], "--dtypes cannot be used with FILE_B", None),
    ([LOVE, "--dtypes", "--steps", "weights"], "--dtypes cannot be used with --steps", None),
    (
        [LOVE, "--dtypes", "--set", "dtype=float16"],
        "--dtypes cannot be used with --set dtype",
        "leave out one of the two",
    ),
    (
        [LOVE, LOVE, "--detail", "rows", "--format", "json"],
        "--detail cannot be used with --format json",
        None,
    ),
    ([LOVE, LOVE, "--detail", "row"], "--detail cannot be 'row'", "did you mean rows?"),
    (["-", "-"], "standard input cannot be both files", "name a file for one of them"),
    ([LOVE, LOVE, "-o", ""], "-o needs the name of a file", None),
    ([LOVE, CAUSAL, "-o", CAUSAL], f"-o {CAUSAL}: this command does not write .yaml files", None),
    (
        [LOVE, CAUSAL, "-o", CAUSAL, "--format", "json"],
        f"-o {CAUSAL} would write over what is compared",
        None,
    ),
    (
        [LOVE, "--set", "rounding=paper", "--set", "dtype=float16"],
        "rounding 'paper' cannot be used with dtype 'float16'",
        None,
    ),
]


@pytest.mark.parametrize(("arguments", "message", "help"), BAD, ids=[line[1][:40] for line in BAD])
def test_wrong_use(
    arguments: list[str], message: str, help: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    said, helped = err.splitlines()
    assert said == f"attncli: error: {message}"
    assert help is None or helped == f"help: {help}"


def test_names_of_another_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = trace(load(LOVE))
    path = saved(tmp_path / "d.npz", {"attn_weights": ours["weights"], "mine": ours["output"]})
    assert run(["compare", LOVE, path, "--rename", "mine=O"]) == 0
    out, err = capsys.readouterr()
    assert "In theirs, attn_weights was read as weights and mine was read as output." in " ".join(
        out.split()
    )
    assert err == ""
    assert run(["compare", LOVE, path, "--rename", "mine=O", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["b"]["read_as"] == {
        "attn_weights": "weights",
        "mine": "output",
    }
    assert run(["compare", LOVE, path, "--rename", "min=output"]) == 2
    assert (
        capsys.readouterr().err
        == f"attncli: error: --rename min: {path} has no such name\nhelp: did you mean mine?\n"
    )
    assert run(["compare", LOVE, CAUSAL, "--rename", "mine=output"]) == 2
    assert (
        capsys.readouterr().err
        == "attncli: error: --rename is for the names in a dump, and there is none\nhelp: leave out"
        " --rename\n"
    )


def test_a_known_mistake_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exp = trace(load(LOVE))["exp"]
    path = saved(tmp_path / "d.npz", {"attn_weights": exp / exp.sum(axis=0)})
    assert run(["compare", LOVE, path]) == 1
    said = (
        "A known mistake gives all numbers of weights in theirs: the softmax was taken down the"
        " columns."
    )
    assert said in " ".join(capsys.readouterr().out.split())
    assert run(["compare", LOVE, "--set", "scale=none"]) == 1
    assert "mistake" not in capsys.readouterr().out  # a change that was asked for


def test_faults_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fault(*arguments: str) -> tuple[int, str]:
        code = run(["compare", *arguments])
        out, err = capsys.readouterr()
        assert out == ""
        return code, err

    (tmp_path / "mine.pt").write_bytes(b"\x80\x02.")
    code, err = fault(LOVE, str(tmp_path / "mine.pt"))
    assert (code, "may be a pickle" in err) == (3, True)
    dump = saved(tmp_path / "d.npz", {"capped": np.eye(3)})
    assert fault(LOVE, dump) == (
        3,
        (
            f"attncli: error: there is nothing to compare: {NOTHING_IN_COMMON}\nhelp: {dump} has"
            " only capped\n"
        ),
    )
    assert fault(dump, "--set", "mask=causal")[0] == 2
    assert fault(dump, dump, "--set", "mask=causal")[0] == 2
    assert fault(LOVE, str(tmp_path / "nowhere.yaml"))[0] == 4
    assert fault(LOVE, str(tmp_path / "nowhere.npz"))[0] == 4
    assert fault(LOVE, str(tmp_path))[0] == 4
    (tmp_path / "bad.json").write_text('{"wieghts": [[1]]}')
    assert fault(LOVE, str(tmp_path / "bad.json")) == (
        3,
        (
            f"attncli: error: {tmp_path / 'bad.json'}:1:2: no step is called wieghts\n"
            '  {"wieghts": [[1]]}\n   ^\nhelp: did you mean weights?\n'
        ),
    )
    code, err = fault(LOVE, "--set", "mask={keep: [[1, x]]}")
    assert code == 2
    assert err.startswith("attncli: error: --set mask:1:13: mask.keep[0][1]: ")


@pytest.mark.long
def test_gradients(compared: Compared) -> None:
    for name in ("next_token", "sink", "grouped_query", "bahdanau"):
        steps = compared(
            str(INPUTS / f"{name}.yaml"), "--gradient", "--set", "dtype=float32", code=0
        )["steps"]
        assert "d_Q" in steps
    found = compared(CAUSAL, "--gradient", "--set", "scale=none", "--steps", "dO,dS", code=1)
    assert found["first_difference"]["step"] == "d_scores"


def test_a_dump_of_gradients_asks_for_ours(compared: Compared, tmp_path: Path) -> None:
    """dV = Aᵀ dO, where dO is all ones: the sum of each column of weights, for every feature."""
    weights = trace(load(LOVE))["weights"]
    np.savez(tmp_path / "dump.npz", d_V=weights.T @ np.ones((3, 3)))
    steps = compared(LOVE, str(tmp_path / "dump.npz"), "--steps", "d_V", code=0)["steps"]
    assert list(steps) == ["d_V"]


@pytest.mark.parametrize(("file", "step"), [("next_token", "loss"), ("sink", "d_sink")])
def test_a_single_number_of_a_trace_is_read_back(
    file: str, step: str, tmp_path: Path, compared: Compared
) -> None:
    problem, path = str(INPUTS / f"{file}.yaml"), str(tmp_path / "trace.json")
    assert run(["gradient", problem, "-o", path]) == 0
    assert step in compared(problem, path, code=0)["steps"]


@pytest.mark.long
@pytest.mark.parametrize("name", ["dump.npz", "dump.json"])
def test_a_loss_in_a_dump_asks_for_ours(name: str, tmp_path: Path, compared: Compared) -> None:
    """Minus the logarithm of what the softmax of a row gives its class, and the mean of that."""
    output = trace(load(NEXT))["output"]
    right = output[[0, 1, 2], [1, 2, 3]]  # its targets
    row_loss = np.log(np.exp(output).sum(axis=1)) - right
    steps = compared(
        NEXT, saved(tmp_path / name, {"row_loss": row_loss, "loss": row_loss.mean()}), code=0
    )["steps"]
    assert [step for step in steps if len(steps[step]["present"]) == 2] == ["row_loss", "loss"]
    found = compared(NEXT, saved(tmp_path / name, {"loss": row_loss.sum()}), code=1)
    assert first(found) == "loss"
