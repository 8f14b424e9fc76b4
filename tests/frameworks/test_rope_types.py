"""RoPE by the names of config.json against Transformers: the frequencies of every type, and what a
model makes of queries and keys with them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from software import Array, imported

import attncli

DRAWS = 50
SHARES = (1.0, 0.5, 0.25)
# They calculate in single precision, and take a difference in it.
SINGLE = 1e-5
Config = dict[str, Any]


def linear(choice: random.Random) -> Config:
    return {"factor": choice.choice([1.0, 2.0, 8.0])}


def llama3(choice: random.Random) -> Config:
    low = choice.choice([1.0, 1.5, 2.0])
    return {
        "factor": choice.choice([2.0, 8.0, 32.0]),
        "low_freq_factor": low,
        "high_freq_factor": low * choice.choice([2, 4]),
        "original_max_position_embeddings": choice.choice([16, 256, 8192]),
    }


KINDS: Mapping[str, Callable[[random.Random], Config]] = {"linear": linear, "llama3": llama3}


def drawn(kind: str, share: float, number: int) -> tuple[Config, int]:
    """The rope_parameters of a model, and how many features its keys have."""
    choice = random.Random(f"{kind} {share} {number}")
    parameters = {"rope_type": kind, "rope_theta": choice.choice([50.0, 10000.0, 500000.0])}
    if share < 1:
        parameters["partial_rotary_factor"] = share
    parameters |= KINDS[kind](choice)
    return parameters, choice.choice([8, 16, 24, 64])


def config_of(parameters: Config, d_k: int) -> Any:
    llama = imported("transformers.models.llama.modeling_llama")
    return llama.LlamaConfig(
        hidden_size=d_k,
        num_attention_heads=1,
        head_dim=d_k,
        max_position_embeddings=131072,
        rope_parameters=dict(parameters),
    )


def rotated(config: Any, rows: Array, positions: Array) -> Array:
    """Rows as GPT-NeoX turns them, which passes on the features that do not turn."""
    torch = imported("torch")
    llama = imported("transformers.models.llama.modeling_llama")
    neox = imported("transformers.models.gpt_neox.modeling_gpt_neox")
    row = torch.from_numpy(rows)[None, None]
    cos, sin = llama.LlamaRotaryEmbedding(config)(row, torch.from_numpy(positions)[None])
    turned, _ = neox.apply_rotary_pos_emb(row, row, cos, sin)
    return np.asarray(turned[0, 0])


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what transformers imports
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_and_rotated_keys(kind: str, share: float) -> None:
    """Fifty drawn models of each type, each with three queries behind two keys of a cache."""
    functions = imported("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS
    numbers = np.random.default_rng(5)
    for number in range(DRAWS):
        parameters, d_k = drawn(kind, share, number)
        config = config_of(parameters, d_k)
        frequencies, _ = functions[kind](config)
        queries, keys, cached = (numbers.normal(size=(rows, d_k)) for rows in (3, 3, 2))
        said = f"{parameters} of {d_k}"
        trace = attncli.trace(
            attncli.problem(
                Q=queries,
                K=keys,
                V=keys,
                past={"K": cached, "V": cached},
                position={"rope": {"rope_parameters": parameters}},
            )
        )
        np.testing.assert_allclose(
            trace["frequencies"], frequencies.numpy(), rtol=SINGLE, err_msg=said
        )
        all_keys = np.concatenate([cached, keys])
        theirs = rotated(config, all_keys, np.arange(5))
        np.testing.assert_allclose(trace["K_rot"], theirs, atol=1e-5, err_msg=said)
        theirs = rotated(config, queries, np.arange(2, 5))
        np.testing.assert_allclose(trace["Q_rot"], theirs, atol=1e-5, err_msg=said)
