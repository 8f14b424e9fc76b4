"""`attncli test --export`: all cases as files that any language reads."""

from __future__ import annotations

import json
import os
from math import prod
from pathlib import Path

import numpy as np
import pytest

from attncli.cli.main import run
from attncli.testing.battery import all_cases
from attncli.testing.exported import stem_of
from tests.testing import other_program

BYTES = {"float32": 4, "uint8": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("exported") / "new" / "cases"
    assert run(["test", "--export", str(to)]) == 0
    return to


def words_in(folder: Path) -> dict[str, dict[str, str]]:
    """What `cases.txt` says of each case, read as a program in C does: in pairs of words."""
    words = (folder / "cases.txt").read_text(encoding="ascii").split()
    found: dict[str, dict[str, str]] = {}
    name = ""
    for word, value in zip(words[::2], words[1::2], strict=True):
        if word == "case":
            name = value
            found[name] = {}
        elif word == "end":
            assert value == name
        else:
            assert word not in found[name]
            found[name][word] = value
    return found


def test_the_list_names_every_case_and_every_file(folder: Path) -> None:
    cases = other_program.cases_in(folder)
    assert [case["name"] for case in cases] == [case.name for case in all_cases()]
    assert [case["number"] for case in cases] == list(range(len(cases)))
    named = {said["file"] for case in cases for said in case["arrays"].values()}
    assert set(os.listdir(folder)) == named | {"cases.json", "cases.txt"}
    outputs = {case["output"]["file"] for case in cases}
    assert len(outputs) == len(cases)
    assert not outputs & named


def test_every_array_is_as_long_as_its_shape_says(folder: Path) -> None:
    for case in other_program.cases_in(folder):
        sizes = case["sizes"]
        rows = [sizes["entries"], sizes["heads"], sizes["queries"]]
        assert case["output"]["shape"] == [*rows, sizes["d_v"]]
        for name, said in case["arrays"].items():
            size = (folder / said["file"]).stat().st_size
            assert size == prod(said["shape"]) * BYTES[said["type"]]
            if name in ("mask", "bias"):
                assert said["shape"] == [*rows, sizes["keys"]]


def test_files_have_the_numbers_of_the_cases(folder: Path) -> None:
    for said, case in zip(other_program.cases_in(folder), all_cases(), strict=True):
        arrays = other_program.arrays_of(folder, said)
        for name, array in (("q", case.queries), ("k", case.keys), ("v", case.values)):
            np.testing.assert_array_equal(arrays[name], array)


def test_the_first_query_to_the_byte(folder: Path) -> None:
    (first, *_) = all_cases()
    numbers = first.queries.reshape(-1)[:2]
    written = (folder / "plain.q.f32").read_bytes()[:8]
    # By hand: a float32 of ±(1 + f)·2^e is the sign, e + 127 in 8 bits, and f in 23.
    by_hand = {1.0: "0000803f", 1.75: "0000e03f"}
    assert written.hex() == "".join(by_hand[number] for number in numbers.tolist())


def test_every_number_is_exact_in_16_bits(folder: Path) -> None:
    for path in folder.glob("*.f32"):
        numbers = np.fromfile(path, "<f4")
        np.testing.assert_array_equal(numbers.astype(np.float16), numbers)
        # bfloat16 is the upper half of a float32.
        assert not (numbers.view("<u4") & 0xFFFF).any()


def test_truth_values_are_0_and_1(folder: Path) -> None:
    data = (folder / "a_mask_of_truth_values.mask.u8").read_bytes()
    assert set(data) == {0, 1}


def test_pairs_of_words_say_the_same_as_the_list(folder: Path) -> None:
    words = words_in(folder)
    for case in other_program.cases_in(folder):
        said = words.pop(case["output"]["file"].removesuffix(".output.f32"))
        for name, size in case["sizes"].items():
            assert said.pop(name) == str(size)
        assert said.pop("number_format", None) == case["number_format"]
        assert {name.partition(".")[0] for name in said} == set(case["asks"])
        for name, value in said.items():
            mapping, _, key = name.partition(".")
            if key:
                number = case["settings"][mapping][key]
                assert value == number or float(value) == number
            elif name in case["settings"]:
                assert float(value) == case["settings"][name]
            else:
                assert case["arrays"][name]["file"].endswith(f".{name}.{value}")
    assert not words


def test_every_setting_is_said_in_words(folder: Path) -> None:
    for case in other_program.cases_in(folder):
        settings = {*case["settings"], *case["arrays"]} - {"q", "k", "v"}
        assert set(case["asks"]) == settings
        assert all(len(words) > 10 for words in case["asks"].values())


def test_names_of_files_are_plain() -> None:
    stems = [stem_of(case) for case in all_cases()]
    assert len(set(stems)) == len(stems)
    assert all(stem.replace("_", "").isalnum() and stem.isascii() for stem in stems)
    assert stem_of(all_cases()[2]) == "scores_of_1000"


def test_a_folder_with_something_in_it_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert run(["test", "--export", str(tmp_path)]) == 2
    assert "this folder is not empty" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_a_folder_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    assert run(["test", "--export", str(tmp_path / "file" / "cases")]) == 4
    assert "--export" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.py:f", "--export", "to"], "--export cannot be used with FILE.py:NAME"),
        (["a.py:f", "--outputs", "to"], "--outputs cannot be used with FILE.py:NAME"),
        (["--export", "to", "--outputs", "to"], "--export cannot be used with --outputs"),
        (["--outputs", "to", "--call", "f(q, k, v)"], "--outputs cannot be used with --call"),
        (["--export", "to", "--seconds", "5"], "--export cannot be used with --seconds"),
        (["--outputs", "to", "--seconds", "9"], "--outputs cannot be used with --seconds"),
        (["--export", "to", "--format", "json"], "--export cannot be used with --format"),
        (["--export", "to", "-o", "x.md"], "--export cannot be used with -o"),
        (["--export", ""], "--export needs the name of a folder"),
        (["--outputs", ""], "--outputs needs the name of a folder"),
        ([], "there is nothing to test"),
    ],
)
def test_one_way_at_a_time(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["test", *words]) == 2
    assert said in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_the_list_is_json_that_is_valid_everywhere(folder: Path) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    text = (folder / "cases.json").read_text(encoding="utf-8")
    json.loads(text, parse_constant=refuse)
