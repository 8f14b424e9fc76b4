"""What is said of a function whose output is there, but not where it is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.cli.main import run

ATTENTION = """
import numpy as np


def weights_of(q, k):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def heads_moved(q, k, v):
    return np.swapaxes(weights_of(q, k) @ v, 1, 2)


def features_first(q, k, v):
    return np.swapaxes(weights_of(q, k) @ v, -1, -2)


def turned_around(q, k, v):
    return np.moveaxis(weights_of(q, k) @ v, -1, 0)


def weights_first(q, k, v):
    weights = weights_of(q, k)
    return weights, weights @ v


def in_a_dict(q, k, v):
    weights = weights_of(q, k)
    return {"attention": weights, "out": weights @ v}


def wrong_with_heads(q, k, v):
    output = weights_of(q, k) @ v
    output[1:] *= 1.5 if output.ndim > 2 else 1
    return output
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(ATTENTION, encoding="utf-8")
    return path


def said_of(file: Path, name: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    run(["test", f"{file}:{name}", "--seconds", "60", *options])
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("heads_moved", "its output is right once its heads and tokens are exchanged"),
        ("features_first", "its output is right once its tokens and features are exchanged"),
        (
            "turned_around",
            "its output is right, but its axes are features × entries × heads × tokens",
        ),
        ("weights_first", "but the second has the shape of one: if that is it, say --call"),
        ("in_a_dict", "it returns a dict with attention, out, not an array of numbers"),
        ("in_a_dict", """--call 'f(q, k, v)["out"]'"""),
    ],
)
def test_a_hint(file: Path, name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    # Words of a table are in columns, except in JSON.
    assert words in said_of(file, name, capsys, "--format", "json").replace('\\"', '"')


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("name", "call"), [("weights_first", "f(q, k, v)[1]"), ("in_a_dict", 'f(q, k, v)["out"]')]
)
def test_what_the_hint_says_helps(
    file: Path, name: str, call: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "It is attention" in said_of(file, name, capsys, "--call", call)


@pytest.mark.long
def test_a_function_that_is_wrong_with_heads(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With two axes it is right, and with four it is in the first entry."""
    said = said_of(file, "wrong_with_heads", capsys)
    assert "layout entries × heads × tokens × features" in said
    assert "The first entry is right in each." in said
