"""RoPE with a time, a height and a width for each token, as Qwen2-VL, Qwen3-VL and GLM-4V have it,
and positions of each entry of a batch: against Transformers.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np
import pytest
from software import Array, imported

import attncli

DRAWS = 50
ENTRIES, QUERIES, KEYS = 2, 3, 5
# They calculate angles up to some hundreds in single precision.
SINGLE = 1e-4


class Model(NamedTuple):
    """Where a model is in Transformers, and what its config.json has beside the sections."""

    module: str
    config: str
    embedding: str
    said: dict[str, Any]
    pairing: str = "half"
    share: float = 1.0


MODELS = {
    "qwen2-vl": Model(
        "qwen2_vl.modeling_qwen2_vl",
        "Qwen2VLTextConfig",
        "Qwen2VLRotaryEmbedding",
        {"type": "mrope"},
    ),
    "qwen3-vl": Model(
        "qwen3_vl.modeling_qwen3_vl",
        "Qwen3VLTextConfig",
        "Qwen3VLTextRotaryEmbedding",
        {"rope_type": "default", "mrope_interleaved": True},
    ),
    "glm-4v": Model(
        "glm4v.modeling_glm4v",
        "Glm4vTextConfig",
        "Glm4vTextRotaryEmbedding",
        {"rope_type": "default", "partial_rotary_factor": 0.5},
        pairing="interleaved",
        share=0.5,
    ),
}


def sections(choice: random.Random, *, interleaved: bool) -> list[int]:
    """Of time, height and width; by turns, none of the last two has more than there are turns."""
    height, width = choice.randint(1, 4), choice.randint(1, 4)
    least = max(height, width) if interleaved else 1
    return [choice.randint(least, least + 4), height, width]


def theirs(model: Model, parameters: dict[str, Any], d_k: int, x: Array, places: Array) -> Array:
    """Rows (entries × heads × rows × features) as the model turns them at three positions each."""
    torch = imported("torch")
    module = imported(f"transformers.models.{model.module}")
    config = getattr(module, model.config)(
        hidden_size=d_k,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=d_k,
        rope_parameters=dict(parameters),
    )
    rows = torch.from_numpy(x)
    embedding = getattr(module, model.embedding)(config)
    cos, sin = embedding(rows, torch.from_numpy(places))
    turned, _ = module.apply_rotary_pos_emb(rows, rows, cos, sin)
    return np.asarray(turned)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what transformers imports
@pytest.mark.parametrize("name", MODELS)
def test_rows_of_three_positions(name: str) -> None:
    """Fifty drawn configs, every second one with positions of its own for each entry."""
    model = MODELS[name]
    numbers = np.random.default_rng(7)
    for number in range(DRAWS):
        choice = random.Random(f"{name} {number}")
        interleaved = "mrope_interleaved" in model.said
        section = sections(choice, interleaved=interleaved)
        d_k = int(2 * sum(section) / model.share)
        theta = choice.choice([50.0, 10000.0, 1000000.0])
        pasted = {"mrope_section": section, **model.said}
        parameters = {"rope_type": "default", "rope_theta": theta, **pasted}
        parameters.pop("type", None)
        entries = ENTRIES if number % 2 else 1
        at = {
            word: numbers.integers(0, 60, size=(3, entries, rows))
            for word, rows in (("queries", QUERIES), ("keys", KEYS))
        }
        queries = numbers.normal(size=(ENTRIES, 1, QUERIES, d_k))
        keys = numbers.normal(size=(ENTRIES, 1, KEYS, d_k))
        positions = {
            word: (places if entries > 1 else places[:, 0]).tolist() for word, places in at.items()
        }
        rope = {
            "rope_theta": theta,
            "rope_scaling": pasted,
            "pairing": model.pairing,
            "positions": positions,
        }
        trace = attncli.trace(attncli.problem(Q=queries, K=keys, V=keys, position={"rope": rope}))
        said = f"{pasted} of {d_k} at {positions}"
        for step, x, word in (("Q_rot", queries, "queries"), ("K_rot", keys, "keys")):
            places = np.broadcast_to(at[word], (3, ENTRIES, x.shape[-2])).copy()
            expected = theirs(model, parameters, d_k, x, places)
            np.testing.assert_allclose(trace[step], expected, atol=SINGLE, err_msg=said)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what transformers imports
@pytest.mark.parametrize("past", [0, 2])
def test_a_padded_batch(past: int) -> None:
    """Tokens of each entry begin where its padding ends, as Transformers makes position_ids of an
    attention_mask; with a cache, keys have positions before those of the queries.
    """
    torch = imported("torch")
    llama = imported("transformers.models.llama.modeling_llama")
    config = llama.LlamaConfig(
        hidden_size=8,
        num_attention_heads=1,
        head_dim=8,
        rope_parameters={"rope_type": "default", "rope_theta": 100.0},
    )
    attention_mask = torch.tensor([[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]])
    places = (attention_mask.cumsum(-1) - 1).clamp(min=0)
    numbers = np.random.default_rng(3)
    new = 6 - past
    queries, keys, cached = (numbers.normal(size=(2, 1, rows, 8)) for rows in (new, new, past))
    given: dict[str, Any] = {"Q": queries, "K": keys, "V": keys}
    if past:
        given["past"] = {"K": cached, "V": cached}
    of_keys = places.tolist()
    rope = {"theta": 100, "positions": {"queries": places[:, past:].tolist(), "keys": of_keys}}
    trace = attncli.trace(
        attncli.problem(**given, position={"rope": rope}, mask={"padding": attention_mask.tolist()})
    )
    whole = torch.from_numpy(np.concatenate([cached, keys], axis=2))
    cos, sin = llama.LlamaRotaryEmbedding(config)(whole, places)
    turned, _ = llama.apply_rotary_pos_emb(whole, whole, cos, sin)
    np.testing.assert_allclose(trace["K_rot"], turned, atol=SINGLE)
    cos, sin = cos[:, past:], sin[:, past:]
    turned, _ = llama.apply_rotary_pos_emb(*[torch.from_numpy(queries)] * 2, cos, sin)
    np.testing.assert_allclose(trace["Q_rot"], turned, atol=SINGLE)
