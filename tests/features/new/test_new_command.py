"""`attncli new` writes problems: with blanks, which `compute` asks to be filled in, or with
numbers.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from attncli.problem.loader import loads


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["new", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_blanks_are_asked_for_in_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["new", "-o", "homework.yaml", "--tokens", "I love AI", "--d-model", "4", "--d-k", "3"]
    assert run(line) == 0
    text = (tmp_path / "homework.yaml").read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=problem.schema.json\n")
    assert "attncli compute homework.yaml\n" in text
    assert text.count("\n  - [_, _, _, _]") == 3  # X
    assert text.count("\n  - [_, _, _]") == 3 * 4  # W_Q, W_K and W_V
    assert run(["compute", "homework.yaml"]) == 3
    assert capsys.readouterr() == (
        "",
        (
            "attncli: error: homework.yaml:13:6: X[0][0]: 48 numbers are still to be written\n"
            "    - [_, _, _, _]  # I\n"
            "       ^\n"
            "help: write a number for each _: 12 in X, 12 in W_Q, 12 in W_K and 12 in W_V\n"
        ),
    )
    (tmp_path / "homework.yaml").write_text(
        text.replace("_,", "1,").replace("_]", "0.5]"), encoding="utf-8"
    )
    assert run(["compute", "homework.yaml"]) == 0


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("Q: [[1, _]]\nK: [[1, 2]]\nV: [[1]]", ["1:9: Q[0][1]: 1 number is still to be written"]),
        (
            "Q: [[1, 2]]\nK: [[1, ____]]\nV: [[_]]",
            ["2:9: K[0][1]: 2 numbers are still to be written"],
        ),
        (
            "Q: [[x, 1]]\nK: [[1, _]]\nV: [['_']]",
            [
                "1:6: Q[0][0]: x is not a number",
                "2:9: K[0][1]: 1 number is still to be",
                "3:6: V[0][0]: _ is not",
            ],
        ),
        ("Q: [[1]]\nK: [[1]]\nV: [[1]]\nscale: _", ["4:8: scale: 1 number is still to be written"]),
    ],
)
def test_a_blank_in_any_problem(
    text: str, errors: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text(text)
    assert run(["compute", "p.yaml"]) == 3
    found = re.findall(r"(?m)^attncli: error: p.yaml:(.*)$", capsys.readouterr().err)
    assert len(found) == len(errors)
    assert [one[: len(other)] for one, other in zip(found, errors, strict=True)] == errors


def test_numbers_are_small_and_whole_and_come_again_with_the_seed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = written(
        capsys, "--random", "--seed", "7", "--tokens", "a b", "--d-model", "3", "--d-k", "2"
    )
    assert written(capsys, "--seed", "7", "--tokens", "a b", "--d-model", "3", "--d-k", "2") == text
    assert (
        written(capsys, "--random")
        == written(capsys, "--seed", "0")
        != written(capsys, "--seed", "1")
    )
    given = loads(text.encode(), "p.yaml").given
    assert {name: given[name].shape for name in given} == {
        "X": (2, 3),
        "W_Q": (3, 2),
        "W_K": (3, 2),
        "W_V": (3, 2),
    }
    for matrix in given.values():
        assert {*matrix.value.ravel()} <= {-1, 0, 1}
        assert matrix.value.any(axis=1).all()


def test_heads_and_lengths(capsys: pytest.CaptureFixture[str]) -> None:
    text = written(capsys, "--random", "--heads", "2", "--d-model", "5", "--d-k", "3", "--d-v", "4")
    problem = loads(text.encode(), "p.yaml")
    rows = dict(re.findall(r"(?m)^(\w+):\n((?:  - .*\n)+)", text))
    shapes = {
        name: (block.count("- ["), block.split("\n")[0].count(",") + 1)
        for name, block in rows.items()
    }
    assert shapes == {"X": (3, 5), "W_Q": (5, 6), "W_K": (5, 6), "W_V": (5, 8), "W_O": (8, 5)}
    assert problem.given["W_Q"].shape == (2, 5, 3)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ("causal", "causal"),
        (" none\n", "none"),
        ("{window: [1, 0]}", "{window: [1, 0]}"),
        ("causal: true\ncorner: bottom-right", '{causal: true, corner: "bottom-right"}'),
        ("[causal, {padding: [1, 1, 0]}]", "[causal, {padding: [[true, true, false]]}]"),
        ("[[true, true], [true, false]]", "{keep: [[true, true], [true, false]]}"),
        ("{additive: [[1/3, 0.50], [-.inf, 0]]}", "{additive: [[1/3, 0.50], [-.inf, 0]]}"),
        ("|\n  0 1/2\n  -1 0\n", "{additive: [[0, 1/2], [-1, 0]]}"),
    ],
)
def test_a_mask_is_written_so_that_it_says_what_it_means(
    mask: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = "a b c" if "padding" in mask else "a b"
    found = written(capsys, "--random", "--tokens", tokens, "--mask", mask)
    assert found.endswith(f"\nmask: {text}\n")
    assert bool(loads(found.encode(), "p.yaml").mask.parts) is (text != "none")


def test_a_mask_in_a_file_is_written_with_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is found from the folder in which the command runs, and the problem may be in
    another.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    np.save("mask.npy", np.tri(2) > 0)
    line = [
        "new",
        "--random",
        "--tokens",
        "a b",
        "--mask",
        "{keep: {file: mask.npy}}",
        "-o",
        "there/p.yaml",
    ]
    assert run(line) == 0
    assert run(["compute", "there/p.yaml"]) == 0
    assert "mask: {keep: [[true, false], [true, true]]}" in Path("there/p.yaml").read_text()


@pytest.mark.parametrize(
    "tokens",
    [
        "I love AI",
        "2024 null true",
        'a: #b "c" [d] {e} -f &g *h !i %j @k `l',
        "日本 é 😀",
        "don't x-y",
        "\x1b \x7f",
    ],
)
def test_any_tokens_are_read_again(tokens: str, capsys: pytest.CaptureFixture[str]) -> None:
    problem = loads(written(capsys, "--random", "--tokens", tokens).encode(), "p.yaml")
    assert problem.tokens == tuple(tokens.split())
    assert problem.title == tokens


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tokens", " "], "--tokens is empty"),
        (["--tokens", "w " * 65], "--tokens has 65 tokens"),
        (["--tokens", "w" * 100_000], "--tokens: this label has 100,000 characters"),
        (["--d-k", "0"], "--d-k cannot be '0'"),
        (["--heads", "1000"], "--heads cannot be '1000'"),
        (
            ["--mask", "causl"],
            "--mask:1:1: mask: must be none, causal, a matrix or a form, not causl",
        ),
        (["--mask", "[[true]]"], "--mask:1:1: mask: is 1×1, but 3 queries and 3 keys need 3×3"),
        (["--mask", ""], "--mask is empty"),
        (["-o", "p.json"], "-o p.json: this command does not write .json files"),
        (["-o", "p.csv"], "-o p.csv: this command does not write .csv files"),
        (["-o", "there.yaml"], "-o there.yaml would replace a file that is there already"),
    ],
)
def test_what_is_wrong(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there.yaml").write_text("my own work")
    assert run(["new", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"attncli: error: {message}\n")
    assert "\nhelp: " in err
    assert [file.name for file in tmp_path.iterdir()] == ["there.yaml"]


@pytest.mark.parametrize("seed", range(4))
def test_random_numbers_share_the_attention_among_the_tokens(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = loads(
        written(capsys, "--seed", str(seed), "--tokens", "I love AI").encode(), "p.yaml"
    )
    assert attncli.trace(problem)["weights"].max() < 0.99


@pytest.mark.parametrize(
    "others",
    [
        [],
        ["--heads", "2", "--mask", "causal"],
        ["--tokens", "a b", "--d-model", "2", "--d-k", "4", "--d-v", "1", "--seed", "3"],
        ["--random", "--d-k", "1"],
    ],
)
def test_equations_compute_at_once(others: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    text = written(capsys, "--equations", *others)
    problem = loads(text.encode(), "p.yaml")
    trace = attncli.trace(problem)
    plain = attncli.trace(loads(written(capsys, "--random", *others).encode(), "p.yaml"))
    # The rest of the file is that without equations.
    np.testing.assert_array_equal(trace["Q"], plain["Q"])
    gain, temperature = trace["gain"], float(trace["temperature"])
    scores = trace["Q"] * gain @ trace["K"].swapaxes(-1, -2) / temperature
    np.testing.assert_allclose(trace["scores"], scores)
    left = 1 - trace["weights"].max(axis=-1)
    np.testing.assert_allclose(trace["attention_left"], left)


def test_the_comments_on_equations_are_true(capsys: pytest.CaptureFixture[str]) -> None:
    text = written(capsys, "--equations")
    for command in re.findall(r"listed by: attncli (.*)", text):
        assert run(command.split()) == 0
    # Its last comment says how to end the page with the new step.
    ended = text.replace("  # result: attention_left", "  #").replace(
        "equations:", "result: attention_left\nequations:"
    )
    assert attncli.trace(loads(ended.encode(), "p.yaml"), gradient=True)["d_gain"].any()
    for heads in ("1", "2"):
        text = written(capsys, "--equations", "--heads", heads)
        assert ("holds for each of the 2 heads" in text) == (heads == "2")


@pytest.mark.parametrize(("heads", "d_k", "d_v"), [(1, 3, 3), (2, 3, 1)])
def test_queries_keys_and_values_can_be_what_is_given(
    heads: int, d_k: int, d_v: int, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ["--heads", str(heads), "--d-k", str(d_k), "--d-v", str(d_v)]
    text = written(capsys, "--given", "qkv", "--tokens", "a b", *sizes)
    blanks = {
        name: count.strip()
        for name, count in re.findall(r"^(Q|K|V):\n((?:  -.*\n)+)", text, re.MULTILINE)
    }
    assert {name: rows.count("_") for name, rows in blanks.items()} == {
        "Q": 2 * heads * d_k,
        "K": 2 * heads * d_k,
        "V": 2 * heads * d_v,
    }
    assert "write Q: | and" in text
    trace = attncli.trace(
        loads(written(capsys, "--given", "qkv", "--random", *sizes).encode(), "p.yaml")
    )
    assert trace["Q"].shape[-1] == d_k
    assert trace["V"].shape[-1] == d_v
    assert "X" not in trace


def test_d_model_is_the_input_that_is_not_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "--given", "qkv", "--d-model", "3"]) == 2
    assert "--d-model cannot be used with --given qkv" in capsys.readouterr().err


def test_equations_can_read_given_queries(capsys: pytest.CaptureFixture[str]) -> None:
    text = written(capsys, "--given", "qkv", "--equations")
    assert "attention_left" in attncli.trace(loads(text.encode(), "p.yaml"))


def test_a_page_to_begin_with_has_five_problems_and_replaces_no_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert run(["new", "--tokens", "one two", "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert re.findall(r'data-start="(\w+)"', text) == ["qkv", "heads", "cross", "cache"]
    assert text.count('aria-current="page"') == 5
    assert text.count("one two: ") >= 5
    assert run(["new", "-o", str(page)]) == 2
    assert "there already" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--random", "--heads 2", "--given qkv", "--d-k 2"])
def test_a_page_to_begin_with_takes_the_words_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    page = tmp_path / "page.html"
    assert run(["new", *option.split(), "-o", str(page)]) == 2
    assert f"{option.split()[0]} is not for a page" in capsys.readouterr().err
    assert not page.exists()
