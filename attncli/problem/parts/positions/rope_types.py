"""The kinds of RoPE that models have, by the `rope_type` of their config.json.

Each says by equations how fast every pair turns. To add one is to add a row to `ROPE_TYPES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from attncli.equation.rule import Rule

# How fast pair r turns before anything is scaled; {d} is what its number is divided by.
_POWER = "theta ** (2 * r / {d})"
_UNSCALED = f"base_frequencies[r] = 1 / {_POWER}"
# Between a frequency and the frequency of a text that is `factor` times as long.
_BLEND = (
    "frequencies[r] = (1 - ramp[r]) * base_frequencies[r] + ramp[r] * base_frequencies[r] / factor"
)

BASE_FREQUENCIES = Rule(
    "base_frequencies",
    "base_frequencies",
    "Frequencies before scaling",
    _UNSCALED.format(d="d_k"),
    "",
    meaning="How far pair `r` turns from one position to the next, in radians, as the model was"
    " first trained.",
    when="with rope_type: llama3",
)
RAMP = Rule(
    "ramp",
    "ramp",
    "Ramp",
    "ramp[r] = min(1, max(0, (high_freq_factor - original_length * base_frequencies[r] / turn)"
    " / (high_freq_factor - low_freq_factor)))",
    "",
    meaning=(
        "How much pair `r` is slowed down: 0 is not at all, and 1 is by the whole `factor`. What"
        " counts is the number of its turns, of `turn` radians each, in a text of `original_length`"
        " tokens, as in training. A pair with `high_freq_factor` or more of them keeps its"
        " frequency. One with `low_freq_factor` or fewer is slowed down by the whole factor."
    ),
    why=(
        "Fast pairs tell near positions apart, so they stay as they were trained. Slow pairs would"
        " reach angles that the model has never seen in a longer text."
    ),
    when="with rope_type: llama3",
)
FREQUENCIES = Rule(
    "frequencies",
    "frequencies",
    "Frequencies",
    f"frequencies[r] = 1 / {_POWER.format(d='d_k')}",
    "",
    meaning="How far pair `r` turns from one position to the next, in radians.",
    why=(
        "The first pairs rotate fast, so they distinguish positions that are near each other. The"
        " last pairs rotate slowly, so they distinguish positions that are far apart."
    ),
    when="with rope, unless theta and pairing are all that it says",
)


@dataclass(frozen=True, slots=True)
class RopeType:
    """One row of `ROPE_TYPES`: the `equation` of the frequencies, and the steps `before` it.

    In equations, {d} stands for the number of features that are turned. `keys` are those of
    config.json that the type needs, and `may_have` those that it can do without. `meaning` is said
    of its frequencies.
    """

    name: str
    equation: str
    meaning: str = ""
    before: tuple[Rule, ...] = ()
    keys: tuple[str, ...] = ()
    may_have: tuple[str, ...] = ()

    def rules(self, divisor: str) -> tuple[Rule, ...]:
        """The steps up to the frequencies of pairs whose number is divided by this."""
        found = []
        for rule in self.before:
            known = rule
            if rule == BASE_FREQUENCIES:
                known = replace(rule, formula=_UNSCALED.format(d=divisor))
            found.append(known)
        return (*found, self.frequencies(divisor))

    def frequencies(self, divisor: str) -> Rule:
        """The frequencies alone."""
        meaning = FREQUENCIES.meaning
        if self.meaning:
            meaning += f" {self.meaning}"
        equation = self.equation.format(d=divisor)
        return replace(FREQUENCIES, formula=equation, meaning=meaning)


ROPE_TYPES: Mapping[str, RopeType] = {
    each.name: each
    for each in (
        RopeType("default", f"frequencies[r] = 1 / {_POWER}"),
        RopeType(
            "linear",
            f"frequencies[r] = 1 / (factor * {_POWER})",
            meaning="All pairs turn `factor` times as slowly as in training.",
            keys=("factor",),
        ),
        RopeType(
            "llama3",
            _BLEND,
            meaning="The ramp says how much of it is divided by `factor`.",
            before=(BASE_FREQUENCIES, RAMP),
            keys=(
                "factor",
                "low_freq_factor",
                "high_freq_factor",
                "original_max_position_embeddings",
            ),
        ),
    )
}
