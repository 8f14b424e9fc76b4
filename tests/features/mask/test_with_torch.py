"""Functions as people write them for PyTorch: the problem of attncli hides what FlexAttention does.

The functions are those of attention-gym and of PyTorch's own pages, from memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from attncli.features.mask.data import study_data
from attncli.features.mask.words import form_words
from tests.cases import in_one_test
from tests.features.mask.studied import studied, visible_by_attncli

pytestmark = pytest.mark.torch
Mod = Callable[..., Any]
HEADS = 2


@pytest.fixture(scope="module")
def flex(torch: Any) -> Any:
    """FlexAttention, where this PyTorch has it."""
    return pytest.importorskip("torch.nn.attention.flex_attention", exc_type=ImportError)


def mask_mods(torch: Any, flex: Any) -> dict[str, tuple[Mod, str]]:
    """Each with its form for 8 × 8, read off the function by hand."""
    documents = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2])
    lengths = torch.tensor([5, 8])

    def causal(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return q_idx >= kv_idx

    def window(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return torch.abs(q_idx - kv_idx) <= 2

    def prefix(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return kv_idx < 3

    def document(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return documents[q_idx] == documents[kv_idx]

    def dilated(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        diff = torch.abs(q_idx - kv_idx)
        return ((diff % 2) == 0) & (diff <= 4) & (diff > 0)

    def natten(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        x, y = q_idx // 4, q_idx % 4
        kv_x, kv_y = kv_idx // 4, kv_idx % 4
        center = x.clamp(1, 2)
        return ((center - kv_x).abs() <= 1) & ((y - kv_y).abs() <= 1)

    def tiles(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return torch.abs(q_idx // 4 - kv_idx // 4) <= 1

    def padded(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return kv_idx < lengths[b]

    def inverted(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return ~(q_idx < kv_idx)

    def added(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return (q_idx >= kv_idx) + (kv_idx < 2)

    return {
        "causal": (causal, "causal"),
        "window": (window, "window [2, 2]"),
        "prefix LM": (flex.or_masks(prefix, causal), "any [causal, first 3]"),
        "document": (document, "documents [0, 0, 0, 1, 1, 2, 2, 2]"),
        "causal document": (
            flex.and_masks(causal, document),
            "causal and documents [0, 0, 0, 1, 1, 2, 2, 2]",
        ),
        "sliding": (flex.and_masks(causal, window), "causal and window [2, 0]"),
        "dilated": (dilated, "keep"),
        "natten": (natten, ""),
        "tiles": (tiles, ""),
        "padded": (padded, "lengths 5"),
        "inverted": (inverted, "causal"),
        "added": (added, "any [causal, first 2]"),
    }


NAMES = [
    "causal",
    "window",
    "prefix LM",
    "document",
    "causal document",
    "sliding",
    "dilated",
    "natten",
    "tiles",
    "padded",
    "inverted",
    "added",
]


@in_one_test("name", NAMES)
@in_one_test(("n", "m", "batch"), [(8, 8, 1), (3, 8, 2), (8, 5, 2)])
def test_a_problem_hides_what_create_mask_hides(
    torch: Any, flex: Any, name: str, n: int, m: int, batch: int
) -> None:
    mod, form = mask_mods(torch, flex)[name]
    study = studied(mod, n, m, heads=HEADS, batch=batch, has_torch=True)
    wanted = flex.create_mask(mod, batch, HEADS, n, m, device="cpu").numpy()
    assert np.array_equal(study.visible, wanted)
    assert np.array_equal(visible_by_attncli(study), wanted)
    assert not [each for each in study.remarks if "PyTorch" in each]
    if (n, m, batch) == (8, 8, 1) and form:
        assert form_words(study) == form


def score_mods(torch: Any) -> dict[str, tuple[Mod, str]]:
    """Each with its form for two heads, read off the function by hand."""

    def alibi(score: Any, b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        scale = torch.exp2(-((h + 1) * 8.0 / HEADS))
        return score + (kv_idx - q_idx) * scale

    def causal_alibi(score: Any, b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        biased = alibi(score, b, h, q_idx, kv_idx)
        return torch.where(q_idx >= kv_idx, biased, -float("inf"))

    def softcap(score: Any, b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return 20 * torch.tanh(score / 20)

    def causal_softcap(score: Any, b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return torch.where(q_idx >= kv_idx, softcap(score, b, h, q_idx, kv_idx), -float("inf"))

    def relative(score: Any, b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return score + (q_idx - kv_idx)

    return {
        "alibi": (alibi, "additive"),
        "causal alibi": (causal_alibi, "alibi and causal"),
        "softcap": (softcap, "softcap 20"),
        "causal softcap": (causal_softcap, "softcap 20 and causal"),
        "relative": (relative, "additive"),
    }


# PyTorch says that this is not its quick way.
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("name", ["alibi", "causal alibi", "softcap", "causal softcap", "relative"])
def test_attention_of_the_problem_is_that_of_flex_attention(
    torch: Any, flex: Any, name: str
) -> None:
    """Of drawn queries and keys, by the function that FlexAttention runs without a compiler."""
    mod, form = score_mods(torch)[name]
    study = studied(mod, 5, 6, heads=HEADS, has_torch=True)
    assert form_words(study) == form
    assert study.remarks == ()
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, HEADS, size, 4, dtype=torch.float64) * 3 for size in (5, 6, 6))
    wanted = flex.flex_attention(q, k, v, score_mod=mod)[0].numpy()
    keys = study_data(study)["problem"]
    given = {"Q": q[0].numpy(), "K": k[0].numpy(), "V": v[0].numpy()}
    found = attncli.trace({**given, **keys})
    output = found["heads_output"] if "heads_output" in found.steps else found["output"]
    if output.ndim == 2:
        output = output.reshape(5, HEADS, 4).swapaxes(0, 1)
    assert output == pytest.approx(wanted, abs=1e-5)


def test_what_pytorch_cannot_call_is_told(flex: Any) -> None:
    def by_and(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return q_idx >= kv_idx and kv_idx < 4

    [said] = studied(by_and, 4, has_torch=True).remarks
    assert said.startswith("PyTorch makes no mask of it: create_mask of FlexAttention fails with")
    assert "data-dependent control flow" in said


@pytest.mark.long
def test_the_process_of_a_file_with_pytorch_calls_it_both_ways(
    flex: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the process of the function, which finds PyTorch in the file."""
    file = tmp_path / "mods.py"
    file.write_text(
        "import torch\n\ndef capped(score, b, h, q_idx, kv_idx):\n"
        "    if kv_idx > q_idx:\n        return -torch.inf\n"
        "    return 20 * torch.tanh(score / 20)\n",
        encoding="utf-8",
    )
    line = ["mask", f"{file}:capped", "-n", "3", "--seconds", "60", "--format", "json"]
    assert run(line) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["problem"] == {"softcap": 20, "mask": "causal"}
    [said] = found["remarks"]
    assert "create_mask of FlexAttention fails with line 4: RuntimeError" in said


def test_another_mask_of_pytorch_is_told(flex: Any) -> None:
    def by_kind(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return q_idx >= kv_idx if type(q_idx).__module__ == "numpy" else q_idx <= kv_idx

    [said] = studied(by_kind, 4, has_torch=True).remarks
    assert said == (
        "PyTorch makes another mask of it: create_mask of FlexAttention gives true for q_idx = 0"
        " and kv_idx = 1."
    )
