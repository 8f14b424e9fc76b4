"""The rules of positions: queries and keys that are turned (RoPE), and scores that lose by distance (ALiBi)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from attncli.attention.registry import COMPUTED_RULES
from attncli.attention.rule import Rule
from attncli.attention.saying import said
from attncli.problem.keys import Pairing
from attncli.problem.model import Scalar


def rotated(name: str, pairing: Pairing, shift: str) -> Rule:
    """Q_rot or K_rot: feature k turned with its partner, half a vector away or next to it; `shift` as in i + past."""
    letter, row = name[0], COMPUTED_RULES[name].target.letters[0]
    position = f"{row}{shift}"
    if pairing == "half":
        first, before, after, pairs = "k < half", "k - half", "k + half", ("k", "k - half")
    else:
        first, before, after, pairs = "k % 2 == 0", "k - 1", "k + 1", ("k // 2", "k // 2")
    turned = [f"angles[{position}, {pair}]" for pair in pairs]
    return said(
        name,
        f"{name}[{row}, k] = where({first}, "
        f"{letter}[{row}, k] * cos({turned[0]}) - {letter}[{row}, {after}] * sin({turned[0]}), "
        f"{letter}[{row}, k] * cos({turned[1]}) + {letter}[{row}, {before}] * sin({turned[1]}))",
        f"rotate({letter}, angles)",
        meaning=COMPUTED_RULES[name].meaning
        + (f" Query `{row}` stands at position `{position}`, after those of the cache." if shift else ""),
    )


def transposed() -> Rule:
    """K_T where keys are rotated, whose letter does not say so."""
    rule = COMPUTED_RULES["K_T"].reading({"K": "K_rot"})
    return replace(rule, meaning=f"{rule.meaning} With RoPE, `K_T` stands for the rotated keys.")


def alibi_slopes(heads: int) -> tuple[Rule, Mapping[str, Scalar]]:
    """The usual slopes of so many heads; where they are no power of two, the others lie between the first ones."""
    near = 2 ** (heads.bit_length() - 1)
    if near == heads:
        return COMPUTED_RULES["slopes"], {"heads": Scalar.of(heads)}
    rule = said(
        "slopes",
        "slopes[h] = where(h < near, 1 / 2 ** (8 * (h + 1) / near), 1 / 2 ** (4 * (2 * (h - near) + 1) / near))",
        "",
        meaning="How much a score loses with each position that a key is away: the slopes of `near` heads, then those "
        "that lie between them.",
    )
    return rule, {"near": Scalar.of(near)}


def alibi_bias(offset: bool) -> Rule:
    """What a key loses for its distance from position i, or i + offset."""
    rule = COMPUTED_RULES["bias"]
    return said("bias", "bias[i, j] = -slopes * abs(i + offset - j)", "", meaning=rule.meaning) if offset else rule


def masked(bias: bool, mask: bool) -> Rule:
    """The scores with the biases of positions, of the mask, or of both added to them."""
    rule = COMPUTED_RULES["masked"]
    if not bias:
        return rule
    if mask:
        return said(
            "masked",
            "masked[i, j] = add_mask(logits[i, j] + bias[i, j], mask[i, j])",
            "add_mask(logits + bias, mask)",
            meaning="The bias and the mask added to the scores: what is hidden becomes `-inf`.",
        )
    biased = said(
        "masked",
        "masked[i, j] = logits[i, j] + bias[i, j]",
        "logits + bias",
        meaning="The bias added to the scores.",
        why="What is far away counts for less.",
    )
    return replace(biased, title="Biased scores", symbol="Z'")
