"""The page that works itself out, of problems with equations of their own: every number and line
against attncli, whatever is edited.
"""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.page.live.data import live_data
from attncli.page.live.live_or_static import why_static
from attncli.page.live.offered_settings import OVER, OWN, settings_of
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.text.numbers import as_float
from attncli.tracing import run
from tests.page.test_live import asked, edited, known_digits, must_agree, question

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "inputs" / "equations").glob("*.yaml"))
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")

HEADS = """
tokens: [I, love, AI]
X: [[0.3, -1.2], [0.5, 0.8], [-0.9, 1.4]]
W_Q: [[1, 0, 1, 0], [0, 1, 0, 1]]
W_K: [[1, 0, 1, 1], [0, 1, 0, 1]]
W_V: [[1, 0, 1, 0], [0, 1, 0, 1]]
heads: 2
"""
# Each has something that no example has.
ODD = {
    # ln(0.25) / ln(2) is exactly −2, and ln(3) / ln(2) is not exactly 1.585.
    "logarithms": f"""{HEADS}
equations:
  - "bits[i, d] = log(2 ** (i + 1) / 8) / log(2)"
  - "others[i] = log(i + 1) / log(2)"
""",
    "every function": f"""{HEADS}
mask: [causal, {{additive: [[0, 1, 2], [0.5, 0, -1], [1, 1, 0]]}}]
arrays:
  lam[h]: [0.5, 1.5]
  table[t]: [1, -2, 3, 0.5, 2]
  eps: 0.001
equations:
  - "curved[i, d] = erf(X[i, d]) + gelu(X[i, d]) * silu(X[i, d]) - softplus(X[i, d])"
  - "bent[i, d] = relu(X[i, d]) + tanh(X[i, d]) ** 2 + abs(X[i, d]) ** 0.5 + sigmoid(X[i, d])"
  - "wavy[i, d] = sin(i + X[i, d]) * cos(d) + log(X[i, d] ** 2 + eps) + exp(-X[i, d])"
  - "whole[i, d] = X[i, d] // 0.25 + X[i, d] % 0.4 - -X[i, d] // 0.3 + (i + 3) % 2 + (7 - i) // 2"
  - "scaled[i, j] = scores[i, j] * lam[h] + table[min(max(-j + i, -2), 2) + 2]"
  - "near[i, j] = where(i == j and 0 < j, masked[i, j], where(X[i, 0] > X[j, 1], 1, -inf))"
  - "other[i, j] = softmax(j, masked[i, j] / 2)"
  - "down[j, i] = softmax(j, scores[i, j])"
  - "low[i] = min(j, scores[i, j]) + max(j, scores[i, j]) + mean(j, scores[i, j]) + n_j"
  - "strength = exp(sum(h, lam[h]) / 10)"
  - "heads_output[i, c] = sum(j, (weights[i, j] - 0.3 * other[i, j]) * V[j, c]) + low[i] * strength"
  - "last[i, e] = output[i, e] + min(sum(d, curved[i, d]), sum(d, wavy[i, d]), sum(d, bent[i, d]))"
result: last
""",
    "a mask and no weights": f"""{HEADS}
mask: [{{window: [1, 1]}}]
equations:
  - "gates[i, j] = where(mask[i, j] == 0, exp(scaled[i, j]), 0)"
  - "heads_output[i, c] = sum(j, gates[i, j] * V[j, c]) / sum(j, gates[i, j])"
""",
    "own softmaxes and a blind query": f"""{HEADS}
mask: {{keep: [[1, 0, 0], [0, 0, 1], [0, 0, 0]]}}
equations:
  - "other[i, j] = softmax(j, masked[i, j] / 10)"
  - "unmasked[i, j] = softmax(j, scores[i, j])"
  - "heads_output[i, c] = sum(j, (weights[i, j] - 0.3 * other[i, j] * unmasked[i, j]) * V[j, c])"
""",
    "a number in the end, of axes of its own": """
Q: [[3, 4], [0, 5], [8, 6]]
K: [[4, 3], [6, 8], [5, 0]]
V: [[1, 0], [0, 1], [2, 2]]
arrays:
  side[t]: [1, 2, 3, 4]
  grid[t, u]: [[1, 2], [3, -1], [2, 2], [0, 1]]
  cube[t, u, x]: [[[1, 2], [0, 1]], [[3, -1], [1, 1]], [[2, 2], [0, 2]], [[0, 1], [1, 0]]]
equations:
  - "turned[x, t, u] = cube[t, u, x] * grid[t, u]"
  - "column[u] = sum(t, side[t] * grid[t, u]) + sum(x, sum(t, turned[x, t, u]))"
  - "total = sum(u, column[u] ** 2) + sum(i, sum(k, Q[i, k] // 2)) % 3"
result: total
""",
    "a step in the softmax": """
Q: [[3, 4], [0, 5], [8, 6]]
K: [[4, 3], [6, 8], [5, 0]]
V: [[1, 0], [0, 1], [2, 2]]
equations:
  - "exp[i, j] = exp(scaled[i, j] / 4) * (1 + j)"
""",
    "conditions of printed numbers": """
X: [[0.3, -1.2], [0.5, 0.8], [-0.9, 1.4]]
W_Q: [[1, 2], [0, 1]]
W_K: [[1, 0], [0, 1]]
W_V: [[1, 0], [0, 1]]
equations:
  - "tiny[i, k] = Q[i, k] / 100000"
  - "sign[i, k] = where(tiny[i, k] > 0, 1, -1)"
  - "odd[i, k] = (1 + abs(Q[i, k])) ** K[i, k]"
  - "other[i, k] = where(Q[i, k] < exp(-0.5), 1, 7) + max(sign[i, k], odd[i, k])"
result: other
""",
}
# A workbook has an error for a division by 0.
BY_ZERO = {
    "divisors that are 0, and that are printed so": """
X: [[0.3, -1.2], [0.5, 0.8], [-0.9, 1.4]]
W_Q: [[1, 2], [0, 1]]
W_K: [[1, 0], [0, 1]]
W_V: [[1, 0], [0, 1]]
equations:
  - "tiny[i, k] = Q[i, k] / 100000"
  - "none[i, k] = 1 / (1 + 1 / (Q[i, k] - Q[i, k]))"
  - "few[i, k] = 1 / (1 + 1 / tiny[i, k])"
  - "other[i, k] = none[i, k] + few[i, k]"
result: other
""",
}
# As are infinities, and numbers that are none.
NOT_FINITE = {
    "reasons": """
Q: [[1, 0], [0, 1], [1, 1]]
K: [[1, 1], [0, 2], [-1, 1]]
V: [[1, 0], [0, 1], [1, 1]]
equations:
  - "of_log[i, j] = log(scores[i, j])"
  - "of_root[i, j] = sqrt(scores[i, j] / 3)"
  - "of_power[i, j] = scores[i, j] ** 0.5 + 1"
  - "quotient[i, j] = 1.5 / scores[i, j]"
  - "large[i, j] = exp(123456 * scores[i, j] + 0.00001)"
  - "product[i, j] = 10 ** 200 * (scores[i, j] * 10 ** 200)"
  - "difference[i, j] = where(j <= i, -inf, 2) - where(i <= j, -inf, 3)"
  - "nothing[i, j] = sum(t, (scores[i, t] - 1) / (scores[i, t] - 1))"
  - "total = log(sum(i, sum(j, scores[i, j])) - 8)"
  - "scaled[i, j] = scores[i, j] / 2"
result: output
""",
    "a softmax by hand": """
Q: [[1, 0], [0, 1]]
K: [[1, 2], [2, 1]]
V: [[1], [2]]
mask: {keep: [[0, 0], [1, 1]]}
equations:
  - "row_max[i] = max(j, masked[i, j])"
  - "moved[i, j] = masked[i, j] - row_max[i]"
  - "exp[i, j] = exp(moved[i, j])"
  - "row_sum[i] = sum(j, exp[i, j])"
  - "weights[i, j] = exp[i, j] / row_sum[i]"
""",
}
OTHERS = {**ODD, **BY_ZERO, **NOT_FINITE}
TEXTS = ("0", "1", "-1", "2.5", "1/3", "-2/7", "sqrt(2)", "-3*sqrt(5)/4", "1e3", "-0.0001", "40")


