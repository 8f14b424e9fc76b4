"""Calls that PyTorch programs make are seen, change nothing, and are worked out to the same
output.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from tests.cases import in_one_test

pytestmark = pytest.mark.torch
Recording = Callable[..., Any]


def attend(torch: Any, *shapes: tuple[int, ...], **options: Any) -> Any:
    """PyTorch's function on random tensors of these shapes, of queries, keys and values."""
    dtype = options.pop("dtype", torch.float32)
    tensors = [torch.randn(shape, dtype=torch.float64).to(dtype) for shape in shapes]
    return torch.nn.functional.scaled_dot_product_attention(*tensors, **options)


def test_by_hand(torch: Any, recording: Recording) -> None:
    # scores ln 3 and 0 without a scale: weights 3/4 and 1/4
    query, key = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[float(np.log(3)), 0.0], [0.0, 1.0]]])
    value = torch.tensor([[[4.0], [8.0]]])
    with recording() as calls:
        output = torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=1.0)
    assert float(output) == pytest.approx(5)
    (call,) = calls
    assert (call.heads, call.kv_heads, call.mask, call.where) == (1, 1, "none", "")
    trace = call.trace(head=0)
    assert trace["weights"] == pytest.approx(np.array([[0.75, 0.25]]))
    assert trace["output"].tolist() == [[pytest.approx(5)]]
    assert call.check()
    assert call.check().comparison["output"].difference.absolute < 1e-6


SHAPES = [
    pytest.param([(3, 4), (5, 4), (5, 2)], {}, id="one head"),
    pytest.param([(2, 3, 4), (2, 5, 4), (2, 5, 6)], {}, id="heads"),
    pytest.param([(2, 4, 3, 8)] + [(2, 4, 5, 8)] * 2, {}, id="batch"),
    pytest.param([(2, 1, 4, 3, 8)] + [(2, 1, 4, 5, 8)] * 2, {}, id="five axes"),
    pytest.param(
        [(2, 4, 3, 8)] + [(2, 2, 5, 8)] * 2, {"enable_gqa": True}, id="fewer heads of keys"
    ),
    pytest.param([(1, 2, 4, 4)] * 3, {"is_causal": True}, id="causal"),
    pytest.param([(1, 2, 3, 4)] + [(1, 2, 5, 4)] * 2, {"is_causal": True}, id="causal, top-left"),
    pytest.param(
        [(1, 2, 5, 4)] + [(1, 2, 3, 4)] * 2,
        {"is_causal": True},
        id="causal, more queries than keys",
    ),
    pytest.param([(1, 2, 3, 4)] * 3, {"scale": 0.3}, id="a scale"),
    pytest.param([(2, 4, 3, 8)] + [(1, 4, 5, 8)] * 2, {}, id="keys of one entry"),
    pytest.param([(1, 4, 3, 8)] + [(2, 4, 5, 8)] * 2, {}, id="queries of one entry"),
    pytest.param([(2, 4, 3, 8), (2, 1, 5, 8), (1, 4, 5, 8)], {}, id="one head of keys"),
    pytest.param([(2, 1, 3, 8)] + [(2, 4, 5, 8)] * 2, {}, id="one head of queries"),
    pytest.param(
        [(2, 4, 3, 8), (2, 2, 5, 8), (2, 1, 5, 8)], {"enable_gqa": True}, id="other heads of values"
    ),
    pytest.param([(2, 1, 4, 3, 8), (1, 3, 4, 5, 8), (1, 5, 8)], {}, id="axes that are repeated"),
]


@in_one_test("dtype", ["float64", "float32", "float16", "bfloat16"])
@in_one_test(("shapes", "options"), SHAPES)
def test_the_output_is_the_recorded_one(
    shapes: list[tuple[int, ...]],
    options: dict[str, Any],
    dtype: str,
    torch: Any,
    recording: Recording,
) -> None:
    with recording() as calls:
        attend(torch, *shapes, dtype=getattr(torch, dtype), **options)
    (call,) = calls
    assert call.dtype == dtype
    agreement = call.check()
    assert agreement, agreement


def test_a_call_whose_output_is_another_does_not_agree(torch: Any, recording: Recording) -> None:
    with recording() as calls:
        attend(torch, (3, 4), (3, 4), (3, 4))
    calls[0].output[2, 1] += 0.01
    agreement = calls[0].check()
    assert not agreement
    assert agreement.comparison.first.name == "output"
    assert str(agreement) == "the first step that differs is output: 1 cell, by at most 0.01"


