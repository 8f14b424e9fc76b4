"""The variants of a step: its other equations, such as those with a cache, another score or a
sink.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from attncli.attention.losses import OTHER_LOSSES
from attncli.attention.registry import COMPUTED_RULES, GIVEN_RULES, RULES
from attncli.equation.nodes import Call, Equation, Name, Ref
from attncli.equation.rule import Rule
from attncli.problem import keys
from attncli.problem.parts.masks import Mask, MaskPart
from attncli.problem.parts.offset import Offset
from attncli.problem.parts.positions import POSITIONS, Position, replacements

if TYPE_CHECKING:
    from attncli.problem.parts.masks import Clause


def variant_of(name: str, formula: str, headline: str, *, meaning: str, why: str = "") -> Rule:
    """A step's rule with another equation, which means something else."""
    rule = COMPUTED_RULES[name]
    variant = replace(rule, formula=formula, headline=headline, meaning=meaning)
    # What there is more to say belongs to the reason.
    return replace(variant, why=why, more="") if why else variant


def with_bias(rule: Rule, bias: str) -> Rule:
    """The rule with a row added to every row of its result."""
    assert rule.matrix_form is not None
    row = Ref(bias, rule.target.indices[-1:])
    expression = Call("add", (rule.equation.expression, row))
    form = Call("add", (rule.matrix_form, Name(bias)))
    return rule.with_formula(Equation(rule.target, expression), form)


def projection(name: str, source: str, bias: bool) -> Rule:
    """Q, K or V (or new_K, new_V) as a product with its weights, from X, what stands for X, or the
    context, with or without a bias.
    """
    rule = COMPUTED_RULES[name].bind({"source": source, "X": source})
    if not bias:
        return rule
    letter = name[-1]
    return with_bias(rule, f"b_{letter}")


def cached(name: str, past: int) -> Rule:
    """K or V where `past` rows of a cache come before the new ones."""
    row, column = COMPUTED_RULES[name].target.letters
    return variant_of(
        name,
        f"{name}[{row}, {column}] = "
        f"where({row} < past, past_{name}[{row}, {column}], new_{name}[{row} - past, {column}])",
        f"stack(past_{name}, new_{name})",
        meaning=(
            f"The {'keys' if name == 'K' else 'values'} of all tokens. "
            f"The first {'row is' if past == 1 else f'{past} rows are'} from the cache."
        ),
        why="A new token adds one row. The rows of the earlier tokens do not change.",
    )


def symbols(positions: Sequence[Position | type[Position]]) -> tuple[tuple[str, str], ...]:
    """What formulas call the transposed keys where positions have other keys in the place of K.

    >>> symbols([POSITIONS["rope"]])
    (('K_T', 'K_rot_T'),)
    """
    replaced = replacements(positions)
    if "K" not in replaced:
        return ()
    keys = COMPUTED_RULES[replaced["K"]].symbol
    return (("K_T", f"{keys}_T"),)


def in_their_symbols(
    rules: Iterable[Rule], positions: Sequence[Position | type[Position]]
) -> Iterator[Rule]:
    """The rules, whose formulas have these symbols."""
    found = symbols(positions)
    for rule in rules:
        yield replace(rule, symbols=found) if found else rule


def transposed(positions: Sequence[Position | type[Position]]) -> Rule:
    """K_T where positions have other keys in the place of K, whose letter it then has."""
    rule = COMPUTED_RULES["K_T"].bind(replacements(positions))
    return replace(
        rule,
        symbol=dict(symbols(positions))["K_T"],
        meaning=" ".join(
            [rule.meaning, *(each.keys_meaning for each in positions if each.replaces)]
        ),
    )


SCORES = {
    name: (
        variant_of("scores", score.equation, score.headline, meaning=score.meaning)
        if score.equation
        else COMPUTED_RULES["scores"]
    )
    for name, score in keys.SCORES.items()
}

SCALED = {
    "default": COMPUTED_RULES["scaled"],
    "number": variant_of(
        "scaled",
        "scaled[i, j] = scores[i, j] * scale",
        "scale * scores",
        meaning="Every score is multiplied by the scale that the problem gives.",
        why=(
            "The scale sets how sharply the softmax chooses between keys. A larger scale makes the"
            " choice sharper."
        ),
    ),
}


