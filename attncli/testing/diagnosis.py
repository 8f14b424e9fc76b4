"""The mistakes that explain why a function differs: each fits every case that differs and can show
it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from attncli.testing.asking import CaseResult
from attncli.testing.case import Meaning
from attncli.testing.judgement import Evidence

# A function with more mistakes at once is told of these.
MOST_AT_ONCE = 3
# A mistake that is assumed beside others is looked for in so many cases.
MOST_SIMPLE_CASES = 3
# The places of cases in a list of them.
Numbers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """Mistakes that give the same numbers in all cases that they explain, mostly one alone.

    `beside` are others that are made at the same time, without which these do not give the numbers.
    Without results, `advice` says what to do.
    """

    mistakes: tuple[str, ...]
    results: tuple[CaseResult, ...]
    beside: tuple[str, ...] = ()
    advice: str = ""

    @property
    def smallest(self) -> CaseResult:
        """The case with the fewest numbers."""
        return min(self.results, key=lambda each: each.case.size)


def explanations(results: Sequence[CaseResult]) -> tuple[Finding, ...]:
    """The mistakes that explain the cases that differ.

    One mistake at a time is tried first. Where that leaves cases without a name, each mistake that
    explains one of them is assumed, and the others are looked for beside it; such names are given
    only where they explain every case. Where no case shows one of them alone, two are assumed
    together. At last they are looked for by the kinds of masks: who is handed truth values where
    numbers are meant, or the other way round, makes more of one mistake.
    """
    found = _best(results)
    if not unexplained(results, found):
        return found
    if not found:
        found = _always_together(results)
    by_kind = _by_kind_of_mask(results)
    return min(by_kind, found, key=lambda each: len(unexplained(results, each)))


def _best(results: Sequence[CaseResult]) -> tuple[Finding, ...]:
    """Mistakes that explain every case, one at a time or several at once; else those that explain
    some.
    """
    found = _one_at_a_time(results)
    if not unexplained(results, found):
        return found
    together = _several_at_once(results, MOST_AT_ONCE)
    return found if unexplained(results, together) else together


def _by_kind_of_mask(results: Sequence[CaseResult]) -> tuple[Finding, ...]:
    """The mistakes that explain all cases without a mask and with masks of one kind, truth values
    or numbers.
    """
    found: dict[tuple[tuple[str, ...], ...], Finding] = {}
    for other in (True, False):
        of_kind = [each for each in results if _has_mask_of_numbers(each) is not other]
        without_other = _best(of_kind)
        if len(of_kind) == len(results) or unexplained(of_kind, without_other):
            continue
        for each in without_other:
            key = (each.mistakes, each.beside)
            known = found[key].results if key in found else ()
            more = tuple(result for result in each.results if result not in known)
            found[key] = replace(each, results=(*known, *more))
    return tuple(found.values())


def _has_mask_of_numbers(result: CaseResult) -> bool | None:
    """Whether a case has a mask of numbers, or one of truth values; None without a mask."""
    mask = result.case.asks.get("mask")
    return None if mask is None else mask.dtype != np.bool_


def unexplained(results: Iterable[CaseResult], found: Iterable[Finding]) -> tuple[CaseResult, ...]:
    """The cases that differ, and that no mistake explains."""
    explained = {result.case.name for each in found for result in each.results}
    return tuple(each for each in differing(results) if each.case.name not in explained)


def differing(results: Iterable[CaseResult]) -> tuple[CaseResult, ...]:
    """The cases whose output is another one, the smallest first."""
    found = [each for each in results if each.result == "differs"]
    return tuple(sorted(found, key=lambda each: each.case.size))


def evidence(result: CaseResult, name: str) -> Evidence:
    """What a case says of a mistake, however its settings are meant."""
    assert result.output is not None
    found: set[Evidence] = set()
    for expected in result.expected:
        if name in expected.changes:
            found.add(expected.evidence(name, result.output))
    if "gives" in found:
        return "gives"
    return "refuted" if "refuted" in found else "hidden"


def as_explained(found: Finding, known: Mapping[str, Collection[str]]) -> Finding:
    """A finding whose cases are judged by a meaning that gives what came out, with its mistake.

    Where several do, it is one with the facts that are `known`, such as the corner that a causal
    mask begins in.
    """
    mistake = found.mistakes[0]
    results = []
    for each in found.results:
        results.append(_as_explained(each, mistake, known))
    return replace(found, results=tuple(results))


def _as_explained(
    result: CaseResult, name: str, known: Mapping[str, Collection[str]]
) -> CaseResult:
    assert result.output is not None
    giving = [
        number
        for number, expected in enumerate(result.expected)
        if name in expected.changes and expected.evidence(name, result.output) == "gives"
    ]
    meanings = result.case.meanings
    fitting = [number for number in giving if _has_facts(meanings[number], known)]
    for chosen in (fitting or giving)[:1]:
        agreement = result.expected[chosen].agreement(result.output)
        return replace(result, chosen=chosen, agreement=agreement)
    return result


def _has_facts(meaning: Meaning, known: Mapping[str, Collection[str]]) -> bool:
    return all(words in known.get(name, (words,)) for name, words in meaning.facts.items())


def is_explained(result: CaseResult) -> bool:
    """Whether a case differs, and a mistake gives its output."""
    if result.result != "differs":
        return False
    return any(evidence(result, name) == "gives" for name in _possible(result))


def _one_at_a_time(results: Sequence[CaseResult]) -> tuple[Finding, ...]:
    wrong = differing(results)
    fitting = _fitting(wrong, _candidates(wrong))
    found: list[Finding] = []
    explained: set[int] = set()
    for numbers, names in _by_cases(fitting):
        if explained >= set(numbers):
            continue
        likely = _not_refuted(names, results) or names
        also = [number for number, each in enumerate(wrong) if _gives_nan(each, likely[0])]
        explained |= {*numbers, *also}
        of_these = tuple(wrong[number] for number in sorted({*numbers, *also}))
        found.append(Finding(tuple(likely), of_these))
    return tuple(found)


def _gives_nan(result: CaseResult, name: str) -> bool:
    """Whether a mistake divides 0 by 0 in a case just where its output is NaN.

    That alone says little of it, as many mistakes do so. But one that explains other cases explains
    this one, too.
    """
    assert result.output is not None
    output = result.output
    if not np.isnan(output).any():
        return False
    knowing = [each for each in result.expected if name in each.changes]
    return any(each.with_mistake(name).gives_nan(output) for each in knowing)


def _several_at_once(results: Sequence[CaseResult], most: int) -> tuple[Finding, ...]:
    """The best explanation by a mistake that is assumed in all cases, and others beside it."""
    best = _one_at_a_time(results)
    fewest = len(unexplained(results, best))
    if most == 1 or not fewest:
        return best
    for name in _candidates_to_assume(differing(results)):
        assumed = [_assuming(result, name) for result in results]
        newly_wrong = _newly_wrong(results, assumed)
        # A case that is right as it is has no mistake in it, and so none beside another.
        assumed = [
            result if result.result == "same" else then
            for result, then in zip(results, assumed, strict=True)
        ]
        if newly_wrong >= fewest:
            continue
        alone = tuple(
            result
            for result, then in zip(results, assumed, strict=True)
            if result.result == "differs" and then.result == "same"
        )
        if not alone:
            continue
        others = _beside(name, _several_at_once(assumed, most - 1))
        found = (Finding((name,), alone), *others)
        left = len(unexplained(results, found)) + newly_wrong
        if left < fewest:
            best, fewest = found, left
    return best


def _always_together(results: Sequence[CaseResult]) -> tuple[Finding, ...]:
    """Two mistakes of which no case shows one alone, with those that are made beside them; none
    where another two explain every case as well.
    """
    simplest = min(differing(results), key=lambda each: len(each.case.asks), default=None)
    if simplest is None or simplest.is_of_gradients:
        return ()
    found: list[tuple[Finding, ...]] = []
    for first in _first_of_two(simplest):
        assumed = [_assuming(result, first) for result in results]
        if _newly_wrong(results, assumed):
            continue
        others = _several_at_once(assumed, MOST_AT_ONCE - 1)
        if not unexplained(assumed, others):
            found.append((_beside_others(first, others, results), *_beside(first, others)))
    return found[0] if len(found) == 1 else ()


def _first_of_two(result: CaseResult) -> Iterator[str]:
    """The mistakes beside which another one, in a later step, gives the output of a case."""
    output = result.output
    assert output is not None
    order = list(result.right.trace.steps)
    for first, changes in result.right.changes.items():
        last = max(order.index(step) for step in changes)
        later = set(order[last + 1 :])
        with_first = result.right.assuming(first)
        near = [
            name
            for name, others in with_first.changes.items()
            if later.issuperset(others) and with_first.is_near(name, output)
        ]
        if any(with_first.evidence(name, output) == "gives" for name in near):
            yield first


def _beside_others(name: str, others: Sequence[Finding], results: Sequence[CaseResult]) -> Finding:
    """A mistake with the cases where it shows beside the first of the others, as this shows beside
    it.
    """
    other = others[0].mistakes[0]
    shown = []
    for result in differing(results):
        assumed = _assuming(result, other)
        if evidence(assumed, name) == "gives":
            shown.append(assumed)
    return Finding((name,), tuple(shown), (other,))


def _beside(name: str, found: Iterable[Finding]) -> Iterable[Finding]:
    for each in found:
        yield replace(each, beside=(name, *each.beside))


def _assuming(result: CaseResult, name: str) -> CaseResult:
    """A case judged as if a mistake were right."""
    if result.output is None or not result.expected or result.result == "error":
        return result
    return result.judged_by(tuple(each.assuming(name) for each in result.expected))


def _newly_wrong(before: Sequence[CaseResult], after: Sequence[CaseResult]) -> int:
    """How many cases are right only without the mistake that was assumed."""
    pairs = zip(before, after, strict=True)
    return sum(one.result == "same" and other.result == "differs" for one, other in pairs)


def _candidates(wrong: Sequence[CaseResult]) -> list[str]:
    """The mistakes that give the output of a case, and of no smaller one another than that.

    Where one that explains a smaller case explains this one, too, no others are looked for.
    """
    found: list[str] = []
    refuted: set[str] = set()
    for result in wrong:
        if any(evidence(result, name) == "gives" for name in found):
            continue
        for name in _possible(result):
            said = "refuted" if name in refuted else evidence(result, name)
            if said == "gives":
                found.append(name)
            elif said == "refuted":
                refuted.add(name)
    return found


def _candidates_to_assume(wrong: Sequence[CaseResult]) -> list[str]:
    """The mistakes that give the output of one of the simplest cases, which are asked the least: in
    others there may be more mistakes at once.
    """
    simplest = sorted(wrong, key=lambda result: len(result.case.asks))[:MOST_SIMPLE_CASES]
    found: dict[str, None] = {}
    for result in simplest:
        for name in _possible(result):
            if evidence(result, name) == "gives":
                found[name] = None
    return list(found)


def _possible(result: CaseResult) -> list[str]:
    """The mistakes that can be made in a case, however its settings are meant."""
    return list(dict.fromkeys(name for each in result.expected for name in each.changes))


def _fitting(wrong: Sequence[CaseResult], candidates: Iterable[str]) -> dict[str, Numbers]:
    """The numbers of the cases that each candidate explains, without those that a case refutes."""
    found = {}
    for name in candidates:
        said = [evidence(result, name) for result in wrong]
        if "refuted" not in said:
            found[name] = tuple(number for number, each in enumerate(said) if each == "gives")
    return found


def _by_cases(fitting: Mapping[str, Numbers]) -> list[tuple[Numbers, list[str]]]:
    """The names for each set of cases that they explain, the largest set first."""
    groups: dict[Numbers, list[str]] = {}
    for name, numbers in fitting.items():
        if numbers not in groups:
            groups[numbers] = []
        groups[numbers].append(name)
    largest_first = sorted(groups, key=len, reverse=True)
    return [(numbers, groups[numbers]) for numbers in largest_first]


def _not_refuted(names: Sequence[str], results: Iterable[CaseResult]) -> list[str]:
    """Those that no case speaks against in which nothing is wrong."""
    if len(names) == 1:
        return list(names)
    right = [each for each in results if each.result == "same"]
    refuted = {name for result in right for name in names if _refutes(result, name)}
    return [name for name in names if name not in refuted]


def _refutes(result: CaseResult, name: str) -> bool:
    """Whether a case in which nothing is wrong says that a mistake is not made."""
    if name in result.right.changes and result.right.ignores(name):
        return False
    return evidence(result, name) != "hidden"