MASKS = [
    ("none", "torch.ones(4, 4, dtype=torch.bool)"),
    ("causal", "torch.ones(4, 4).tril().bool()"),
    ("causal", "torch.full((1, 1, 4, 4), torch.finfo(torch.float32).min).triu(1)"),
    ("causal", "torch.full((4, 4), -1e4).triu(1)"),
    ({"causal": True, "window": [1, 0]}, "torch.ones(4, 4).tril().triu(-1).bool()"),
    ({"padding": [1, 1, 0, 1]}, "torch.tensor([[[[True, True, False, True]]]])"),
    (
        {"causal": True, "padding": [0, 1, 1, 1]},
        "torch.ones(4, 4).tril().bool() & torch.tensor([False] + [True] * 3)",
    ),
]


@in_one_test(("written", "mask"), MASKS)
def test_a_mask_that_has_a_word_is_written_so(
    written: Any, mask: str, torch: Any, recording: Recording
) -> None:
    with recording() as calls:
        attend(torch, *[(1, 2, 4, 4)] * 3, attn_mask=eval(mask, {"torch": torch}))
    assert calls[0].keys(head=1)["mask"] == written
    assert calls[0].check()


def test_the_corner_of_a_causal_mask_is_said_where_there_are_two(
    torch: Any, recording: Recording
) -> None:
    top_left, bottom_right = torch.ones(2, 4).tril().bool(), torch.ones(2, 4).tril(2).bool()
    with recording() as calls:
        attend(torch, (2, 3), (4, 3), (4, 3), attn_mask=top_left)
        attend(torch, (2, 3), (4, 3), (4, 3), attn_mask=bottom_right)
    assert [call.keys()["mask"]["corner"] for call in calls] == ["top-left", "bottom-right"]
    assert calls[0].check()
    assert calls[1].check()


def test_biases_are_added_and_the_most_negative_number_of_a_format_hides(
    torch: Any, recording: Recording
) -> None:
    bias = torch.tensor([[0.5, -1.0], [2.0, 0.25]])
    bias[0, 1] += torch.finfo(torch.float32).min
    with recording() as calls:
        attend(torch, *[(1, 2, 2, 4)] * 3, attn_mask=bias)
    assert calls[0].keys()["mask"]["additive"].tolist() == [[0.5, float("-inf")], [2.0, 0.25]]
    assert calls[0].check()


LOW = [
    # what is low everywhere in a row hides nothing
    ("additive", 1, "torch.full((6, 6), -2e4) + torch.randn(6, 6)"),
    ("additive", 1, "torch.full((6, 6), -1e9) + torch.arange(6.0) * 1000"),
    # a row of the mask hides what no score can bring back, and a steep bias does not where scores
    # are as large
    ("window", 1, "-4000.0 * (torch.arange(6) - torch.arange(6)[:, None]).abs()"),
    ("additive", 60, "-4000.0 * (torch.arange(6) - torch.arange(6)[:, None]).abs()"),
    ("causal", 1, "torch.full((6, 6), -1e4).triu(1)"),
    ("additive", 80, "torch.full((6, 6), -1e4).triu(1)"),
    ("additive", 1, "torch.full((6, 6), -1e4).triu(1) - 3e4"),
    # a bias that is added to the lowest number changes nothing
    (
        "causal",
        1,
        (
            "torch.full((6, 6), torch.finfo(torch.float32).min).triu(1) + torch.zeros(6,"
            " 6).fill_(5).triu(1)"
        ),
    ),
]


@pytest.mark.parametrize(("written", "size", "mask"), LOW)
def test_a_low_number_hides_a_key_only_if_no_score_brings_it_back(
    written: str, size: float, mask: str, torch: Any, recording: Recording, tmp_path: Path
) -> None:
    """`size` is that of queries and keys, and its square about that of the scores."""
    added = eval(mask, {"torch": torch})
    query, key, value = size * torch.randn(6, 4), size * torch.randn(6, 4), torch.randn(6, 4)
    with recording() as calls:
        torch.nn.functional.scaled_dot_product_attention(query, key, value, added)
    kept = calls[0].keys()["mask"]
    assert written in ("causal" if kept == "causal" else [*kept])
    calls[0].save(tmp_path / "call.yaml")
    expected = (query.double() @ key.double().T / 2 + added.double()).softmax(dim=-1)
    assert attncli.trace(tmp_path / "call.yaml")["weights"] == pytest.approx(
        expected.numpy(), abs=1e-2 * size
    )
    again = attncli.trace(
        Q=query.numpy(), K=key.numpy(), V=value.numpy(), mask={"additive": added.numpy()}
    )
    # hidden or added, the numbers are the same to the last bit
    assert (calls[0].trace()["output"] == again["output"]).all()


