"""The page of `attncli steps --mistakes`: every mistake that `check` knows, with the equations it makes of steps."""

from __future__ import annotations

from collections.abc import Sequence

from attncli import __version__
from attncli.attention.rules import cell_form
from attncli.english import listed
from attncli.page.document import Document, Math, Paragraph, Table, Text
from attncli.problem.reader import loads
from attncli.study.changes import changed
from attncli.study.mistakes import MISTAKES, Mistake
from attncli.tracing import Step, Trace, run
from attncli.tracing.data import FORMAT

_Sizes = dict[str, tuple[int, ...]]

_SIZES: _Sizes = {"X": (3, 4), "W_Q": (4, 2), "W_K": (4, 2), "W_V": (4, 2)}
_SQUARE: _Sizes = {"X": (2, 2), "W_Q": (2, 2), "W_K": (2, 2), "W_V": (2, 2)}
_BIASED = _SIZES | {"b_Q": (2,), "b_K": (2,), "b_V": (2,)}
_CROSSED = _SIZES | {"context": (5, 4)}
_LAYER: _Sizes = {"X": (3, 8), "W_Q": (8, 8), "W_K": (8, 4), "W_V": (8, 4), "W_O": (8, 8)}
_SETTINGS: tuple[tuple[_Sizes, str], ...] = (
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
)  # problems, in one of which every mistake can be made; the numbers in them do not matter


def mistakes_page() -> Document:
    """A row for each mistake: its name, the steps that it changes, and their equations."""
    found = changed_steps()
    blocks = (
        Paragraph(
            (
                "What attncli check knows that people get wrong. Each mistake is other equations for the steps that it "
                "changes; it is named where these give what was written. Sizes in them are those of 3 tokens with 4 "
                "features and d_k = 2, or of 8 features in 4 heads.",
            )
        ),
        Table(("mistake", "changes", "the equation then"), tuple(_row(mistake, found) for mistake in MISTAKES)),
        Paragraph(("In a single cell, slips are sought as well: a sign, a term, a digit, a neighbour's number.",)),
    )
    return Document("Mistakes", blocks, lambda: _data(found))


def changed_steps() -> dict[str, tuple[Step, ...]]:
    """For every mistake, by its name, the steps it changes as it has them, in the first problem it can be made in."""
    traces = [_trace(sizes, settings) for sizes, settings in _SETTINGS]
    return {mistake.name: next(filter(None, (_steps(mistake, trace) for trace in traces)), ()) for mistake in MISTAKES}


def _steps(mistake: Mistake, trace: Trace) -> tuple[Step, ...]:
    changes = mistake.change(trace)
    steps = changed(trace, changes).steps
    return tuple(steps[name] for name in steps if name in changes)


def _trace(sizes: _Sizes, settings: str) -> Trace:
    arrays = "\n".join(
        f"{name}: {{random: {list(size)}, seed: {seed}}}" for seed, (name, size) in enumerate(sizes.items())
    )
    return run(loads(f"{arrays}\n{settings}".encode(), "mistakes"))


def _row(mistake: Mistake, found: dict[str, tuple[Step, ...]]) -> tuple[Text, ...]:
    steps = found[mistake.name]
    return (mistake.name,), (listed([step.name for step in steps], last=""),), _equations(steps)


def _equations(steps: Sequence[Step]) -> Text:
    said: list[str | Math] = []
    for step in steps:
        if not step.rule.given:
            equation = cell_form(step.rule)
            said += [*(["; "] if said else []), Math(equation.target), " = ", Math(equation.expression)]
    return tuple(said) or ("its own numbers, rounded",)


def _data(found: dict[str, tuple[Step, ...]]) -> dict[str, object]:
    return {
        "attncli": {"version": __version__, "format": FORMAT},
        "mistakes": {name: {step.name: step.rule.source for step in steps} for name, steps in found.items()},
    }
