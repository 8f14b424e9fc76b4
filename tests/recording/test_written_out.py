"""Attention that is written out, in the ways of lectures and models: it is recorded and worked out
to the same output, or it is said why it is not.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import attncli

pytestmark = pytest.mark.torch
Recording = Callable[..., Any]


class Given(NamedTuple):
    """Two entries of four heads, of five queries and six keys; what may be seen, and a bias."""

    torch: Any
    q: Any
    k: Any
    v: Any
    keep: Any
    bias: Any

    @property
    def softmax(self) -> Any:
        return self.torch.nn.functional.softmax

    @property
    def heads_last(self) -> Any:
        """Queries, keys and values as batch × n × heads × d."""
        return (each.transpose(1, 2) for each in (self.q, self.k, self.v))

    @property
    def joined(self) -> Any:
        """Queries, keys and values with entries and heads in one axis."""
        return (each.flatten(0, 1) for each in (self.q, self.k, self.v))


def given(torch: Any) -> Given:
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 4, 5, 8), torch.randn(2, 4, 6, 8), torch.randn(2, 4, 6, 3)
    return Given(torch, q, k, v, torch.ones(5, 6).tril().bool(), torch.randn(4, 5, 6))


class Way(NamedTuple):
    """How attention is written, and what a problem has for it."""

    attend: Callable[[Given], Any]
    keys: Mapping[str, Any] = MappingProxyType({})
    kv_heads: int = 4


def nano_gpt(g: Given) -> Any:
    att = (g.q @ g.k.transpose(-2, -1)) * (1.0 / math.sqrt(8))
    att = att.masked_fill(g.keep == 0, float("-inf"))
    att = g.softmax(att, dim=-1)
    att = g.torch.nn.Dropout(0.1).eval()(att)
    return att @ g.v


def where(g: Given) -> Any:
    scores = g.torch.matmul(g.q, g.k.mT)
    scores = g.torch.where(g.keep, scores, g.torch.finfo(scores.dtype).min)
    return g.torch.matmul(scores.softmax(dim=-1), g.v)


def upcast(g: Given) -> Any:
    scores = (g.q @ g.k.mT).float()
    return g.softmax(scores, dim=-1, dtype=g.torch.float32).to(g.q.dtype) @ g.v


def einsum(g: Given) -> Any:
    q, k, v = g.heads_last
    scores = g.torch.einsum("b q h d, b k h d -> b h q k", q, k) / math.sqrt(8) + g.bias
    return g.torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v)


def einsum_with_dots(g: Given) -> Any:
    scores = g.torch.einsum("...id,...jd->...ij", g.q * 0.5, g.k)
    return g.torch.einsum("...ij,...jd->...id", scores.softmax(-1), g.v)


def keys_before_heads(g: Given) -> Any:
    """As Transformer-XL has it: the softmax is over the second axis."""
    q, k, v = (each.permute(2, 0, 1, 3) for each in (g.q, g.k, g.v))
    scores = g.torch.einsum("ibnd,jbnd->ijbn", q, k) * 0.25
    scores.masked_fill_(~g.keep[:, :, None, None], -float("inf"))
    return g.torch.einsum("ijbn,jbnd->ibnd", g.softmax(scores, dim=1), v)


def views(g: Given) -> Any:
    q, k, v = g.joined
    scores = g.torch.bmm(q, k.mT).view(2, 4, 5, 6) / math.sqrt(8) + g.bias
    weights = scores.softmax(-1).view(8, 5, 6)
    return g.torch.bmm(weights, v).view(2, 4, 5, 3)


def bloom(g: Given) -> Any:
    q, k, v = g.joined
    scores = g.bias.repeat(2, 1, 1).baddbmm(q, k.mT, beta=0.5, alpha=0.25).view(2, 4, 5, 6)
    scores = scores.masked_fill(~g.keep, g.torch.finfo(scores.dtype).min)
    weights = g.softmax(scores, dim=-1, dtype=g.torch.float32)
    return g.torch.bmm(weights.to(v.dtype).view(8, 5, 6), v)


def upcast_gpt_2(g: Given) -> Any:
    q, k, v = g.joined
    nothing = g.torch.full((8, 5, 6), float("nan"))
    scores = g.torch.baddbmm(nothing, q.float(), k.float().mT, beta=0, alpha=0.25)
    weights = g.softmax(scores.reshape(2, 4, 5, 6), dim=-1).to(v.dtype)
    return weights @ v.view(2, 4, 6, 3)


def softcap(g: Given) -> Any:
    scores = (g.q @ g.k.mT) * 0.25
    scores = scores / 2
    scores = g.torch.tanh(scores)
    scores = scores * 2
    return (scores + g.bias).softmax(-1) @ g.v


def in_place(g: Given) -> Any:
    scores = g.q @ g.k.mT
    scores *= 0.5
    scores += g.bias
    scores /= 2
    scores[:, :, ~g.keep] = -1e9
    return scores.softmax(-1) @ g.v


def shared_heads(g: Given) -> Any:
    q = g.q.view(2, 2, 2, 5, 8)
    scores = g.torch.einsum("bgrid,bgjd->bgrij", q, g.k[:, :2]) / 4
    return g.torch.einsum("bgrij,bgjd->bgrid", scores.softmax(-1), g.v[:, :2])


def heads_as_rows(g: Given) -> Any:
    scores = (g.q.reshape(2, 2, 10, 8) @ g.k[:, :2].mT).view(2, 4, 5, 6) / 4
    return (scores.softmax(-1).view(2, 2, 10, 6) @ g.v[:, :2]).view(2, 4, 5, 3)


def two_products(g: Given) -> Any:
    positions = g.torch.randn(4, 12, 8).to(g.q.dtype)
    distance = g.torch.arange(5)[:, None] - g.torch.arange(6) + 6
    of_positions = (g.q @ positions.mT).gather(-1, distance.expand(2, 4, 5, 6))
    return ((g.q @ g.k.mT + of_positions) / math.sqrt(16)).softmax(-1) @ g.v


def padding(g: Given) -> Any:
    hidden = g.torch.zeros(2, 1, 5, 6, dtype=g.q.dtype)
    hidden[1, :, :, 4:] = g.torch.finfo(g.q.dtype).min
    hidden[1, :, 3:] = g.torch.finfo(g.q.dtype).min
    return (g.q @ g.k.mT + hidden).softmax(-1) @ g.v


CORNER = {"causal": True, "corner": "top-left"}
WAYS = {
    "nanoGPT": Way(nano_gpt, {"mask": CORNER}),
    "where": Way(where, {"mask": CORNER, "scale": 1}),
    "upcast": Way(upcast, {"mask": "none", "scale": 1}),
    "einsum": Way(einsum),
    "einsum with dots": Way(einsum_with_dots, {"mask": "none", "scale": 1}),
    "keys before heads": Way(keys_before_heads, {"mask": CORNER, "scale": 0.25}),
    "views": Way(views),
    "BLOOM": Way(bloom, {"scale": 0.25}),
    "GPT-2, upcast": Way(upcast_gpt_2, {"mask": "none", "scale": 0.25}),
    "softcap": Way(softcap, {"scale": 0.25, "softcap": 2}),
    "in place": Way(in_place, {"scale": 0.25}),
    "shared heads": Way(shared_heads, {"mask": "none", "scale": 0.25}, 2),
    "heads as rows": Way(heads_as_rows, {"mask": "none", "scale": 0.25}, 2),
    "one head of keys": Way(
        lambda g: ((g.q @ g.k[:, :1].mT) / 4).softmax(-1) @ g.v[:, :1], {"scale": 0.25}, 1
    ),
    "two products": Way(two_products, {"scale": 0.25}),
    "padding": Way(padding, {"scale": 1}),
    "subtracted": Way(lambda g: (0.5 * (g.q @ g.k.mT) - g.bias).softmax(-1) @ g.v, {"scale": 0.5}),
    "transposed": Way(lambda g: (g.v.mT @ (g.k @ g.q.mT).softmax(-2)).mT, {"scale": 1}),
    "one query": Way(lambda g: (g.q[:, :, :1] @ g.k.mT * 0.5).softmax(-1) @ g.v, {"scale": 0.5}),
    "all that is 1": Way(
        lambda g: ((g.q @ g.k.mT).softmax(-1) * g.torch.ones_like(g.q[:1, :, :1, :1])) @ g.v,
        {"scale": 1},
    ),
    "a clamp of larger scores": Way(
        lambda g: (g.q @ g.k.mT).clamp(-100, 100).softmax(-1) @ g.v, {"mask": "none", "scale": 1}
    ),
    "weights that are nothing": Way(
        # As in OpenAI's first GPT: what is hidden is multiplied by 0, too.
        lambda g: ((g.q @ g.k.mT) * g.keep - 10000 * (~g.keep)).softmax(-1) @ g.v,
        {"mask": CORNER, "scale": 1},
    ),
    "names": Way(
        lambda g: g.torch.matmul(
            g.torch.softmax(input=g.torch.matmul(input=g.q, other=g.k.mT), dim=-1), other=g.v
        ),
        {"scale": 1},
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", WAYS)
@pytest.mark.each_choice
def test_a_way_to_write_attention(name: str, dtype: str, torch: Any, recording: Recording) -> None:
    way, g = WAYS[name], given(torch)
    number_format = getattr(torch, dtype)
    g = g._replace(**{each: getattr(g, each).to(number_format) for each in ("q", "k", "v", "bias")})
    torch.manual_seed(1)
    expected = way.attend(g)
    torch.manual_seed(1)
    with recording() as calls:
        output = way.attend(g)
    assert torch.equal(output, expected)
    assert not calls.unseen
    (call,) = calls
    agreement = call.check()
    assert agreement, agreement
    assert agreement.comparison["weights"].difference.absolute <= (
        1e-2 if dtype == "bfloat16" else 1e-6
    )
    assert (call.entries, call.heads, call.kv_heads) == (2, 4, way.kv_heads)
    keys = call.keys(head=0, entry=0)
    for key, value in way.keys.items():
        assert keys[key] == (pytest.approx(value) if key != "mask" else value)
    assert ("scale" in keys) == ("scale" in way.keys)
    assert np.array_equal(keys["Q"], call.attention.query[0, 0].float().numpy())


def test_by_hand(torch: Any, recording: Recording) -> None:
    """What is recorded are the numbers that were multiplied: in float64, to the last bit."""
    g = given(torch)
    query, key, value = (each.double() for each in (g.q, g.k, g.v))
    with recording() as calls:
        (((query @ key.mT) / 3 + g.bias).softmax(-1)) @ value
    keys = calls[0].keys(head=2, entry=1)
    assert np.array_equal(keys["Q"], query[1, 2].numpy())
    assert np.array_equal(keys["K"], key[1, 2].numpy())
    assert np.array_equal(keys["V"], value[1, 2].numpy())
    assert np.array_equal(keys["mask"]["additive"], g.bias[2].numpy())
    assert keys["scale"] == pytest.approx(1 / 3, rel=1e-15)


def test_matrices_and_vectors_of_a_lecture(torch: Any, recording: Recording) -> None:
    x = torch.randn(5, 8)
    with recording() as calls:
        torch.softmax(x @ x.T / 8**0.5, dim=-1) @ x
        torch.softmax(x[2] @ x.T, dim=0) @ x
        torch.softmax(x @ x[2], dim=0) @ x
    assert [tuple(call.shapes[0]) for call in calls] == [(5, 8), (1, 8), (1, 8)]
    assert all(call.check() for call in calls)
    assert calls[1].trace()["weights"] == pytest.approx(calls[2].trace()["weights"])


def test_values_with_several_axes_of_features(torch: Any, recording: Recording) -> None:
    """They are one axis in the problem, in the order of the values."""
    query, key, value = torch.randn(5, 8), torch.randn(6, 8), torch.randn(6, 2, 3)
    with recording() as calls:
        weights = (query @ key.T).softmax(-1)
        output = torch.einsum("ij,jcd->idc", weights, value)
    (call,) = calls
    assert call.check()
    assert call.trace()["output"].reshape(5, 2, 3) == pytest.approx(
        output.transpose(1, 2).numpy(), abs=1e-6
    )


def test_it_begins_at_x_where_linear_layers_were_seen(torch: Any, recording: Recording) -> None:
    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv = torch.nn.Linear(8, 24)

        def forward(self, x: Any) -> Any:
            q, k, v = (
                part.view(1, 5, 2, 4).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
            )
            return (q @ k.mT / 2).softmax(-1) @ v

    model, x = Layer(), torch.randn(1, 5, 8)
    with recording() as calls:
        thread = threading.Thread(target=model, args=(x,))
        thread.start()
        thread.join()
    assert [call.where for call in calls] == ["Layer"]
    assert {"X", "W_Q", "b_V"} <= calls[0].keys().keys()
    assert calls[0].check()


def test_an_exported_module(torch: Any, recording: Recording) -> None:
    """It calls operations of its own instead of functions."""

    class Layer(torch.nn.Module):
        def forward(self, q: Any, k: Any, v: Any, keep: Any) -> Any:
            scores = (q @ k.transpose(-2, -1) / 4)[:, :, :3].masked_fill(~keep[:3], -math.inf)
            return torch.nn.functional.softmax(scores, dim=-1) @ v

    g = given(torch)
    exported = torch.export.export(Layer(), (g.q, g.k, g.v, g.keep)).module()
    expected = exported(g.q, g.k, g.v, g.keep)
    with recording() as calls:
        assert torch.equal(exported(g.q, g.k, g.v, g.keep), expected)
    (call,) = calls
    assert call.check()
    assert call.keys(head=0, entry=0)["mask"] == CORNER


@pytest.mark.slow
def test_a_compiled_function_runs_as_it_was(torch: Any, recording: Recording) -> None:
    g, compiled = given(torch), torch.compile(nano_gpt, backend="eager")
    expected = compiled(g)
    with recording() as calls:
        assert torch.equal(compiled(g), expected)
    assert calls[0].check()


NOT_KEPT = {
    "other heads": (
        lambda g: ((g.q @ g.k.mT).softmax(-1) * g.torch.arange(4.0).view(4, 1, 1)) @ g.v,
        "its weights are changed after the softmax, by mul()",
    ),
    "relu": (lambda g: g.torch.relu(g.q @ g.k.mT).softmax(-1) @ g.v, "it makes 0 of the score -"),
    "a softcap after a bias": (
        lambda g: g.torch.tanh(g.q @ g.k.mT + g.bias).softmax(-1) @ g.v, "tanh"
    ),
    "dropout": (
        lambda g: g.torch.nn.functional.dropout((g.q @ g.k.mT).softmax(-1), 0.5) @ g.v,
        "dropout of 0.5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_KEPT)
def test_a_call_that_no_problem_can_say_has_its_reason(
    name: str, torch: Any, recording: Recording
) -> None:
    attend, said = NOT_KEPT[name]
    with recording() as calls:
        attend(given(torch))
    (call,) = calls
    assert said in call.reason
    with pytest.raises(attncli.AttncliError, match="was not kept") as caught:
        call.problem()
    # Dropout says itself what to do.
    assert caught.value.help or name == "dropout"


@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_what_is_done_to_very_many_scores_is_not_tried(
    torch: Any, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attncli.torch.scores.MOST_SCORES", 200)
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    g = given(torch)
    with recording() as calls:
        nano_gpt(g)
        nano_gpt(g._replace(q=g.q[:1, :1], k=g.k[:1, :1], v=g.v[:1, :1]))
        flex.flex_attention(g.q, g.k, g.v)
    assert [call.reason[:17] for call in calls] == ["it has 240 scores", "", "it has 240 scores"]


def test_weights_that_are_overwritten_are_noticed(torch: Any, recording: Recording) -> None:
    g = given(torch)
    with recording() as calls:
        scores = g.q @ g.k.mT
        scores.flatten().zero_()
        scores.softmax(-1) @ g.v
        weights = (g.q @ g.k.mT).softmax(-1)
        weights.fill_(1.0)
        weights @ g.v
    said = "its weights are not the softmax of its scores; something may have been changed in place"
    assert [call.reason for call in calls] == [said, said]


NO_CALLS: dict[str, Callable[[Given], Any]] = {
    "a router": lambda g: (g.q @ g.k[0, 0].mT).softmax(-1).topk(2).values.sum(),
    "a classifier": lambda g: (g.q @ g.k.mT).softmax(-1).argmax(-1),
    "sampling": lambda g: g.torch.multinomial((g.q[0, 0] @ g.k[0, 0].mT).softmax(-1), 1),
    "a product alone": lambda g: g.q @ g.k.mT @ g.v,
    "a linear layer": lambda g: (g.q @ g.k.mT).softmax(-1).sum(1) @ g.v[:, 0],
}


@pytest.mark.parametrize("name", NO_CALLS)
def test_what_is_no_attention(name: str, torch: Any, recording: Recording) -> None:
    with pytest.raises(attncli.AttncliError) as caught, recording():
        NO_CALLS[name](given(torch))
    assert str(caught.value).splitlines()[0] == "no call of attention was seen"


LOOK_ALIKES: dict[str, tuple[Callable[[Given], Any], str]] = {
    "the wrong axis": (
        lambda g: (g.q @ g.q.mT).softmax(-2) @ g.q,
        "softmax over another axis than the values are summed over",
    ),
    "a weighted mean": (
        lambda g: g.torch.ones(5, 6).softmax(-1) @ g.v, "softmax of scores that no product gave"
    ),
    "values for each query": (
        lambda g: g.torch.einsum(
            "bhij,bhijd->bhid", (g.q @ g.k.mT).softmax(-1), g.torch.randn(2, 4, 5, 6, 3)
        ),
        "softmax whose queries have values of their own",
    ),
    "weights for several values": (
        lambda g: (g.q[:1] @ g.k[:1].mT).softmax(-1) @ g.v,
        "softmax whose weights are used for several values",
    ),
    "inside torch.vmap": (
        lambda g: g.torch.vmap(lambda q, k, v: (q @ k.mT).softmax(-1) @ v)(g.q, g.k, g.v),
        "attention written out with a tensor inside torch.vmap",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_what_looks_like_attention_is_noted(name: str, torch: Any, recording: Recording) -> None:
    attend, said = LOOK_ALIKES[name]
    g = given(torch)
    with recording() as calls:
        attend(g)
        nano_gpt(g)
    assert len(calls) == 1
    assert f"1 call of {said}" in " ".join(str(calls).split())


def test_a_softmax_over_the_queries_is_named_with_the_way_around(
    torch: Any, recording: Recording
) -> None:
    """The equation that the help has gives the output of the model."""
    g = given(torch)

    def attend() -> Any:
        return (g.q[0, 0] @ g.k[0, 0].mT / 2).softmax(-2) @ g.v[0, 0]

    with pytest.raises(attncli.AttncliError, match="another axis") as caught, recording():
        attend()
    _, _, equation = caught.value.help.partition("own: ")
    trace = attncli.trace(
        Q=g.q[0, 0].numpy(),
        K=g.k[0, 0].numpy(),
        V=g.v[0, 0].numpy(),
        scale=0.5,
        equations=[equation],
    )
    assert trace["output"] == pytest.approx(attend().numpy(), abs=1e-6)


def test_scores_in_blocks_are_named_with_the_way_around(torch: Any, recording: Recording) -> None:
    """So Longformer looks at a band: its scores are laid out in another way before the softmax."""
    g = given(torch)

    def attend() -> Any:
        scores = g.q[:, :, :4] @ g.k.mT
        band = scores.as_strided((2, 4, 4, 3), (96, 24, 7, 1))
        weights = torch.nn.functional.pad(band.softmax(-1), (0, 1))
        return torch.einsum("bhij,bhijd->bhid", weights, torch.randn(2, 4, 4, 4, 3))

    with pytest.raises(attncli.AttncliError, match="no call") as caught, recording():
        attend()
    assert "cuts its scores into blocks" in caught.value.help


def test_what_is_recorded_otherwise_is_not_recorded_twice(torch: Any, recording: Recording) -> None:
    layer, x = torch.nn.MultiheadAttention(8, 2).eval(), torch.randn(3, 1, 8)
    g = given(torch)
    with recording() as calls:
        layer(x, x, x, need_weights=True)
        torch.nn.functional.scaled_dot_product_attention(g.q, g.k, g.v)
    assert len(calls) == 2


def test_nothing_is_kept_of_tensors_that_are_gone(torch: Any, recording: Recording) -> None:
    """A product keeps its factors only as long as it is used itself."""
    import gc
    import weakref

    query = torch.randn(3, 4)
    gone = weakref.ref(query)
    with recording() as calls:
        scores = query @ query.T
        del query
        assert gone() is not None
        del scores
        gc.collect()
        assert gone() is None
        nano_gpt(given(torch))
    assert len(calls) == 1
