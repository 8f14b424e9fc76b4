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


def dynamic(choice: random.Random) -> Config:
    """Some of them are stretched, since five positions are more than the model has."""
    return {"factor": choice.choice([2.0, 4.0])}


def yarn(choice: random.Random) -> Config:
    original = choice.choice([64, 1024, 8192])
    config: Config = {
        "factor": choice.choice([1.0, 4.0, 40.0]),
        "original_max_position_embeddings": original,
    }
    more: Config = {
        "beta_fast": choice.choice([16, 32.0]),
        "beta_slow": choice.choice([0.5, 1, 2]),
        "truncate": choice.random() < 0.5,
    }
    said = choice.choice(["nothing", "attention_factor", "mscale", "both"])
    if said == "attention_factor":
        more["attention_factor"] = 1.25
    elif said == "mscale":
        # Alone, it says nothing.
        more["mscale"] = 0.7
    elif said == "both":
        more |= {"mscale": choice.choice([0.0, 0.7, 1.0]), "mscale_all_dim": 1.0}
    chosen = {key: value for key, value in more.items() if choice.random() < 0.7}
    return config | chosen


def degenerate_yarn(choice: random.Random) -> Config:
    """Ranges whose ends are the same, exchanged or outside of the pairs: a theta near 1 spreads
    them out, and few or many tokens move both to one side.
    """
    return {
        "rope_theta": choice.choice([1.05, 1.5, 4.0, 100.0, 1e9]),
        "factor": choice.choice([2.0, 8.0]),
        "original_max_position_embeddings": choice.choice([2, 6, 7, 100, 250, 10**6]),
        "beta_fast": choice.choice([1.5, 2.0, 32.0]),
        "beta_slow": choice.choice([0.01, 1.0, 1.4]),
        "truncate": choice.random() < 0.6,
    }


def longrope(choice: random.Random) -> Config:
    config: Config = {"original_max_position_embeddings": choice.choice([4, 5, 4096])}
    if choice.random() < 0.5:
        config["factor"] = choice.choice([1.0, 16.0])
    if choice.random() < 0.3:
        config["attention_factor"] = 1.25
    return config


def proportional(choice: random.Random) -> Config:
    return choice.choice([{}, {"factor": 4.0}])


KINDS: Mapping[str, Callable[[random.Random], Config]] = {
    "linear": linear,
    "dynamic": dynamic,
    "yarn": yarn,
    "longrope": longrope,
    "llama3": llama3,
    "proportional": proportional,
}


def drawn(kind: str, share: float, number: int) -> tuple[Config, int]:
    """The rope_parameters of a model, and how many features its keys have."""
    choice = random.Random(f"{kind} {share} {number}")
    parameters = {"rope_type": kind, "rope_theta": choice.choice([50.0, 10000.0, 500000.0])}
    if share < 1:
        parameters["partial_rotary_factor"] = share
    parameters |= KINDS[kind](choice)
    d_k = choice.choice([16, 24, 64])
    if kind == "longrope":
        for key in ("short_factor", "long_factor"):
            pairs = range(int(d_k * share) // 2)
            parameters[key] = [round(choice.uniform(1, 8), 2) for _ in pairs]
    return parameters, d_k


def config_of(parameters: Config, d_k: int, longest: int) -> Any:
    llama = imported("transformers.models.llama.modeling_llama")
    return llama.LlamaConfig(
        hidden_size=d_k,
        num_attention_heads=1,
        head_dim=d_k,
        max_position_embeddings=longest,
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


def factor_of(trace: attncli.Trace) -> float:
    """What cos and sin are multiplied by, whether it is given or follows from other numbers."""
    if "attention_factor" in trace:
        return float(trace["attention_factor"])
    given = trace.parameters.get("attention_factor")
    return 1.0 if given is None else float(given.value)


def places(number: int) -> dict[str, list[int]]:
    """Where three queries and five keys are: in every second model not one after the other."""
    choice = random.Random(number)
    if number % 2:
        return {
            "queries": [choice.randint(0, 40) for _ in range(3)],
            "keys": [choice.randint(0, 40) for _ in range(5)],
        }
    return {"queries": [2, 3, 4], "keys": [0, 1, 2, 3, 4]}


@pytest.mark.long
@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what transformers imports
def test_ramps_whose_ends_meet_or_lie_outside() -> None:
    """Two hundred drawn ranges; some end where they begin, and some before it."""
    functions = imported("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS
    met = exchanged = 0
    for number in range(200):
        choice = random.Random(f"range {number}")
        parameters = {"rope_type": "yarn", **degenerate_yarn(choice)}
        d_k = choice.choice([4, 6, 16])
        frequencies, _ = functions["yarn"](config_of(parameters, d_k, 131072))
        rows = np.ones((2, d_k))
        rope = {"rope_parameters": parameters}
        trace = attncli.trace(attncli.problem(Q=rows, K=rows, V=rows, position={"rope": rope}))
        np.testing.assert_allclose(
            trace["frequencies"], frequencies.numpy(), rtol=SINGLE, err_msg=f"{parameters}"
        )
        met += bool(trace["ramp_low"] == trace["ramp_high"])
        exchanged += bool(trace["ramp_low"] > trace["ramp_high"])
    assert met > 5
    assert exchanged > 5


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what transformers imports
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_and_rotated_rows(kind: str, share: float) -> None:
    """Fifty drawn models of each type, each with three queries behind two keys of a cache."""
    functions = imported("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS
    numbers = np.random.default_rng(5)
    for number in range(DRAWS):
        parameters, d_k = drawn(kind, share, number)
        at = places(number)
        longest = 3 + number % 4 if kind == "dynamic" else 131072
        config = config_of(parameters, d_k, longest)
        positions = [*at["queries"], *at["keys"]]
        frequencies, factor = functions[kind](config, seq_len=max(positions) + 1)
        queries, keys, cached = (numbers.normal(size=(rows, d_k)) for rows in (3, 3, 2))
        rope = {"rope_parameters": parameters, "max_position_embeddings": longest}
        if number % 2:
            rope["positions"] = at
        said = f"{parameters} of {d_k} at {at}"
        trace = attncli.trace(
            attncli.problem(
                Q=queries,
                K=keys,
                V=keys,
                past={"K": cached, "V": cached},
                position={"rope": rope},
            )
        )
        np.testing.assert_allclose(
            trace["frequencies"], frequencies.numpy(), rtol=SINGLE, err_msg=said
        )
        np.testing.assert_allclose(factor_of(trace), factor, rtol=1e-12, err_msg=said)
        rows = np.concatenate([queries, cached, keys])
        theirs = rotated(config, rows, np.array(positions))
        mine = np.concatenate([trace["Q_rot"], trace["K_rot"]])
        # Angles are up to 40 times as far off as frequencies.
        np.testing.assert_allclose(mine, theirs, atol=1e-4, err_msg=said)
