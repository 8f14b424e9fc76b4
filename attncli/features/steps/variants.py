"""The other forms of a step, each beside the line of a problem that asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from attncli.attention import layer, positions
from attncli.attention.losses import OTHER_LOSSES
from attncli.attention.masks import clauses, mask_rule
from attncli.attention.registry import GIVEN_RULES, RULES
from attncli.attention.rule import Rule
from attncli.attention.variants import SCALED, SCORES, exponential, projection, weights
from attncli.attention.written import read
from attncli.problem.masks import Offset, forms


def variants(name: str) -> Mapping[str, Rule]:
    """The rules a step may have other than its plain one, by what asks for them; empty where there are none."""
    match name:
        case "Q" | "K" | "V":
            return dict(_rows(name))
        case "Q_rot" | "K_rot":
            after = {"rope, with past": positions.rotated(name, "half", " + past")} if name == "Q_rot" else {}
            return {"rope, with pairing: interleaved": positions.rotated(name, "interleaved", ""), **after}
        case "K_T":
            return {"with rope": positions.transposed()}
        case "scores":
            return {f"score: {score}": rule for score, rule in SCORES.items() if rule != RULES[name]}
        case "scaled":
            return {"scale: a number": SCALED["number"]}
        case "slopes":
            between = positions.alibi_slopes(6)[0]
            return {"alibi, where heads is no power of two": between, "alibi, with slopes": GIVEN_RULES[name]}
        case "bias":
            return {"alibi, where the mask has an offset": positions.alibi_bias(offset=True)}
        case "mask":
            return dict(_masks())
        case "masked":
            both, alone = positions.masked(bias=True, mask=True), positions.masked(bias=True, mask=False)
            return {"alibi and a mask": both, "alibi without a mask": alone}
        case "row_max":
            return {"with a sink": layer.row_maxima(sink=True)}
        case "exp":
            return {"exp_base: a number": exponential(2.0)}
        case "row_sum":
            plain, shifted = (layer.row_sums(sink=True, shift=shift, base=None) for shift in (False, True))
            return {"with a sink": plain, "with a sink, where the softmax is shifted": shifted}
        case "weights":
            return {"exp_base: a number": weights(2.0, False), "sink: a number, or one per head": weights(None, True)}
        case "loss" | "log_sum" | "target":
            when, written = OTHER_LOSSES[name]
            return {when: read(written)}
        case "output":
            return dict(_outputs())
    return {}


def _rows(name: str) -> Iterator[tuple[str, Rule]]:
    if name != "Q":
        yield "with a context", projection(name, "context", False)
    yield f"with b_{name}", projection(name, "X", True)
    yield "given directly", GIVEN_RULES[name]
    if name != "Q":  # its own meaning tells how many rows there are
        yield "with past", replace(layer.cached(name, 1), meaning="The rows of the cache, and below them the new ones.")


def _outputs() -> Iterator[tuple[str, Rule]]:
    yield "with W_O", layer.output(heads=False, projected=True, bias=False)
    yield "with W_O and several heads", layer.output(heads=True, projected=True, bias=False)
    yield "with W_O, b_O and several heads", layer.output(heads=True, projected=True, bias=True)
    yield "several heads without W_O", layer.output(heads=True, projected=False, bias=False)


def _masks() -> Iterator[tuple[str, Rule]]:
    for form in forms().values():
        for written, mask in form.examples().items():
            rule = mask_rule(clauses(mask, Offset.of(mask, queries=2, keys=3, past=0)))
            yield f"mask: {written}", replace(rule, meaning=RULES["mask"].meaning)  # its own is about these 2 × 3 cells