def test_a_query_from_which_all_is_hidden_has_no_window(torch: Any, recording: Recording) -> None:
    with recording() as calls:
        output = attend(
            torch, (3, 4), (1, 4), (1, 4), attn_mask=torch.zeros(1, 1, dtype=torch.bool)
        )
    assert output.eq(0).all()
    assert calls[0].trace().fully_masked == (0, 1, 2)


def test_a_query_that_sees_no_key_is_left_out_of_the_check(
    torch: Any, recording: Recording
) -> None:
    keep = torch.tensor([[True, False], [False, False]])
    lowest = torch.where(keep, 0.0, torch.finfo(torch.float32).min)
    with recording() as calls:
        # PyTorch gives 0 or NaN for the second query,
        attend(torch, *[(1, 2, 2, 4)] * 3, attn_mask=keep)
        attend(torch, *[(1, 2, 2, 4)] * 3, attn_mask=lowest)  # and here the mean of all values
    for call in calls:
        assert call.trace().fully_masked == ((0, 1), (1, 1))
        assert call.check()


def test_dropout_cannot_be_worked_out(torch: Any, recording: Recording) -> None:
    with recording() as calls:
        attend(torch, *[(2, 3, 4)] * 3, dropout_p=0.5)
    with pytest.raises(attncli.AttncliError, match="dropout"):
        calls[0].problem()


def layer(torch: Any, causal: bool = False) -> Any:
    """A module with linear layers for queries, keys and values of two heads."""

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = torch.nn.Linear(8, 24), torch.nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            entries, n, _ = x.shape
            parts = (
                part.view(entries, n, 2, 4).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
            )
            heads = torch.nn.functional.scaled_dot_product_attention(*parts, is_causal=causal)
            return self.out(heads.transpose(1, 2).reshape(entries, n, 8))

    return Layer()


def test_a_model_gives_the_same_bits_and_its_modules_have_names(
    torch: Any, recording: Recording
) -> None:
    model = torch.nn.Sequential(layer(torch), layer(torch, causal=True)).eval()
    x = torch.randn(2, 5, 8)
    expected = model(x)
    with recording() as calls:
        assert torch.equal(model(x), expected)
        assert torch.equal(model(x), expected)
    made = [(call.step, call.layer, call.where) for call in calls]
    assert made == [(0, 0, "0"), (0, 1, "1"), (1, 0, "0"), (1, 1, "1")]
    assert torch.equal(model(x), expected)
    shown = str(calls)
    assert "step" in shown
    assert "causal" in shown
    assert calls._repr_markdown_().count("|") > 20


def test_only_the_calls_of_one_model(torch: Any, recording: Recording) -> None:
    model, x = torch.nn.Sequential(layer(torch), layer(torch)), torch.randn(1, 5, 8)
    whole = torch.nn.ModuleDict({"first": model, "second": layer(torch)})
    with recording(model) as calls:
        attend(torch, *[(3, 4)] * 3)
        whole["second"](x)
        model(x)
        model(x)
    made = [(call.step, call.layer, call.where) for call in calls]
    assert made == [(0, 0, "0"), (0, 1, "1"), (1, 0, "0"), (1, 1, "1")]


def test_a_problem_begins_at_x_where_linear_layers_were_seen(
    torch: Any, recording: Recording
) -> None:
    model, x = layer(torch), torch.randn(1, 5, 8)
    with recording() as calls:
        model(x)
    whole, one, bare = (
        calls[0].trace(),
        calls[0].trace(head=1),
        attncli.trace(calls[0].problem(from_inputs=False)),
    )
    assert "X" in whole
    assert "X" not in bare
    assert whole["X"] == pytest.approx(x[0].numpy())
    assert whole["weights"] == pytest.approx(bare["weights"], abs=1e-5)
    assert one["weights"] == pytest.approx(bare["weights"][1], abs=1e-5)
    assert one["weights"].shape == (5, 5)
    weight = model.qkv.weight.detach().numpy()
    # keys are features 8 to 15, of which head 1 has the last four
    assert one["W_K"] == pytest.approx(weight[12:16].T)


def test_weights_that_were_trained_afterwards_are_not_taken(
    torch: Any, recording: Recording
) -> None:
    model = layer(torch)
    with recording() as calls:
        model(torch.randn(1, 5, 8))
    with torch.no_grad():
        model.qkv.weight += 1
    assert "X" not in calls[0].trace()
    assert calls[0].check()


MULTI_HEAD = {
    "self": {},
    "batch first": {"batch_first": True},
    "other sizes of keys and values": {"kdim": 6, "vdim": 6},
    "no bias": {"bias": False},
}


