"""Wrong ports of RoPE, as models were ported wrongly: each is a program of its own that makes one
error, and compare names it from what the program dumped.

The errors are those of eighteen reports of 2026. All of them were silent: a table of angles that is
a little wrong gives fluent text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import attncli

Array = np.ndarray[Any, Any]
HEAD_DIM, ROWS = 16, 12
RANDOM = np.random.default_rng(18)
Q, K, V = (RANDOM.normal(size=(2, ROWS, HEAD_DIM)) for _ in range(3))
YARN = {
    "rope_type": "yarn",
    "rope_theta": 1000000.0,
    "factor": 16.0,
    "original_max_position_embeddings": 256,
}
CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "partial": {"rope_theta": 10000.0, "partial_rotary_factor": 0.5},
    "proportional": {
        "rope_type": "proportional",
        "rope_theta": 1000000.0,
        "partial_rotary_factor": 0.25,
    },
    "yarn": YARN,
    "yarn, mscale": {**YARN, "mscale": 1.0, "mscale_all_dim": 1.0},
    "yarn, two mscales": {**YARN, "mscale": 1.0, "mscale_all_dim": 0.5},
    "yarn, its factor": {**YARN, "attention_factor": 0.1 * math.log(16) + 1},
    "yarn, no factor": {**YARN, "attention_factor": 1.0},
    "yarn, another factor": {**YARN, "attention_factor": 1.1},
    "llama3": {
        "rope_type": "llama3",
        "rope_theta": 500.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    },
}


def inv_freq(theta: float, dim: int) -> Array:
    return 1.0 / theta ** (np.arange(0, dim, 2, dtype=np.float32) / dim)


def get_mscale(scale: float, mscale: float = 1.0) -> float:
    return 1.0 if scale <= 1 else 0.1 * mscale * math.log(scale) + 1.0


def yarn_inv_freq(config: Mapping[str, Any], dim: int = HEAD_DIM) -> Array:
    theta, original = config["rope_theta"], config["original_max_position_embeddings"]

    def correction_dim(rotations: float) -> float:
        return dim * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(theta))

    low = max(math.floor(correction_dim(32)), 0)
    high = min(math.ceil(correction_dim(1)), dim - 1)
    ramp = np.clip((np.arange(dim // 2) - low) / max(high - low, 0.001), 0, 1)
    extrapolated = inv_freq(theta, dim)
    return extrapolated * (1 - ramp) + extrapolated / config["factor"] * ramp


def llama3_inv_freq(config: Mapping[str, Any]) -> Array:
    plain, original = (
        inv_freq(config["rope_theta"], HEAD_DIM),
        config["original_max_position_embeddings"],
    )
    wavelength = 2 * math.pi / plain
    smooth = (original / wavelength - 1.0) / (4.0 - 1.0)
    blended = (1 - smooth) * plain / 8.0 + smooth * plain
    scaled = np.where(wavelength > original / 1.0, plain / 8.0, plain)
    return np.where((wavelength >= original / 4.0) & (wavelength <= original), blended, scaled)


def rotate_half(x: Array) -> Array:
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


@dataclass(frozen=True)
class Port:
    """A port of attention with RoPE: the cache of cos and sin has this table, of features that are
    rotated as a block from `begin` on; the others pass.
    """

    table: Array
    attn_factor: float = 1.0
    softmax_factor: float = 1.0
    begin: int = 0

    def rotated(self, x: Array) -> Array:
        angles = np.outer(np.arange(ROWS, dtype=np.float32), self.table)
        both = np.concatenate([angles, angles], axis=-1)
        cos, sin = np.cos(both) * self.attn_factor, np.sin(both) * self.attn_factor
        end = self.begin + both.shape[-1]
        before, block, after = np.split(x, [self.begin, end], axis=-1)
        block = block * cos + rotate_half(block) * sin
        return np.concatenate([before, block, after], axis=-1)

    def dump(self) -> dict[str, Array]:
        """What a program saves of a causal layer, in single precision."""
        q, k = self.rotated(Q), self.rotated(K)
        logits = q @ k.transpose(0, 2, 1) * (self.softmax_factor / math.sqrt(HEAD_DIM))
        logits = np.where(np.tri(ROWS, dtype=bool), logits, -np.inf)
        exp = np.exp(logits - logits.max(axis=-1, keepdims=True))
        weights = exp / exp.sum(axis=-1, keepdims=True)
        found = {"Q_rot": q, "K_rot": k, "weights": weights, "output": weights @ V}
        return {name: array.astype(np.float32) for name, array in found.items()}


PARTIAL = inv_freq(10000.0, 8)
PROPORTIONAL = inv_freq(1000000.0, HEAD_DIM)
# A quarter of the pairs turn.
TURNING = np.where(np.arange(8) < 2, PROPORTIONAL, 0)
OF_YARN = yarn_inv_freq(YARN)
RIGHT: Mapping[str, Port] = {
    "partial": Port(PARTIAL),
    "proportional": Port(TURNING),
    "yarn": Port(OF_YARN, get_mscale(16)),
    "yarn, mscale": Port(OF_YARN),
    "yarn, two mscales": Port(OF_YARN, get_mscale(16) / get_mscale(16, 0.5)),
    "yarn, its factor": Port(OF_YARN, get_mscale(16)),
    "yarn, no factor": Port(OF_YARN),
    "yarn, another factor": Port(OF_YARN, 1.1),
    "llama3": Port(llama3_inv_freq(CONFIGS["llama3"])),
}
# The table of the first pairs, in a block of another width: what is 0 does not turn.
PADDED = np.concatenate([PARTIAL, np.zeros(4)])


PORTS: Mapping[str, tuple[str, Port, tuple[str, ...]]] = {
    "rotary_dim is not passed on": (
        "partial",
        Port(inv_freq(10000.0, HEAD_DIM)),
        ("RoPE rotated all features, not the share that partial_rotary_factor says",),
    ),
    "a final factor is multiplied with one of its own": (
        "yarn, its factor",
        Port(OF_YARN, get_mscale(16) * get_mscale(16)),
        (
            "RoPE's attention factor was applied twice",
            "RoPE's attention factor was multiplied by the one that follows from the factor",
        ),
    ),
    "generic YaRN does not know mscale": (
        "yarn, mscale",
        Port(OF_YARN, get_mscale(16)),
        # Where both are 1, these are the same.
        (
            "RoPE's mscale and mscale_all_dim were left out",
            "RoPE's attention factor was made of mscale alone",
            "RoPE's attention factor was made of mscale_all_dim alone",
        ),
    ),
    "mscale is not among the keys that are handed on": (
        "yarn, two mscales",
        Port(OF_YARN, get_mscale(16)),
        # With an mscale of 1, alone, it is the same.
        (
            "RoPE's mscale and mscale_all_dim were left out",
            "RoPE's attention factor was made of mscale alone",
        ),
    ),
    "attention_factor is dropped from a list of keys": (
        "yarn, no factor",
        Port(OF_YARN, get_mscale(16)),
        # Times 1, it is the same.
        (
            "RoPE's attention factor followed from the factor, and was not the one given",
            "RoPE's attention factor was multiplied by the one that follows from the factor",
        ),
    ),
    "attention_factor is never read": (
        "yarn, another factor",
        Port(OF_YARN, 0.1 * math.log(16.0) + 1.0),
        ("RoPE's attention factor followed from the factor, and was not the one given",),
    ),
    "the factor collapses to 1": (
        "yarn",
        Port(OF_YARN, 1.0),
        ("RoPE's attention factor was left out",),
    ),
    "the scale of the softmax has the factor, too": (
        "yarn",
        Port(OF_YARN, get_mscale(16), softmax_factor=get_mscale(16) ** 2),
        ("RoPE's attention factor was also applied to the scale",),
    ),
    "a graph adjusts the factor by mscale_all_dim alone": (
        "yarn, two mscales",
        Port(OF_YARN, get_mscale(16, 0.5)),
        ("RoPE's attention factor was made of mscale_all_dim alone",),
    ),
    "a kernel cancels a factor that nobody applied": (
        "yarn, two mscales",
        Port(OF_YARN, get_mscale(16, 0.5) / get_mscale(16)),
        ("RoPE divided by its attention factor", "RoPE's mscale and mscale_all_dim were exchanged"),
    ),
    "frequencies and pairs of the head, not of the part": (
        "partial",
        Port(np.where(np.arange(8) < 4, inv_freq(10000.0, HEAD_DIM), 0)),
        ("RoPE was that of rope_type: proportional",),
    ),
    "the exponent is divided by head_dim": (
        "partial",
        Port(inv_freq(10000.0, HEAD_DIM)[:4]),
        ("the numbers of RoPE's pairs were divided by d_k, not by the features that turn",),
    ),
    "a table without its zeros": (
        "proportional",
        Port(PROPORTIONAL[:2]),
        ("RoPE paired features half of the part that turns apart, not half a key",),
    ),
    "a base that hides the other exponent": (
        "proportional",
        Port(inv_freq(1000000.0**0.25, 4)),
        ("RoPE paired features half of the part that turns apart, not half a key",),
    ),
    "proportional is read as a part": (
        "proportional",
        Port(inv_freq(1000000.0, 4)),
        ("RoPE was that of partial_rotary_factor alone, not of rope_type: proportional",),
    ),
    "a table filled up with zeros, and one split of the head": (
        "partial",
        Port(PADDED),
        ("RoPE paired features half a key apart, not half of the part that turns",),
    ),
    "every pair of a proportional key turns": (
        "proportional",
        Port(PROPORTIONAL),
        ("RoPE rotated all features, not the share that partial_rotary_factor says",),
    ),
    "rope_scaling is parsed and never read": (
        "llama3",
        Port(inv_freq(500.0, HEAD_DIM)),
        ("RoPE's scaling was left out",),
    ),
    "a share of a share": (
        "partial",
        Port(inv_freq(10000.0, 4)),
        ("RoPE took the share partial_rotary_factor twice",),
    ),
    "the last part turns": (
        "partial",
        Port(PARTIAL, begin=8),
        ("RoPE rotated the last features, not the first",),
    ),
}


def problem(config: str) -> attncli.Problem:
    """The problem as somebody pastes it: rope_parameters of config.json."""
    rope = {"rope_parameters": dict(CONFIGS[config])}
    return attncli.problem(Q=Q, K=K, V=V, heads=2, mask="causal", position={"rope": rope})


@pytest.mark.parametrize("config", CONFIGS)
def test_a_right_port_agrees(config: str) -> None:
    found = attncli.compare(problem(config), RIGHT[config].dump())
    assert found
    assert found.mistakes == ()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("steps", ["all", "output"])
@pytest.mark.parametrize("port", PORTS)
def test_a_wrong_port_is_named(port: str, steps: str) -> None:
    """From the rotated queries and keys on, and from the output alone."""
    config, wrong, names = PORTS[port]
    dump = wrong.dump()
    if steps != "all":
        dump = {steps: dump[steps]}
    found = attncli.compare(problem(config), dump)
    assert not found
    assert set(names) <= set(found.mistakes)
    if steps == "all":
        assert set(found.mistakes) == set(names)