def clauses(mask: Mask, offset: Offset) -> tuple[Clause, ...]:
    """The conditions of every part, with names of their own where a form is given twice."""
    before: list[type[MaskPart]] = []
    return tuple(part.numbered(offset, before) for part in mask.parts)


def mask_rule(parts: tuple[Clause, ...]) -> Rule:
    """The mask step for these parts: 0 (or what is added) where all allow it, -inf elsewhere."""
    rule = COMPUTED_RULES["mask"]
    conditions = dict.fromkeys(condition for part in parts for condition in part.conditions)
    visible = " and ".join(conditions)
    added = " + ".join(part.added for part in parts if part.added)
    meaning = rule.meaning
    if added:
        meaning = "The mask is added to the scores. `-inf` hides a key from a query."
    value = added or "0"
    if visible:
        value = f"where({visible}, {value}, -inf)"
    counts_positions = any(part.counts_positions for part in parts)

    def in_words(clauses: Iterable[str]) -> str:
        sentences = [meaning, *filter(None, clauses)]
        if counts_positions:
            sentences.append("Positions are counted from 0.")
        return " ".join(sentences)

    meanings = []
    number_of_entries = max(len(part.meanings) for part in parts)
    for entry in range(number_of_entries):
        of_entry = [_meaning_at(part, entry) for part in parts]
        meanings.append(in_words(of_entry))
    return replace(
        rule,
        formula=f"mask[i, j] = {value}",
        meaning=in_words(part.meaning for part in parts),
        meanings=tuple(meanings),
    )


def _meaning_at(clause: Clause, entry: int) -> str:
    """What a part of the mask says of one entry of a batch."""
    if clause.meanings:
        return clause.meanings[entry]
    return clause.meaning


def masked(biases: Sequence[str], mask: bool) -> Rule:
    """The scores with these biases of positions, the mask, or both added to them."""
    rule = COMPUTED_RULES["masked"]
    if not biases:
        return rule
    matrices = " + ".join(["logits", *biases])
    cells = " + ".join(f"{name}[i, j]" for name in ("logits", *biases))
    what, is_added = ("bias", "is") if len(biases) == 1 else ("biases", "are")
    if mask:
        return variant_of(
            "masked",
            f"masked[i, j] = add_mask({cells}, mask[i, j])",
            f"add_mask({matrices}, mask)",
            meaning=(
                f"The {what} and the mask are added to the scores. The score of a hidden key"
                " becomes `-inf`."
            ),
        )
    biased = variant_of(
        "masked",
        f"masked[i, j] = {cells}",
        matrices,
        meaning=f"The {what} {is_added} added to the scores.",
        why="A key that is far away counts less.",
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
        meaning="Take `exp_base` to the power of every score.",
        why=(
            "Such a power is never negative. If a score is higher by 1, its power is `exp_base`"
            " times as large."
        ),
    )


def row_maxima(sink: bool) -> Rule:
    """The largest logit of a row, the sink's among them."""
    if not sink:
        return COMPUTED_RULES["row_max"]
    return variant_of(
        "row_max",
        "row_max[i] = max(max(j, logits[i, j]), sink)",
        "",
        meaning="Find the largest score of each row, or take the sink if that is larger.",
    )


def row_sums(sink: bool, shift: bool, base: float | None) -> Rule:
    """What a row is divided by: the sum of its exponentials, and that of the sink."""
    if not sink:
        return COMPUTED_RULES["row_sum"]
    logit = "sink - finite(row_max[i])" if shift else "sink"
    power = (
        f"exp({logit})"
        if base is None
        else f"exp_base ** ({logit})"
        if shift
        else f"exp_base ** {logit}"
    )
    return variant_of(
        "row_sum",
        f"row_sum[i] = sum(j, exp[i, j]) + {power}",
        "",
        meaning=(
            "Add the exponentials of each row and that of the sink. The softmax divides the row by"
            " this sum."
        ),
        why=(
            "The sink takes a share of the attention, but it has no value. So a query can pay less"
            " attention to the keys."
        ),
    )


def weights(base: float | None, sink: bool) -> Rule:
    """The softmax; in another base than e, or with a sink, it has no name, and is written as the
    division it is.
    """
    rule = COMPUTED_RULES["weights"]
    if base is None and not sink:
        return rule
    rule = replace(rule, headline="share(exp, row_sum)")
    if not sink:
        return rule
    meaning = (
        "Row `i` says how query `i` divides its attention among the keys. Each row sums to less"
        " than 1: the sink gets the rest."
    )
    through_why = (
        "The weights of a row and of its sink sum to 1, so one of them can only grow if others"
        " shrink."
    )
    return replace(rule, meaning=meaning, through_why=through_why)


