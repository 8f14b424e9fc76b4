"""Functions that hide later tokens without being asked: whoever writes the attention of a language
model in a few lines has no parameter for it.

That is what such a function does, and no mistake. All of its cases then mean a causal mask, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from attncli.problem.keys import CORNERS
from attncli.testing.asking import Asking, CaseResult
from attncli.testing.case import Case, Meaning
from attncli.testing.diagnosis import is_explained
from attncli.testing.facts import ALWAYS_CAUSAL
from attncli.testing.signature import NAMES


def corner_of(result: CaseResult, asking: Asking) -> str | None:
    """The corner that a causal mask begins in by which the output of the plain case is right, or
    has a known mistake that it has not without one.

    None where the output is right without a causal mask, where a parameter asks for one, and where
    no software that is meant does so.
    """
    if result.result != "differs" or asking.meant.name or _can_ask(asking):
        return None
    judged = {}
    for corner in CORNERS:
        judged[corner] = _judged(hiding_later(result.case, corner), result)
    found = [corner for corner, each in judged.items() if each.result == "same"]
    if not found and not is_explained(result):
        found = [corner for corner, each in judged.items() if is_explained(each)]
    return next(iter(found), None)


def _judged(case: Case, result: CaseResult) -> CaseResult:
    """The same output, judged by other meanings of its case."""
    right = result.right
    expected = tuple(right.of(case, each, right.dtype.name) for each in case.meanings)
    return replace(result, case=case).judged_by(expected)


def _can_ask(asking: Asking) -> bool:
    """Whether a parameter stands for a causal mask, or whoever says how it is called may have left
    it out.
    """
    if asking.expression or asking.known is None:
        return True
    return any(each.name in NAMES["causal"] for each in asking.known)


def hiding_later(case: Case, corner: str) -> Case:
    """The case with a causal mask beside what it means."""
    meanings = tuple(_hiding_later(each, corner) for each in case.meanings)
    # A case that shows that nothing is hidden shows the other thing now.
    shows = {name: words for name, words in case.shows.items() if name != ALWAYS_CAUSAL}
    return replace(case, meanings=meanings, shows=shows)


def _hiding_later(meaning: Meaning, corner: str) -> Meaning:
    mask = meaning.keys.get("mask")
    # A mask that is a word is the causal one itself.
    others: Mapping[str, Any] = mask if isinstance(mask, Mapping) else {}
    keys = {**meaning.keys, "mask": {"causal": True, "corner": corner, **others}}
    return Meaning(keys, {**meaning.facts, ALWAYS_CAUSAL: f"yes, {corner}"})