@in_one_test("name", MULTI_HEAD)
@in_one_test("need_weights", [True, False])
def test_multi_head_attention_as_a_whole(
    name: str, need_weights: bool, torch: Any, recording: Recording
) -> None:
    options = MULTI_HEAD[name]
    module = torch.nn.MultiheadAttention(8, 2, **options).eval()
    x, context = torch.randn(4, 4, 8), torch.randn(4, 4, options.get("kdim", 8))
    other = x if name in ("self", "no bias") else context
    hidden = torch.ones(4, 4).triu(1).bool()
    with recording() as calls:
        output, _ = module(x, other, other, attn_mask=hidden, need_weights=need_weights)
    (call,) = calls
    assert call.check(), call.check()
    trace = call.trace()
    assert "W_O" in trace
    first = output[0] if options.get("batch_first") else output[:, 0]
    assert trace["output"][0] == pytest.approx(first.detach().numpy(), abs=1e-5)


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("entries", [1, 2])
def test_each_part_of_multi_head_attention_can_be_checked(
    heads: int, entries: int, torch: Any, recording: Recording, tmp_path: Path
) -> None:
    module = torch.nn.MultiheadAttention(8, heads, batch_first=True).eval()
    x, padding = torch.randn(entries, 3, 8), torch.zeros(entries, 3, dtype=torch.bool)
    padding[-1, 1:] = True
    with recording() as calls:
        output, _ = module(x, x, x, key_padding_mask=padding, need_weights=False)
    (call,) = calls
    assert call.trace(entry=0)["output"] == pytest.approx(output[0].detach().numpy(), abs=1e-6)
    for asked in ({}, {"head": 0}, {"entry": 0}, {"head": 0, "entry": 0}, {"from_inputs": False}):
        call.save(tmp_path / "call.yaml", **asked)
    with torch.no_grad():
        module.out_proj.weight += 1  # the weights that join the heads are those of the model
    with pytest.warns(UserWarning, match="does not give the output that was recorded"):
        call.save(tmp_path / "call.yaml")
    call.save(tmp_path / "call.yaml", head=0)


def test_multi_head_attention_with_padding_and_without_a_batch(
    torch: Any, recording: Recording
) -> None:
    module = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    x, padding = torch.randn(2, 3, 8), torch.tensor([[False, False, False], [False, True, True]])
    with recording() as calls:
        module(x, x, x, key_padding_mask=padding)
        module(x[0], x[0], x[0])
    assert [bool(call.check()) for call in calls] == [True, True]
    assert calls[0].trace(entry=1)["weights"][0] == pytest.approx(np.array([[1, 0, 0]] * 3))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_multi_head_attention_gives_the_same_bits(
    batch_first: bool, need_weights: bool, torch: Any, recording: Recording
) -> None:
    module = torch.nn.MultiheadAttention(8, 2, batch_first=batch_first)
    x, hidden = torch.randn(3, 3, 8), torch.ones(3, 3).triu(1).bool()
    asked = {"attn_mask": hidden, "is_causal": True, "need_weights": need_weights}
    expected, weights = module(x, x, x, **asked)
    with recording() as calls:
        output, again = module(x, x, x, **asked)
    assert torch.equal(output, expected)
    assert (again is None) if weights is None else torch.equal(again, weights)
    assert calls[0].keys()["mask"] == "causal"
    assert calls[0].check()
    assert torch.nn.functional.has_torch_function((x,)) is False
    output.sum().backward()
    assert module.in_proj_weight.grad is not None


