"""The page on standard output is in what its encoding has."""

import os
import subprocess
import sys

import pytest

PROBLEM = b"title: \xc3\xa9\ntokens: [a]\nQ: [[1]]\nK: [[1]]\nV: [[1]]\n"


@pytest.mark.parametrize(
    ("encoding", "title", "rule"), [("utf-8", "é", "━"), ("latin-1", "é", "="), ("ascii", r"\xe9", "====")]
)
def test_a_page_for_people_is_in_the_encoding_of_standard_output(encoding: str, title: str, rule: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "attncli", "compute", "-"],
        input=PROBLEM,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    assert result.stdout.decode(encoding).splitlines()[:2] == [title, rule]


def test_a_file_is_always_utf_8(tmp_path: object) -> None:
    target = f"{tmp_path}/page.txt"
    subprocess.run(
        [sys.executable, "-m", "attncli", "compute", "-", "-o", target],
        input=PROBLEM,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        check=True,
    )
    with open(target, encoding="utf-8") as file:
        assert file.read().splitlines()[:2] == ["é", "━"]
