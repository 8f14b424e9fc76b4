"""Many cases in one test: all are played, and those that fail are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import in_one_test


def test_every_case_is_played_and_those_that_fail_are_named() -> None:
    played = []

    @in_one_test("text, number", [("a", 1), ("b", 2), pytest.param("c", 3, id="the third")])
    @in_one_test("sign", "+-")
    def of_each(text: str, number: int, sign: str) -> None:
        played.append(f"{text}{sign}")
        assert number == 2 or sign == "-"

    with pytest.raises(ExceptionGroup, match="2 of 3 cases") as error:
        of_each()
    assert played == ["a+", "a-", "b+", "b-", "c+", "c-"]
    assert [failure.__notes__ for failure in error.value.exceptions] == [
        ["in the case '+'", "in the case 'a', 1"],
        ["in the case '+'", "in the case the third"],
    ]


def test_one_failure_is_its_own() -> None:
    @in_one_test("number", [1, 2], ids=["one", "two"])
    def is_one(number: int) -> None:
        if number != 1:
            pytest.fail("not 1")

    with pytest.raises(pytest.fail.Exception, match="not 1") as error:
        is_one()
    assert error.value.__notes__ == ["in the case two"]


def test_no_case_is_skipped() -> None:
    @in_one_test("number", [1, 2])
    def skipped(number: int) -> None:
        if number == 2:
            pytest.skip("not today")

    with pytest.raises(AssertionError, match="the case 2 would be skipped"):
        skipped()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@in_one_test("name", ["a", "b"], ids=str.upper)
def test_fixtures_are_those_of_the_test(folder: Path, name: str) -> None:
    assert list(folder.iterdir()) == ([] if name == "a" else [folder / "a"])
    (folder / name).touch()
