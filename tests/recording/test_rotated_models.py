"""Models that rotate queries and keys: a call begins at X where what config.json says of RoPE gives
the vectors that were recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.recording.architectures import GROUPED, SIZES, imported

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

IDS = list(range(5, 17))
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 5000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 5000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 16,
}
LONG = {
    "rope_type": "longrope",
    "rope_theta": 5000.0,
    "short_factor": [1.0, 1.5, 2.0, 3.0],
    "long_factor": [2.0, 4.0, 6.0, 9.0],
    "original_max_position_embeddings": 16,
    "factor": 4.0,
}
WITH_PADDING = {**GROUPED, "pad_token_id": 0}
# What each is for: a type, a part of the features, a pairing, one layer for all three, biases.
ROTATED: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", GROUPED),
    "llama3": ("llama", {**GROUPED, "rope_parameters": LLAMA3}),
    "yarn": ("llama", {**GROUPED, "rope_parameters": YARN}),
    "linear": (
        "llama",
        {**GROUPED, "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}},
    ),
    "dynamic": (
        "llama",
        {**GROUPED, "rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}},
    ),
    "longrope": ("llama", {**GROUPED, "rope_parameters": LONG}),
    "qwen2, with biases": ("qwen2", GROUPED),
    "phi, half of the features": ("phi", {**SIZES, "partial_rotary_factor": 0.5}),
    "phi3, one layer for all": ("phi3", {**SIZES, "num_key_value_heads": 2, "pad_token_id": 0}),
    "cohere, neighbours": ("cohere", {**SIZES, "num_key_value_heads": 2}),
    "glm, neighbours, half of the features": ("glm", WITH_PADDING),
    "mistral": ("mistral", {**GROUPED, "sliding_window": 3}),
    "mixtral": ("mixtral", {**GROUPED, "num_local_experts": 2}),
    "gemma": ("gemma", GROUPED),
    "granite": ("granite", GROUPED),
    "stablelm, a quarter": ("stablelm", GROUPED),
    "gpt_neox, heads in one layer, a quarter": ("gpt_neox", SIZES),
    "smollm3, where one layer has none": (
        "smollm3",
        {**WITH_PADDING, "no_rope_layers": [1, 0]},
    ),
}
FAST = ("llama3", "phi3, one layer for all", "gpt_neox, heads in one layer, a quarter")
# A norm of queries and keys comes between.
BETWEEN = ("qwen3", "gemma3_text", "olmo2")


def recorded(name: str, settings: dict[str, Any], torch: Any, recording: Any) -> Any:
    transformers = imported()
    config = transformers.AutoConfig.for_model(name, **settings)
    model = transformers.AutoModel.from_config(config).eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.normal_(std=0.3)
        with recording() as calls:
            model(input_ids=torch.tensor([IDS[:6], IDS[6:]]))
    return calls


@pytest.mark.parametrize(
    "which",
    [pytest.param(each, marks=[] if each in FAST else [pytest.mark.slow]) for each in ROTATED],
)
def test_a_call_begins_at_x(which: str, torch: Any, recording: Callable[..., Any]) -> None:
    for call in recorded(*ROTATED[which], torch, recording):
        keys = call.keys()
        assert "X" in keys, call
        trace = call.trace()
        theirs = call.attention.query.double().numpy()
        queries = "Q_rot" if "position" in keys else "Q"
        assert abs(trace[queries] - theirs).max() < 1e-5 * abs(theirs).max()
        output = call.output.double().numpy()
        assert abs(trace["heads_output"] - output).max() < 1e-5 * abs(output).max()
        assert "position" in keys or which.startswith("smollm3")


def test_what_it_says_is_that_of_the_config(
    torch: Any, recording: Callable[..., Any], tmp_path: Any
) -> None:
    import attncli

    name, settings = ROTATED["yarn"]
    call = recorded(name, settings, torch, recording)[1]
    call.save(tmp_path / "layer.yaml", entry=1, head=3)
    trace = attncli.trace(tmp_path / "layer.yaml")
    assert {"ramp", "attention_factor"} <= {*trace}
    theirs = call.attention.query[1, 3].double().numpy()
    assert abs(trace["Q_rot"] - theirs).max() < 1e-5 * abs(theirs).max()
    assert call.keys()["position"]["rope"]["rope_parameters"] == YARN


def test_the_weights_of_heads_are_taken_out_of_one_layer(
    torch: Any, recording: Callable[..., Any]
) -> None:
    """Of two heads of keys, each with two of queries: q0 q1 k v, q2 q3 k v, five features each."""
    functional = torch.nn.functional
    layer = torch.nn.Linear(6, 8 * 5)
    x = torch.randn(2, 4, 6)
    with torch.no_grad(), recording() as calls:
        heads = layer(x).view(2, 4, 2, 4, 5)
        query = heads[:, :, :, :2].flatten(2, 3).transpose(1, 2)
        key, value = heads[:, :, :, 2].transpose(1, 2), heads[:, :, :, 3].transpose(1, 2)
        functional.scaled_dot_product_attention(query, key, value, enable_gqa=True)
    (call,) = calls
    keys = call.keys(head=3)
    rows = layer.weight.detach().numpy()
    assert (keys["W_Q"] == rows[25:30].T).all()
    assert (keys["W_K"] == rows[30:35].T).all()
    assert (keys["b_V"] == layer.bias.detach().numpy()[35:]).all()
    assert call.check()
    assert abs(call.trace()["heads_output"] - call.output.numpy()).max() < 1e-6


@pytest.mark.parametrize("name", BETWEEN)
def test_it_begins_at_q_with_a_norm_between(
    name: str, torch: Any, recording: Callable[..., Any]
) -> None:
    for call in recorded(name, GROUPED, torch, recording):
        keys = call.keys()
        assert "Q" in keys
        assert call.check()


def test_it_begins_at_q_where_the_config_is_another_one(
    torch: Any, recording: Callable[..., Any]
) -> None:
    """As in a port whose rotation is not what its file says."""
    transformers = imported()
    name, settings = ROTATED["llama3"]
    model = transformers.AutoModel.from_config(
        transformers.AutoConfig.for_model(name, **settings)
    ).eval()
    model.config.rope_parameters["factor"] = 4.0
    with torch.no_grad(), recording() as calls:
        model(input_ids=torch.tensor([IDS]))
    written = [call.keys() for call in calls]
    assert all("Q" in keys and "position" not in keys for keys in written)
    assert all(call.check() for call in calls)
