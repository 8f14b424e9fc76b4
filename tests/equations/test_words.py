"""What a page says of equations of its own: sentences made from them, its first line, its shapes,
and the pictures of what is there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import attncli
from attncli.cli.main import run
from tests.cases import in_one_test

QKV: dict[str, Any] = {
    "Q": [[1, 0], [0, 1], [1, 1]],
    "K": [[1, 1], [0, 2], [-1, 1]],
    "V": [[1, 0], [0, 1], [1, 1]],
}
GIVEN = "\n".join(f"{name}: {rows}" for name, rows in QKV.items())


@in_one_test(
    ("equation", "meaning"),
    [
        ("it[i, j] = -scores[i, j]", "For each query and each key: the opposite of `scores`."),
        (
            "it[i, j] = scores[i, j] % 2",
            "For each query and each key: a remainder of a division, from `scores`.",
        ),
        (
            "it[i, j] = scores[i, j] // 2",
            "For each query and each key: a quotient, rounded down, from `scores`.",
        ),
        ("it[i] = min(j, scores[i, j])", "For each query: the smallest over all keys of `scores`."),
        ("it[i] = max(j, scores[i, j])", "For each query: the largest over all keys of `scores`."),
        ("it[i] = mean(j, scores[i, j])", "For each query: the mean over all keys, from `scores`."),
        (
            "it[i] = mean(k, Q[i, k] ** 2)",
            "For each query: the mean over all features of queries and keys, from `Q`.",
        ),
        (
            "it = sum(i, sum(j, scores[i, j]))",
            "One number: the sum over all queries and keys, from `scores`.",
        ),
        (
            "it[i, j] = exp(scores[i, j])",
            "For each query and each key: the exponential of `scores`.",
        ),
        (
            "it[i, j] = sqrt(scores[i, j] ** 2)",
            "For each query and each key: a root, from `scores`.",
        ),
        (
            "it[i, j] = abs(scores[i, j])",
            "For each query and each key: the absolute value of `scores`.",
        ),
        (
            "it[i, j] = relu(scores[i, j])",
            "For each query and each key: what is above 0 in `scores`, and else 0.",
        ),
        (
            "it[i, j] = max(scores[i, j], K[j, 0])",
            "For each query and each key: the larger of two numbers, from `scores` and `K`.",
        ),
        (
            "it[i, j] = j - i",
            "For each query and each key: a number that depends on the place alone.",
        ),
        ("it[i] = i", "For each query: its own position, counted from 0."),
        ("it[i] = 1.5", "For each query: the number 1.5."),
    ],
)
def test_a_sentence_is_english(equation: str, meaning: str) -> None:
    trace = attncli.trace(**QKV, equations=[equation], result="it")
    assert trace.steps["it"].rule.meaning == meaning


def page(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = folder / "p.yaml"
    path.write_text(text, encoding="utf-8")
    assert run(["compute", str(path)]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("text", "said", "shapes"),
    [
        (
            "X: [[1, 0], [0, 1], [1, 1]]\narrays: {'W_G[d, c]': [[1, 2], [0, 1]]}\n"
            'equations: ["gate[i, c] = sigmoid(sum(d, X[i, d] * W_G[d, c]))"]\nresult: gate\n',
            "Equations of its own: 3 tokens, d_model = 2. ",
            "Shapes: X (3×2) → gate (3×2)",
        ),
        (
            "Q: [[1, 0], [0, 1], [1, 1]]\n"
            'equations: ["size[i] = sum(k, Q[i, k] ** 2)"]\nresult: size\n',
            "Equations of its own: 3 queries. ",
            "Shapes: Q (3×2) → size (3)",
        ),
        (
            "V: [[1, 0], [0, 1], [1, 1]]\n"
            'equations: ["size[j] = sum(c, V[j, c] ** 2)"]\nresult: size\n',
            "Equations of its own: 3 keys, d_v = 2. ",
            "Shapes: V (3×2) → size (3)",
        ),
        (
            f'{GIVEN}\nequations: ["top[i] = max(j, scores[i, j])"]\nresult: top\n',
            "Equations of its own: 3 tokens, d_k = 2. ",
            "Shapes: Q, K (3×2) → S (3×3) → top (3)",
        ),
        (
            f'{GIVEN}\nequations: ["twice[i, c] = 2 * output[i, c]"]\nresult: twice\n',
            "Scaled dot-product attention: 3 tokens, d_k = 2, d_v = 2. ",
            "→ O (3×2) → twice (3×2)",
        ),
    ],
)
def test_the_first_line_and_the_shapes_are_of_what_is_there(
    text: str, said: str, shapes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = page(text, tmp_path, capsys)
    assert said in found
    assert shapes in found
    assert "no scaling" not in found


@pytest.mark.parametrize(
    ("equation", "code", "said"),
    [
        ("scaled[i, j] = scores[i, j] / 2", 0, "without the scale"),
        # Nothing reads the scale any more, so both sides would be the same.
        ("masked[i, j] = where(j <= i, scores[i, j], -inf)", 2, "leave the step scaled out"),
        # These are no softmax.
        ("row_sum[i] = 1 + sum(j, exp[i, j])", 2, "has equations of its own in the place of it"),
        ("exp[i, j] = scores[i, j] ** 2", 2, "has equations of its own in the place of it"),
    ],
)
def test_the_picture_of_the_softmax_needs_one_with_a_scale(
    equation: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(f'{GIVEN}\nmask: causal\nequations: ["{equation}"]\n', encoding="utf-8")
    assert run(["picture", str(path), "--of", "softmax"]) == code
    printed = capsys.readouterr()
    assert said in (printed.err if code else printed.out)
