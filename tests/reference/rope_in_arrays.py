"""RoPE by the names of config.json, in NumPy alone: how fast each pair turns, which features turn,
and rows that are turned.

Written from the documentation. A mistake is another `Turning`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Said = Mapping[str, Any]
BETAS = 32, 1


@dataclass(frozen=True)
class Turning:
    """`frequencies` of the pairs; pair r is features r and r + `apart`, or neighbours. What turns
    is multiplied by the `factor`, and begins at feature `first`.
    """

    frequencies: Array
    apart: int
    factor: float = 1.0
    first: int = 0
    interleaved: bool = False

    def turned(self, x: Any, positions: Array, xp: Any = np, way: int = 1) -> Any:
        """Rows (… × rows × features), each turned by its positions (… × rows × pairs, or × 1)."""
        angles = way * positions * self.frequencies
        cos, sin = (xp.asarray(self.factor * each) for each in (np.cos(angles), np.sin(angles)))
        columns = [x[..., at] for at in range(x.shape[-1])]
        for pair in range(len(self.frequencies)):
            one, other = self.places(pair)
            a, b = x[..., one], x[..., other]
            columns[one] = a * cos[..., pair] - b * sin[..., pair]
            columns[other] = a * sin[..., pair] + b * cos[..., pair]
        # Features that do not turn are the same in all entries.
        shape = np.broadcast_shapes(*(tuple(column.shape) for column in columns))
        return xp.stack([xp.broadcast_to(column, shape) for column in columns], -1)

    def places(self, pair: int) -> tuple[int, int]:
        """Which two features are a pair."""
        if self.interleaved:
            return self.first + 2 * pair, self.first + 2 * pair + 1
        return self.first + pair, self.first + pair + self.apart


def said_of(rope: Said) -> dict[str, Any]:
    """The settings by one name each, those of a part that was pasted, too."""
    if rope is True:
        return {}
    pasted = rope.get("rope_parameters") or rope.get("rope_scaling") or {}
    found = {**rope, **pasted}
    if "rope_theta" in found:
        found["theta"] = found["rope_theta"]
    if "type" in found:
        found["rope_type"] = found["type"]
    return found


def given_positions(said: Said, which: str) -> Array:
    given = said["positions"]
    if isinstance(given, Mapping):
        given = given[which]
    return np.array(given, dtype=float)


def positions_of(said: Said, which: str, first: int, rows: int) -> Array:
    """Where queries or keys stand: rows × 1, or × pairs where these have positions of their own;
    with entries before them, and an axis for heads, where each entry has its own.
    """
    if "positions" not in said:
        return np.arange(first, first + rows, dtype=float)[:, None]
    given = given_positions(said, which)
    section = said.get("mrope_section")
    if section is None or given.ndim == 1:
        found = given[..., None]
    else:
        axes = axes_of_pairs(section, interleaved=said.get("mrope_interleaved", False))
        found = np.stack([given[axis] for axis in axes], axis=-1)
    return found[:, None] if found.ndim > 2 else found


def axes_of_pairs(section: Sequence[int], *, interleaved: bool) -> list[int]:
    """Which of time, height and width turns each pair."""
    pairs = sum(section)
    if not interleaved:
        return [axis for axis in range(3) for _ in range(section[axis])]
    found = [0] * pairs
    for axis in (1, 2):
        for pair in range(axis, 3 * section[axis], 3):
            if pair < pairs:
                found[pair] = axis
    return found


def length_of(said: Said, queries: int, keys: int, past: int) -> float:
    """How many positions there are, up to the last."""
    if "positions" not in said:
        return max(past + queries, keys)
    return float(1 + max(given_positions(said, which).max() for which in ("queries", "keys")))


def turning(rope: Said, d_k: int, length: float) -> Turning:
    """How a key of so many features turns in a text of this length."""
    said = said_of(rope)
    width = width_of(said, d_k)
    return Turning(
        frequencies(said, width, length),
        apart=width // 2,
        factor=attention_factor(said),
        interleaved=said.get("pairing") == "interleaved",
    )


def width_of(said: Said, d_k: int) -> int:
    """How many features turn; the others of proportional pairs have a frequency of 0."""
    if said.get("rope_type") == "proportional":
        return d_k
    return int(d_k * said.get("partial_rotary_factor", 1))


def of_training(theta: float, width: int) -> Array:
    """How fast each pair turns before anything is scaled."""
    return np.array([theta ** (-2 * pair / width) for pair in range(width // 2)])


def theta_of(said: Said) -> float:
    return float(said.get("theta", 10000))


def original_length(said: Said) -> float:
    return float(
        said.get("original_max_position_embeddings", said.get("max_position_embeddings", math.nan))
    )


def factor_of(said: Said) -> float | None:
    if "factor" in said:
        return float(said["factor"])
    if said.get("rope_type") in ("yarn", "longrope") and "max_position_embeddings" in said:
        return float(said["max_position_embeddings"] / original_length(said))
    return None


def frequencies(said: Said, width: int, length: float) -> Array:
    """Of each type by its paper, or its model's own words."""
    theta, factor = theta_of(said), factor_of(said)
    plain = of_training(theta, width)
    match said.get("rope_type", "default"):
        case "default":
            return plain
        case "linear":
            assert factor is not None
            return plain / factor
        case "dynamic":
            assert factor is not None
            return of_training(stretched(said, width, length), width)
        case "yarn":
            assert factor is not None
            return blended(plain, factor, yarn_ramp(said, width))
        case "longrope":
            kind = "long_factor" if length > original_length(said) else "short_factor"
            return plain / np.array(said[kind], dtype=float)
        case "llama3":
            return np.array([llama3_frequency(said, each) for each in plain])
        case "proportional":
            turning_pairs = int(said.get("partial_rotary_factor", 1) * width // 2)
            return np.where(np.arange(width // 2) < turning_pairs, plain / (factor or 1), 0)
    raise NotImplementedError(said)


def stretched(said: Said, width: int, length: float) -> float:
    """Theta of a text that is longer than the model's."""
    most = said["max_position_embeddings"]
    times = said["factor"] * max(length, most) / most - (said["factor"] - 1)
    return float(theta_of(said) * times ** (width / (width - 2)))


def blended(plain: Array, factor: float, ramp: Array) -> Array:
    return plain * (1 - ramp) + plain / factor * ramp


def pair_of_turns(turns: float, said: Said, width: int) -> float:
    """The pair that makes so many turns in a text of training."""
    radians = original_length(said) / (turns * 2 * math.pi)
    return width * math.log(radians) / (2 * math.log(theta_of(said)))


def yarn_ends(said: Said, width: int) -> tuple[float, float]:
    fast, slow = (said.get(name, usual) for name, usual in zip(BETA_NAMES, BETAS, strict=True))
    low, high = pair_of_turns(fast, said, width), pair_of_turns(slow, said, width)
    if said.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    return max(low, 0), min(high, width - 1)


BETA_NAMES = "beta_fast", "beta_slow"


def ramp_between(low: float, high: float, pairs: int) -> Array:
    return np.clip((np.arange(pairs) - low) / ((high - low) or 0.001), 0, 1)


def yarn_ramp(said: Said, width: int) -> Array:
    return ramp_between(*yarn_ends(said, width), width // 2)


def llama3_frequency(said: Said, plain: float) -> float:
    """As Llama 3.1 has it: by the wavelength of a pair."""
    original, factor = original_length(said), said["factor"]
    low, high = said["low_freq_factor"], said["high_freq_factor"]
    wavelength = 2 * math.pi / plain
    if wavelength < original / high:
        return plain
    if wavelength > original / low:
        return float(plain / factor)
    smooth = (original / wavelength - low) / (high - low)
    return float((1 - smooth) * plain / factor + smooth * plain)


def magnitude(factor: float, mscale: float = 1) -> float:
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1


def attention_factor(said: Said) -> float:
    """What cos and sin are multiplied by."""
    kind, factor = said.get("rope_type"), factor_of(said)
    if kind not in ("yarn", "longrope"):
        return 1.0
    if "attention_factor" in said:
        return float(said["attention_factor"])
    if factor is None or factor <= 1:
        return 1.0
    if kind == "longrope":
        return math.sqrt(1 + math.log(factor) / math.log(original_length(said)))
    mscale, all_dim = said.get("mscale"), said.get("mscale_all_dim")
    if mscale and all_dim:
        return magnitude(factor, mscale) / magnitude(factor, all_dim)
    return magnitude(factor)


def packed(lengths: Sequence[int]) -> list[int]:
    """The positions of several texts in one row: 0, 1, 2, 0, 1."""
    return [at for length in lengths for at in range(length)]