def test_multi_head_attention_of_unknown_parts_is_no_call(
    torch: Any, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    functional = torch.nn.functional
    monkeypatch.setattr(functional, "_in_projection_packed", lambda q, k, v, w, b=None: (q, k, v))
    module = torch.nn.MultiheadAttention(8, 2).eval()
    x = torch.randn(3, 1, 8)
    with recording() as calls:
        module(x, x, x)
        attend(torch, *[(3, 4)] * 3)
    assert len(calls) == 1
    assert "1 call of F.multi_head_attention_forward could not be recorded." in str(calls)


def test_keys_and_values_of_different_inputs(torch: Any, recording: Recording) -> None:
    module = torch.nn.MultiheadAttention(8, 2).eval()
    with recording() as calls:
        module(torch.randn(3, 1, 8), torch.randn(4, 1, 8), torch.randn(4, 1, 8))
    assert "X" not in calls[0].trace()
    assert calls[0].check()


@in_one_test(
    "masks", [(), ("attn_mask",), ("key_padding_mask",), ("attn_mask", "key_padding_mask")]
)
@in_one_test("need_weights", [True, False])
@in_one_test("adds", [("add_bias_kv",), ("add_zero_attn",), ("add_bias_kv", "add_zero_attn")])
def test_what_multi_head_attention_adds_to_the_keys(
    adds: tuple[str, ...],
    need_weights: bool,
    masks: tuple[str, ...],
    torch: Any,
    recording: Recording,
) -> None:
    module = torch.nn.MultiheadAttention(8, 2, **dict.fromkeys(adds, True)).eval()
    x = torch.randn(3, 2, 8)
    asked = {
        "attn_mask": torch.ones(3, 3).triu(1).bool(),
        "key_padding_mask": torch.tensor([[False, False, False], [False, False, True]]),
    }
    given = {name: asked[name] for name in masks}
    expected, weights = module(x, x, x, need_weights=need_weights, **given)
    with recording() as calls:
        output, _ = module(x, x, x, need_weights=need_weights, **given)
    assert torch.equal(output, expected)
    (call,) = calls
    assert call.check(), call.check()
    trace = call.trace()
    assert trace["K"].shape == (2, 2, 3 + len(adds), 4)
    if "add_zero_attn" in adds:
        assert not trace["K"][..., -1, :].any()
    if "add_bias_kv" in adds:
        added = module.bias_k.detach().reshape(2, 4).numpy()
        assert trace["K"][1, :, 3] == pytest.approx(added)
    if need_weights:
        assert trace["weights"].mean(axis=1) == pytest.approx(weights.detach().numpy(), abs=1e-6)


def test_keys_that_are_given_to_multi_head_attention_are_not_understood(
    torch: Any, recording: Recording
) -> None:
    x, ready = torch.randn(3, 1, 8), torch.randn(2, 3, 4)
    weights = [torch.randn(24, 8), None, None, None, False, 0.0, torch.randn(8, 8), None]
    with recording() as calls:
        torch.nn.functional.multi_head_attention_forward(
            x, x, x, 8, 2, *weights, training=False, static_k=ready, static_v=ready
        )
    with pytest.raises(attncli.AttncliError, match="static_k"):
        calls[0].problem()


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("MultiheadAttention", ["MultiheadAttention"]),
        ("TransformerEncoderLayer", ["self_attn"]),
        ("TransformerEncoder", ["layers.0.self_attn", "layers.1.self_attn"]),
    ],
)
def test_what_has_a_fused_path_is_recorded(
    kind: str, where: list[str], torch: Any, recording: Recording
) -> None:
    inner, x = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), torch.randn(1, 4, 8)
    modules = {
        "MultiheadAttention": lambda: inner.self_attn(x, x, x),
        "TransformerEncoderLayer": lambda: inner(x),
        "TransformerEncoder": lambda: encoder(x),
    }
    inner.eval()
    encoder = torch.nn.TransformerEncoder(inner, 2).eval()
    assert torch.backends.mha.get_fastpath_enabled()
    with torch.no_grad(), recording() as calls:
        modules[kind]()
    assert torch.backends.mha.get_fastpath_enabled()
    assert [call.where for call in calls] == where
    assert all(call.check() for call in calls)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the compiler
@pytest.mark.parametrize("runs_before", [True, False])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_model_runs_as_it_was_before_it_was_compiled(
    backend: str, runs_before: bool, torch: Any, recording: Recording
) -> None:
    model, x = layer(torch), torch.randn(1, 5, 8)
    compiled = torch.compile(model, backend=backend)
    if runs_before:
        compiled(x)
    for named in (None, model, compiled):
        with recording(named) as calls:
            assert torch.equal(compiled(x), model(x))
        assert [(call.step, call.where) for call in calls] == [(0, "Layer"), (1, "Layer")]
        assert all(call.check() for call in calls)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the compiler
def test_nothing_is_compiled_in_the_block_and_all_is_after_it(
    torch: Any, recording: Recording
) -> None:
    graphs = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    compiled, x = torch.compile(layer(torch), backend=backend), torch.randn(1, 5, 8)
    with recording():
        compiled(x)
    assert graphs == []
    compiled(x)
    assert graphs


def test_a_function_imported_by_its_name(torch: Any, recording: Recording) -> None:
    from torch.nn.functional import scaled_dot_product_attention

    with recording() as calls:
        scaled_dot_product_attention(*(torch.randn(3, 4) for _ in range(3)))
    assert len(calls) == 1


def test_without_a_call_what_to_try_is_said(torch: Any, recording: Recording) -> None:
    with pytest.raises(attncli.AttncliError, match="no call of attention") as caught, recording():
        torch.nn.Linear(2, 2)(torch.ones(2))
    assert "attn_implementation" in caught.value.help