@cache
def live_problem(name: str, folder: Path) -> tuple[Problem, dict[str, Any]]:
    """An example by its name, or an odd one, and what its page knows."""
    file = ROOT / "inputs" / "equations" / f"{name}.yaml"
    if name in OTHERS:
        file = folder / "odd.yaml"
        file.write_text(OTHERS[name], encoding="utf-8")
    problem = load(str(file))
    return problem, json.loads(json.dumps(live_data(problem, 3), allow_nan=False))


NAMES = [*(file.stem for file in EXAMPLES), *ODD, *BY_ZERO, *NOT_FINITE]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("odd")


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_every_number_and_line_is_that_of_attncli(name: str, folder: Path) -> None:
    problem, data = live_problem(name, folder)
    trace = run(problem)
    assert why_static(trace, View()) is None
    one, lines = question(data, trace)
    (found,) = asked(one)
    must_agree(trace, found)
    assert found["worked"] == lines
    assert found["warnings"] == [*trace.warnings]


def edited_own(problem: Problem, edits: list[tuple[str, int, str]]) -> Problem:
    """The problem with other texts in the places of numbers, those of its own arrays, too."""
    assert problem.system is not None
    arrays = {each.name: each for each in problem.system.arrays}
    for name, at, text in edits:
        if name in arrays:
            matrix = arrays[name].matrix
            assert matrix.written is not None
            texts = [str(each) for each in matrix.written.ravel().tolist()]
            texts[at] = text
            changed = Matrix([as_float(each) for each in texts], texts, matrix.shape)
            arrays[name] = replace(arrays[name], matrix=changed)
    system = replace(problem.system, arrays=tuple(arrays.values()))
    given = [each for each in edits if each[0] not in arrays]
    return edited(replace(problem, system=system), given)


