"""FlexAttention: its mask and its function of the scores become a problem, or it is said why they
do not.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import attncli
from tests.cases import in_one_test

pytestmark = [
    pytest.mark.torch,
    # PyTorch says that it is slow without being compiled, and Dynamo warns for itself.
    pytest.mark.filterwarnings("ignore"),
]
Recording = Callable[..., Any]
Scores = Callable[..., Any]


@pytest.fixture
def flex(torch: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """FlexAttention, which is not compiled outside the block either: that would take seconds."""
    module = pytest.importorskip("torch.nn.attention.flex_attention")
    if hasattr(module, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"):
        monkeypatch.setattr(module, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    return module


def tensors(torch: Any, kv_heads: int = 4, dtype: Any = None) -> list[Any]:
    """Queries, keys and values of two entries: five queries and six keys."""
    shapes = [(2, 4, 5, 8), (2, kv_heads, 6, 8), (2, kv_heads, 6, 3)]
    return [torch.randn(shape).to(dtype or torch.float32) for shape in shapes]


def slopes(torch: Any) -> Scores:
    each = torch.tensor([0.5, 0.25, 0.125, 0.0625])
    return lambda score, b, h, i, j: score + each[h] * (j - i)


def cap(torch: Any, limit: float) -> Scores:
    return lambda score, b, h, i, j: limit * torch.tanh(score / limit)


def bias(torch: Any) -> Scores:
    table = torch.randn(2, 4, 5, 6)
    return lambda score, b, h, i, j: score + table[b, h, i, j]


def low(torch: Any) -> Scores:
    lowest = torch.finfo(torch.float32).min
    return lambda score, b, h, i, j: torch.where(i >= j, score, lowest)


def both(torch: Any) -> Scores:
    first, then = cap(torch, 1.5), bias(torch)
    return lambda score, *cell: then(first(score, *cell), *cell)


# What is known, with what a problem has for it.
KNOWN: dict[str, tuple[Callable[[Any], Scores], dict[str, Any]]] = {
    "slopes": (slopes, {}),
    "a bias": (bias, {}),
    "a factor": (lambda torch: lambda score, b, h, i, j: score * 1.5, {"scale": 1.5 * 8**-0.5}),
    "a softcap": (lambda torch: cap(torch, 50.0), {"softcap": 50}),
    "a low softcap": (lambda torch: cap(torch, 0.25), {"softcap": 0.25}),
    "a softcap and a bias": (both, {"softcap": 1.5}),
    "low numbers": (low, {"mask": {"causal": True, "corner": "top-left"}}),
}


@in_one_test("has_mask", [False, True])
@in_one_test("name", KNOWN)
def test_a_function_of_the_scores_that_has_a_name(
    name: str, has_mask: bool, flex: Any, torch: Any, recording: Recording
) -> None:
    made, keys = KNOWN[name]
    mask = flex.create_block_mask(lambda b, h, i, j: j <= i + b, 2, None, 5, 6, device="cpu")
    given = {"score_mod": made(torch), "block_mask": mask if has_mask else None}
    query, key, value = tensors(torch)
    expected = flex.flex_attention(query, key, value, **given)
    with recording() as calls:
        assert torch.equal(flex.flex_attention(query, key, value, **given), expected)
    (call,) = calls
    assert call.check(), call.check()
    found = call.keys(head=1, entry=0)
    if has_mask:
        keys = keys | {"mask": found["mask"]}
    assert {key: found[key] for key in keys} == {
        key: number if key == "mask" else pytest.approx(number) for key, number in keys.items()
    }


def test_by_hand(flex: Any, torch: Any, recording: Recording) -> None:
    # Scores ln 3 and 0, to which 0 and ln 3 are added: ln 3 each, so both weights are 1/2.
    log_3 = float(np.log(3))
    query, key = torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([[[[log_3, 0.0], [0.0, 1.0]]]])
    value = torch.tensor([[[[4.0], [8.0]]]])
    with recording() as calls:
        output = flex.flex_attention(
            query, key, value, lambda score, b, h, i, j: score + j * log_3, scale=1.0
        )
    assert float(output) == pytest.approx(6)
    assert calls[0].trace()["weights"] == pytest.approx(np.array([[[0.5, 0.5]]]))
    assert calls[0].keys()["mask"]["additive"] == pytest.approx(np.array([[0, log_3]]))


def test_grouped_heads_any_format_and_what_else_is_asked(
    flex: Any, torch: Any, recording: Recording
) -> None:
    asked = {"score_mod": cap(torch, 2.0), "scale": 0.3, "enable_gqa": True, "return_lse": True}
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        with recording() as calls:
            flex.flex_attention(*tensors(torch, 2, dtype), **asked)
        (call,) = calls
        assert (call.heads, call.kv_heads, call.dtype) == (4, 2, str(dtype)[6:])
        assert call.check(), call.check()


def test_masks_have_their_words(flex: Any, torch: Any, recording: Recording) -> None:
    masks: dict[str, Callable[..., Any]] = {
        "causal": lambda b, h, i, j: i >= j,
        "true/false": lambda b, h, i, j: (i >= j) & (i - j < 2),
        "none": lambda b, h, i, j: j >= 0,
    }
    query = torch.randn(1, 2, 5, 8)
    for words, mask_mod in masks.items():
        mask = flex.create_block_mask(mask_mod, None, None, 5, 5, device="cpu")
        with recording() as calls:
            flex.flex_attention(query, query, query, block_mask=mask)
        assert calls[0].mask == words
        assert calls[0].check()
    assert calls[0].keys(head=0)["mask"] == "none"


UNKNOWN: dict[str, tuple[Callable[[Any], Scores], str]] = {
    "other factors": (
        lambda torch: lambda score, b, h, i, j: score * (1 + i),
        "it multiplies each score by a number that is another for other positions",
    ),
    "relu": (lambda torch: lambda score, b, h, i, j: torch.relu(score), "it makes 0 of the score"),
    "square": (lambda torch: lambda score, b, h, i, j: score * score, "1, 0, 1 and 4"),
    "a sum and relu": (
        lambda torch: lambda score, b, h, i, j: torch.relu(5 * score) - 3.32,
        "which is 5 · score - 3.32",
    ),
    "nothing of it": (lambda torch: lambda score, b, h, i, j: score * 0, "0, 0 and 0"),
    "a softcap after a bias": (
        lambda torch: lambda score, b, h, i, j: torch.tanh(score + i + 1),
        "it adds before the softcap, c·tanh((s + a)/c), and attncli adds after it",
    ),
    "NaN": (
        lambda torch: lambda score, b, h, i, j: score / score,
        "in cell [0, 0, 0, 0] it makes NaN of the score 0",
    ),
}  # fmt: skip


@in_one_test("name", UNKNOWN)
def test_a_function_of_the_scores_without_a_name_says_what_it_does(
    name: str, flex: Any, torch: Any, recording: Recording
) -> None:
    made, said = UNKNOWN[name]
    query, key, value = tensors(torch)
    expected = flex.flex_attention(query, key, value, score_mod=made(torch))
    with recording() as calls:
        output = flex.flex_attention(query, key, value, score_mod=made(torch))
    assert torch.equal(output, expected) or name == "NaN"
    with pytest.raises(attncli.AttncliError, match="its score_mod is not understood") as caught:
        calls[0].problem()
    assert said in str(caught.value)
    assert "1 call cannot be saved: its score_mod" in str(calls)


def test_a_function_that_fails_on_other_scores_does_not_stop_the_model(
    flex: Any, torch: Any, recording: Recording
) -> None:
    def touchy(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        if score.dtype is torch.float64:
            raise KeyError("mine")
        return score

    with recording() as calls:
        flex.flex_attention(*tensors(torch), score_mod=touchy)
    assert "its score_mod cannot be tried: 'mine'" in calls[0].reason


@pytest.mark.slow
@pytest.mark.parametrize("is_compiled", [False, True])
def test_as_it_runs_outside_the_block(is_compiled: bool, torch: Any, recording: Recording) -> None:
    """There, PyTorch traces it in any case."""
    pytest.importorskip("torch.nn.attention.flex_attention")
    from torch.nn.attention.flex_attention import flex_attention

    function = torch.compile(flex_attention, backend="eager") if is_compiled else flex_attention
    given, asked = tensors(torch), {"score_mod": slopes(torch)}
    expected = function(*given, **asked)
    with recording() as calls:
        assert torch.equal(function(*given, **asked), expected)
    assert calls[0].check()
    assert torch.equal(function(*given, **asked), expected)


def test_a_model_in_a_thread_that_the_block_starts(
    flex: Any, torch: Any, recording: Recording
) -> None:
    class Layer(torch.nn.Module):
        def forward(self, *given: Any) -> Any:
            return flex.flex_attention(*given)

    model, given = Layer(), tensors(torch)
    with recording() as calls:
        thread = threading.Thread(target=model, args=given)
        thread.start()
        thread.join()
    assert [call.where for call in calls] == ["Layer"]
    assert calls[0].check()


@pytest.mark.parametrize("name", ["llama", "gemma2", "t5"])
def test_a_model_of_transformers(name: str, torch: Any, recording: Recording) -> None:
    """A mask, a softcap, and a bias of positions."""
    from tests.recording.architectures import inputs_of, model_of

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, inputs = model_of(name, "flex_attention"), inputs_of(name, torch)
    if name == "t5":
        # With two entries, Transformers looks up a bias that it does not have.
        inputs = {key: each[:1] for key, each in inputs.items()}
    with torch.no_grad(), recording() as calls:
        model(**inputs)
    assert len(calls) == (6 if name == "t5" else 2)
    assert all(call.check() for call in calls)
    keys = calls[0].keys(head=1, entry=0)
    assert ("softcap" in keys) == (name == "gemma2")
    assert ("additive" in keys["mask"]) == (name == "t5")
