"""What people do wrong with the settings of RoPE: each mistake another `Turning`, by NumPy alone.

Its names are what attncli should say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.reference.rope_in_arrays import (
    Array,
    Said,
    Turning,
    blended,
    factor_of,
    frequencies,
    magnitude,
    of_training,
    original_length,
    stretched,
    theta_of,
    turning,
    yarn_ends,
    yarn_ramp,
)

# A key of eight features makes four pairs. With a theta of 10, all of them turn within few tokens.
D_K = 8
_YARN = {
    "rope_type": "yarn",
    "theta": 10,
    "factor": 4,
    "original_max_position_embeddings": 64,
    "beta_fast": 8,
    "beta_slow": 2,
}
SETTINGS: Mapping[str, Said] = {
    "linear": {"rope_type": "linear", "theta": 10, "factor": 4},
    "dynamic": {"rope_type": "dynamic", "theta": 10, "factor": 4, "max_position_embeddings": 2},
    "yarn": _YARN,
    "yarn, not truncated": {**_YARN, "truncate": False},
    "yarn with mscale": {**_YARN, "mscale": 3, "mscale_all_dim": 1},
    "yarn with a factor": {**_YARN, "attention_factor": 1.5},
    "yarn in part": {**_YARN, "factor": 40, "partial_rotary_factor": 0.5},
    "llama3": {
        "rope_type": "llama3",
        "theta": 10,
        "factor": 4,
        "low_freq_factor": 2,
        "high_freq_factor": 6,
        "original_max_position_embeddings": 64,
    },
    "longrope": {
        "rope_type": "longrope",
        "theta": 10,
        "factor": 4,
        "original_max_position_embeddings": 3,
        "short_factor": [1, 1.5, 2, 3],
        "long_factor": [3, 4, 5, 6],
    },
    "longrope, short": {
        "rope_type": "longrope",
        "theta": 10,
        "factor": 4,
        "original_max_position_embeddings": 16,
        "short_factor": [1, 1.5, 2, 3],
        "long_factor": [3, 4, 5, 6],
    },
    "partial": {"theta": 10, "partial_rotary_factor": 0.5},
    "proportional": {"rope_type": "proportional", "theta": 10, "partial_rotary_factor": 0.5},
    "positions": {"theta": 10, "positions": [3, 1, 4, 0]},
}
# It gets the settings, the length of the text, and how it is right.
Change = Callable[[Said, float, Turning], Turning]


@dataclass(frozen=True)
class Wrong:
    """A mistake that can be made with some of the settings: what queries and keys are turned by, or
    one of them, and the power of the attention factor by which the scaled scores are wrong. The
    factor may be that of all features `everywhere`, and positions may count `from_0`.
    """

    name: str
    settings: str
    change: Change
    queries: bool = True
    keys: bool = True
    in_scale: float = 0
    everywhere: bool = False
    from_0: bool = False

    def turned(self, said: Said, x: Array, positions: Array, length: float) -> Array:
        """Queries or keys with the mistake in them."""
        right = turning(said, x.shape[-1], length)
        how = self.change(said, length, right)
        found: Array = how.turned(
            x, np.arange(len(positions))[:, None] if self.from_0 else positions
        )
        if self.everywhere:
            found[..., part_of(right) :] *= right.factor
        return found


def with_frequencies(work: Callable[[Said, Array, float], Any]) -> Change:
    """Other frequencies, made of the settings, the frequencies of training, and the factor."""

    def change(said: Said, length: float, how: Turning) -> Turning:
        plain = of_training(theta_of(said), 2 * len(how.frequencies))
        return replace(how, frequencies=np.array(work(said, plain, factor_of(said) or 1)))

    return change


def with_said(**others: Any) -> Change:
    """Other settings, some of them a function of the right ones."""

    def change(said: Said, length: float, how: Turning) -> Turning:
        other = {key: each(said) if callable(each) else each for key, each in others.items()}
        width = 2 * len(how.frequencies)
        return replace(how, frequencies=frequencies({**said, **other}, width, length))

    return change


def with_factor(work: Callable[[Said, float], float]) -> Change:
    return lambda said, length, how: replace(how, factor=work(said, how.factor))


def both(first: Change, second: Change) -> Change:
    return lambda said, length, how: second(said, length, first(said, length, how))


def unbounded(said: Said, plain: Array) -> Array:
    """The ramp of yarn, or llama3, below 0 and above 1, too."""
    pairs = len(plain)
    if said["rope_type"] == "yarn":
        low, high = yarn_ends(said, 2 * pairs)
        return (np.arange(pairs) - low) / (high - low)
    turns = original_length(said) * plain / (2 * math.pi)
    low, high = said["low_freq_factor"], said["high_freq_factor"]
    return np.asarray((high - turns) / (high - low))


def exchanged(said: Said, one: str, other: str) -> dict[str, Any]:
    return {**said, one: said[other], other: said[one]}


def of_wavelengths(said: Said, plain: Array) -> Array:
    wavelengths = 2 * math.pi / plain
    short, long = (
        original_length(said) / said[name] for name in ("high_freq_factor", "low_freq_factor")
    )
    return np.clip((wavelengths - short) / (long - short), 0, 1)


def ramp(said: Said, plain: Array) -> Array:
    return np.clip(unbounded(said, plain), 0, 1)


def by_mscale(said: Said) -> tuple[float, float]:
    factor = factor_of(said) or 1
    return magnitude(factor, said["mscale"]), magnitude(factor, said["mscale_all_dim"])


def times_as_long(said: Said, length: float) -> float:
    """How many times theta is stretched, before the power."""
    return float(said["factor"] * length / said["max_position_embeddings"] - said["factor"] + 1)


def formula(said: Said) -> float:
    return magnitude(factor_of(said) or 1)


UNSCALED = with_frequencies(lambda said, plain, factor: plain)
NO_FACTOR = with_factor(lambda said, factor: 1)
SAME = with_factor(lambda said, factor: factor)


def part_of(how: Turning) -> int:
    """How many features turn at all."""
    return 2 * int(np.count_nonzero(how.frequencies))


def all_features(said: Said, length: float, how: Turning) -> Turning:
    whole = frequencies({**said, "partial_rotary_factor": 1}, D_K, length)
    return replace(how, frequencies=whole, apart=D_K // 2)


def share_twice(said: Said, length: float, how: Turning) -> Turning:
    return turning({**said, "partial_rotary_factor": 0.5 * 0.5}, D_K, length)


def divided_by(width: int | None) -> Change:
    """The pairs that turn, their numbers divided by another width; by the part that turns for
    None.
    """

    def change(said: Said, length: float, how: Turning) -> Turning:
        pairs = part_of(how) // 2
        return replace(how, frequencies=of_training(theta_of(said), width or part_of(how))[:pairs])

    return change


def apart(features: int) -> Change:
    """The pairs that turn, so many features apart."""

    def change(said: Said, length: float, how: Turning) -> Turning:
        turning = how.frequencies[: part_of(how) // 2]
        return replace(how, frequencies=turning, apart=features)

    return change


ROPE_MISTAKES: tuple[Wrong, ...] = (
    Wrong("RoPE's scaling was left out", "yarn", both(UNSCALED, NO_FACTOR)),
    Wrong("RoPE's frequencies were not scaled", "yarn", UNSCALED),
    Wrong(
        "RoPE's frequencies were multiplied by the factor, not divided by it",
        "linear",
        with_frequencies(lambda said, plain, factor: plain * factor),
    ),
    Wrong(
        "RoPE's frequencies were divided by the factor twice",
        "linear",
        with_frequencies(lambda said, plain, factor: plain / factor / factor),
    ),
    Wrong(
        "RoPE's ramp was left out: all pairs were slowed down by the whole factor",
        "yarn",
        with_frequencies(lambda said, plain, factor: plain / factor),
    ),
    Wrong(
        "RoPE's ramp was inverted: fast pairs were slowed down, and slow pairs were not",
        "yarn",
        with_frequencies(lambda said, plain, factor: blended(plain, factor, 1 - ramp(said, plain))),
    ),
    Wrong(
        "RoPE's ramp was not kept between 0 and 1",
        "llama3",
        with_frequencies(
            lambda said, plain, factor: blended(plain, factor, unbounded(said, plain))
        ),
    ),
    Wrong(
        "the pairs on RoPE's ramp were slowed down by the whole factor",
        "llama3",
        with_frequencies(
            lambda said, plain, factor: np.where(unbounded(said, plain) > 0, plain / factor, plain)
        ),
    ),
    Wrong(
        "the pairs on RoPE's ramp were not slowed down",
        "llama3",
        with_frequencies(
            lambda said, plain, factor: np.where(unbounded(said, plain) >= 1, plain / factor, plain)
        ),
    ),
    Wrong(
        "RoPE's ramp grew with wavelengths, not with turns",
        "llama3",
        with_frequencies(
            lambda said, plain, factor: blended(plain, factor, of_wavelengths(said, plain))
        ),
    ),
    Wrong(
        "RoPE's ramp was between wavelengths, not between frequencies",
        "llama3",
        with_frequencies(
            lambda said, plain, factor: (
                1 / (1 / plain * (1 - ramp(said, plain)) + factor / plain * ramp(said, plain))
            )
        ),
    ),
    Wrong(
        "the ends of RoPE's ramp were not rounded to whole pairs",
        "yarn",
        with_said(truncate=False),
    ),
    Wrong(
        "the ends of RoPE's ramp were rounded to whole pairs",
        "yarn, not truncated",
        with_said(truncate=True),
    ),
    Wrong(
        "RoPE's beta_fast and beta_slow were exchanged",
        "yarn",
        with_frequencies(
            lambda said, plain, factor: blended(
                plain, factor, yarn_ramp(exchanged(said, "beta_fast", "beta_slow"), 2 * len(plain))
            )
        ),
    ),
    Wrong(
        "RoPE's low_freq_factor and high_freq_factor were exchanged",
        "llama3",
        with_frequencies(
            lambda said, plain, factor: blended(
                plain,
                factor,
                ramp(exchanged(said, "low_freq_factor", "high_freq_factor"), plain),
            )
        ),
    ),
    Wrong(
        "RoPE counted radians, not turns",
        "yarn",
        with_said(
            original_max_position_embeddings=lambda said: original_length(said) * 2 * math.pi
        ),
    ),
    Wrong(
        "RoPE read max_position_embeddings for original_max_position_embeddings",
        "llama3",
        with_said(
            original_max_position_embeddings=lambda said: original_length(said) * said["factor"]
        ),
    ),
    Wrong(
        "RoPE stretched theta for the longest text, not for this one",
        "dynamic",
        lambda said, length, how: replace(
            how, frequencies=of_training(stretched(said, D_K, 4 * 2), D_K)
        ),
    ),
    Wrong(
        "RoPE stretched theta without the power d / (d - 2)",
        "dynamic",
        lambda said, length, how: replace(
            how, frequencies=of_training(theta_of(said) * times_as_long(said, length), D_K)
        ),
    ),
    Wrong(
        "RoPE divided by short_factor in a long text",
        "longrope",
        with_frequencies(lambda said, plain, factor: plain / np.array(said["short_factor"])),
    ),
    Wrong(
        "RoPE divided by long_factor in a short text",
        "longrope, short",
        with_frequencies(lambda said, plain, factor: plain / np.array(said["long_factor"])),
    ),
    Wrong("RoPE's attention factor was left out", "yarn with a factor", NO_FACTOR),
    Wrong(
        "RoPE's attention factor was applied twice",
        "yarn",
        with_factor(lambda said, factor: factor * factor),
    ),
    Wrong(
        "RoPE divided by its attention factor",
        "yarn",
        with_factor(lambda said, factor: 1 / factor),
    ),
    Wrong(
        "RoPE's attention factor was applied to the queries alone",
        "yarn with a factor",
        NO_FACTOR,
        queries=False,
    ),
    Wrong(
        "RoPE's attention factor was applied to the keys alone",
        "yarn with a factor",
        NO_FACTOR,
        keys=False,
    ),
    Wrong(
        "RoPE's attention factor was also applied to the scale", "yarn in part", SAME, in_scale=2
    ),
    Wrong(
        "RoPE's attention factor was applied to the features that do not turn, too",
        "yarn in part",
        SAME,
        everywhere=True,
    ),
    Wrong(
        "RoPE's attention factor followed from the factor, and was not the one given",
        "yarn with a factor",
        with_factor(lambda said, factor: formula(said)),
    ),
    Wrong(
        "RoPE's attention factor was multiplied by the one that follows from the factor",
        "yarn with a factor",
        with_factor(lambda said, factor: factor * formula(said)),
    ),
    Wrong(
        "RoPE's mscale and mscale_all_dim were left out",
        "yarn with mscale",
        with_factor(lambda said, factor: formula(said)),
    ),
    Wrong(
        "RoPE's attention factor was made of mscale alone",
        "yarn with mscale",
        with_factor(lambda said, factor: by_mscale(said)[0]),
    ),
    Wrong(
        "RoPE's attention factor was made of mscale_all_dim alone",
        "yarn with mscale",
        with_factor(lambda said, factor: by_mscale(said)[1]),
    ),
    Wrong(
        "RoPE's mscale and mscale_all_dim were exchanged",
        "yarn with mscale",
        with_factor(lambda said, factor: 1 / factor),
    ),
    Wrong(
        "RoPE's mscale was taken as the attention factor",
        "yarn with mscale",
        with_factor(lambda said, factor: said["mscale"]),
    ),
    Wrong(
        "RoPE's attention factor was that of yarn, not of longrope",
        "longrope",
        with_factor(lambda said, factor: formula(said)),
    ),
    Wrong(
        "RoPE rotated all features, not the share that partial_rotary_factor says",
        "partial",
        all_features,
    ),
    Wrong("RoPE took the share partial_rotary_factor twice", "partial", share_twice),
    Wrong(
        "RoPE rotated the last features, not the first",
        "partial",
        lambda said, length, how: replace(how, first=D_K - part_of(how)),
    ),
    Wrong(
        "the numbers of RoPE's pairs were divided by d_k, not by the features that turn",
        "partial",
        divided_by(D_K),
    ),
    Wrong(
        "the numbers of RoPE's pairs were divided by the features that turn, not by d_k",
        "proportional",
        divided_by(None),
    ),
    Wrong(
        "RoPE paired features half a key apart, not half of the part that turns",
        "partial",
        apart(D_K // 2),
    ),
    Wrong(
        "RoPE paired features half of the part that turns apart, not half a key",
        "proportional",
        apart(D_K // 4),
    ),
    Wrong(
        "RoPE was that of rope_type: proportional",
        "partial",
        both(divided_by(D_K), apart(D_K // 2)),
    ),
    Wrong(
        "RoPE was that of partial_rotary_factor alone, not of rope_type: proportional",
        "proportional",
        both(divided_by(None), apart(D_K // 4)),
    ),
    Wrong(
        "RoPE counted positions from 0, not as the problem says",
        "positions",
        SAME,
        from_0=True,
    ),
)
