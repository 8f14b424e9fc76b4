"""The forms of a step other than its plain one: with a cache, turned by positions, by another score, with a sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from attncli.attention.losses import OTHER_LOSSES
from attncli.attention.masks import clauses, mask_rule
from attncli.attention.registry import COMPUTED_RULES, GIVEN_RULES, RULES
from attncli.equation.nodes import Call, Equation, Name, Ref
from attncli.equation.rule import Rule
from attncli.problem import keys
from attncli.problem.keys import Pairing
from attncli.problem.masks import Offset, forms
from attncli.problem.model import Scalar


def variant_of(name: str, formula: str, headline: str, *, meaning: str, why: str = "") -> Rule:
    """A step's rule with another equation, which means something else."""
    rule = COMPUTED_RULES[name]
    return replace(rule, formula=formula, headline=headline, meaning=meaning, why=why or rule.why)


def with_bias(rule: Rule, bias: str) -> Rule:
    """The rule with a row added to every row of its result."""
    assert rule.matrix_form is not None
    target, expression = rule.target, Call("add", (rule.equation.expression, Ref(bias, rule.target.indices[-1:])))
    return rule.with_formula(Equation(target, expression), Call("add", (rule.matrix_form, Name(bias))))


def projection(name: str, source: str, bias: bool) -> Rule:
    """Q, K or V (or new_K, new_V) as a product with its weights, from X or the context, with or without a bias."""
    rule = COMPUTED_RULES[name].bind({"source": source})
    return with_bias(rule, f"b_{name[-1]}") if bias else rule


def cached(name: str, past: int) -> Rule:
    """K or V where `past` rows of a cache come before the new ones."""
    row, column = COMPUTED_RULES[name].target.letters
    return variant_of(
        name,
        f"{name}[{row}, {column}] = "
        f"where({row} < past, past_{name}[{row}, {column}], new_{name}[{row} - past, {column}])",
        f"stack(past_{name}, new_{name})",
        meaning=f"The {'keys' if name == 'K' else 'values'} of all tokens: "
        f"the first {'row is' if past == 1 else f'{past} rows are'} from the cache.",
        why="One more token needs one more row; what the earlier tokens offer does not change.",
    )


