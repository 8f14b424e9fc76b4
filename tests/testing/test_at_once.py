"""Two mistakes that no case shows alone, and what a page says of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attncli.render import Style, render
from attncli.testing.battery import all_cases
from attncli.testing.meant import ANYTHING, Meant, meant_by
from attncli.testing.page import trial_page
from attncli.testing.trial import Trial, answers, trial_of
from tests.testing.in_process import asking

Array = Any
COLUMNS = "the softmax was taken down the columns"
NOT_SCALED = "the scores were not scaled"


def softmax(scores: Array, axis: int = -1) -> Array:
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return powers / powers.sum(axis=axis, keepdims=True)


def scores_of(q: Array, k: Array, mask: Array | None = None) -> Array:
    scores = q @ np.swapaxes(k, -1, -2)
    return scores if mask is None else np.where(mask, scores, -np.inf)


def scaled(q: Array) -> Array:
    return q / np.sqrt(q.shape[-1])


def columns(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    """A key that no query sees makes NaN of its column, and so of all that comes out."""
    return softmax(scores_of(scaled(q), k, mask), axis=-2) @ v


def unscaled_columns(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    return softmax(scores_of(q, k, mask), axis=-2) @ v


def unscaled_with_noise(q: Array, k: Array, v: Array) -> Array:
    """One mistake has a name, and the other none."""
    weights = softmax(scores_of(q, k))
    return (weights + np.sin(weights * 9) / 9) @ v


def window_too_narrow(q: Array, k: Array, v: Array, window: int | None = None) -> Array:
    n, m = q.shape[-2], k.shape[-2]
    behind = np.arange(m) - (np.arange(n)[:, None] + m - n)
    seen = True if window is None else (behind <= 0) & (behind > 1 - window)
    return softmax(scores_of(scaled(q), k, seen)) @ v


def window_of_two(q: Array, k: Array, v: Array, window: int | None = None) -> Array:
    return window_too_narrow(q, k, v, None if window is None else window + 1)


def rope_of_mixed_pairs(q: Array, k: Array, v: Array, rope_theta: float | None = None) -> Array:
    if rope_theta is not None:
        q, k = _rotated(q, rope_theta), _rotated(k, rope_theta)
    return softmax(scores_of(scaled(q), k)) @ v


def _rotated(array: Array, theta: float) -> Array:
    """Pairs of halves, turned by the angles of pairs of neighbours."""
    *_, tokens, width = array.shape
    angles = np.repeat(theta ** (-2 * np.arange(width // 2) / width), 2)
    turn = np.arange(tokens)[:, None] * angles
    one, other = np.split(array, 2, axis=-1)
    return array * np.cos(turn) + np.concatenate([-other, one], axis=-1) * np.sin(turn)


def trial(function: Callable[..., Any], meant: Meant = ANYTHING) -> Trial:
    asked = asking(function)
    asked.meant = meant
    results = answers(asked, all_cases())
    return trial_of(function.__name__, results, meant, asked.layout.words)


def page_of(found: Trial) -> str:
    """The page on a pipe: nothing is broken but prose."""
    return " ".join(render(trial_page(found), "table", Style()).split())


@pytest.mark.long
def test_both_are_named_beside_each_other() -> None:
    found = trial(unscaled_columns)
    one, other = found.explanations
    assert (one.mistakes, one.beside) == ((NOT_SCALED,), (COLUMNS,))
    assert (other.mistakes, other.beside) == ((COLUMNS,), (NOT_SCALED,))
    differing = {each.case.name for each in found.results if each.result == "differs"}
    assert {each.case.name for each in (*one.results, *other.results)} == differing
    assert found.facts["scale"] == f"{NOT_SCALED}, see below"
    assert found.facts["softmax"] == f"{COLUMNS}, see below"


@pytest.mark.long
def test_one_alone_does_not_get_a_name_that_only_fits_beside_another() -> None:
    found = trial(unscaled_with_noise)
    assert found.explanations == ()


@pytest.mark.long
def test_an_output_that_is_a_multiple_everywhere_is_no_sum_in_16_bits() -> None:
    def doubled(q: Array, k: Array, v: Array) -> Array:
        return 2 * softmax(scores_of(scaled(q), k)) @ v

    assert "16 bits" not in " ".join(trial(doubled).facts.values())


@pytest.mark.long
def test_nan_that_follows_from_a_mistake_is_no_other_mistake() -> None:
    found = trial(columns)
    assert [each.mistakes for each in found.explanations] == [(COLUMNS,)]
    differing = [each for each in found.results if each.result == "differs"]
    assert {each.case.name for each in found.explanations[0].results} == {
        each.case.name for each in differing
    }
    assert any(np.isnan(each.output).all() for each in differing if each.output is not None)


@pytest.mark.long
def test_each_of_two_names_that_no_case_tells_apart_has_its_formula() -> None:
    found = trial(rope_of_mixed_pairs)
    (explained,) = found.explanations
    assert len(explained.mistakes) == 2
    page = page_of(found)
    assert "No case tells it apart from another" in page
    for name in explained.mistakes:
        assert f"With the mistake “{name}” the step" in page


@pytest.mark.long
def test_a_formula_has_the_numbers_of_the_problem_for_its_settings() -> None:
    page = page_of(trial(window_too_narrow, meant_by("mlx")))
    assert "j ≤ i + 2 and j ≥ i + 2 - " in page
    assert "left" not in page


def test_what_a_number_of_a_window_counts_is_said_by_example() -> None:
    page = page_of(trial(window_of_two))
    assert "with the token itself: 2 are itself and 1 before" in page


@pytest.mark.long
def test_what_to_do_where_the_axes_have_another_order_than_is_meant(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from attncli.cli.main import run

    file = tmp_path / "mine.py"
    file.write_text(
        "import numpy as np\n\n"
        "def attention(q, k, v):\n"
        "    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])\n"
        "    powers = np.exp(scores - scores.max(-1, keepdims=True))\n"
        "    return powers / powers.sum(-1, keepdims=True) @ v\n"
    )
    words = ["test", f"{file}:attention", "--as", "flash"]
    assert run(words) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "With --as flash, arrays are entries × tokens × heads × features" in said
    # What it advises helps.
    call = said.partition("--call '")[2].partition("'")[0]
    assert run([*words, "--call", call]) == 0
