"""What people have is read to the right numbers, or refused with the line to write: fragments by
kind, in `read/`.

A case begins with `=== TITLE`, goes on with the fragment, and ends with `=>` and the numbers, which
were written by hand: a row on each line. Of what is refused, a part of the message stands behind
`=>`, and a line may say what the help begins with. Each fragment is read as a block of YAML, as a
text of JSON and of Python, and as an answer.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import attncli
from attncli.answers.reader import read_answers
from attncli.errors import AttncliError
from attncli.problem.loader import loads
from attncli.problem.text.source import Source
from tests.cases import in_one_test

FOLDER = Path(__file__).parent / "read"


class Fragment(NamedTuple):
    """One case; `numbers` is None for what is refused."""

    kind: str
    title: str
    text: str
    numbers: list[list[float]] | None
    message: str
    help: str


def fragments() -> list[Fragment]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for part in re.split(r"(?m)^=== ", path.read_text(encoding="utf-8"))[1:]:
            title, _, rest = part.partition("\n")
            text, said, expected = re.split(r"(?m)^=>([^\n]*)\n", rest)
            message = said.strip()
            help = expected.removeprefix("help: ").strip() if message else ""
            rows = None if message else [[*map(number, row.split())] for row in lines(expected)]
            found.append(Fragment(path.stem, title, text.removesuffix("\n"), rows, message, help))
    return found


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def number(written: str) -> float:
    """A number of the corpus: 0.25, 1/2, sqrt(2), 1/sqrt(2), -2*sqrt(3)."""
    sign = -1 if written.startswith("-") else 1
    above, _, below = written.lstrip("-").partition("/")
    value = math.prod(map(factor, above.split("*")))
    return sign * value / (factor(below) if below else 1)


def factor(written: str) -> float:
    if written.startswith("sqrt("):
        return math.sqrt(float(written[5:-1]))
    return float(Fraction(written))


FRAGMENTS = fragments()
READ = [each for each in FRAGMENTS if each.numbers is not None]
REFUSED = [each for each in FRAGMENTS if each.numbers is None]


def named(fragment: Fragment) -> str:
    return f"{fragment.kind}: {fragment.title}"


def keys(columns: int) -> dict[str, list[list[int]]]:
    return {"K": [[0] * columns], "V": [[0]]}


def in_yaml(text: str, columns: int) -> np.ndarray:
    block = "".join(f"  {line}\n" for line in text.split("\n"))
    beside = "".join(f"{key}: {value}\n" for key, value in keys(columns).items())
    return loads(f"Q: |\n{block}{beside}".encode(), "p.yaml").given["Q"].value


def in_json(text: str, columns: int) -> np.ndarray:
    return loads(json.dumps({"Q": text} | keys(columns)).encode(), "p.json").given["Q"].value


def in_python(text: str, columns: int) -> np.ndarray:
    return attncli.problem(Q=text, **keys(columns)).given["Q"].value


def as_answer(text: str, columns: int, rows: int = 2) -> np.ndarray:
    problem = attncli.problem(Q=[[0] * columns] * rows, **keys(columns))
    block = "".join(f"  {line}\n" for line in text.split("\n"))
    answers = read_answers(Source("a.yaml", f"Q: |\n{block}"), attncli.trace(problem))
    cells = answers.steps["Q"].cells
    return np.array([[float(claim.value) for claim in row] for row in cells])


@in_one_test("fragment", READ, ids=named)
def test_a_fragment_is_read_wherever_it_stands(fragment: Fragment) -> None:
    assert fragment.numbers is not None
    columns = len(fragment.numbers[0])
    ways: tuple[Callable[[str, int], np.ndarray], ...] = (in_yaml, in_json, in_python)
    for way in ways:
        np.testing.assert_allclose(
            way(fragment.text, columns), fragment.numbers, rtol=1e-15, err_msg=way.__name__
        )
    found = as_answer(fragment.text, columns, len(fragment.numbers))
    np.testing.assert_allclose(found, fragment.numbers, rtol=1e-15)


@pytest.mark.parametrize("fragment", REFUSED, ids=named)
def test_a_fragment_that_is_refused_says_what_to_write(fragment: Fragment) -> None:
    for way in (in_yaml, in_json, in_python):
        with pytest.raises(AttncliError) as caught:
            way(fragment.text, 2)
        assert fragment.message in caught.value.message, way.__name__
        assert caught.value.help
        if fragment.help:
            assert fragment.help in caught.value.help, way.__name__


def test_the_corpus_is_large_and_of_every_kind() -> None:
    assert len(FRAGMENTS) >= 300
    assert len(REFUSED) >= 100
    assert len({each.kind for each in FRAGMENTS}) >= 8
    assert len({(each.kind, each.title) for each in FRAGMENTS}) == len(FRAGMENTS)
