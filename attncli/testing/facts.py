"""What a function does where software differs: its facts, by the cases that show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attncli.testing.asking import CaseResult
from attncli.testing.diagnosis import Finding
from attncli.testing.meant import SEES_NO_KEY

NOT_ASKED = "not asked"
# It was asked, but what came out agrees with no meaning.
UNCLEAR = "unclear"
REFUSED = "refused"
OF_NUMBERS = "numbers in a mask"
# Facts of which a function may say that it does no such thing.
MAY_BE_REFUSED = frozenset({OF_NUMBERS, SEES_NO_KEY})
# Whether a layer hides what comes later, though it is not asked to.
ALWAYS_CAUSAL = "always causal"
# The facts there are, in the order in which they are told, each with the steps that it is about. A
# mistake in one of these is what the function does.
FACTS: Mapping[str, frozenset[str]] = {
    "layout": frozenset(),
    "scale": frozenset({"scaled"}),
    "softmax": frozenset({"exp", "row_sum", "weights"}),
    "mask": frozenset({"mask", "masked"}),
    OF_NUMBERS: frozenset({"mask", "masked"}),
    ALWAYS_CAUSAL: frozenset({"mask", "masked"}),
    "causal": frozenset({"mask", "masked"}),
    SEES_NO_KEY: frozenset(),
    "kv heads": frozenset({"scores", "output", "heads_output"}),
    "window": frozenset({"mask", "masked"}),
    "softcap": frozenset({"capped", "masked"}),
    "sink": frozenset({"row_sum", "weights"}),
    "rope": frozenset({"angles", "Q_rot", "K_rot"}),
    "precision": frozenset(),
}


def facts_of(
    results: Iterable[CaseResult], found: Sequence[Finding], layout: str
) -> dict[str, str]:
    """Every fact with its words, "unclear" or "not asked"; where cases differ, with the words of
    both.
    """
    known: dict[str, dict[str, None]] = {name: {} for name in FACTS}
    known.update(shown_by(results))
    known["layout"] = {layout: None}
    asked: set[str] = set()
    for result in results:
        if result.result != NOT_ASKED:
            asked |= set(_names(result))
        elif result.error:
            for name in MAY_BE_REFUSED.intersection(_names(result)):
                known[name][REFUSED] = None
    # What a case shows that is right stands; a mistake says something of what no such case shows.
    shown = {name for name, words in known.items() if words}
    for explained in found:
        for result in explained.results:
            for name, words in _shown_with(explained, result):
                if name not in shown:
                    known[name][words] = None
    return {
        name: " or ".join(words) or (UNCLEAR if name in asked else NOT_ASKED)
        for name, words in known.items()
    }


def shown_by(results: Iterable[CaseResult]) -> dict[str, dict[str, None]]:
    """The facts that cases show in which nothing is wrong, with their words."""
    known: dict[str, dict[str, None]] = {}
    for result in results:
        for name, words in _shown(result):
            known.setdefault(name, {})[words] = None
    return known


def missing(facts: Mapping[str, str]) -> tuple[str, ...]:
    """The facts that were not asked."""
    return tuple(name for name, words in facts.items() if words == NOT_ASKED)


def _names(result: CaseResult) -> Iterator[str]:
    """The facts that a case asks for."""
    yield from result.case.shows
    for meaning in result.case.meanings:
        yield from meaning.facts
    if result.case.has_blind_query or any(each.blind.any() for each in result.expected):
        yield SEES_NO_KEY


def _shown(result: CaseResult) -> Iterator[tuple[str, str]]:
    """What a case shows that agrees."""
    if result.agreement is not None and result.agreement.blind not in (None, "other"):
        yield SEES_NO_KEY, str(result.agreement.blind)
    if result.result == "same":
        yield from result.case.shows.items()
        yield from result.meaning.facts.items()


def _shown_with(explained: Finding, result: CaseResult) -> Iterator[tuple[str, str]]:
    """What a case shows that a mistake explains: the mistake itself, where it is in a step that the
    fact is about.
    """
    # Of several that no case tells apart, the first is the heading below.
    mistake = explained.mistakes[0]
    changes = result.right.changes
    is_known = mistake in changes
    changed = {*changes.get(mistake, ())}
    # What is beside is told by the words of its own.
    by_others = {step for name in explained.beside for step in changes.get(name, ())} - changed
    for name, words in {**result.case.shows, **result.meaning.facts}.items():
        if FACTS[name] & by_others:
            continue
        is_about_it = not is_known or bool(FACTS[name] & changed)
        found = result.unmeant.get(name, mistake)
        yield name, f"{found}, see below" if is_about_it else words
