"""Each case is the only one that shows something. In each, every mistake that can be made shows,
and no two look alike.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from attncli.testing.asking import CaseResult
from attncli.testing.battery import all_cases
from attncli.testing.case import Case, Meaning
from attncli.testing.diagnosis import explanations
from attncli.testing.facts import facts_of
from attncli.testing.judgement import Expected
from attncli.tracing import run
from tests.testing import right_functions
from tests.testing.in_process import results_of
from tests.testing.right import FOUR, IN_NUMPY
from tests.testing.wrong_functions import WRONG

# Without the case, this wrong function is not seen.
UNSEEN = {
    "a scale of its own": "scale_ignored",
    "scores of 1,000": "no_shift",
    "a mask that is added": "bias_forgotten",
    "a mask for each entry and head": "mask_of_the_first_head",
    "lengths in a batch": "masks_of_entries_tiled",
    "a query that sees no key": "minus_1e9_added",
    "two documents in one row": "mask_transposed_where_it_fits",
    "causal": "causal_forgotten_without_a_cache",
    "causal, fewer queries than keys": "causal_forgotten_in_a_cache",
    "causal, with a mask": "causal_left_out_beside_a_mask",
    "two KV heads of four": "heads_tiled",
    "a window of two": "window_ignored",
    "a softcap": "softcap_left_out_without_a_mask",
    "a softcap and a mask": "softcap_after_a_mask_of_truth",
    "a softcap and a bias of distances": "bias_in_the_softcap",
    "a sink": "sink_left_out",
    "ALiBi with three heads": "alibi_in_reverse",
    "RoPE": "rope_backwards",
    "RoPE after a cache": "rope_from_0",
    "RoPE of a config.json": "scaling_left_out",
    "plain, in float16": "scale_left_out_for_halves",
    "4,096 equal keys": "sums_in_16_bits",
}
# Without it, this one is seen, but its mistake has no name any more.
UNNAMED = {
    "a scale of its own": "scale_twice",
}
# Without it, this is not known of a right function.
UNKNOWN = {
    "plain": "scale",
    "a mask of truth values": "mask",
    "a mask that is added": "numbers in a mask",
    "4,096 equal keys": "precision",
}
UNSEEN_IN_TORCH = {
    "plain, in bfloat16": "scale_left_out_in_bfloat16",
    "a mask, in float16": "minus_1e9_in_float16",
}
NAMES = tuple(case.name for case in all_cases())


def without(results: list[CaseResult], case: str) -> list[CaseResult]:
    return [each for each in results if each.case.name != case]


def wrong_ones(results: list[CaseResult]) -> list[str]:
    return [each.case.name for each in results if each.result in ("differs", "error")]


def test_every_case_is_a_witness() -> None:
    assert {*UNSEEN, *UNNAMED, *UNKNOWN, *UNSEEN_IN_TORCH} == {*NAMES}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("case", UNSEEN)
def test_a_wrong_function_is_seen_by_this_case_alone(case: str) -> None:
    results = results_of(WRONG[UNSEEN[case]].function)
    assert wrong_ones(results) == [case]


@pytest.mark.torch
@pytest.mark.parametrize("case", UNSEEN_IN_TORCH)
def test_a_wrong_function_in_torch_is_seen_by_this_case_alone(torch: Any, case: str) -> None:
    from tests.testing import wrong_in_torch

    function = getattr(wrong_in_torch, UNSEEN_IN_TORCH[case])
    assert wrong_ones(results_of(function, "torch")) == [case]


@pytest.mark.long
@pytest.mark.parametrize("case", UNNAMED)
def test_a_mistake_is_told_from_others_by_this_case_alone(case: str) -> None:
    wrong = WRONG[UNNAMED[case]]
    results = results_of(wrong.function)
    ((name,),) = wrong.mistakes
    assert said(results) == {name}
    assert said(without(results, case)) != {name}


def said(results: list[CaseResult]) -> set[str]:
    return {name for found in explanations(results) for name in found.mistakes}


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize("case", UNKNOWN)
def test_a_fact_is_known_by_this_case_alone(case: str) -> None:
    right = IN_NUMPY["by_loops"]
    results = results_of(right_functions.by_loops, layout=right.layout)
    fact = UNKNOWN[case]
    assert facts_of(results, (), FOUR.words)[fact] not in ("unclear", "not asked")
    assert facts_of(without(results, case), (), FOUR.words)[fact] == "not asked"


# Mistakes that are hidden, and pairs that are the same, each for a reason.

# What hides hides, however low it is.
SENTINELS = ("-1e9 ", "-1e4 ", "-9999 ", "-1000 ", "-100 ", "to -1e9,", "to -1e4,", "to -9999,",
             "to -1000,", "to -100,")  # fmt: skip
# What a query gets that sees no key is a fact, and no mistake.
FACTS = ("a query that sees no key got",)
SAME = (
    # 1/sqrt(d_k) twice is 1/d_k; a scale of its own tells them apart.
    ("the scores were divided by d_k, not by its root", "the scores were scaled twice"),
    # Of all masked scores, once more is twice; cases without a mask tell them apart.
    ("the scores were divided by d_k, not by its root", "the masked scores were scaled once more"),
    ("the scores were scaled twice", "the masked scores were scaled once more"),
    # They are the same with as many queries as keys; other cases tell them apart.
    (
        "the scores were divided by the root of n",
        "the scores were divided by the root of the number of keys",
    ),
    ("the causal mask hid what comes before, not what comes after", "the mask was transposed"),
    # A softcap and a mask hide from other queries what these hide; other cases tell them apart.
    (
        "a causal mask from the last token was applied that the problem does not ask for",
        "the last key was left out",
    ),
    # Scores have the factor of queries times that of keys.
    (
        "RoPE's attention factor was applied to the queries alone",
        "RoPE's attention factor was applied to the keys alone",
    ),
    (
        "RoPE's attention factor was applied twice",
        "RoPE's attention factor was also applied to the scale",
    ),
    # The same number added to all scores of a row changes nothing.
    (
        "a mask of 1 for seen and 0 for hidden was added to the scores, as it is",
        "-1 was added instead of -inf",
    ),
)
# One key has nearly all the weight, equal keys have equal weights, and 16 bits have few digits.
OF_NUMBERS_ALONE = ("scores of 1,000", "plain, in float16", "plain, in bfloat16",
                    "a mask, in float16", "4,096 equal keys")  # fmt: skip
MEANINGS = [
    pytest.param(case, meaning, id=f"{case.name}, meaning {number}")
    for case in all_cases()
    if case.name not in OF_NUMBERS_ALONE
    for number, meaning in enumerate(case.meanings)
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("case", "meaning"), MEANINGS)
def test_every_mistake_shows_and_no_two_look_alike(
    case: Case, meaning: Meaning, dtype: str
) -> None:
    expected = Expected(run(case.problem(meaning)), dtype)
    made = {name: expected.with_mistake(name) for name in expected.changes}
    hidden = [name for name, each in made.items() if each.hides]
    assert [name for name in hidden if not _may_hide(name, dtype)] == []
    shown = [name for name in made if name not in hidden and not _is_coarse(name, dtype)]
    alike = [
        (one, other)
        for one, other in combinations(shown, 2)
        if made[one].gives(made[other].output) and made[other].gives(made[one].output)
    ]
    assert [pair for pair in alike if not _may_be_alike(pair)] == []


def _may_hide(name: str, dtype: str) -> bool:
    is_low = any(words in f"{name} " for words in SENTINELS)
    # No score depends on where the first token stands.
    is_relative = name == "RoPE counted all positions one further"
    return is_low or is_relative or name.startswith(FACTS) or _is_coarse(name, dtype)


def _is_coarse(name: str, dtype: str) -> bool:
    """Whether single precision may not tell it."""
    is_near = name.startswith("2.718 ") or name.endswith("rounded to 3 decimals first")
    return dtype == "float32" and is_near


def _may_be_alike(pair: tuple[str, str]) -> bool:
    return pair in SAME or all(any(words in f"{name} " for words in SENTINELS) for name in pair)
