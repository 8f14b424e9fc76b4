"""Drawn texts of numbers, right and mutated, against a grammar written apart: the same number, or
an error of both.
"""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction

import mpmath
import pytest

from attncli.answers.claims import read_claim
from attncli.answers.reader import read_answers
from attncli.errors import AttncliError
from attncli.features.check.one_solution import answers_source
from attncli.features.check.page import check_page
from attncli.features.check.verdicts import judge_solution
from attncli.problem.loader import loads
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.source import Source, decode
from attncli.render import Style, render
from attncli.render.latex.escape import has_codes
from attncli.tracing import run
from tests.cases import in_one_test

from .number_grammar import Beyond, Reading, Refused, reading

NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "10",
    "12",
    "0.5",
    "0.70",
    ".5",
    "5.",
    "0.577",
    "1e3",
    "2.5e-3",
    "1.5·10^2",
)
RECURRING = (
    "0.(3)",
    "1.(6)",
    "0.(142857)",
    "0.16\u0305",
    "2.3\u0304",
    "0.1\u030742857\u0307",
    "0.3\u0307",
)
FRACTIONS = ("½", "1½", "⅓", "2⅔", "0¼", "12⅞", "¹⁄₂", "3¹¹⁄₁₂")
DOUBTFUL = (
    "0.1(6)",
    "0.577(1)",
    "2(3)",
    "3(0.(3))",
    "10(1)",
    "1 1/2",
    "0.5 0.5",
    "010",
    "0·5",
    "3–5",
    "0.333…",
    "3 e 2",
    "0.5e",
    "2^3^2",
    "2^1/2",
    "e^-1/3",
    "tanh^2(1)",
    "(1 + e)2",
    "1/3 1",
    "1 ½",
    "0.(3",
    "0.()",
)
POWERS = (
    "1.5×10−3",
    "2.5·10-4",
    "1.5×103",
    "2*10-3",
    "2/1.5·10^3",
    "1.5·10⁻³",
    "10³",
    " e - 3",
    "-(0.70)",
    "((-2))",
    "×10",
    "1.5x10^3",
    "2.5 X 10⁻³",
    "1.5x103",
    "0x10",
    "2x3",
    "⁻¹",
    "¹²",
)
SIGNS = (
    "+",
    "-",
    "−",
    "–",
    "*",
    "·",
    "×",
    "/",
    "÷",
    "^",
    "**",
    " + ",
    " - ",
    " * ",
    " / ",
    "",
    " ",
)
PIECES = (
    *NUMBERS,
    *RECURRING,
    *FRACTIONS,
    *DOUBTFUL,
    *SIGNS,
    "(",
    ")",
    "√",
    "e",
    "⁻³",
    "²",
    "½",
    "⁄",
    "1⁄3",
    "11⁄2",
    "10⁄3",
    "∕",
    "∗",
    "∙",
    "x",
    "３",
    "．５",
    *POWERS,
    "sqrt(",
    "ln(",
    "tanh",
    ".",
    ",",
    "…",
    "_",
    "%",
)
FUNCTIONS = ("sqrt", "exp", "ln", "tanh", "sin", "cos")


def right(draw: random.Random, depth: int = 0) -> str:
    """A calculation as people write them."""
    if depth > 3 or draw.random() < 0.3:
        return draw.choice(NUMBERS + RECURRING + FRACTIONS + ("e",))
    one = right(draw, depth + 1)
    match draw.randrange(7):
        case 0:
            return f"{one}{draw.choice(SIGNS)}{right(draw, depth + 1)}"
        case 1:
            return f"({one})"
        case 2:
            return f"{draw.choice(FUNCTIONS)}({one})"
        case 3:
            return f"√{draw.choice((one, '2', '3'))}"
        case 4:
            return f"{draw.choice('-+−')}{draw.choice(('', ' '))}{one}"
        case 5:
            return f"{one}{draw.choice(('²', '⁻¹', '³', '¹²'))}"
        case _:
            return f"{one}^{draw.choice(('2', '(1/2)', '½', '-1', one))}"


