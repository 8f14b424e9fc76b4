"""Formulas in MathML: every one is well formed, with as many children as its elements take."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from attncli.attention.registry import RULES, cell_form, headline
from attncli.equation.functions import FUNCTIONS, MATRIX_FORMS
from attncli.equation.mathml import MATHML, mathml_cell, mathml_digits, mathml_name
from attncli.equation.nodes import Call, Equation, Name
from attncli.equation.notation import PRINTED
from attncli.equation.parser import parse_expression
from attncli.equation.printer import write, write_equation
from tests.cases import in_one_test

CHILDREN = {"mfrac": 2, "msup": 2, "msub": 2, "munder": 2, "msubsup": 3}
KNOWN = {
    *CHILDREN,
    "math",
    "mrow",
    "mi",
    "mo",
    "mn",
    "mtext",
    "mspace",
    "msqrt",
    "mtable",
    "mtr",
    "mtd",
}


def tree(written: str) -> ElementTree.Element:
    """The formula as a tree, checked for what MathML Core says of its elements."""
    root = ElementTree.fromstring(f"<math>{written}</math>")
    for element in root.iter():
        assert element.tag in KNOWN
        assert len(element) == CHILDREN.get(element.tag, len(element))
        if element.tag in ("mi", "mo", "mn", "mtext"):
            assert element.text
            assert not len(element)
        else:
            assert not (element.text or "").strip()
        assert not (element.tail or "").strip()
    return root


@in_one_test("function", sorted({*FUNCTIONS, *MATRIX_FORMS, *PRINTED}))
def test_every_function_is_well_formed(function: str) -> None:
    places = 3 if function == "where" else 2
    tree(write(Call(function, tuple(map(Name, "xyz"[:places]))), MATHML))


@in_one_test("rule", RULES.values(), ids=RULES)
def test_every_step_is_well_formed(rule: object) -> None:
    if not rule.given:  # type: ignore[attr-defined]
        equations: list[Equation] = [each for each in (headline(rule), cell_form(rule)) if each]  # type: ignore[arg-type]
        for equation in equations:
            tree(write_equation(equation, MATHML))


@in_one_test(
    ("source", "mathml"),
    [
        ("x", "<mi>x</mi>"),
        ("2", "<mn>2</mn>"),
        ("-inf", '<mo form="prefix">−</mo><mi>∞</mi>'),
        ("W_Q", "<msup><mi>W</mi><mrow><mi>Q</mi></mrow></msup>"),
        ("d_k", "<msub><mi>d</mi><mrow><mi>k</mi></mrow></msub>"),
        (
            "transpose(K)",
            (
                '<mrow><mi>transpose</mi><mrow><mo stretchy="false">(</mo><mi>K</mi><mo'
                ' stretchy="false">)</mo></mrow></mrow>'
            ),
        ),
        ("row_max", "<mi>row max</mi>"),
        ("K_T", '<msup><mi>K</mi><mrow><mi mathvariant="normal">T</mi></mrow></msup>'),
        (
            "W_Q[d, k]",
            "<msubsup><mi>W</mi><mrow><mi>d</mi><mo>,</mo><mi>k</mi></mrow><mrow><mi>Q</mi></mrow></msubsup>",
        ),
        ("dQ", '<mrow><mi mathvariant="normal">d</mi><mi>Q</mi></mrow>'),
        ("W_2", "<msup><mi>W</mi><mrow><mo>(</mo><mn>2</mn><mo>)</mo></mrow></msup>"),
        (
            "a * (b + c)",
            (
                "<mi>a</mi><mo>·</mo><mrow><mo"
                ' stretchy="false">(</mo><mi>b</mi><mo>+</mo><mi>c</mi><mo'
                ' stretchy="false">)</mo></mrow>'
            ),
        ),
        ("a / b", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        (
            "(a / b) ** 2",
            (
                "<msup><mrow><mrow><mo>(</mo><mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"
                "<mo>)</mo></mrow></mrow><mrow><mn>2</mn></mrow></msup>"
            ),
        ),
        ("exp(2)", "<msup><mi>e</mi><mrow><mn>2</mn></mrow></msup>"),
        ("j < i", "<mi>j</mi><mo>&lt;</mo><mi>i</mi>"),
    ],
)
def test_spellings(source: str, mathml: str) -> None:
    assert write(parse_expression(source), MATHML) == mathml
    tree(mathml)


def test_parentheses_grow_only_around_what_is_tall() -> None:
    """Browsers put gaps around those that may grow."""
    assert '<mo stretchy="false">(</mo>' in write(parse_expression("tanh(x)"), MATHML)
    assert "<mo>(</mo>" in write(parse_expression("tanh(x / 2)"), MATHML)


@pytest.mark.parametrize(
    ("digits", "mathml"),
    [
        ("1.5", "<mn>1.5</mn>"),
        ("inf", "<mi>∞</mi>"),
        (
            "1.5e+20",
            "<mrow><mn>1.5</mn><mo>×</mo><msup><mn>10</mn><mrow><mn>20</mn></mrow></msup></mrow>",
        ),
        (
            "2e-07",
            "<mrow><mn>2</mn><mo>×</mo><msup><mn>10</mn><mrow><mo>−</mo><mn>7</mn></mrow></msup></mrow>",
        ),
    ],
)
def test_numbers(digits: str, mathml: str) -> None:
    assert mathml_digits(digits) == mathml
    tree(mathml)


def test_primes_and_marks_stand_above_and_indices_below() -> None:
    assert mathml_name("Z'") == "<msup><mi>Z</mi><mrow><mo>′</mo></mrow></msup>"
    marked = mathml_cell("W'_Q", ("<mi>d</mi>",))
    assert (
        marked
        == "<msubsup><mi>W</mi><mrow><mi>d</mi></mrow><mrow><mo>′</mo><mi>Q</mi></mrow></msubsup>"
    )
