"""A mask of keys that are padding, and settings without a name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attncli.cli.main import run
from attncli.testing.asking import CaseResult
from attncli.testing.diagnosis import explanations
from tests.testing.in_process import results_of

Array = np.ndarray[Any, np.dtype[Any]]


def attention(q: Array, k: Array, v: Array, shown: Array | None) -> Array:
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if shown is not None:
        scores = np.where(shown[:, None, None, :], scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    found: Array = powers / powers.sum(axis=-1, keepdims=True) @ v
    return found


def right(q: Array, k: Array, v: Array, key_padding_mask: Array | None = None) -> Array:
    return attention(q, k, v, None if key_padding_mask is None else ~key_padding_mask)


def inverted(q: Array, k: Array, v: Array, key_padding_mask: Array | None = None) -> Array:
    return attention(q, k, v, key_padding_mask)


def by_name(results: list[CaseResult]) -> dict[str, str]:
    return {each.case.name: each.result for each in results}


def test_true_hides_padding() -> None:
    results = by_name(results_of(right))
    assert results["lengths in a batch"] == "same"
    assert results["a mask of truth values"] == "not asked"


def test_padding_the_other_way_round() -> None:
    results = results_of(inverted)
    assert by_name(results)["lengths in a batch"] == "differs"
    assert [each.mistakes for each in explanations(results)] == [("the mask was inverted",)]


@pytest.mark.long
def test_settings_without_a_name(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import numpy as np\n"
        "def attention(q, k, v, **kwargs):\n"
        "    powers = np.exp(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))\n"
        "    return powers / powers.sum(-1, keepdims=True) @ v\n",
        encoding="utf-8",
    )
    run(["test", f"{path}:attention", "--seconds", "60"])
    said = " ".join(capsys.readouterr().out.split())
    assert "and **kwargs has no names (--call can say them)" in said