def mutated(draw: random.Random, text: str) -> str:
    """A text with a letter or two taken out, put in or repeated."""
    for _ in range(draw.randrange(3)):
        at = draw.randint(0, len(text))
        match draw.randrange(3):
            case 0:
                text = text[:at] + text[at + 1 :]
            case 1:
                text = text[:at] + draw.choice(PIECES) + text[at:]
            case _:
                text = text[:at] + text[max(at - 2, 0) :]
    return text


def drawn(draw: random.Random) -> str:
    """A right text, or one that is not right, or some pieces in a row."""
    if draw.random() < 0.3:
        return "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 4)))
    return mutated(draw, right(draw))


def read(text: str) -> Reading | str | None:
    """What attncli reads, in the words of the grammar; "refused" for an error."""
    try:
        claim = read_claim(text)
    except NumberError:
        return "refused"
    if claim is None:
        return None
    with mpmath.workdps(60):
        return Reading(mpmath.mpf(str(claim.value)), Fraction(claim.half))


def expected(text: str) -> Reading | str | None:
    # Dots say that a number is not there yet, as _ does.
    if text.strip() in ("…", "..."):
        return None
    try:
        return reading(text)
    except Refused:
        return "refused"


def agree(one: Reading | str | None, other: Reading | str | None) -> bool:
    if not isinstance(one, Reading) or not isinstance(other, Reading):
        return one == other
    if mpmath.isinf(one.value) or mpmath.isinf(other.value):
        return one == other
    with mpmath.workdps(60):
        slack = mpmath.mpf(10) ** -40 * max(1, abs(other.value))
        return one.half == other.half and abs(one.value - other.value) < slack


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(12))
def test_drawn_texts_are_what_the_grammar_says_or_errors_of_both(seed: int) -> None:
    draw = random.Random(seed)
    numbers = refused = 0
    for _ in range(2000):
        text = drawn(draw)
        try:
            said = expected(text)
        except Beyond:
            continue
        found = read(text)
        assert agree(found, said), f"{text!r}: attncli reads {found}, the grammar says {said}"
        numbers += isinstance(said, Reading)
        refused += said == "refused"
    assert numbers > 300
    assert refused > 300


PROBLEM = loads(b"Q: [[1]]\nK: [[1]]\nV: [[1]]\n", "one.yaml")
TRACE = run(PROBLEM)
SAFE_IN_YAML = re.compile(r"[-+.0-9(√e][-+.0-9()√/^e*·×–−\u0304\u0305\u0307]*")


def as_yaml(text: str) -> Source:
    return decode(
        f"scores: [[{text if SAFE_IN_YAML.fullmatch(text) else json.dumps(text)}]]".encode(),
        "a.yaml",
    )


def as_json(text: str) -> Source:
    return decode(json.dumps({"scores": [[text]]}).encode(), "a.json")


def as_python(text: str) -> Source:
    source = answers_source({"scores": [[text]]})
    assert isinstance(source, Source)
    return source


def as_markdown(text: str) -> Source:
    return decode(f"| $`S`$ | t1 |\n| :-- | --: |\n| **t1** | {text} |\n".encode(), "a.md")


def as_terminal_page(text: str) -> Source:
    return decode(
        f"── 2 Scores ───\n\n     t1\nt1 ⎡ {text} ⎤\n".replace("     t1", "S    t1").encode(),
        "a.txt",
    )


FORMS = {
    "YAML": as_yaml,
    "JSON": as_json,
    "Python": as_python,
    "Markdown": as_markdown,
    "terminal": as_terminal_page,
}
# In tables these are no part of a number: what is left of a line to write on, bars, the sign of a
# hidden cell, and two blanks, which end a cell.
NOT_IN_TABLES = re.compile(r"_|\||[·\\]\s*$|\s{2}|^\s|\s$|^$|\[|\]")


def read_cell(source: Source) -> Reading | str | None:
    """What attncli reads in the only cell of an answer."""
    try:
        answers = read_answers(source, TRACE)
    except AttncliError:
        return "refused"
    claim = answers.steps["scores"].cells[0, 0]
    if claim is None:
        return None
    with mpmath.workdps(60):
        return Reading(mpmath.mpf(str(claim.value)), Fraction(claim.half))


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(6))
def test_a_text_means_the_same_in_every_form_of_answers(seed: int) -> None:
    draw = random.Random(f"forms {seed}")
    looked_at = 0
    for _ in range(300):
        text = drawn(draw).strip()
        if NOT_IN_TABLES.search(text):
            continue
        try:
            said = expected(text)
        except Beyond:
            continue
        for form, written in FORMS.items():
            found = read_cell(written(text))
            assert agree(found, said), (
                f"{text!r} in {form}: attncli reads {found}, the grammar says {said}"
            )
        looked_at += 1
    assert looked_at > 150


