"""`attncli generate` under masks of any numbers: problems with right keys, or an error that names
the mask.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import yaml

from attncli.cli.main import run
from attncli.problem.loader import loads
from attncli.tracing import run as worked_out

NUMBERS = [20.0, 700.0, 709.0, 750.0, 1e9, 5e300, 1e306]
LINE = ["generate", "--seed", "s", "--count", "1", "-d", "set"]


def additive(choice: Random, heads: int) -> Any:
    """Rows of one number, cells of it, or a whole matrix of it, with a few cells hidden."""
    number = choice.choice(NUMBERS) * choice.choice([-1, 1])
    share = choice.choice([0.1, 0.3, 1.0])
    matrices = np.zeros((heads, 4, 4))
    for row in matrices.reshape(-1, 4):
        whole = choice.random() < 0.3
        for key in range(4):
            row[key] = number if whole or choice.random() < share else 0.0
        if choice.random() < 0.2:
            row[choice.randrange(4)] = -np.inf
    cells = matrices if heads > 1 else matrices[0]
    return json.loads(json.dumps(cells.tolist()).replace("-Infinity", '"-inf"'))


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(24))
def test_drawn_masks(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    choice = Random(seed)
    heads = choice.choice([1, 1, 2])
    mask: Any = {"additive": additive(choice, heads)}
    if choice.random() < 0.3:
        mask = ["causal", mask]
    line = [*LINE, "--mask", json.dumps(mask)]
    if heads > 1:
        line += ["--heads", "2"]
    if choice.random() < 0.4:
        line += ["--given", "qkv"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = run(line)
    error = capfd.readouterr().err
    if code:
        assert code == 2, (line, error)
        assert error.startswith("attncli: error: "), error
        assert "--mask" in error
        return
    assert not error
    (problem,) = Path("set/problems").iterdir()
    _require_right_weights(
        worked_out(loads(problem.read_bytes(), problem.name)), yaml.safe_load(problem.read_text())
    )


def _require_right_weights(trace: Any, file: dict[str, Any]) -> None:
    """The weights are the softmax of the scaled scores and of what the mask adds, by NumPy
    alone.
    """
    masks = file["mask"] if isinstance(file["mask"], list) else [file["mask"]]
    scores = np.array(trace["scaled"])
    for mask in masks:
        added = (
            np.triu(np.full((4, 4), -np.inf), 1)
            if mask in ("causal", {"causal": True})
            else mask["additive"]
        )
        scores = scores + np.array(added, dtype=float)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    np.testing.assert_allclose(trace["weights"], exps / exps.sum(axis=-1, keepdims=True), atol=1e-9)


@pytest.mark.parametrize(
    ("mask", "what"),
    [
        ("{padding: [0, 0, 0, 0]}", "query t1 sees no key"),
        ("{lengths: [0]}", "query t1 sees no key"),
        ("{lengths: [1]}", "queries t1 and t2 see the same key only"),
        (
            "{keep: [[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]}",
            "query t2 sees no key",
        ),
    ],
)
def test_a_mask_that_leaves_nothing_to_find(
    mask: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*LINE, "--mask", mask]) == 2
    assert capsys.readouterr().err.startswith(f"attncli: error: {what}")
