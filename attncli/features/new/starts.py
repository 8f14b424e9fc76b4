"""The five problems that a page to begin with has: small numbers, to be typed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attncli.page.derivation import derivation
from attncli.page.live.live_or_static import with_live
from attncli.page.view import View
from attncli.problem.python_values import problem
from attncli.render import Style
from attncli.render.html.starts import Start, page_of_starts
from attncli.tracing.run import run

FEATURES = 3
# A context, and a cache, have so many tokens.
FEW = 2
TITLES = {
    "x": "X and weights",
    "qkv": "Q, K, V",
    "heads": "heads",
    "cross": "cross-attention",
    "cache": "a cache",
}


def page_text(tokens: Sequence[str]) -> str:
    """The page with all of them, in HTML."""
    starts = []
    for name, title in TITLES.items():
        given = problem(title=_title(name, tokens), **_given(name, tokens))
        trace = run(given)
        view = View(short=False)
        document = with_live(derivation(trace, view), given, trace, view)
        starts.append(Start(name, title, document))
    return page_of_starts(starts, Style())


def _title(name: str, tokens: Sequence[str]) -> str:
    return f"{' '.join(tokens)}: {TITLES[name]}"


def _given(name: str, tokens: Sequence[str]) -> Mapping[str, Any]:
    """The arrays of a start; rows of weights that change nothing, so that one sees what a number
    does.
    """
    count = len(tokens)
    words = {"tokens": list(tokens)}
    weights = {f"W_{part}": _ones(FEATURES, FEATURES) for part in "QKV"}
    match name:
        case "qkv":
            return {**words, **{part: _ones(count, FEATURES) for part in "QKV"}}
        case "heads":
            wide = [row + row for row in _ones(FEATURES, FEATURES)]
            of_heads = {f"W_{part}": wide for part in "QKV"}
            return {
                **words,
                "X": _ones(count, FEATURES),
                **of_heads,
                "W_O": _ones(2 * FEATURES, FEATURES),
                "heads": 2,
            }
        case "cross":
            context = {"context": _ones(FEW, FEATURES)}
            return {**words, "X": _ones(count, FEATURES), **context, **weights}
        case "cache":
            past = {"K": _ones(FEW, FEATURES), "V": _ones(FEW, FEATURES)}
            return {**words, "X": _ones(count, FEATURES), **weights, "past": past}
        case _:
            return {**words, "X": _ones(count, FEATURES), **weights}


def _ones(rows: int, columns: int) -> list[list[str]]:
    """A matrix of zeros with a one in each row, as texts, so that they are printed as whole."""
    found = []
    for row in range(rows):
        cells = ["0"] * columns
        cells[row % columns] = "1"
        found.append(cells)
    return found
