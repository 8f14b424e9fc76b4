"""RoPE by the names of config.json in plain Python, number by number, as docs/reference/input.md
says it; with bounds.

Nothing of the program is used, and nothing of `rope_in_arrays.py`. Rows are nested lists of
`Bounded`, batch × head × row × feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor
from typing import Any

from mpmath import mp, mpf

from tests.reference.bounded import FUNCTION, Bounded, dot, gamma, given, power, times, total, turn

Array = list[list[list[list[Bounded]]]]
Said = Mapping[str, Any]
# A result of logarithms, roots, products and sums of numbers above 0, where nothing cancels.
SEVERAL = 4 * FUNCTION


def turned(array: Array, which: str, first: int, rope: Said, length: float) -> Array:
    """Queries or keys, the first of which is at position `first`, in a text of this length."""
    said = _said(rope)
    width = len(array[0][0][0])
    pairs = [*_frequencies(said, _turning_width(said, width), length)]
    factor = _attention_factor(said)
    entries = max(len(array), _entries(said, which))
    found = []
    for entry in range(entries):
        heads = array[entry if len(array) > 1 else 0]
        made = []
        for head in heads:
            rows = []
            for row, features in enumerate(head):
                places = [
                    _position(said, which, entry, row, pair, len(pairs), first)
                    for pair in range(len(pairs))
                ]
                rows.append(_turned_row(said, features, pairs, places, factor))
            made.append(rows)
        found.append(made)
    return found


def length_of(rope: Said, queries: int, keys: int, past: int) -> float:
    """How many positions there are, up to the last one that is written or counted."""
    said = _said(rope)
    if "positions" not in said:
        return max(past + queries, keys)
    return 1 + max(_largest(_given_positions(said, which)) for which in ("queries", "keys"))


def _said(rope: Any) -> dict[str, Any]:
    """The settings by one name each, with those that were pasted."""
    if rope is True:
        return {}
    found = dict(rope)
    for name in ("rope_parameters", "rope_scaling"):
        found |= found.get(name) or {}
    found["theta"] = found.get("rope_theta", found.get("theta", 10000))
    found["rope_type"] = found.get("rope_type", found.get("type", "default"))
    return found


def _turned_row(
    said: Said,
    row: list[Bounded],
    pairs: list[Bounded],
    places: list[float],
    factor: Bounded | None,
) -> list[Bounded]:
    found = list(row)
    for r, frequency in enumerate(pairs):
        a, b = (2 * r, 2 * r + 1)
        if said.get("pairing", "half") == "half":
            a, b = r, r + len(pairs)
        cos, sin = turn(times(given(places[r]), frequency).rounded())
        minus = Bounded(-sin.value, sin.error, sin.size)
        for at, weights in ((a, [cos, minus]), (b, [sin, cos])):
            cell = dot([row[a], row[b]], weights)
            found[at] = cell if factor is None else times(factor, cell).rounded()
    return found


# Where a row stands


def _given_positions(said: Said, which: str) -> Any:
    positions = said["positions"]
    return positions[which] if isinstance(positions, Mapping) else positions


def _depth(positions: Any) -> int:
    return 1 + _depth(positions[0]) if isinstance(positions, list) else 0


def _largest(positions: Any) -> float:
    return max(map(_largest, positions)) if isinstance(positions, list) else positions


def _entries(said: Said, which: str) -> int:
    """How many entries have positions of their own."""
    if "positions" not in said:
        return 1
    positions = _given_positions(said, which)
    depth = _depth(positions)
    if "mrope_section" in said:
        return len(positions[0]) if depth == 3 else 1
    return len(positions) if depth == 2 else 1


def _position(
    said: Said, which: str, entry: int, row: int, pair: int, pairs: int, first: int
) -> float:
    """Where the row stands for a pair of features."""
    if "positions" not in said:
        return float(first + row)
    found = _given_positions(said, which)
    if "mrope_section" in said and _depth(found) > 1:
        found = found[_axis_of(said, pair, pairs)]
    if isinstance(found[0], list):
        found = found[entry]
    return float(found[row])


def _axis_of(said: Said, pair: int, pairs: int) -> int:
    """0 where time turns a pair, 1 where height does, and 2 for width."""
    time, height, width = said["mrope_section"]
    if not said.get("mrope_interleaved", False):
        return 0 if pair < time else 1 if pair < time + height else 2
    for axis, section in ((1, height), (2, width)):
        if pair % 3 == axis and pair < min(3 * section, pairs):
            return axis
    return 0


# How fast each pair turns


def _turning_width(said: Said, d_k: int) -> int:
    if said.get("rope_type") == "proportional":
        return d_k
    return int(d_k * said.get("partial_rotary_factor", 1))


def _original(said: Said) -> mpf:
    name = "original_max_position_embeddings"
    return mpf(said.get(name, said.get("max_position_embeddings")))


def _factor(said: Said) -> mpf | None:
    if "factor" in said:
        return mpf(said["factor"])
    if said["rope_type"] in ("yarn", "longrope") and "max_position_embeddings" in said:
        return mpf(said["max_position_embeddings"]) / _original(said)
    return None


def _frequencies(said: Said, width: int, length: float) -> Iterator[Bounded]:
    """The frequency of each pair, by its type."""
    kind = said.get("rope_type", "default")
    base = _stretched(said, width, length) if kind == "dynamic" else given(said.get("theta", 10000))
    factor = _factor(said) or mpf(1)
    for r in range(width // 2):
        plain = _plain(base, 2 * r, width)
        if kind in ("default", "dynamic"):
            yield plain
        elif kind == "linear":
            yield _divided(plain, factor)
        elif kind == "longrope":
            name = "long_factor" if length > _original(said) else "short_factor"
            yield _divided(plain, mpf(said[name][r]))
        elif kind == "proportional":
            turns = r < int(said.get("partial_rotary_factor", 1) * width // 2)
            yield _divided(plain, factor) if turns else given(0.0)
        else:
            ramp = _ramp_of_turns(said, plain) if kind == "llama3" else _ramp(said, width, r)
            left = Bounded(1 - ramp.value, ramp.error, 1.0).rounded()
            yield total([times(left, plain), times(ramp, _divided(plain, factor))], 2)


def _plain(base: Bounded, exponent: int, width: int) -> Bounded:
    """base^(−exponent/width): an error of the base is multiplied by the exponent."""
    share = mpf(exponent) / width
    found = power(base.value, -share, rounded=2)
    own = float(found.value) * float(share) * base.error / float(base.value)
    return Bounded(found.value, found.error + own * (1 + 2.0**-20), found.size).rounded()


def _divided(number: Bounded, divisor: mpf) -> Bounded:
    size = float(number.value / divisor)
    return Bounded(number.value / divisor, number.error / float(divisor), size).rounded(2)


def _stretched(said: Said, width: int, length: float) -> Bounded:
    """Theta of a text that is longer than those of the model."""
    factor, most = mpf(said["factor"]), mpf(said["max_position_embeddings"])
    longer = factor * max(mpf(length), most) / most
    times_theta = longer - (factor - 1)
    # The first number is at least the second, so the difference is at least 1.
    error = gamma(3) * float(longer + factor - 1)
    exponent = mpf(width) / (width - 2)
    value = mpf(said["theta"]) * times_theta**exponent
    relative = float(exponent) * error / float(times_theta)
    relative += gamma(2 * FUNCTION) + gamma(1) * float(exponent * mp.log(times_theta))
    return Bounded(value, float(value) * relative * (1 + 2.0**-20), float(value))


def _pair_of_turns(said: Said, width: int, turns: mpf) -> Bounded:
    """The pair that makes so many turns in a text of training, between two whole ones."""
    logarithm = mp.log(_original(said) / (turns * 2 * mp.pi))
    per_pair = 2 * mp.log(mpf(said["theta"])) / width
    value = logarithm / per_pair
    error = float((gamma(FUNCTION) * (1 + abs(logarithm))) / per_pair)
    return Bounded(value, error + gamma(SEVERAL) * abs(float(value)), abs(float(value)))


def _ramp(said: Said, width: int, pair: int) -> Bounded:
    """YaRN's, from the pair of many turns to the pair of few."""
    low = _pair_of_turns(said, width, mpf(said.get("beta_fast", 32)))
    high = _pair_of_turns(said, width, mpf(said.get("beta_slow", 1)))
    if said.get("truncate", True):
        low, high = given(floor(low.value)), given(-floor(-high.value))
    if low.value < 0:
        low = given(0.0)
    if high.value > width - 1:
        high = given(width - 1.0)
    over = high.value - low.value
    if over == 0:
        over = mpf("0.001")
    value = (pair - low.value) / over
    error = (low.error + abs(float(value)) * (low.error + high.error)) / abs(float(over))
    return _between_0_and_1(value, error)


