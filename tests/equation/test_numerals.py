"""The structure of printed numbers."""

from __future__ import annotations

from attncli.equation.nodes import Call, Expression, Number
from attncli.equation.printer import numeral
from tests.cases import in_one_test


def digits(text: str) -> Number:
    return Number(None, text)


ROOT = Call("sqrt", (digits("2"),))


@in_one_test(
    ("text", "tree"),
    [
        ("0.707", digits("0.707")),
        ("-0.5", Call("neg", (digits("0.5"),))),
        ("1e-07", digits("1e-07")),
        ("inf", digits("inf")),
        ("1/3", Call("ratio", (digits("1"), digits("3")))),
        ("sqrt(2)", ROOT),
        ("2*sqrt(2)", Call("multiple", (digits("2"), ROOT))),
        (
            "-3*sqrt(2)/2",
            Call("neg", (Call("ratio", (Call("multiple", (digits("3"), ROOT)), digits("2"))),)),
        ),
    ],
)
def test_a_number_is_read_as_it_is_printed(text: str, tree: Expression) -> None:
    assert numeral(text) == tree
