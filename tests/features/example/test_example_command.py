"""`attncli example` lists what comes with the package, and prints it so that other commands can
read it.
"""

from __future__ import annotations

import io
import re
import sys
import tomllib
from pathlib import Path

import pytest

from attncli.cli.main import run
from attncli.features.example.collection import (
    about,
    find,
    problems,
    solutions,
    with_equations,
)

ROOT = Path(__file__).parents[3]
INPUTS = ROOT / "inputs"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_list_has_every_problem_and_solution_with_one_line_on_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["example"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    listed = dict(re.findall(r"^  (\S+)  +(\S.*)$", out, re.MULTILINE))
    files = [
        file for folder in ("", "equations", "answers") for file in (INPUTS / folder).glob("*.yaml")
    ]
    names = {str(file.relative_to(INPUTS).with_suffix("")) for file in files} | {"qkv_given.json"}
    assert names <= listed.keys()
    assert listed["causal"] == "I love AI, from left to right"
    assert listed["cross_attention"] == 'Translating "the black cat sleeps"'
    assert listed["equations/qk_norm"] == "Attention with normalised queries and keys"
    assert listed["answers/homework"] == "A student's solution of i_love_ai.yaml"
    assert listed["qkv_given.json"] == "The same in JSON"
    assert out.index("  i_love_ai ") < out.index("  additive_mask ")


@pytest.mark.parametrize("name", [*problems(), *with_equations(), *solutions()])
def test_every_example_is_printed_as_it_is_but_for_where_its_schema_lies(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["example", name]) == 0
    printed = capsys.readouterr().out.splitlines()
    written = find(name).read_text(encoding="utf-8").splitlines()
    assert about(find(name)) != ""
    assert printed[1:] == written[1:]
    if not name.endswith(".json"):
        schema = "answers" if name.startswith("answers/") else "problem"
        assert printed[0] == f"# yaml-language-server: $schema={schema}.schema.json"


def test_a_printed_problem_can_be_piped_into_compute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["example", "i_love_ai"])
    given = io.TextIOWrapper(io.BytesIO(capsys.readouterr().out.encode()))
    monkeypatch.setattr(sys, "stdin", given)
    assert run(["compute", "-", "--cell", "scores[I,love]"]) == 0
    assert "2·2 + 0·1 + 1·1 = 5" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["i_love_ai.yaml", "inputs/i_love_ai.yaml", "i_love_ai"])
def test_a_name_may_be_that_of_the_file(name: str) -> None:
    assert find(name).name == "i_love_ai.yaml"


@pytest.mark.parametrize(
    ("line", "message", "help"),
    [
        ("example i_love_al", "there is no example i_love_al", "did you mean i_love_ai?"),
        (
            "example qk_norm",
            "there is no example qk_norm",
            "did you mean equations/qk_norm?",
        ),
        ("example homework", "there is no example homework", "did you mean answers/homework?"),
        ("example zzz", "there is no example zzz", "attncli example lists the names"),
        (
            "example -o my.yaml",
            "-o my.yaml: which example?",
            "write attncli example i_love_ai -o my.yaml",
        ),
        (
            "example rope -o my.json",
            "-o my.json: this command does not write .json files",
            "end the name in .yaml",
        ),
        (
            "example rope -o my.csv",
            "-o my.csv: this command does not write .csv files",
            "end the name in .yaml",
        ),
        (
            "example qkv_given.json -o m.csv",
            "-o m.csv: this command does not write .csv files",
            "end the name in .json",
        ),
        (
            "example rope -o .",
            "cannot write .: it is a folder",
            "write to another place with -o FILE",
        ),
    ],
)
def test_what_is_wrong(
    line: str, message: str, help: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split()) in (2, 4)
    assert capsys.readouterr() == ("", f"attncli: error: {message}\nhelp: {help}\n")


def test_a_file_that_is_there_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["example", "i_love_ai", "-o", "my.yaml"]) == 0
    (tmp_path / "my.yaml").write_text("my own work")
    assert run(["example", "i_love_ai", "-o", "my.yaml"]) == 2
    assert (tmp_path / "my.yaml").read_text() == "my own work"
    assert capsys.readouterr() == (
        "",
        (
            "attncli: error: -o my.yaml would replace a file that is there already\nhelp: give the"
            " output another name\n"
        ),
    )


def test_a_problem_that_reads_arrays_brings_them_along(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["example", "fused_weights"]) == 0
    out, err = capsys.readouterr()
    assert "{file: tiny_gpt2.safetensors" in out
    assert (
        err
        == "attncli: warning: this problem reads tiny_gpt2.safetensors, which must be in the same"
        " folder; attncli example fused_weights -o fused_weights.yaml writes both\n"
    )
    for name in ("one.yaml", "two.yaml"):  # the second finds the arrays there already
        assert run(["example", "fused_weights", "-o", name]) == 0
    assert run(["compute", "two.yaml"]) == 0
    (tmp_path / "tiny_gpt2.safetensors").write_bytes(b"other weights")
    assert run(["example", "fused_weights", "-o", "three.yaml"]) == 2
    assert not (tmp_path / "three.yaml").exists()
    assert (tmp_path / "tiny_gpt2.safetensors").read_bytes() == b"other weights"
    assert "-o tiny_gpt2.safetensors would replace a file" in capsys.readouterr().err


def test_the_wheel_has_the_examples_where_they_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"][
        "targets"
    ]["wheel"]
    assert wheel["force-include"]["inputs"] == "attncli/features/example/problems"
    packed = tmp_path / "problems"
    packed.mkdir()
    (packed / "only.yaml").write_text("title: The one in the wheel\n")
    monkeypatch.setattr("attncli.features.example.collection.files", lambda package: tmp_path)
    assert {name: about(file) for name, file in problems().items()} == {
        "only": "The one in the wheel"
    }