@pytest.mark.parametrize(("number", "written"), [(float("nan"), "NaN"), (float("inf"), "+inf")])
def test_a_mask_that_no_problem_can_have_is_told_where_it_is_recorded(
    number: float, written: str, torch: Any, recording: Recording
) -> None:
    mask = torch.zeros(3, 3)
    mask[1, 2] = number
    with recording() as calls:
        attend(torch, *[(2, 3, 4)] * 3, attn_mask=mask)
    assert f"1 call cannot be saved: its mask has {written}." in repr(calls)
    with pytest.raises(attncli.AttncliError, match=re.escape(f"its mask has {written}")):
        calls[0].problem()


def test_an_error_in_the_block_is_the_only_one_and_everything_is_put_back(
    torch: Any, recording: Recording
) -> None:
    before = torch.nn.Module.__call__
    with pytest.raises(RuntimeError, match="mine"), recording():
        raise RuntimeError("mine")
    assert torch.nn.Module.__call__ is before
    assert torch.backends.mha.get_fastpath_enabled()


def test_only_some_layers_and_steps_are_kept(torch: Any, recording: Recording) -> None:
    model, x = torch.nn.Sequential(layer(torch), layer(torch)), torch.randn(1, 5, 8)
    with recording(layers=[1], steps=1) as calls:
        model(x)
        model(x)
    assert [call.attention is not None for call in calls] == [False, True, False, False]
    with pytest.raises(attncli.AttncliError, match="call 0 was not kept") as caught:
        calls[0].problem()
    assert "layers=[0]" in caught.value.help


def test_no_more_than_the_limit_is_kept(torch: Any, recording: Recording) -> None:
    with recording(limit=20_000) as calls:
        for _ in range(5):
            attend(torch, *[(16, 32)] * 3)  # 3 · 2 KiB, and an output of 2 KiB
    assert [call.attention is not None for call in calls] == [True, True, False, False, False]
    assert calls.bytes <= 20_000
    assert "The recorded tensors take 16 KiB." in str(calls)
    assert "3 calls cannot be saved: the limit of ≈ 19.5 KiB was reached." in str(calls)


def test_what_is_kept_is_a_copy(torch: Any, recording: Recording) -> None:
    query = torch.randn(3, 4)
    before = query.clone()
    with recording() as calls:
        torch.nn.functional.scaled_dot_product_attention(query, query, query)
        query.zero_()
    assert torch.equal(calls[0].attention.query, before)


def test_no_gradient_is_kept(torch: Any, recording: Recording) -> None:
    model = layer(torch)
    with recording() as calls:
        loss = model(torch.randn(1, 5, 8)).sum()
    loss.backward()
    assert model.qkv.weight.grad is not None
    assert not calls[0].attention.query.requires_grad
    del loss
    gc.collect()
    assert calls[0].check()


@in_one_test(
    ("asked", "what"),
    [
        ({"head": 2}, "no head 2"),
        ({"entry": 1}, "no entry 1"),
        ({"head": -1}, "no head -1"),
        ({"haed": 1}, "an option cannot be 'haed'\nhelp: did you mean head?"),
        ({"precision": 1}, "an option cannot be 'precision'"),
        ({"head": "1"}, "head is one whole number, not '1'"),
        ({"tokens": "abc"}, "tokens is one text, not a list of labels"),
        ({"tokens": ["a"]}, "1 token cannot label 3 keys"),
    ],
)
def test_what_is_not_there(
    asked: dict[str, Any], what: str, torch: Any, recording: Recording
) -> None:
    with recording() as calls:
        attend(torch, *[(1, 2, 3, 4)] * 3)
    with pytest.raises(attncli.AttncliError, match=what):
        calls[0].problem(**asked)
    with pytest.raises(IndexError, match="there is no call 1; the last one is 0"):
        calls[1]


def test_a_head_of_a_batch_has_entries(torch: Any, recording: Recording) -> None:
    with recording() as calls:
        output = attend(torch, (2, 4, 3, 8), (2, 2, 5, 8), (2, 2, 5, 8), enable_gqa=True)
    trace = calls[0].trace(head=3)
    assert trace.steps["weights"].rule.axis_names == ("batch", "head", "query", "key")
    assert trace["output"] == pytest.approx(output[:, 3:].numpy(), abs=1e-6)


def test_labels_of_queries_are_the_last_ones(torch: Any, recording: Recording) -> None:
    with recording() as calls:
        attend(torch, (1, 4), (3, 4), (3, 4))
    problem = calls[0].problem(tokens=["I", "love", "AI"])
    assert problem.tokens == ("AI",)
    assert problem.context_tokens == ("I", "love", "AI")
    with pytest.raises(attncli.AttncliError, match="2 tokens cannot label 3 keys") as caught:
        calls[0].problem(tokens=["I", "love"])
    assert caught.value.help == "give one label for each key"
    with pytest.raises(attncli.AttncliError, match="4 tokens cannot label 3 keys") as caught:
        calls[0].problem(tokens=["I", "love", "AI", "and"])
    assert caught.value.help == "give one label for each key, as in tokens[:3]"


