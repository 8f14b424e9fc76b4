"""Calls of two recordings held against each other: the first that differs, its step, its cell and
the mistake.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from attncli import AttncliError
from attncli.features.schema.command import schemas
from tests.cases import in_one_test
from tests.recording.test_models_of_transformers import GROUPED, imported

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


def layer(torch: Any, change: Callable[[Any, Any, Any], Any] | None = None) -> Any:
    """A layer of two heads without a mask, whose scores a port may change."""

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.W_Q, self.W_K, self.W_V, self.W_O = (torch.nn.Linear(8, 8) for _ in range(4))

        def forward(self, x: Any) -> Any:
            def heads(layer: Any) -> Any:
                return layer(x).unflatten(-1, (2, 4)).transpose(1, 2)

            query, key, value = heads(self.W_Q), heads(self.W_K), heads(self.W_V)
            function = change or torch.nn.functional.scaled_dot_product_attention
            return self.W_O(function(query, key, value).transpose(1, 2).flatten(2))

    torch.manual_seed(1)
    return Layer().eval()


def calls_of(model: Any, x: Any, recording: Any, torch: Any) -> Any:
    with torch.no_grad(), recording() as calls:
        model(x)
    return calls


def test_the_same_layer_agrees(torch: Any, recording: Callable[..., Any]) -> None:
    x = torch.randn(1, 5, 8)
    ours, theirs = (calls_of(layer(torch), x, recording, torch) for _ in range(2))
    assert ours[0].compare(theirs[0])
    found = ours.compare(theirs)
    assert found
    assert found.first is None
    assert found.mistakes == ()
    assert repr(found) == "<A against B: no call differs>"
    assert [call.agrees for call in found] == [True]


def test_another_scale_is_named(torch: Any, recording: Callable[..., Any]) -> None:
    def unscaled(query: Any, key: Any, value: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=1.0)

    x = torch.randn(1, 5, 8)
    ours = calls_of(layer(torch), x, recording, torch)
    theirs = calls_of(layer(torch, unscaled), x, recording, torch)
    compared = ours[0].compare(theirs[0])
    assert not compared
    assert compared.first == "scaled"
    # By hand: the scores were not divided by √4.
    assert compared.steps["scaled"].b == pytest.approx(2 * compared.steps["scaled"].a)
    assert compared.mistakes == ("the scores were not scaled",)
    assert ours.compare(theirs).mistakes == compared.mistakes
    of_one_head = ours[0].compare(theirs[0], head=1, tokens=list("abcde"))
    assert of_one_head.first == "scaled"
    assert of_one_head.steps["weights"].cell.split(" → ")[0] in "abcde"


def test_a_tolerance_is_what_is_asked_for(torch: Any, recording: Callable[..., Any]) -> None:
    x = torch.randn(1, 5, 8)
    ours = calls_of(layer(torch), x, recording, torch)
    theirs = calls_of(layer(torch), x * (1 + 1e-4), recording, torch)
    assert ours[0].compare(theirs[0]).first == "X"
    assert ours[0].compare(theirs[0], tolerance=1e-2)
    assert ours.compare(theirs, tolerance=1e-2)


def test_the_last_bits_of_small_cells_are_no_difference(
    torch: Any, recording: Callable[..., Any]
) -> None:
    """What the layers before worked out is measured by its row: a cell near 0 has lost its digits
    in a sum.
    """
    x = torch.randn(1, 5, 8)
    x[0, 2, 3] = 1e-4
    moved = x.clone()
    moved[0, 2, 3] += 2e-7
    ours = calls_of(layer(torch), x, recording, torch)
    theirs = calls_of(layer(torch), moved, recording, torch)
    assert ours[0].compare(theirs[0])
    moved[0, 2, 3] += 1e-3
    assert ours[0].compare(calls_of(layer(torch), moved, recording, torch)[0]).first == "X"


def two_models(torch: Any, change: Callable[[Any], None], **more: Any) -> tuple[Any, Any]:
    transformers = imported()
    config = transformers.AutoConfig.for_model("llama", **GROUPED, **more)
    model = transformers.AutoModel.from_config(config).eval()
    torch.manual_seed(3)
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    port = transformers.AutoModel.from_config(config).eval()
    port.load_state_dict(model.state_dict())
    with torch.no_grad():
        change(port)
    return model, port


def compared_models(torch: Any, recording: Any, change: Callable[[Any], None], **more: Any) -> Any:
    ids = torch.tensor([[5, 6, 7, 8, 9, 10]])
    recorded = [
        calls_of(model, ids, recording, torch) for model in two_models(torch, change, **more)
    ]
    return recorded[0].compare(recorded[1], names=("llama", "port"))


def test_a_layer_between_two_calls(torch: Any, recording: Callable[..., Any]) -> None:
    def larger(port: Any) -> None:
        port.layers[0].mlp.down_proj.weight.mul_(1.01)

    found = compared_models(torch, recording, larger)
    assert [call.agrees for call in found] == [True, False]
    assert found.first.ours.where == "layers.1.self_attn"
    assert found.first.first.name == "X"
    page = found.to_markdown(detail="brief")
    assert "So the cause is between the two: W\\_O, a norm, or the feed-forward layer." in page
    assert "The call before it agrees." in page


def test_a_rotation_that_the_config_does_not_have(
    torch: Any, recording: Callable[..., Any]
) -> None:
    def slower(port: Any) -> None:
        port.rotary_emb.inv_freq.div_(2)

    found = compared_models(torch, recording, slower)
    assert found.first.ours.number == 0
    assert found.first.first.name == "Q_rot"
    steps = found.compared.steps
    assert not steps["Q"].differs
    assert not steps["X"].differs
    # The first pair turns by 1 radian from one position to the next, and by 1/2 in the port.
    assert steps["K_rot"].differs


def test_a_factor_that_is_taken_twice(torch: Any, recording: Callable[..., Any]) -> None:
    yarn = {
        "rope_type": "yarn",
        "rope_theta": 10000.0,
        "factor": 4.0,
        "original_max_position_embeddings": 16,
    }

    def twice(port: Any) -> None:
        port.rotary_emb.attention_scaling **= 2

    found = compared_models(torch, recording, twice, rope_parameters=yarn)
    assert found.first.first.name == "Q_rot"
    assert found.mistakes == ("RoPE's attention factor was applied twice",)
    assert (
        "A known mistake gives the numbers of port: RoPE's attention factor" in found.to_markdown()
    )


def test_one_kind_of_attention_against_another(torch: Any, recording: Callable[..., Any]) -> None:
    def other(port: Any) -> None:
        port.set_attn_implementation("eager")

    assert compared_models(torch, recording, other)


def test_the_data(torch: Any, recording: Callable[..., Any]) -> None:
    def larger(port: Any) -> None:
        port.layers[0].self_attn.v_proj.weight.mul_(2)

    found = compared_models(torch, recording, larger)
    data = found.to_dict()
    schema, of_comparison = (
        json.loads(schemas()[name].read_text(encoding="utf-8"))
        for name in ("against", "comparison")
    )
    jsonschema.validate(data, schema)
    jsonschema.validate(data["comparison"], of_comparison)
    assert data["first_difference"] == 0
    assert data["calls"][0]["first_difference"]["step"] == "W_V"
    assert data["a"] == {"name": "llama", "calls": 2}


def test_one_side_makes_more_calls(torch: Any, recording: Callable[..., Any]) -> None:
    x = torch.randn(1, 5, 8)
    one = layer(torch)
    ours = calls_of(one, x, recording, torch)
    with torch.no_grad(), recording() as theirs:
        one(x)
        one(x)
    found = ours.compare(theirs)
    assert found.first is None
    assert not found
    assert repr(found) == "<A against B: 1 and 2 calls, and none of the first differs>"
    assert "B 2 calls: only the first 1 call can be compared" in found.to_markdown()


@in_one_test(
    ("ask", "message"),
    [
        (lambda calls: calls.compare(calls[0]), "a recording is compared with another one"),
        (lambda calls: calls[0].compare(calls), "a call is compared with another one"),
        (lambda calls: calls.compare(calls, names=("x",)), "names are two texts"),
        (lambda calls: calls[0].compare({"output": [[1]]}), "attncli.compare(calls[3].problem()"),
        (lambda calls: calls[0].compare(calls[0], heads=1), "heads"),
        (lambda calls: calls[0].compare(calls[0], head=7), "there is no head 7"),
        (lambda calls: calls[0].compare(calls[0], tolerance=-1), "tolerance cannot be -1"),
    ],
)
def test_what_cannot_be_compared(
    ask: Callable[[Any], Any], message: str, torch: Any, recording: Callable[..., Any]
) -> None:
    calls = calls_of(layer(torch), torch.randn(1, 5, 8), recording, torch)
    with pytest.raises(AttncliError) as raised:
        ask(calls)
    assert message in f"{raised.value} {raised.value.help}"


def test_nothing_was_kept(torch: Any, recording: Callable[..., Any]) -> None:
    with torch.no_grad(), recording(layers=[]) as calls:
        layer(torch)(torch.randn(1, 5, 8))
    with pytest.raises(AttncliError, match="there is no call to compare"):
        calls.compare(calls)


def test_why_a_call_that_was_not_kept_cannot_be_compared(
    torch: Any, recording: Callable[..., Any]
) -> None:
    """An error without the reason sends people to look for layers that they never left out."""
    with torch.no_grad(), recording(layers=[]) as calls:
        layer(torch)(torch.randn(1, 5, 8))
    with pytest.raises(AttncliError) as raised:
        calls.compare(calls)
    assert f"call 0 of A was not kept: {calls[0].reason}" in str(raised.value)


@pytest.mark.parametrize("size", [1, 2.5, 3.5])
def test_a_mask_that_was_forgotten_is_named_for_large_scores_too(
    size: float, torch: Any, recording: Callable[..., Any]
) -> None:
    """One side hides its largest scores, and would not shift its softmax."""
    attention = torch.nn.functional.scaled_dot_product_attention
    for seed in range(3):
        torch.manual_seed(seed)
        query, key, value = torch.randn(3, 1, 2, 6, 8)
        with recording() as ours:
            attention(query * size, key * size, value, is_causal=True)
        with recording() as theirs:
            attention(query * size, key * size, value)
        found = ours.compare(theirs)
        assert found.mistakes == ("the mask was forgotten",)
        assert found.first.first.name in ("row_max", "exp")


def test_where_a_comparison_begins_is_said_of_queries_that_something_was_done_to(
    torch: Any, recording: Callable[..., Any]
) -> None:
    class Turned(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, by: float) -> None:
            super().__init__()
            self.q, self.k, self.v = (torch.nn.Linear(8, 8) for _ in range(3))
            self.by = by

        def forward(self, x: Any) -> Any:
            query, key = ((each(x) + self.by).sin()[:, None] for each in (self.q, self.k))
            return torch.nn.functional.scaled_dot_product_attention(
                query, key, self.v(x)[:, None], is_causal=True
            )

    one, other = Turned(0), Turned(1)
    other.load_state_dict(one.state_dict())
    x = torch.randn(1, 5, 8)
    found = calls_of(one, x, recording, torch).compare(calls_of(other, x, recording, torch))
    assert found.first.first.name == "Q"
    page = found.to_markdown()
    assert "begins at Q, K and V as attention was given them" in page
    assert "V agrees, so what is read is the same" in page
