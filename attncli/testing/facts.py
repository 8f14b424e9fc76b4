"""What a function does where software differs: its facts, by the cases in which it agrees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attncli.testing.case import Case
from attncli.testing.trial import CaseResult

NOT_ASKED = "not asked"
# It was asked, but what came out agrees with no meaning.
UNCLEAR = "unclear"
SEES_NO_KEY = "sees no key"
# The facts there are, in the order in which they are told.
FACTS = (
    "layout",
    "scale",
    "softmax",
    "mask",
    "numbers in a mask",
    "causal",
    SEES_NO_KEY,
    "kv heads",
    "window",
    "softcap",
    "sink",
    "rope",
    "precision",
)


def facts_of(results: Iterable[CaseResult], layout: str) -> dict[str, str]:
    """Every fact with its words, "unclear" or "not asked"; what differs between cases is told of
    both.
    """
    known: dict[str, dict[str, None]] = {name: {} for name in FACTS}
    asked: set[str] = set()
    known["layout"][layout] = None
    for result in results:
        if result.result == "not asked":
            continue
        asked |= set(_names(result.case))
        for name, words in _shown(result):
            known[name][words] = None
    return {
        name: " or ".join(found) or (UNCLEAR if name in asked else NOT_ASKED)
        for name, found in known.items()
    }


def _shown(result: CaseResult) -> Iterator[tuple[str, str]]:
    if result.agreement is not None and result.agreement.blind not in (None, "other"):
        yield SEES_NO_KEY, str(result.agreement.blind)
    if result.result == "same":
        yield from result.case.shows.items()
        yield from result.meaning.facts.items()


def _names(case: Case) -> Iterator[str]:
    yield from case.shows
    for meaning in case.meanings:
        yield from meaning.facts


def missing(facts: Mapping[str, str]) -> tuple[str, ...]:
    """The facts that were not asked."""
    return tuple(name for name, words in facts.items() if words == NOT_ASKED)