def test_labels_in_cross_attention(torch: Any, recording: Recording) -> None:
    with recording() as calls:
        attend(torch, (1, 4), (3, 4), (3, 4))
    trace = calls[0].trace(tokens=["Ich"], context_tokens=["I", "love", "AI"], dtype="float32")
    assert trace.steps["weights"].labels == (("Ich",), ("I", "love", "AI"))
    assert trace.settings.dtype == "float32"


def test_a_call_is_shown_in_a_line(torch: Any, recording: Recording) -> None:
    model = torch.nn.Sequential(layer(torch), layer(torch, causal=True))
    with recording() as calls:
        model(torch.randn(1, 5, 8))
        attend(torch, (3, 4), (2, 4), (2, 4))
    assert repr(calls[1]) == "<call 1: 1, step 0, layer 1, 2 heads, 5×5, causal, float32>"
    assert repr(calls[2]) == "<call 2: step 0, layer 2, 1 head, 3×2, none, float32>"


@in_one_test(
    ("asked", "message", "help"),
    [
        (
            {"model": "gpt2"},
            "the model is a torch.nn.Module, not 'gpt2'",
            "recording() takes all calls",
        ),
        ({"layers": 3}, "layers are a list", "write layers=[3]"),
        ({"layers": ["3"]}, "a layer is a whole number, at least 0, not '3'", ""),
        ({"layers": [-1]}, "a layer is a whole number, at least 0, not -1", ""),
        ({"steps": 0}, "steps is a whole number, at least 1, not 0", ""),
        ({"steps": 1.5}, "steps is a whole number, at least 1, not 1.5", ""),
        ({"limit": "1 GiB"}, "limit is a whole number, at least 0, not '1 GiB'", ""),
    ],
)
def test_what_cannot_be_kept(
    asked: dict[str, Any], message: str, help: str, recording: Recording
) -> None:
    with pytest.raises(attncli.AttncliError, match=message) as caught, recording(**asked):
        pytest.fail("the block must not run")
    assert caught.value.help == help


def test_layers_that_are_not_there(torch: Any, recording: Recording) -> None:
    model, x = torch.nn.Sequential(layer(torch), layer(torch)), torch.randn(1, 5, 8)
    with (
        pytest.raises(attncli.AttncliError, match="there is no layer 2 or 7") as caught,
        recording(layers={7, 2}),
    ):
        model(x)
    assert caught.value.help == "there are layers 0 to 1"
    with pytest.raises(attncli.AttncliError) as caught, recording(layers=[1]):
        model[0](x)
    assert caught.value.help == "there is only layer 0"


def test_only_the_table(torch: Any, recording: Recording) -> None:
    with recording(layers=[]) as calls:
        torch.nn.Sequential(layer(torch), layer(torch))(torch.randn(1, 5, 8))
    assert calls.bytes == 0
    assert "cannot be saved" not in str(calls)
    with pytest.raises(
        attncli.AttncliError, match=r"call 1 was not kept: layers=\[\] keeps no call"
    ):
        calls[1].problem()


def table(calls: Any) -> list[list[str]]:
    """The words of the table, by its lines."""
    return [line.split() for line in str(calls).split("\n")[3:] if line.startswith("  ")]


def test_the_table_marks_what_was_left_out(torch: Any, recording: Recording) -> None:
    model, x = torch.nn.Sequential(layer(torch), layer(torch)), torch.randn(1, 5, 8)
    with recording(layers=[1], steps=1) as calls:
        model(x)
        model(x)
    head, _, *rows = table(calls)
    assert head == ["call", "step", "layer", "module", "heads", "n", "m", "d", "mask", "kept"]
    assert [row[-1] for row in rows[:4]] == ["no", "yes", "no", "no"]
    assert "2 calls cannot be saved: layers= names other layers." in str(calls)
    assert "1 call cannot be saved: steps= asks for fewer runs." in str(calls)
    assert repr(calls[0]).endswith("none, float32, not kept>")
    for number, help in [(2, "record it with layers=[0]"), (3, "record it with steps=2")]:
        with pytest.raises(attncli.AttncliError, match=f"call {number} was not kept") as caught:
            calls[number].save("x.yaml")
        assert caught.value.help == help


