"""Sums of many terms that are written out: long, and not deep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import attncli
from attncli.cli.main import run

ROWS = [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]
# So many terms of a sum behind another step are possible.
LONGEST = 128


def equation(terms: int, term: str = "1") -> str:
    return "more[i, c] = output[i, c]" + f" + {term}" * terms


def test_a_sum_of_100_terms_is_worked_out() -> None:
    trace = attncli.trace(
        Q=ROWS, K=ROWS, V=ROWS, equations=[equation(100, "V[i,c]")], result="more"
    )
    expected = trace["output"] + 100 * np.array(ROWS)
    np.testing.assert_allclose(trace["more"], expected, rtol=1e-12)


def test_differences_are_taken_from_the_left() -> None:
    terms = " - 1 + 2" * 40
    trace = attncli.trace(
        Q=ROWS, K=ROWS, V=ROWS, equations=[f"more[i, c] = V[i, c]{terms}"], result="more"
    )
    np.testing.assert_allclose(trace["more"], np.array(ROWS) + 40, rtol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        "compute",
        "compute --format html",
        "compute --format latex",
        "compute --detail cells",
        "compute --rounding exact",
        "compute --rounding paper",
        "gradient --verify",
        "gradient --format html",
        "cost",
        "worksheet",
    ],
)
def test_the_longest_sum_ends_well_with_every_command(
    options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "long.yaml"
    keys = "\n".join(f"{name}: {ROWS}" for name in "QKV")
    file.write_text(f'{keys}\nequations: ["{equation(LONGEST)}"]\nresult: more\n', encoding="utf-8")
    command, *others = options.split()
    assert run([command, str(file), *others]) == 0
    assert capsys.readouterr().out != ""


def test_a_longer_sum_is_refused_where_it_is_too_long() -> None:
    with pytest.raises(attncli.AttncliError) as error:
        attncli.trace(Q=ROWS, K=ROWS, V=ROWS, equations=[equation(LONGEST + 1)], result="more")
    assert error.value.exit_code == 3
    assert error.value.message == "is a sum of too many terms"


def test_what_is_nested_is_as_deep_as_before() -> None:
    deep = "(".join(["exp"] * 101) + "(1" + ")" * 101
    with pytest.raises(attncli.AttncliError, match="nested too deep"):
        attncli.trace(Q=ROWS, K=ROWS, V=ROWS, equations=[f"more = {deep}"], result="more")
