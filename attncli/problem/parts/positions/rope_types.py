"""The kinds of RoPE that models have, by the `rope_type` of their config.json.

Each says by equations how fast every pair turns. To add one is to add a row to `ROPE_TYPES`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from attncli.equation.nodes import Expression, Name, Ref, rewrite
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
    when="with rope_type: llama3 or yarn",
)
RAMP = Rule(
    "ramp",
    "ramp",
    "Ramp",
    "ramp[r] = min(1, max(0, (high_freq_factor - original_length * base_frequencies[r] / (2 * pi))"
    " / (high_freq_factor - low_freq_factor)))",
    "",
    meaning=(
        "How much pair `r` is slowed down: 0 is not at all, and 1 is by the whole `factor`. What"
        " counts is the number of its turns in a text as long as in training."
    ),
    why=(
        "Fast pairs tell near positions apart, so they stay as they were trained. Slow pairs would"
        " reach angles that the model has never seen in a longer text."
    ),
    more=(
        "A turn has `2 * pi` radians, and a text as long as in training has `original_length`"
        " tokens. A pair with `high_freq_factor` turns or more keeps its frequency. One with"
        " `low_freq_factor` or fewer is slowed down by the whole factor."
    ),
    when="with rope_type: llama3 or yarn",
)
RAMP_LOW = Rule(
    "ramp_low",
    "ramp_low",
    "Where the ramp begins",
    "ramp_low = max(0, d_k * log(original_length / (beta_fast * 2 * pi)) // (2 * log(theta)))",
    "",
    meaning=(
        "The number of the pair whose number of turns, of `2 * pi` radians each, is `beta_fast` in"
        " a text of `original_length` tokens, as in training. Pairs before it keep their frequency."
    ),
    when="with rope_type: yarn",
)
RAMP_HIGH = Rule(
    "ramp_high",
    "ramp_high",
    "Where the ramp ends",
    # What stands behind 0 - is rounded down, so the difference is rounded up.
    "ramp_high = min(d_k - 1,"
    " 0 - d_k * log(beta_slow * 2 * pi / original_length) // (2 * log(theta)))",
    "",
    meaning=(
        "The number of the pair whose number of turns in such a text is `beta_slow`. Pairs after it"
        " are slowed down by the whole `factor`."
    ),
    when="with rope_type: yarn",
)
_RAMP_OF_PAIRS = replace(
    RAMP,
    formula=(
        "ramp[r] = min(1, max(0, (r - ramp_low)"
        " / where(ramp_high == ramp_low, 0.001, ramp_high - ramp_low)))"
    ),
    meaning=(
        "How much pair `r` is slowed down: 0 is not at all, and 1 is by the whole `factor`. It"
        " grows evenly from `ramp_low` to `ramp_high`."
    ),
    more=(
        "Where `ramp_low` and `ramp_high` are the same, it grows within a thousandth of a pair, so"
        " that nothing is divided by 0."
    ),
)
STRETCHED_THETA = Rule(
    "stretched_theta",
    "stretched_theta",
    "Theta, stretched",
    "stretched_theta = theta * (factor * length / max_length - (factor - 1)) ** (d_k / (d_k - 2))",
    "",
    meaning=(
        "The theta of a text of `length` tokens. It is `theta` itself up to `max_length` tokens."
    ),
    why="With a larger theta, slow pairs turn more slowly, and the first pair as before.",
    when="with rope_type: dynamic",
)
ATTENTION_FACTOR = Rule(
    "attention_factor",
    "attention_factor",
    "Attention factor",
    "attention_factor = 0.1 * log(factor) + 1",
    "",
    meaning="What the rotated features of queries and keys are multiplied by.",
    why=(
        "A longer text has more keys, which share the attention. Larger scores make the softmax"
        " choose more sharply again."
    ),
    more="A score has this factor twice, once of the query and once of the key.",
    when="with rope_type: yarn or longrope and a factor above 1, unless attention_factor is given",
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
    of its frequencies. `attention_factor` is the equation of this factor, where nothing else is
    given.
    """

    name: str
    equation: str
    meaning: str = ""
    before: tuple[Rule, ...] = ()
    keys: tuple[str, ...] = ()
    may_have: tuple[str, ...] = ()
    attention_factor: str = ""

    def rules(self, divisor: str, *, truncate: bool = True) -> tuple[Rule, ...]:
        """The steps up to the frequencies of pairs whose number is divided by this; without
        `truncate`, a ramp need not begin and end at a whole number.
        """
        found = []
        for rule in self.before:
            formula = str(rule.formula).replace("d_k", divisor)
            if not truncate:
                formula = formula.replace("//", "/")
            found.append(replace(rule, formula=formula))
        rules = (*found, self.frequencies(divisor))
        single = [rule.name for rule in found if not rule.target.indices]
        return tuple(reading(single, rule) for rule in rules)

    def frequencies(self, divisor: str) -> Rule:
        """The frequencies alone."""
        meaning = FREQUENCIES.meaning
        if self.meaning:
            meaning += f" {self.meaning}"
        equation = self.equation.format(d=divisor)
        return replace(FREQUENCIES, formula=equation, meaning=meaning)


def reading(steps: Collection[str], rule: Rule) -> Rule:
    """The rule with these steps, which have no axes, as cells: so it is known to read them."""

    def change(node: Expression) -> Expression:
        if isinstance(node, Name) and node.name in steps:
            return Ref(node.name)
        return node

    equation = rule.equation
    expression = rewrite(equation.expression, change)
    if expression == equation.expression:
        return rule
    return replace(rule, formula=replace(equation, expression=expression))


_ORIGINAL = "original_max_position_embeddings"

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
            "dynamic",
            "frequencies[r] = 1 / stretched_theta ** (2 * r / {d})",
            before=(STRETCHED_THETA,),
            keys=("factor", "max_position_embeddings"),
        ),
        RopeType(
            "yarn",
            _BLEND,
            meaning="The ramp says how much of it is divided by `factor`.",
            before=(BASE_FREQUENCIES, RAMP_LOW, RAMP_HIGH, _RAMP_OF_PAIRS),
            keys=("factor", _ORIGINAL),
            may_have=(
                "attention_factor",
                "beta_fast",
                "beta_slow",
                "mscale",
                "mscale_all_dim",
                "truncate",
                "max_position_embeddings",
            ),
            attention_factor="0.1 * log(factor) + 1",
        ),
        RopeType(
            "longrope",
            f"frequencies[r] = 1 / (short_factor[r] * {_POWER})",
            meaning="Each pair has a divisor of its own: `short_factor`, or `long_factor` in a text"
            " that is longer than those of training.",
            keys=("short_factor", "long_factor", _ORIGINAL),
            may_have=("factor", "attention_factor", "max_position_embeddings"),
            attention_factor="sqrt(1 + log(factor) / log(original_length))",
        ),
        RopeType(
            "llama3",
            _BLEND,
            meaning="The ramp says how much of it is divided by `factor`.",
            before=(BASE_FREQUENCIES, RAMP),
            keys=("factor", "low_freq_factor", "high_freq_factor", _ORIGINAL),
            may_have=("max_position_embeddings",),
        ),
        RopeType(
            "proportional",
            "frequencies[r] = where(r < turning_pairs, 1 / (factor * theta ** (2 * r / d_k)), 0)",
            meaning="From pair `turning_pairs` on, nothing turns.",
            may_have=("factor",),
        ),
    )
}
# Where mscale and mscale_all_dim are given, both: the factor of one over that of the other.
BY_MSCALE = "(0.1 * mscale * log(factor) + 1) / (0.1 * mscale_all_dim * log(factor) + 1)"