def test_the_table_leaves_out_columns_that_say_nothing(torch: Any, recording: Recording) -> None:
    with recording() as calls:
        layer(torch)(torch.randn(1, 5, 8))
    assert table(calls)[0] == ["call", "layer", "module", "heads", "n", "m", "d", "mask"]
    assert table(calls)[2] == ["0", "0", "Layer", "2", "5", "5", "4", "none"]
    assert "The number format is float32." in str(calls)
    with recording() as calls:
        attend(torch, (4, 1, 8), (2, 3, 8), (2, 3, 8), enable_gqa=True)
        attend(torch, *[(3, 8)] * 3, dtype=torch.bfloat16)
    assert table(calls)[0][-2:] == ["mask", "format"]
    assert [row[-1] for row in table(calls)[2:4]] == ["float32", "bfloat16"]
    assert "4 (2 kv)" in str(calls)


@pytest.mark.parametrize(
    ("names", "cells", "pattern"),
    [
        (["model.layers.{}.self_attn"] * 2, ["0", "1"], "model.layers.*.self_attn"),
        (
            ["first.layers.{}.attention", "second.layers.{}.attention"],
            ["first.0", "second.1"],
            "*.layers.*.attention",
        ),
    ],
)
def test_long_names_are_said_once_where_the_table_is_wide(
    names: list[str], cells: list[str], pattern: str, torch: Any, recording: Recording
) -> None:
    root, leaves = torch.nn.Module(), []
    full = [f"the_language_model_inside.{name.format(number)}" for number, name in enumerate(names)]
    for name in full:
        *outer, last = name.split(".")
        at = root
        for part in outer:
            at.add_module(part, at._modules.get(part, torch.nn.Module()))
            at = at.get_submodule(part)
        at.add_module(last, layer(torch))
        leaves.append(at.get_submodule(last))
    root.forward = lambda x: [leaf(x) for leaf in leaves]
    with recording() as calls:
        root(torch.randn(1, 5, 8))
    assert [call.where for call in calls] == full
    assert [row[2] for row in table(calls)[2:4]] == cells
    assert f"the_language_model_inside.{pattern}" in "".join(str(calls).split())
    assert max(map(len, str(calls).split("\n"))) <= 80


def test_modules_have_the_same_names_whichever_model_is_named(
    torch: Any, recording: Recording
) -> None:
    model, x = (
        torch.nn.Sequential(torch.nn.Sequential(layer(torch)), torch.nn.ReLU()),
        torch.randn(1, 5, 8),
    )
    for named in (None, model, model[0], model[0][0]):
        with recording(named) as calls:
            model(x)
        assert [call.where for call in calls] == ["0.0"]


def test_a_name_is_no_number(torch: Any, recording: Recording) -> None:
    model = torch.nn.Sequential(layer(torch), layer(torch))
    with recording() as calls:
        model(torch.randn(1, 5, 8))
        model(torch.randn(1, 5, 8))
    with pytest.raises(attncli.AttncliError, match="calls have numbers, and '1' is none") as caught:
        calls["1"]
    assert caught.value.help == "this module made calls[1] and calls[3]"
    with pytest.raises(attncli.AttncliError) as caught:
        calls["weights"]
    assert caught.value.help == "print(calls) shows which module made which call"


def test_options_of_a_trace(torch: Any, recording: Recording) -> None:
    with recording() as calls:
        attend(torch, *[(1, 2, 3, 4)] * 3)
        assert "call   layer" in str(calls)
    assert calls[0].trace(head=1, dtype="float16").settings.dtype == "float16"
    for asked, meant in [({"dtpye": "float16"}, "dtype"), ({"haed": 1}, "head")]:
        with pytest.raises(attncli.AttncliError, match="an option cannot be") as caught:
            calls[0].trace(**asked)
        assert caught.value.help == f"did you mean {meant}?"


def test_before_the_first_call(torch: Any, recording: Recording) -> None:
    with recording() as calls:
        assert "There is none yet." in str(calls)
        attend(torch, *[(3, 4)] * 3)


def test_a_notebook_shows_a_call_and_its_check(torch: Any, recording: Recording) -> None:
    numbers = torch.arange(12.0).reshape(1, 2, 3, 2) / 10
    functional = torch.nn.functional
    with recording(layers=[0]) as calls:
        functional.scaled_dot_product_attention(numbers, numbers, numbers, is_causal=True)
        functional.scaled_dot_product_attention(numbers, numbers, numbers)
    kept, other = calls
    assert "Call 0: step 0, layer 0, 2 heads, 3×3, causal, float32." in kept._repr_markdown_()
    assert "calls\\[0\\].trace() works it out" in kept._repr_markdown_()
    assert "It was not kept: layers= names other layers." in other._repr_markdown_()
    shown = kept.check()._repr_markdown_()
    assert "attncli's output is the one that was recorded" in shown
    assert "| output |" in shown
