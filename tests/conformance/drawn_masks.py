"""Draws masks as problem files write them: each form in each of its spellings, alone and
combined.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attncli.problem.parts.masks import forms

choose = st.sampled_from
# beyond -1e4 the last digits of a score are lost, see test_sentinels.py
ADDED = [0, -1.5, 0.25, -1e4, "-inf"]


@st.composite
def masks(
    draw: st.DrawFn, batch: int, heads: int, queries: int, keys: int, matrix: Callable[..., Any]
) -> Any:
    """A mask for so many batch entries, heads, queries and keys; None for leaving the key out."""
    random = np.random.default_rng(draw(st.integers(0, 2**16)))

    def leading() -> tuple[int, ...]:
        rank = draw(choose([2, 2, 3, 4]))
        shape = (draw(choose([1, batch])), draw(choose([1, heads])))
        return shape[4 - rank :]

    def truths(words: bool = False) -> Any:
        hides = random.random((*leading(), queries, keys)) < draw(choose([0.2, 0.7]))
        return hides.tolist() if words or draw(st.booleans()) else hides.astype(int).tolist()

    def numbers() -> Any:
        cells = random.choice(np.array(ADDED, dtype=object), size=(*leading(), queries, keys))
        cells.flat[random.integers(cells.size)] = -1.5  # 0 and 1 alone would be refused
        return cells.tolist()

    def lengths() -> Any:
        several = random.integers(0, keys, size=batch, endpoint=True).tolist()
        return draw(choose([several, several[0]]))

    def padding() -> Any:
        rows = (random.random((batch, keys)) < 0.7).astype(draw(choose([bool, int]))).tolist()
        return rows if batch > 1 and draw(st.booleans()) else rows[0]

    def documents() -> Any:
        rows = random.integers(0, 3, size=(batch, keys)).tolist()
        return rows if batch > 1 and draw(st.booleans()) else rows[0]

    def shown_by_one() -> Any:
        hiding = [name for name in names if name not in ("additive", "any")]
        chosen = draw(st.lists(choose(hiding), min_size=1, max_size=3))
        together = [{name: makers[name]() for name in chosen[:2]}, "causal"]
        return [form(chosen[-1]), choose_one(together)]

    def choose_one(values: list[Any]) -> Any:
        return draw(choose(values))

    makers: dict[str, Callable[[], Any]] = {
        "causal": lambda: True,
        "window": lambda: random.integers(-1, 2, size=2, endpoint=True).tolist(),
        "padding": padding,
        "lengths": lengths,
        "keep": truths,
        "hide": truths,
        "additive": numbers,
        "chunk": lambda: int(random.integers(1, 4)),
        "first": lengths,
        "documents": documents,
        "any": shown_by_one,
    }
    # Of more queries than keys, nobody knows the documents.
    names = [name for name in forms() if name != "documents" or queries <= keys]
    for name in names:
        assert name in makers, f'add a drawn "{name}" to `makers` in {__file__}'

    def form(name: str) -> Any:
        return {name: makers[name]()}

    alone = [name for name, each in forms().items() if each.needs_no_value]
    words: list[Any] = [*alone, "none"]
    how = draw(choose(["left out", "word", "matrix", "form", "list", "list", "mapping", "mapping"]))
    if how == "left out":
        return None
    if how == "word":
        return draw(choose(words))
    if how == "matrix":
        return truths(words=True) if draw(st.booleans()) else numbers()
    if how == "form":
        return draw(_cornered([form(draw(choose(names)))]))[0]
    if how == "mapping":
        together: dict[str, Any] = {}
        for name in draw(st.lists(choose(names), min_size=1, max_size=4, unique=True)):
            together |= form(name)
        return draw(_cornered([together]))[0]
    several = [form(name) for name in draw(st.lists(choose(names), min_size=1, max_size=4))]
    several += draw(st.lists(choose(alone), max_size=1))
    if draw(st.booleans()):
        several.append(truths(words=True) if draw(st.booleans()) else numbers())
    return draw(_cornered(several))


@st.composite
def _cornered(draw: st.DrawFn, parts: list[Any]) -> list[Any]:
    """A corner written with the first part that may have one, or none."""
    with_corner = {name for name, each in forms().items() if each.has_corner}
    corner = draw(choose([None, "top-left", "bottom-right", "bottom-right"]))
    # A corner may also stand inside of a form.
    for part in chain.from_iterable(map(_with_inner, parts)):
        if corner and isinstance(part, dict) and with_corner & {*part}:
            part["corner"] = corner
            break
    return parts


def _with_inner(part: Any) -> list[Any]:
    """A part, and the masks that stand inside of it."""
    return [part, *part.get("any", [])] if isinstance(part, dict) else [part]
