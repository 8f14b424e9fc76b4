"""Parts of fused queries, keys and values, cut as the models that keep them so cut them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.errors import AttncliError
from attncli.problem.arrays.references import Fused
from attncli.problem.keys import LAYOUTS, PARTS
from attncli.problem.loader import load

D = 2  # numbers of one head
CASES = [(1, 1), (3, 3), (4, 2), (4, 1), (6, 3)]


def names(heads: int, letter: str) -> list[str]:
    return [f"{letter}{head}.{number}" for head in range(heads) for number in range(D)]


@pytest.mark.parametrize(("heads", "kv_heads"), CASES)
def test_side_by_side(heads: int, kv_heads: int) -> None:
    """GPT-2's c_attn, torch.nn.MultiheadAttention's in_proj_weight, Phi-3's qkv_proj: all q, all k,
    all v.
    """
    q, k, v = names(heads, "q"), names(kv_heads, "k"), names(kv_heads, "v")
    fused = np.array(q + k + v)
    for part, expected in zip(PARTS, (q, k, v), strict=True):
        cut = Fused(part, "parts", heads, kv_heads).cut
        assert cut(fused).tolist() == expected
        assert cut(np.stack([fused, fused]))[1].tolist() == expected


@pytest.mark.parametrize(("heads", "kv_heads"), CASES)
def test_head_by_head(heads: int, kv_heads: int) -> None:
    """GPT-NeoX, BLOOM, Falcon: a key and value head with the query heads it serves, then the
    next.
    """
    columns = np.arange((heads + 2 * kv_heads) * D)
    # as Falcon's _split_heads views it
    by_group = columns.reshape(kv_heads, heads // kv_heads + 2, D)
    expected = {"q": by_group[:, :-2], "k": by_group[:, -2], "v": by_group[:, -1]}
    for part in PARTS:
        assert (
            Fused(part, "heads", heads, kv_heads).cut(columns).tolist()
            == expected[part].ravel().tolist()
        )


@pytest.mark.torch
def test_as_multihead_attention_projects(torch: Any) -> None:
    layer = torch.nn.MultiheadAttention(8, 4, dtype=torch.float64)
    for part, weights in zip(PARTS, layer.in_proj_weight.detach().chunk(3), strict=True):
        fused = layer.in_proj_weight.detach().numpy().T
        for heads in (1, 4):
            assert (Fused(part, "parts", heads, heads).cut(fused) == weights.numpy().T).all()


def problem(folder: Path, fused: Any, more: str = "", layout: str = "") -> Any:
    """A problem whose weights and biases are parts of a fused array, laid out as in
    torch.nn.Linear.
    """
    np.savez(folder / "w.npz", w=fused, b=fused[:, 0])
    lines = [
        f"W_{part.upper()}: {{file: w.npz, name: w, transpose: true, part: {part}{layout}}}"
        for part in PARTS
    ]
    lines += [f"b_{part.upper()}: {{file: w.npz, name: b, part: {part}{layout}}}" for part in PARTS]
    (folder / "p.yaml").write_text("X: [[1, 0], [0, 1]]\n" + "\n".join(lines) + f"\n{more}\n")
    return load(str(folder / "p.yaml"))


@pytest.mark.parametrize("layout", ["", ", layout: parts", ", layout: heads"])
def test_a_problem_of_parts(tmp_path: Path, layout: str) -> None:
    fused = np.arange(12.0).reshape(6, 2)
    given = problem(tmp_path, fused, "heads: 1", layout).given
    for part, rows in zip(PARTS, (fused[:2], fused[2:4], fused[4:]), strict=True):
        assert given[f"W_{part.upper()}"].value.tolist() == rows.T.tolist()
        assert given[f"b_{part.upper()}"].value.tolist() == rows[:, 0].tolist()


def wrong(folder: Path, reference: str, more: str = "") -> list[tuple[str, str]]:
    np.savez(
        folder / "w.npz",
        w=np.zeros((4, 12)),
        t=np.zeros((12, 4)),
        odd=np.zeros((4, 13)),
        b=np.zeros(13),
    )
    eye = "[[1, 0], [0, 1]]"
    (folder / "p.yaml").write_text(f"Q: {reference}\nK: {eye}\nV: {eye}\n{more}")
    with pytest.raises(AttncliError) as caught:
        load(str(folder / "p.yaml"))
    return [(str(error), error.help) for error in (caught.value, *caught.value.more)]


_HELP = (
    "a fused array has the columns of q, k and v side by side; heads and kv_heads say how many"
    " heads they are"
)


@pytest.mark.parametrize(
    ("reference", "message", "help"),
    [
        (
            "{file: w.npz, name: odd, part: q}",
            "Q.part: 13 columns cannot be split into three equal parts q, k and v",
            _HELP,
        ),
        (
            "{file: w.npz, name: b, part: q}",
            "Q.part: 13 numbers cannot be split into three equal parts q, k and v",
            _HELP,
        ),
        (
            "{file: w.npz, name: t, part: q}",
            "Q.part: 4 columns cannot be split into three equal parts q, k and v",
            "write transpose: true if it is laid out as in torch.nn.Linear",
        ),
        ("{file: w.npz, name: w, part: k}", "Q.part: Q is not made of k", "write part: q"),
        (
            "{file: w.npz, name: w, part: x}",
            "Q.part: must be one of q, k, v, not x",
            "choose one of q, k, v",
        ),
        (
            "{file: w.npz, name: w, layout: heads}",
            "Q.layout: says how parts are laid out, but there is no part",
            "add part: q, part: k or part: v",
        ),
        (
            "{file: w.npz, name: w, part: q, layout: head}",
            "Q.layout: must be one of parts, heads, not head",
            "did you mean heads?",
        ),
    ],
)
def test_parts_that_are_not_there(tmp_path: Path, reference: str, message: str, help: str) -> None:
    assert wrong(tmp_path, reference) == [(message, help)]


@pytest.mark.parametrize("heads", ["heads: 8\nkv_heads: 2\n", "kv_heads: 2\nheads: 8\n"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_heads_may_stand_anywhere_in_the_problem(tmp_path: Path, heads: str, layout: str) -> None:
    told = wrong(tmp_path, f"{{file: w.npz, name: odd, part: q, layout: {layout}}}", heads)
    assert told[0] == (
        "Q.part: 13 columns cannot be 12 equal heads: 8 of q, 2 of k and 2 of v",
        _HELP,
    )


@pytest.mark.parametrize("heads", ["heads: x", "heads: 0", "heads: [2]", "heads:", "kv_heads: 1.5"])
def test_what_is_wrong_with_heads_is_told_once(tmp_path: Path, heads: str) -> None:
    told = wrong(tmp_path, "{file: w.npz, name: w, part: q}", heads)
    assert len(told) == 1
    assert "must be a whole number" in told[0][0]