def output(heads: bool, projected: bool, bias: bool) -> Rule:
    """What leaves the layer: the outputs of the heads, put side by side, projected where there is a
    W_O.
    """
    if not projected:
        return variant_of(
            "output",
            "output[i, e] = concat[i, e]",
            "concat",
            meaning="There is no `W_O`, so the outputs of the heads, side by side, are the output.",
        )
    joined, letter = ("concat", "e") if heads else ("heads_output", "c")
    rule = variant_of(
        "output",
        f"output[i, o] = sum({letter}, {joined}[i, {letter}] * W_O[{letter}, o])",
        f"{joined} @ W_O",
        meaning="Row `i` has something of what every head found for token `i`.",
        why="The heads work independently of each other. This step brings their outputs together.",
    )
    return with_bias(rule, "b_O") if bias else rule


def variants_of(name: str) -> Mapping[str, Rule]:
    """The rules a step may have other than its plain one, by what asks for them; empty where there
    are none.
    """
    for kind in POSITIONS.values():
        if any(rule.name == name for rule in kind.rules):
            given = {f"{kind.name}, with {name}": GIVEN_RULES[name]} if name in GIVEN_RULES else {}
            return {**kind.variants().get(name, {}), **given}
    match name:
        case "Q" | "K" | "V":
            return dict(_rows(name))
        case "K_T":
            return {
                f"with {kind.name}": transposed([kind])
                for kind in POSITIONS.values()
                if "K" in kind.replaces
            }
        case "scores":
            return {
                f"score: {score}": rule for score, rule in SCORES.items() if rule != RULES[name]
            }
        case "scaled":
            return {"scale: a number": SCALED["number"]}
        case "mask":
            return dict(_masks())
        case "masked":
            return dict(_biased())
        case "row_max":
            return {"with a sink": row_maxima(sink=True)}
        case "exp":
            return {"exp_base: a number": exponential(2.0)}
        case "row_sum":
            plain, shifted = (
                row_sums(sink=True, shift=shift, base=None) for shift in (False, True)
            )
            return {"with a sink": plain, "with a sink, where the softmax is shifted": shifted}
        case "weights":
            return {
                "exp_base: a number": weights(2.0, False),
                "sink: a number, or one per head": weights(None, True),
            }
        case "loss" | "log_probs" | "log_sum" | "target":
            when, rule = OTHER_LOSSES[name]
            return {when: rule}
        case "output":
            return dict(_outputs())
        case _:
            return {}


def _rows(name: str) -> Iterator[tuple[str, Rule]]:
    if name != "Q":
        yield "with a context", projection(name, "context", False)
    yield f"with b_{name}", projection(name, "X", True)
    yield "given directly", GIVEN_RULES[name]
    # The meaning of Q itself says how many rows there are.
    if name != "Q":
        yield (
            "with past",
            replace(
                cached(name, 1),
                meaning="The rows of the cache come first, the new rows below them.",
            ),
        )


def _outputs() -> Iterator[tuple[str, Rule]]:
    yield "with W_O", output(heads=False, projected=True, bias=False)
    yield "with W_O and several heads", output(heads=True, projected=True, bias=False)
    yield "with W_O, b_O and several heads", output(heads=True, projected=True, bias=True)
    yield "several heads without W_O", output(heads=True, projected=False, bias=False)


def _biased() -> Iterator[tuple[str, Rule]]:
    for kind in POSITIONS.values():
        if kind.bias:
            yield f"{kind.name} and a mask", masked([kind.bias], mask=True)
            yield f"{kind.name} without a mask", masked([kind.bias], mask=False)


def _masks() -> Iterator[tuple[str, Rule]]:
    from attncli.problem.parts.masks import forms

    for form in forms().values():
        for written, mask in form.examples().items():
            rule = mask_rule(clauses(mask, mask.offset(queries=2, keys=3, past=0)))
            # The meaning of the rule itself is about these 2 × 3 cells.
            yield f"mask: {written}", replace(rule, meaning=RULES["mask"].meaning)
