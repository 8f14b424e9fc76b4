"""The page of `attncli steps --mistakes`: every mistake that `check` knows, with the equations it
uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attncli.attention.registry import RULES, cell_form
from attncli.features.steps.page import rule_called
from attncli.mistakes.catalogue import known_mistakes
from attncli.mistakes.model import Mistake, with_changes
from attncli.page.document import Block, Document, Formula, Heading, Paragraph
from attncli.problem.loader import loads
from attncli.tracing import Step, Trace, run
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

_Shapes = dict[str, tuple[int, ...]]

_SIZES: _Shapes = {"X": (3, 4), "W_Q": (4, 2), "W_K": (4, 2), "W_V": (4, 2)}
_SQUARE: _Shapes = {"X": (2, 2), "W_Q": (2, 2), "W_K": (2, 2), "W_V": (2, 2)}
_BIASED = _SIZES | {"b_Q": (2,), "b_K": (2,), "b_V": (2,)}
_CROSSED = _SIZES | {"context": (5, 4)}
_LAYER: _Shapes = {
    "X": (3, 8),
    "W_Q": (8, 8),
    "W_K": (8, 4),
    "W_V": (8, 4),
    "W_O": (8, 8),
    "b_O": (8,),
}
_MODEL: _Shapes = {"X": (3, 8), "W_Q": (8, 8), "W_K": (8, 8), "W_V": (8, 8)}
_MODEL_BIASED = _MODEL | {"b_Q": (8,), "b_K": (8,), "b_V": (8,)}
_ADDITIVE: _Shapes = {
    "Q": (3, 2),
    "K": (3, 2),
    "V": (3, 2),
    "W_1": (2, 2),
    "W_2": (2, 2),
    "v": (2,),
}
_GIVEN: _Shapes = {"Q": (3, 4), "K": (3, 4), "V": (3, 4)}
_WIDE: _Shapes = {"Q": (3, 8), "K": (3, 8), "V": (3, 8)}
_WIDE_BATCH: _Shapes = dict.fromkeys("QKV", (2, 1, 3, 8))
_HEADS: _Shapes = {"Q": (3, 3, 2), "K": (3, 4, 2), "V": (3, 4, 2)}
_BATCH: _Shapes = {"Q": (2, 3, 3, 2), "K": (2, 3, 3, 2), "V": (2, 3, 3, 2)}
_PAST = "past: {K: {random: [2, 4], seed: 8}, V: {random: [2, 4], seed: 9}}"
_SEES_NOTHING = "[[true, true, true], [false, false, false], [true, true, true]]"
_SEES_ALL = "[[true, true, true], [true, true, true], [true, true, true]]"
_TRAINED = "factor: 4, original_max_position_embeddings: 64"
_YARN = f"rope_type: yarn, {_TRAINED}"
_DIVISORS = "short_factor: [1, 2], long_factor: [3, 4]"
# What config.json says of RoPE.
_ROPES = (
    f"{_YARN}, mscale: 0.7, mscale_all_dim: 0.2",
    f"{_YARN}, attention_factor: 1.2, truncate: false",
    f"rope_type: llama3, {_TRAINED}, low_freq_factor: 1, high_freq_factor: 4",
    "rope_type: dynamic, factor: 4, max_position_embeddings: 2",
    f"rope_type: longrope, {_TRAINED}, {_DIVISORS}",
    f"rope_type: longrope, factor: 4, original_max_position_embeddings: 2, {_DIVISORS}",
    "partial_rotary_factor: 0.5",
    f"partial_rotary_factor: 0.5, {_YARN}",
    "partial_rotary_factor: 0.5, rope_type: proportional",
    "positions: [0, 1, 0]",
)
# A time, a height and a width of each of three tokens.
_PLACES = "[[0, 1, 2], [0, 1, 1], [0, 1, 3]]"
# Each mistake can be made in at least one of these problems; their numbers do not matter.
_SETTINGS: tuple[tuple[_Shapes, str], ...] = (
    (_SIZES, ""),
    (_SIZES, "mask: causal"),
    (_SIZES, "mask: causal\nsoftcap: 5"),
    (_SIZES, "score: dot"),
    (_SIZES, "exp_base: 2"),
    (_SIZES, "position: {rope: {}}"),
    (_SQUARE, ""),
    (_BIASED, ""),
    (_CROSSED, "mask: causal"),
    (_LAYER, "heads: 4\nkv_heads: 2"),
    (_MODEL, "heads: 2\nposition: {rope: {}}"),
    (_MODEL, "heads: 2\nposition: {rope: {pairing: interleaved}}"),
    (_MODEL_BIASED, "heads: 2"),
    (_SIZES, "loss: {kind: mse, target: {random: [3, 2], seed: 9}}"),
    (_SIZES, "loss: {kind: cross_entropy, targets: [0, 1, 1]}"),
    (_ADDITIVE, "score: additive"),
    (_SIZES, "scale: 0.5"),
    (_SIZES, "scale: 100000"),
    (_SIZES, "mask: {window: [1, 0]}\nsink: 1"),
    (_SIZES, f"mask: {{keep: {_SEES_NOTHING}}}"),
    (_GIVEN, f"position: {{rope: {{theta: 100}}}}\n{_PAST}"),
    (_HEADS, "position: {alibi: true}"),
    (_SIZES, "position: {sinusoidal: {from: 1}}"),
    (_HEADS, "position: {alibi: true}\nsoftcap: 5"),
    (_BATCH, "mask: {lengths: [2, 3]}"),
    (_BATCH, f"mask: {{keep: [[{_SEES_NOTHING}, {_SEES_ALL}, {_SEES_ALL}]]}}"),
    *((_GIVEN, f"position: {{rope: {{{said}}}}}") for said in _ROPES),
    (_WIDE, f"position: {{rope: {{mrope_section: [2, 1, 1], positions: {_PLACES}}}}}"),
    (_WIDE, "position: {rope: {partial_rotary_factor: 0.5}}"),
    (_WIDE_BATCH, "position: {rope: {positions: [[0, 1, 2], [0, 0, 1]]}}"),
    (_BATCH, f"mask: {{causal: true, keep: [[{_SEES_NOTHING}], [{_SEES_ALL}]]}}"),
    (_GIVEN, "mask: {causal: true, padding: [1, 1, 0]}"),
)


def mistakes_page(name: str | None = None) -> Document:
    """Every mistake with its equations, or only the mistakes that change the step of this name.

    Raises AttncliError (exit 2) for a name that no step has.
    """
    found = changed_steps()
    if name is not None:
        name = rule_called(name).name
        found = {mistake: steps for mistake, steps in found.items() if name in _names(steps)}
    title = "Mistakes" if name is None else f"Mistakes in {name}"
    return Document(title, tuple(_blocks(found)), lambda: _data(found))


def _blocks(found: Mapping[str, Sequence[Step]]) -> Iterator[Block]:
    if not found:
        yield Paragraph(("attncli check knows no mistake that changes this step.",))
        return
    yield Paragraph(
        (
            (
                "These are the mistakes that attncli check knows. Each mistake has other equations"
                " for some steps. attncli check names a mistake if its equations give the numbers"
                " of the solution. The sizes in the equations are those of 3 tokens with 4 features"
                " and d_k = 2, or of 8 features in 4 heads."
            ),
        )
    )
    for rule in RULES.values():
        made = {mistake: steps for mistake, steps in found.items() if steps[0].name == rule.name}
        if made:
            yield Heading(
                f"{rule.title} ({rule.name})" if rule.title.lower() != rule.name else rule.title
            )
        for mistake, steps in made.items():
            rounded = all(step.rule.given for step in steps)
            yield Paragraph((f"{mistake}." if rounded else f"{mistake}:",))
            yield from (Formula(cell_form(step.rule)) for step in steps if not step.rule.given)
    yield Paragraph(
        (
            (
                "attncli check also finds slips. In a single cell: a wrong sign, term or digit, the"
                " number of a neighbouring cell, or the number of the step before. In a whole row"
                " or column: one that was copied from another, or exchanged with it."
            ),
        )
    )


def changed_steps() -> dict[str, tuple[Step, ...]]:
    """For every mistake, by its name, the steps that it changes, in the first problem in which it
    can be made.

    Raises LookupError for a mistake that can be made in none of the problems.
    """
    traces = [_trace(sizes, settings) for sizes, settings in _SETTINGS]
    found = {}
    for mistake in known_mistakes():
        found[mistake.name] = _first_steps(mistake, traces)
    return found


def _first_steps(mistake: Mistake, traces: Sequence[Trace]) -> tuple[Step, ...]:
    """The steps that a mistake changes in the first of these traces in which it can be made."""
    for trace in traces:
        if steps := _steps(mistake, trace):
            return steps
    raise LookupError(
        f"this mistake cannot be made in any problem of _SETTINGS in {__name__}: {mistake.name};"
        " add a problem"
    )


def _names(steps: Iterable[Step]) -> set[str]:
    return {step.name for step in steps}


def _steps(mistake: Mistake, trace: Trace) -> tuple[Step, ...]:
    changes = mistake.change(trace)
    steps = with_changes(trace, changes).steps
    return tuple(steps[name] for name in steps if name in changes)


def _trace(sizes: _Shapes, settings: str) -> Trace:
    arrays = "\n".join(
        f"{name}: {{random: {list(size)}, seed: {seed}}}"
        for seed, (name, size) in enumerate(sizes.items())
    )
    return run(loads(f"{arrays}\n{settings}".encode(), "mistakes"), gradient=True)


def _data(found: Mapping[str, Sequence[Step]]) -> dict[str, object]:
    return {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "mistakes": {name: _sources(steps) for name, steps in found.items()},
    }


def _sources(steps: Iterable[Step]) -> dict[str, str | None]:
    """The equation of each step, by its name."""
    return {step.name: step.rule.source for step in steps}