def rotated(name: str, pairing: Pairing, shift: str) -> Rule:
    """Q_rot or K_rot: feature k turned with its partner, half a vector away or next to it; `shift` as in i + past."""
    letter, row = name[0], COMPUTED_RULES[name].target.letters[0]
    position = f"{row}{shift}"
    if pairing == "half":
        first, before, after, pairs = "k < half", "k - half", "k + half", ("k", "k - half")
    else:
        first, before, after, pairs = "k % 2 == 0", "k - 1", "k + 1", ("k // 2", "k // 2")
    turned = [f"angles[{position}, {pair}]" for pair in pairs]
    return variant_of(
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
    rule = COMPUTED_RULES["K_T"].bind({"K": "K_rot"})
    return replace(rule, meaning=f"{rule.meaning} With RoPE, `K_T` stands for the rotated keys.")


SCORES = {
    name: variant_of("scores", score.equation, score.headline, meaning=score.meaning)
    if score.equation
    else COMPUTED_RULES["scores"]
    for name, score in keys.SCORES.items()
}

SCALED = {
    "default": COMPUTED_RULES["scaled"],
    "number": variant_of(
        "scaled",
        "scaled[i, j] = scores[i, j] * scale",
        "scale * scores",
        meaning="Every score times the scale that the problem gives.",
        why="The scale sets how sharply the softmax will choose: the larger it is, the sharper.",
    ),
}


def alibi_slopes(heads: int) -> tuple[Rule, Mapping[str, Scalar]]:
    """The usual slopes of so many heads; where they are no power of two, the others lie between the first ones."""
    near = 2 ** (heads.bit_length() - 1)
    if near == heads:
        return COMPUTED_RULES["slopes"], {"heads": Scalar.of(heads)}
    rule = variant_of(
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
    return replace(rule, formula="bias[i, j] = -slopes * abs(i + offset - j)") if offset else rule


def masked(bias: bool, mask: bool) -> Rule:
    """The scores with the biases of positions, of the mask, or of both added to them."""
    rule = COMPUTED_RULES["masked"]
    if not bias:
        return rule
    if mask:
        return variant_of(
            "masked",
            "masked[i, j] = add_mask(logits[i, j] + bias[i, j], mask[i, j])",
            "add_mask(logits + bias, mask)",
            meaning="The bias and the mask added to the scores: what is hidden becomes `-inf`.",
        )
    biased = variant_of(
        "masked",
        "masked[i, j] = logits[i, j] + bias[i, j]",
        "logits + bias",
        meaning="The bias added to the scores.",
        why="What is far away counts for less.",
    )
    return replace(biased, title="Biased scores", symbol="Z'")


def exponential(base: float | None) -> Rule:
    """e to the power of the scores, or another base to it."""
    if base is None:
        return COMPUTED_RULES["exp"]
    return variant_of(
        "exp",
        "exp[i, j] = exp_base ** logits[i, j]",
        "exp_base ** logits",
        meaning="`exp_base` to the power of every score.",
        why="Exponentials are positive, and they turn differences between scores into ratios: a score that is 1 "
        "higher counts `exp_base` times as much.",
    )


def row_maxima(sink: bool) -> Rule:
    """The largest logit of a row, the sink's among them."""
    if not sink:
        return COMPUTED_RULES["row_max"]
    return variant_of(
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
    return variant_of(
        "row_sum",
        f"row_sum[i] = sum(j, exp[i, j]) + {power}",
        "",
        meaning="The sum of each row of exponentials and that of the sink: what the row is divided by.",
        why="The sink takes a share of the attention and hands nothing over: a row need not look anywhere.",
    )


def weights(base: float | None, sink: bool) -> Rule:
    """The softmax; in another base than e, or with a sink, it has no name, and is written as the division it is."""
    rule = COMPUTED_RULES["weights"]
    if base is None and not sink:
        return rule
    rule = replace(rule, headline="share(exp, row_sum)")
    if not sink:
        return rule
    meaning = (
        "Row `i` says how query `i` spreads its attention over the keys; a row sums to less than 1, the rest is the "
        "sink's."
    )
    through_why = "The weights of a row and that of its sink sum to 1, so none can grow unless others shrink."
    return replace(rule, meaning=meaning, through_why=through_why)


def output(heads: bool, projected: bool, bias: bool) -> Rule:
    """What leaves the layer: the outputs of the heads, put side by side, projected where there is a W_O."""
    if not projected:
        return variant_of(
            "output",
            "output[i, e] = concat[i, e]",
            "concat",
            meaning="Without `W_O`, the outputs of the heads side by side are the output.",
        )
    joined, letter = ("concat", "e") if heads else ("heads_output", "c")
    rule = variant_of(
        "output",
        f"output[i, o] = sum({letter}, {joined}[i, {letter}] * W_O[{letter}, o])",
        f"{joined} @ W_O",
        meaning="What all heads have found, mixed by `W_O` into one row for each token.",
        why="Heads work side by side and know nothing of each other; here their findings meet.",
    )
    return with_bias(rule, "b_O") if bias else rule


def variants_of(name: str) -> Mapping[str, Rule]:
    """The rules a step may have other than its plain one, by what asks for them; empty where there are none."""
    match name:
        case "Q" | "K" | "V":
            return dict(_rows(name))
        case "Q_rot" | "K_rot":
            after = {"rope, with past": rotated(name, "half", " + past")} if name == "Q_rot" else {}
            return {"rope, with pairing: interleaved": rotated(name, "interleaved", ""), **after}
        case "K_T":
            return {"with rope": transposed()}
        case "scores":
            return {f"score: {score}": rule for score, rule in SCORES.items() if rule != RULES[name]}
        case "scaled":
            return {"scale: a number": SCALED["number"]}
        case "slopes":
            between = alibi_slopes(6)[0]
            return {"alibi, where heads is no power of two": between, "alibi, with slopes": GIVEN_RULES[name]}
        case "bias":
            return {"alibi, where the mask has an offset": alibi_bias(offset=True)}
        case "mask":
            return dict(_masks())
        case "masked":
            both, alone = masked(bias=True, mask=True), masked(bias=True, mask=False)
            return {"alibi and a mask": both, "alibi without a mask": alone}
        case "row_max":
            return {"with a sink": row_maxima(sink=True)}
        case "exp":
            return {"exp_base: a number": exponential(2.0)}
        case "row_sum":
            plain, shifted = (row_sums(sink=True, shift=shift, base=None) for shift in (False, True))
            return {"with a sink": plain, "with a sink, where the softmax is shifted": shifted}
        case "weights":
            return {"exp_base: a number": weights(2.0, False), "sink: a number, or one per head": weights(None, True)}
        case "loss" | "log_sum" | "target":
            when, rule = OTHER_LOSSES[name]
            return {when: rule}
        case "output":
            return dict(_outputs())
    return {}


def _rows(name: str) -> Iterator[tuple[str, Rule]]:
    if name != "Q":
        yield "with a context", projection(name, "context", False)
    yield f"with b_{name}", projection(name, "X", True)
    yield "given directly", GIVEN_RULES[name]
    if name != "Q":  # its own meaning says how many rows there are
        yield "with past", replace(cached(name, 1), meaning="The rows of the cache, and below them the new ones.")


def _outputs() -> Iterator[tuple[str, Rule]]:
    yield "with W_O", output(heads=False, projected=True, bias=False)
    yield "with W_O and several heads", output(heads=True, projected=True, bias=False)
    yield "with W_O, b_O and several heads", output(heads=True, projected=True, bias=True)
    yield "several heads without W_O", output(heads=True, projected=False, bias=False)


def _masks() -> Iterator[tuple[str, Rule]]:
    for form in forms().values():
        for written, mask in form.examples().items():
            rule = mask_rule(clauses(mask, Offset.of(mask, queries=2, keys=3, past=0)))
            yield f"mask: {written}", replace(rule, meaning=RULES["mask"].meaning)  # its own is about these 2 × 3 cells