def _ramp_of_turns(said: Said, plain: Bounded) -> Bounded:
    """Llama 3's, by the turns of a pair in a text of training."""
    low, high = mpf(said["low_freq_factor"]), mpf(said["high_freq_factor"])
    per_frequency = _original(said) / (2 * mp.pi)
    turns = plain.value * per_frequency
    error = float(plain.error * per_frequency) + gamma(5) * float(turns + high)
    return _between_0_and_1((high - turns) / (high - low), error / float(high - low))


def _between_0_and_1(value: mpf, error: float) -> Bounded:
    cut = min(mpf(1), max(mpf(0), value))
    # What is cut off by more than it can be off is exact.
    if abs(float(value - cut)) > error + gamma(4) * abs(float(value)):
        return Bounded(cut, 0.0, 1.0)
    return Bounded(cut, error, 1.0).rounded(2)


def _attention_factor(said: Said) -> Bounded | None:
    """What cos and sin are multiplied by; None where they are not."""
    kind, factor = said.get("rope_type"), _factor(said) if said else None
    if kind not in ("yarn", "longrope"):
        return None
    if "attention_factor" in said:
        return given(said["attention_factor"])
    if factor is None or factor <= 1:
        return None
    logarithm = mp.log(factor)
    mscale, all_dim = said.get("mscale"), said.get("mscale_all_dim")
    if kind == "longrope":
        value = mp.sqrt(1 + logarithm / mp.log(_original(said)))
    elif mscale and all_dim:
        value = (mscale * logarithm / 10 + 1) / (all_dim * logarithm / 10 + 1)
    else:
        value = logarithm / 10 + 1
    return Bounded(value, gamma(SEVERAL) * float(value), float(value))