def in_latex(draw: random.Random, depth: int = 0) -> tuple[str, str]:
    """A number in LaTeX, and the same as text."""
    if depth > 2 or draw.random() < 0.3:
        plain = draw.choice(("0", "2", "10", "0.5", "0.70", ".5", "1e3", "e"))
        recurring = (
            (r"0.\overline{3}", "0.(3)"),
            (r"0.1\bar 6", "0.16\u0305"),
            (r"0.\dot{1}4285\dot7", "0.(142857)"),
        )
        return draw.choice(((plain, plain), draw.choice(recurring)))
    one, text = in_latex(draw, depth + 1)
    other, said = in_latex(draw, depth + 1)
    match draw.randrange(9):
        case 0:
            return rf"\frac{{{one}}}{{{other}}}", f"(({text})/({said}))"
        case 1:
            return rf"\sqrt{{{one}}}", f"sqrt({text})"
        case 2:
            sign, shown = draw.choice(
                ((r"\cdot", "*"), (r"\times", "*"), ("+", "+"), ("-", "-"), ("/", "/"))
            )
            return f"{one} {sign} {other}", f"{text} {shown} {said}"
        case 3:
            return rf"e^{{{one}}}", f"e^({text})"
        case 4:
            name = draw.choice(("exp", "ln", "tanh", "sin", "cos"))
            return rf"\{name}\left({one}\right)", f"{name}({text})"
        case 5:
            blank = draw.choice(("", " "))
            return rf"2{blank}\left({one} + {other}\right)", f"2({text} + {said})"
        case 6:
            gap = draw.choice(
                (r"\quad", r"\,", r"\hspace{1em}", r"\phantom{0}", r"\kern1em", r"\;", "~")
            )
            return rf"{one}{gap}{{}}{other}", f"{text} {said}"
        case 7:
            powers = (
                ("^2", "^(2)"),
                ("^{10}", "^(10)"),
                ("^{-1}", "^(-1)"),
                # TeX raises one sign, so that these are refused, as braces are.
                ("^10", "^{1}0"),
                ("^1.5", "^{1}.5"),
                ("^-1", "^{-}1"),
            )
            power, shown = draw.choice(powers)
            return rf"\left({one}\right){power}", f"({text}){shown}"
        case _:
            return f"- {one}", f"- {text}"


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(6))
def test_latex_means_what_it_shows(seed: int) -> None:
    draw = random.Random(f"latex {seed}")
    numbers = refused = 0
    for _ in range(400):
        source, text = in_latex(draw)
        try:
            said = expected(text)
        except Beyond:
            continue
        for page in (
            decode(
                f"\\bordermatrix{{\n  S & t1 \\cr\n  t1 & {source} \\cr\n}}\n".encode(), "a.tex"
            ),
            decode(f"| $S$ | t1 |\n| :-- | --: |\n| t1 | ${source}$ |\n".encode(), "a.md"),
        ):
            found = read_cell(page)
            assert agree(found, said), (
                f"{source!r} in {page.name}: attncli reads {found}, {text!r} is {said}"
            )
        numbers += isinstance(said, Reading)
        refused += said == "refused"
    assert numbers > 50
    assert refused > 20


@in_one_test("text", [*RECURRING, *FRACTIONS, "-0.(3)", "0.(3) + 1", "-(1.(6))", "-1½"])
def test_a_wrong_answer_is_quoted_as_it_was_written(text: str) -> None:
    solution = judge_solution(
        PROBLEM, lambda trace: read_answers(as_json(text), trace), gradient=False
    )
    page = render(check_page(solution), "table", Style(width=200))
    assert f"You wrote {text}." in page
    assert f"you wrote {text} " in page
    assert not has_codes(render(check_page(solution), "latex", Style()))
