"""Pages of closed forms beside their decimals are read as the exact numbers they show, and judged
as all right.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import cast

import mpmath
import numpy as np
import pytest

from attncli.answers.model import Answers, Claim
from attncli.answers.reader import mentions_gradients, read_answers
from attncli.errors import AttncliError
from attncli.features.check.verdicts import judge_solution
from attncli.page.derivation import derivation
from attncli.page.document import Document
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.loader import load, loads
from attncli.problem.model import Problem
from attncli.problem.text.source import Source, decode
from attncli.render import Style, render
from attncli.tracing import Trace, run

INPUTS = Path(__file__).parents[2] / "inputs"
# Each form: its format, its style, and the name of a file that has it.
FORMS = {
    "fences": ("markdown", Style(math="fences"), "page.md"),
    "dollars": ("markdown", Style(math="dollars"), "page.md"),
    "latex": ("latex", Style(), "page.tex"),
    "terminal": ("table", Style(), "page.txt"),
    "narrow terminal": ("table", Style(width=40), "page.txt"),
    "wide terminal": ("table", Style(width=300), "page.txt"),
    "words": ("table", Style(ascii=True), "page.txt"),
    "narrow words": ("table", Style(ascii=True, width=60), "page.txt"),
}


def rendered(document: Document, form: str) -> str:
    format, style, _ = FORMS[form]
    return render(document, format, style)


def source_of(text: str, form: str) -> Source:
    return decode(text.encode(), FORMS[form][2])


def page_of(problem: Problem, form: str, view: View) -> str:
    return rendered(
        derivation(run(problem, rounding="exact", precision=view.precision), view), form
    )


def read_back(text: str, form: str, problem: Problem) -> Answers:
    return read_answers(source_of(text, form), run(problem))


def all_right(problem: Problem, text: str, form: str) -> bool:
    """Whether every cell that was worked out is there, and right."""
    source = source_of(text, form)
    solution = judge_solution(
        problem, lambda trace: read_answers(source, trace), gradient=mentions_gradients(source)
    )
    counts = solution.verdicts.counts
    computed = solution.verdicts.trace.computed()
    everything = sum(step.value.size for step in computed)
    # The transpose may be a line of the scores.
    transposed = sum(step.value.size for step in computed if step.name == "K_T")
    return solution.passed and counts["right"] in (everything, everything - transposed)


def exact_trace(name: str, *, gradient: bool = False) -> Trace:
    """An example worked out exactly; skips where that cannot be."""
    try:
        return run(load(str(INPUTS / name)), rounding="exact", gradient=gradient)
    except AttncliError as error:
        pytest.skip(f"{name} is not worked out exactly: {error}")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", sorted(file.name for file in INPUTS.glob("*.yaml")))
def test_every_exact_page_is_right(name: str) -> None:
    document = derivation(exact_trace(name), View(detail="brief"))
    for form in FORMS:
        assert all_right(load(str(INPUTS / name)), rendered(document, form), form), form


@pytest.mark.at_most(40)
@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", ["fences", "latex", "terminal", "narrow words"])
@pytest.mark.parametrize("name", sorted(file.name for file in INPUTS.glob("*.yaml")))
def test_every_exact_page_of_gradients_is_right(name: str, form: str) -> None:
    view = View(detail="brief", forward=True)
    document = gradient_page(exact_trace(name, gradient=True), view)
    assert all_right(load(str(INPUTS / name)), rendered(document, form), form)


@pytest.mark.sampled(4)
@pytest.mark.each_choice
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "view", [View(heatmap=True), View(precision=0), View(precision=12), View(detail="cells")]
)
def test_however_it_is_shown(view: View, form: str, love: Problem) -> None:
    assert all_right(love, page_of(love, form, view), form)


FRACTIONS = [  # scores too large for plain exponentials, the largest of which are no whole numbers
    "Q: [[1501]]\nK: [['1/2'], ['1/4']]\nV: [[1], [2]]\n",
    "Q: [[10000]]\nK: [['1/7'], ['1/3']]\nV: [[1], [2]]\n",
    "Q: [[1000, sqrt(2)]]\nK: [[sqrt(3), '1/3'], [sqrt(2), sqrt(3)]]\nV: [[1], [2]]\n",
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", FRACTIONS)
def test_shifted_fractions(text: str, form: str) -> None:
    problem = loads(text.encode(), "fractions.yaml")
    assert all_right(problem, page_of(problem, form, View(detail="cells")), form)


MULTIPLES_OF_E = (
    "Q: [[1], [2]]\nK: [[1], [1], [1], [0], [0], [2]]\nV: [[1], [2], [-3], [4], [5], [1]]\nscore:"
    " dot\n"
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", FORMS)
def test_multiples_of_e_in_sums(form: str) -> None:
    problem = loads(MULTIPLES_OF_E.encode(), "multiples.yaml")
    text = page_of(problem, form, View(detail="brief"))
    assert re.search(r"3[ ·*]e \+ ", text)
    assert all_right(problem, text, form)


HALVES = (
    "Q: [[0], [0]]\nK: [[1], [2]]\nV: [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [2, 3, 4, 5, 6, 7, 8, 9,"
    " 10, 11]]\n"
)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("precision", [0, 3])
@pytest.mark.parametrize("form", FORMS)
def test_closed_forms_over_decimals_in_several_parts(form: str, precision: int) -> None:
    problem = loads(HALVES.encode(), "halves.yaml")
    text = page_of(problem, form, View(precision=precision))
    if form == "latex":
        decimals = text[text.index("  O \\\\\n") :]
        assert re.findall(r"columns? [-0-9]+ of 10", decimals) == [
            "columns 1--8 of 10",
            "columns 9--10 of 10",
        ]
        assert decimals.count(r"O =" if precision else r"O \approx") == 2
    assert all_right(problem, text, form)
    answers = read_back(text, form, problem)
    assert [claim and claim.text for claim in answers.steps["output"].cells[1]] == [
        f"{n}/2" for n in range(3, 22, 2)
    ]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_claimed_is_the_closed_form(form: str, love: Problem) -> None:
    scores = [[1, 5, 3], [3, 3, 3], [2, 4, 3]]  # by hand; d_k is 3
    answers = read_back(page_of(love, form, View()), form, love)
    with mpmath.workdps(60):
        for index, score in np.ndenumerate(np.array(scores)):
            scaled, exp = (
                cast("Claim", answers.steps[name].cells[index]) for name in ("scaled", "exp")
            )
            assert scaled.exact
            assert exp.exact
            truth = mpmath.mpf(int(score)) / mpmath.sqrt(3)
            assert abs(mpmath.mpf(str(scaled.value)) - truth) < mpmath.mpf(10) ** -45
            assert abs(mpmath.mpf(str(exp.value)) - mpmath.exp(truth)) < mpmath.mpf(10) ** -45


# Each form: what stands before a decimal after its closed form, and what stands behind it.
DECIMAL = {
    "fences": (r"≈ ", r" +\|"),
    "dollars": (r"\$\\approx\$ ", r" +\|"),
    "latex": (r"\\hfill ", r"[ \\\n]"),
    "terminal": (r"[⎡⎢⎣ ] ", r" [ ⎤⎥⎦]"),
    "narrow terminal": (r"[⎡⎢⎣ ] ", r" [ ⎤⎥⎦]"),
    "words": (r"about ", r"[,\n]"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", DECIMAL)
def test_an_edit_of_one_of_the_two_is_told(form: str, love: Problem) -> None:
    text = page_of(love, form, View(detail="brief"))
    before, after = DECIMAL[form]
    cell = rf"(?<={before})[0-9]+\.[0-9]{{3}}(?={after})"
    part = text[text.index("Scaled scores") : text.index("Row sums")]
    places = list(re.finditer(cell, part))
    assert len(places) == 18
    for found in random.Random(form).sample(places, 6):
        edited = text.replace(part, f"{part[: found.start()]}99.123{part[found.end() :]}")
        with pytest.raises(AttncliError) as error:
            read_back(edited, form, love)
        assert error.value.exit_code == 3
        assert re.search(r"sqrt\(3\)+ and 99.123 are not the same number", str(error.value))
        assert re.search(rf"is {found[0]}: correct one of the two", error.value.help)
        assert error.value.place
        assert "99.123" in error.value.place.source


def test_a_closed_form_that_was_edited_is_told_and_one_alone_is_judged(love: Problem) -> None:
    text = page_of(love, "fences", View(detail="brief"))
    edited = text.replace(r"$`\frac{5}{\sqrt{3}}`$ ≈ 2.887", r"$`\frac{5}{\sqrt{2}}`$ ≈ 2.887", 1)
    with pytest.raises(AttncliError, match=r"5/sqrt\(2\) and 2.887 are not the same number"):
        read_back(edited, "fences", love)
    alone = text.replace(r"$`\frac{5}{\sqrt{3}}`$ ≈ 2.887", r"$`\frac{5}{\sqrt{2}}`$", 1)
    solution = judge_solution(
        love, lambda trace: read_answers(decode(alone.encode(), "page.md"), trace)
    )
    assert solution.verdicts.first_wrong == ("scaled", (0, 1))
    for same in (
        r"$\frac{5 \sqrt{3}}{3}$",
        "5√3/3 ≈ 2.89",
        r"$\frac{5}{3} \sqrt{3} \approx 2.9$",
        "≈ 2.887",
    ):
        assert all_right(love, text.replace(r"$`\frac{5}{\sqrt{3}}`$ ≈ 2.887", same, 1), "fences")


def test_decimals_of_closed_forms_that_were_taken_out_are_read(love: Problem) -> None:
    text = page_of(love, "latex", View(detail="brief"))
    start = text.index(r"\begin{array}{@{}l", text.index("Scaled scores"))
    end = text.index(r"\vphantom{Z}", start)
    answers = read_back(text[:start] + text[end:], "latex", love)
    assert [claim and claim.text for claim in answers.steps["scaled"].cells[0]] == [
        "0.577",
        "2.887",
        "1.732",
    ]
