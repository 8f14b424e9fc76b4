"""Slips in single cells, worked by hand: each is named, with others only where they give the same
number.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from attncli.answers.model import Claim
from attncli.answers.reader import read_answers
from attncli.features.check.diagnosis import Diagnosis, diagnose
from attncli.features.check.diagnosis_page import diagnosis_blocks
from attncli.features.check.single_cell_errors import (
    before_cut,
    miscopied,
    miswritten,
    share_of_numbers_near,
)
from attncli.features.check.verdicts import judge
from attncli.page.document import Paragraph, plain
from attncli.problem.loader import loads
from attncli.problem.text.source import decode
from attncli.tracing import run
from tests.cases import in_one_test

# Q Kᵀ = [[2·3 + 5·11, 2·7 + 5·(-4)], [13·3 + 1·11, 13·7 + 1·(-4)]] = [[61, -6], [50, 87]]
PROBLEM = "Q: [[2, 5], [13, 1]]\nK: [[3, 11], [7, -4]]\nV: [[1.25, 0.5], [3.5, 2]]\nscore: dot"


def diagnosed(answers: str, problem: str = PROBLEM) -> tuple[Diagnosis, ...]:
    trace = run(loads(problem.encode(), "p.yaml"))
    return diagnose(judge(trace, read_answers(decode(answers.encode(), "a.yaml", None), trace)))


@pytest.mark.parametrize(
    ("scores", "name"),
    [
        ("[[61, 6], [50, 87]]", "the sign is wrong"),
        ("[[16, -6], [50, 87]]", "two digits were swapped"),
        ("[[610, -6], [50, 87]]", "the decimal point was moved"),
        ("[[6.1, -6], [50, 87]]", "the decimal point was moved"),
        ("[[61, 87], [50, 87]]", "the number was copied from scores[1][1]"),
        ("[[61, 34], [50, 87]]", "Q[0][1]·K_T[1][1] has the wrong sign"),  # 14 + 20
        ("[[61, -6], [39, 87]]", "Q[1][1]·K_T[1][0] was left out"),
    ],
)
def test_a_slip_in_one_cell(scores: str, name: str) -> None:
    found = diagnosed(f"scores: {scores}")
    assert len(found) == 1
    assert name in found[0].mistakes
    assert not found[0].whole


def test_a_neighbours_number_in_a_product() -> None:
    """13·3 + 13·11 = 182: both factors of the second term could be meant, but only one neighbour
    gives it.
    """
    (found,) = diagnosed("scores: [[61, -6], [182, 87]]")
    assert found.mistakes == ("Q[1][0] was used instead of Q[1][1]",)
    assert found.cells == ((1, 0),)


def test_the_number_of_a_step_before() -> None:
    """d_k is 4, so that scores are halved: e^0.6 = 1.8221 is one cell's, e^0.3 = 1.3499 should be
    there.
    """
    problem = (
        "Q: [[1, 0, 0, 0], [0, 1, 0, 0]]\nK: [[0.6, 1.4, 0, 0], [0.8, 0.2, 0, 0]]\nV: [[1], [2]]"
    )
    steps = "scores: [[0.6, 0.8], [1.4, 0.2]]\nscaled: [[0.30, 0.40], [0.70, 0.10]]\n"
    (found,) = diagnosed(f"{steps}exp: [[1.8221, 1.4918], [2.0138, 1.1052]]", problem)
    assert (found.mistakes, found.cells, found.likely) == (
        ("scores was used instead of scaled",),
        ((0, 0),),
        True,
    )
    (found,) = diagnosed(f"{steps}exp: [[1.8221, 2.2255], [4.0552, 1.2214]]", problem)
    assert (found.mistakes, found.likely) == (("scores was used instead of scaled",), True)
    assert len(found.cells) == 4


def test_what_slips_of_two_kinds_give_is_only_perhaps() -> None:
    """2·3 + 5·11 without its second term is 6; so is what stands below it if that is 2·3 + 0·11,
    but not 3 + 11.
    """
    problem = "Q: [[2, 5], [{}]]\nK: [[3, 11], [1000, 2000]]\nV: [[1], [2]]\nscore: dot"
    (found,) = diagnosed("scores: [[14, 12000], [14, 3000]]", problem.format("1, 1"))
    assert (found.mistakes, found.likely) == (("the number was copied from scores[1][0]",), True)
    (found,) = diagnosed("scores: [[6.0, 12000], [6, 2000]]", problem.format("2, 0"))
    assert found.mistakes == (
        "the number was copied from scores[1][0]",
        "Q[0][1]·K_T[1][0] was left out",
    )
    assert not found.likely


def test_a_number_written_otherwise_is_likelier_than_that_of_a_neighbour() -> None:
    """16 for 61, beside which stands 5·4 - 2·2 = 16."""
    (found,) = diagnosed("scores: [[16, 16], [50, -22]]", PROBLEM.replace("[7, -4]", "[-2, 4]"))
    assert found.mistakes == ("two digits were swapped",)


def test_swapped_digits_are_likelier_than_another_one() -> None:
    """31 for 13, or 19 for 10: 13·1 + 10·2 = 33 and 13·3 + 10·6 = 99 become 51 and 153 either
    way.
    """
    problem = "Q: [[2, 7], [13, 10]]\nK: [[1, 2], [3, 6]]\nV: [[1], [2]]\nscore: dot"
    (found,) = diagnosed("scores: [[16, 48], [51, 153]]", problem)
    assert (found.mistakes, found.cells) == (("Q[1][0] was copied as 31",), ((1, 0), (1, 1)))


def test_more_decimals_leave_less_to_chance() -> None:
    """14 + 25.5 = 39.5: what slips give is so many of all numbers there, and a hundredth of that
    with two more decimals. Where all numbers are whole, none has any.
    """
    halves = PROBLEM.replace("[2, 5]", "[2, 5.1]").replace("[7, -4]", "[7, -5]")
    (coarse,), (fine,) = (
        diagnosed("scores: [[62.1, 39.5], [50, 86]]", halves),
        diagnosed("scores: [[62.1, 39.500], [50, 86]]", halves),
    )
    assert coarse.likely
    assert fine.likely
    assert coarse.error is not None
    assert fine.error is not None
    assert 0 < fine.error.chance < coarse.error.chance / 50 < 1 / 50
    (whole,), (zeros,) = (
        diagnosed("scores: [[61, 34], [50, 87]]"),
        diagnosed("scores: [[61, 34.00], [50, 87]]"),
    )
    assert whole.likely
    assert zeros.likely
    assert whole.error is not None
    assert zeros.error is not None
    assert whole.error.chance == zeros.error.chance


def test_a_number_copied_with_swapped_digits_explains_all_cells_it_is_in() -> None:
    """31 for 13: 31·3 + 11 = 104 and 31·7 - 4 = 213."""
    (found,) = diagnosed("scores: [[61, -6], [104, 213]]")
    assert found.mistakes == ("Q[1][0] was copied as 31",)
    assert found.cells == ((1, 0), (1, 1))


def test_a_number_copied_wrongly_may_explain_a_long_row() -> None:
    """31 for 13 in a row of four: 31·3 + 11, 31·7 - 4, 31·2 + 9 and 31·5 + 8."""
    problem = PROBLEM.replace("[7, -4]]", "[7, -4], [2, 9], [5, 8]]").replace(
        "[3.5, 2]]", "[3.5, 2], [1, 1], [0, 1]]"
    )
    (found,) = diagnosed("scores: [[61, -6, 49, 50], [104, 213, 71, 163]]", problem)
    assert found.mistakes == ("Q[1][0] was copied as 31",)
    assert found.cells == ((1, 0), (1, 1), (1, 2), (1, 3))


def test_a_neighbours_number_among_few_is_only_perhaps() -> None:
    """Of the 41 whole numbers from 3 to 44, five are a neighbour's or 22 written otherwise; three
    would not be many.
    """
    few = "Q: [[1], [2]]\nK: [[3], [22]]\nV: [[1], [2]]\nscore: dot"
    (found,) = diagnosed("scores: [[22, 22], [6, 44]]", few)
    assert (found.mistakes, found.likely) == (("the number was copied from scores[0][1]",), False)
    assert found.error is not None
    assert not found.error.on_the_way


def test_a_number_copied_without_its_sign() -> None:
    """13 for -13: 39 + 11 and 91 - 4, in place of -39 + 11 and -91 - 4."""
    (found,) = diagnosed("scores: [[61, -6], [50, 87]]", PROBLEM.replace("13", "-13"))
    assert (found.mistakes, found.cells) == (("Q[1][0] was copied as 13",), ((1, 0), (1, 1)))


def test_a_neighbour_is_likelier_than_digits_that_were_swapped() -> None:
    """31 for 13, which stands below it: 31·3 + 2·11 = 115 and 31·7 - 2·4 = 209."""
    (found,) = diagnosed(
        "scores: [[115, 209], [148, 197]]",
        PROBLEM.replace("[[2, 5], [13, 1]]", "[[13, 2], [31, 5]]"),
    )
    assert found.mistakes == ("Q[1][0] was used instead of Q[0][0]",)


def test_a_number_copied_with_another_digit() -> None:
    """6 for 5: 2·3 + 6·11 = 72 and 2·7 + 6·(-4) = -10."""
    (found,) = diagnosed("scores: [[72, -10], [50, 87]]")
    assert (found.mistakes, found.cells, found.likely) == (
        ("Q[0][1] was copied as 6",),
        ((0, 0), (0, 1)),
        True,
    )


def test_what_chance_explains_as_well_is_only_perhaps() -> None:
    """3·1 + 2·1 = 5; 3 comes out without the second term, but among such small numbers some slip
    gives nearly any.
    """
    small = "Q: [[3, 2]]\nK: [[1, 1], [2, 1]]\nV: [[1], [2]]\nscore: dot"
    (found,) = diagnosed("scores: [[3, 8]]", small)
    assert (found.mistakes, found.likely) == (("Q[0][1]·K_T[1][0] was left out",), False)
    (sure,) = diagnosed("scores: [[50, 8]]", small)
    assert sure.likely
    assert "the decimal point was moved" in sure.mistakes


@pytest.mark.parametrize("terms", [3, 4])
def test_of_terms_that_are_alike_three_may_be_named_but_not_four(terms: int) -> None:
    """1 + 1 + 1 = 3; any of them may have been left out where 2 is written, among numbers that are
    all so small.
    """
    ones = ", ".join(["1"] * terms)
    problem = f"Q: [[{ones}]]\nK: [[{ones}], [5{', 2' * (terms - 1)}]]\nV: [[1], [2]]\nscore: dot"
    found = diagnosed(f"scores: [[{terms - 1}, {2 * terms + 3}]]", problem)
    names = tuple(f"Q[0][{at}]·K_T[{at}][0] was left out" for at in range(terms))
    assert [(one.mistakes, one.likely) for one in found] == ([(names, False)] if terms == 3 else [])


def test_pages_call_cells_by_their_labels() -> None:
    """2·1 + 7·2 = 16, 10·3 + 13·6 = 108, and 13 for 31 is a slip in copying."""
    problem = "Q: [[2, 7], [13, 10]]\nK: [[1, 2], [3, 6]]\nV: [[1], [2]]\nscore: dot"
    trace = run(loads(problem.encode(), "p.yaml"))
    for answers, sentence in (
        ("scores: [[-16, 48], [33, 99]]", "scores, t1 → t1: the sign is wrong."),
        ("scores: [[16, 48], [51, 153]]", "Q of t2, d1 was copied as 31."),
        ("scores: [[16, 48], [13, 99]]", "Q of t2, d2 times K_T of d2, t1 was left out."),
    ):
        judgement = judge(trace, read_answers(decode(answers.encode(), "s.yaml"), trace))
        page = diagnosis_blocks(judgement, diagnose(judgement))
        said = " ".join(plain(block.text) for block in page if isinstance(block, Paragraph))
        assert sentence in said


def test_what_nothing_gives_is_not_explained() -> None:
    assert diagnosed("scores: [[61, -6], [50, 1234.5]]") == ()


def test_two_slips_in_a_step_are_told_apart() -> None:
    found = diagnosed("scores: [[61, 6], [39, 87]]")
    assert [(diagnosis.mistakes, diagnosis.cells) for diagnosis in found] == [
        (("the sign is wrong",), ((0, 1),)),
        (("Q[1][1]·K_T[1][0] was left out",), ((1, 0),)),
    ]


def test_three_slips_in_a_step_are_told_apart() -> None:
    """78 for 87 is the last of them."""
    found = diagnosed("scores: [[61, 6], [39, 78]]")
    assert [diagnosis.cells for diagnosis in found] == [((0, 1),), ((1, 0),), ((1, 1),)]
    assert found[2].mistakes == ("two digits were swapped",)


def test_a_neighbour_that_is_hidden_does_not_hide_a_slip() -> None:
    """Beside 61 stands -inf, which is no number that chance could give."""
    (found,) = diagnosed(
        "scores: [[61, -6], [50, 87]]\nmasked: [[16, -inf], [50, 87]]", f"{PROBLEM}\nmask: causal"
    )
    assert (found.mistakes, found.cells) == (("two digits were swapped",), ((0, 0),))


def test_numbers_that_are_made_up_are_no_row_of_slips() -> None:
    """For each of these a slip could be found: six wrong of six, and no cause for most of them."""
    trace = run(
        loads(
            PROBLEM.replace(
                "score: dot", "X: [[1.0, 0.5], [0.3, 0.9]]\nW_Q: [[0.5, 0.3], [0.2, 0.4]]"
            )
            .replace("Q: [[2, 5], [13, 1]]\n", "")
            .encode(),
            "p.yaml",
        )
    )
    answers = "Q: [[0.72, 0.91], [0.55, 0.12]]"
    assert (
        diagnose(judge(trace, read_answers(decode(answers.encode(), "a.yaml", None), trace))) == ()
    )


def test_nobody_miscopies_a_number_with_a_leading_zero() -> None:
    texts = [text for _, text in miscopied(Claim("-10.5", Decimal("-10.5"), Decimal("0.05")))]
    assert {"-10.6", "-20.5", "10.5"} <= set(texts)
    assert not [text for text in texts if text.startswith(("-0", "0"))]


def test_a_number_of_hundreds_of_digits_is_not_miscopied() -> None:
    """Else 1e308, which is taken digit by digit, has 3,000 ways to be."""
    for text, some in (("123", True), ("1" + "0" * 308, False)):
        claim = Claim(text, Decimal(text), Decimal(0))
        assert bool(list(miscopied(claim))) == some
        assert ("two digits were swapped" in dict(miswritten(claim))) == some


@in_one_test(
    ("written", "before"),
    [
        ("0.500", (0.5, 0.6)), ("0.50", (0.5, 0.6)), ("-0.70", (-0.8, -0.7)), ("17.00", (17, 18)),
        ("0.00", (0, 0.1)), ("0.52", None), ("5", None), ("0.3330", (0.333, 0.334)),
    ],
)  # fmt: skip
def test_what_a_number_was_before_its_digits_were_cut_off(
    written: str, before: tuple[float, float] | None
) -> None:
    found = before_cut(
        Claim(
            written, Decimal(written), Decimal(1).scaleb(Decimal(written).as_tuple().exponent) / 2
        )
    )
    if before is None:
        assert found is None
        return
    assert found is not None
    claim = found[1]
    ends = float(claim.value - claim.half), float(claim.value + claim.half)
    assert ends == pytest.approx(before)


def test_digits_cut_off_are_one_explanation_beside_the_number_of_a_neighbour() -> None:
    """0.58 without its last digit is 0.50, and so is the number above it."""
    (found,) = diagnosed(
        "scores: [[0.50, 2.00], [0.50, 3.00]]",
        "Q: [[1, 0], [0, 1]]\nK: [[0.5, 0.58], [2, 3]]\nV: [[1], [2]]\nscore: dot",
    )
    assert {
        "the digits were cut off after 1 decimal",
        "the number was copied from scores[0][0]",
    } <= set(found.mistakes)
    assert not found.likely


@pytest.mark.parametrize(
    ("written", "right", "width", "share"),
    [
        # Twice as far from 61 as 50 is: from 39 to 83.
        (50, 61, 0, 1 / 44),
        (50, 61, 3, 4 / 44),
        (50, 61, 1000, 1),
        # The scores and -40: from -40 to 87.
        (-40, 61, 0, 1 / 127),
        (50, float("-inf"), 3, 0),
    ],
)
def test_how_much_of_the_numbers_near_the_right_one_a_mistake_covers(
    written: int, right: float, width: float, share: float
) -> None:
    scores = run(loads(PROBLEM.encode(), "p.yaml")).steps["scores"]
    claim = Claim(str(written), Decimal(written), Decimal("0.5"))
    assert share_of_numbers_near(scores, claim, right, width) == pytest.approx(share)
