"""The rules of what a layer has around a head: a cache before it, a sink in its softmax, and W_O after it."""

from __future__ import annotations

from attncli.attention.registry import COMPUTED_RULES
from attncli.attention.rule import Rule
from attncli.attention.saying import said, with_bias


def cached(name: str, past: int) -> Rule:
    """K or V where `past` rows of a cache come before the new ones."""
    row, column = COMPUTED_RULES[name].target.letters
    return said(
        name,
        f"{name}[{row}, {column}] = "
        f"where({row} < past, past_{name}[{row}, {column}], new_{name}[{row} - past, {column}])",
        f"stack(past_{name}, new_{name})",
        meaning=f"The {'keys' if name == 'K' else 'values'} of all tokens: "
        f"the first {'row is' if past == 1 else f'{past} rows are'} from the cache.",
        why="One more token needs one more row; what the earlier tokens offer does not change.",
    )


def row_maxima(sink: bool) -> Rule:
    """The largest logit of a row, the sink's among them."""
    if not sink:
        return COMPUTED_RULES["row_max"]
    return said(
        "row_max",
        "row_max[i] = max(max(j, logits[i, j]), sink)",
        "",
        meaning="The largest score of each row, or the sink where that is larger.",
    )


def row_sums(sink: bool, shift: bool, base: float | None) -> Rule:
    """What a row is divided by: the sum of its exponentials, and that of the sink."""
    if not sink:
        return COMPUTED_RULES["row_sum"]
    logit = "sink - finite(row_max[i])" if shift else "sink"
    power = f"exp({logit})" if base is None else f"exp_base ** ({logit})" if shift else f"exp_base ** {logit}"
    return said(
        "row_sum",
        f"row_sum[i] = sum(j, exp[i, j]) + {power}",
        "",
        meaning="The sum of each row of exponentials and that of the sink: what the row is divided by.",
        why="The sink takes a share of the attention and hands nothing over: a row need not look anywhere.",
    )


def output(heads: bool, projected: bool, bias: bool) -> Rule:
    """What leaves the layer: the outputs of the heads, put side by side, projected where there is a W_O."""
    if not projected:
        return said(
            "output",
            "output[i, e] = concat[i, e]",
            "concat",
            meaning="Without `W_O`, the outputs of the heads side by side are the output.",
        )
    joined, letter = ("concat", "e") if heads else ("heads_output", "c")
    rule = said(
        "output",
        f"output[i, o] = sum({letter}, {joined}[i, {letter}] * W_O[{letter}, o])",
        f"{joined} @ W_O",
        meaning="What all heads have found, mixed by `W_O` into one row for each token.",
        why="Heads work side by side and know nothing of each other; here their findings meet.",
    )
    return with_bias(rule, "b_O") if bias else rule