def asked_of(name: str, seed: int, folder: Path) -> tuple[dict[str, Any], Any, list[list[str]]]:
    """A problem in one of its settings, with a few numbers edited, and cells of a mask clicked."""
    chosen = random.Random(f"{name} {seed}")
    problem, data = live_problem(name, folder)
    mask, scaled, other = chosen.choice([*settings_of(problem)])
    edits = []
    if mask in (OWN, OVER):
        *others, clicked = other.mask.parts
        assert isinstance(clicked, Keep)
        seen = np.array([chosen.random() < 0.7 for _ in range(clicked.matrix.size)])
        edits += [(data["own"], at, "0") for at in np.flatnonzero(~seen).tolist()]
        keep = type(clicked)(Matrix.of(seen.reshape(clicked.matrix.shape)))
        other = replace(other, mask=replace(other.mask, parts=(*others, keep)))
    arrays = [array for array in data["given"] if array in data["arrays"]]
    for _ in range(chosen.randint(1, 4)):
        array = chosen.choice(arrays)
        drawn = [f"{chosen.gauss(0, 2):.{chosen.randint(0, 9)}f}", repr(chosen.gauss(0, 1))]
        text = chosen.choice([*TEXTS, *drawn])
        size = int(np.prod(data["arrays"][array]["shape"]))
        edits.append((array, chosen.randrange(size), text))
    trace = run(edited_own(other, [each for each in edits if each[0] != data["own"]]))
    asking, lines = question(data, trace, mask=mask, scaled=scaled, edits=edits)
    return asking, trace, lines


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 102), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_edited_numbers_are_worked_out_as_attncli_does(
    name: str, seeds: range, folder: Path
) -> None:
    asking = [asked_of(name, seed, folder) for seed in seeds]
    answers = asked(*(each[0] for each in asking))
    compared = 0
    for seed, found, (_, trace, lines) in zip(seeds, answers, asking, strict=True):
        # Of 262648699902511.78, not all digits are known.
        if must_agree(trace, found, digits=14):
            assert [*map(known_digits, found["worked"])] == [*map(known_digits, lines)], seed
            compared += 1
    assert compared
