"""Every wrong function is found, and its mistake is said by name; no other one is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attncli.cli.main import run
from attncli.mistakes.catalogue import mistakes
from attncli.testing.asking import CaseResult
from attncli.testing.diagnosis import explanations, unexplained
from attncli.testing.trial import Trial, try_function
from tests.testing import wrong_functions
from tests.testing.in_process import results_of
from tests.testing.right import FOUR, NARROW
from tests.testing.wrong_functions import WRONG, Wrong

FILE = Path(wrong_functions.__file__)
# One of each kind.
A_DOZEN = (
    "scale_d_k",
    "scale_twice",
    "softmax_of_columns",
    "keys_and_values_exchanged",
    "heads_tiled",
    "causal_inverted",
    "hidden_set_to_minus_10",
    "masks_of_entries_tiled",
    "window_too_narrow",
    "bias_in_the_softcap",
    "alibi_in_reverse",
    "no_scale_and_mask_inverted",
)
# Right or wrong, truth values say what they do, and numbers do not.
OF_TRUTH_VALUES = (
    "weights_times_any_mask",
    "minus_10_times_any_mask",
    "no_scale_and_scores_times_any_mask",
)
# Their values have to be as wide as their keys.
NARROW_ONES = ("keys_for_values", "keys_and_values_exchanged", "residual_inside")


# What is known of numbers, and is no change of an equation.
OF_NUMBERS = "the exponentials were added in 16 bits"
KNOWN = {OF_NUMBERS, *(mistake.name for mistake in mistakes())}


def results(wrong: Wrong) -> list[CaseResult]:
    return results_of(wrong.function, layout=NARROW if wrong.name in NARROW_ONES else FOUR)


def require_named(wrong: Wrong, said: set[str]) -> None:
    """Each of its mistakes by one of its names, and nothing else."""
    for names in wrong.mistakes:
        assert said & set(names), (wrong.name, said)
    assert said <= {name for names in wrong.mistakes for name in names}


def test_there_are_eighty_with_a_name_that_attncli_knows() -> None:
    named = [each for each in WRONG.values() if each.mistakes]
    assert len(named) >= 80
    assert {name for each in named for names in each.mistakes for name in names} <= KNOWN


@pytest.mark.long
@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", A_DOZEN)
def test_is_named(name: str) -> None:
    found = explanations(results(WRONG[name]))
    require_named(WRONG[name], {each for one in found for each in one.mistakes})


@pytest.mark.long
@pytest.mark.parametrize("name", OF_TRUTH_VALUES)
def test_is_named_by_the_masks_of_truth_values(name: str) -> None:
    """A mask of numbers would veto the name."""
    answered = results(WRONG[name])
    found = explanations(answered)
    require_named(WRONG[name], {each for one in found for each in one.mistakes})
    left = unexplained(answered, found)
    assert [each.case.name for each in left] == ["a mask that is added"]


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_is_found_and_named_by_the_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = WRONG[name]
    assert run(["test", f"{FILE}:{name}", "--format", "json", "--seconds", "60"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["agrees"]
    require_named(wrong, set(told["mistakes"]))


@pytest.mark.slow
def test_dropout_is_told_by_calling_twice() -> None:
    trial: Trial = try_function(f"{FILE}:dropout_left_on")
    assert [each for each in trial.remarks if "dropout" in each]
