"""The notation that the parser reads back: parse_expression(write(tree, PYTHON)) is the tree again."""

from __future__ import annotations

from attncli.equation.functions import MATRIX_FORMS
from attncli.equation.notation import PLAIN_FUNCTIONS
from attncli.equation.spelling import ATOM, COMPARISON, POWER, PRODUCT, SUM, Notation, Spelling, operator

_OF_ONE = ("sqrt", "exp", "log", "tanh", "sin", "cos", "abs", "finite")
_OF_TWO = ("share", "add_mask", "rotate", "stack", "hadamard")
PYTHON_FUNCTIONS = PLAIN_FUNCTIONS | {
    **{name: Spelling(f"{name}({{0}})") for name in (*MATRIX_FORMS, *_OF_ONE)},
    **{name: Spelling(f"{name}({{0}}, {{1}})") for name in _OF_TWO},
    "floor_div": operator(" // ", PRODUCT, PRODUCT, POWER),
    "mod": operator(" % ", PRODUCT, PRODUCT, POWER),
    "mul": operator(" * ", PRODUCT, PRODUCT, POWER),
    "matmul": operator(" @ ", PRODUCT, PRODUCT, POWER),
    "pow": Spelling("{0} ** {1}", POWER, (ATOM, ATOM)),
    "eq": operator(" == ", COMPARISON, SUM),
    "where": Spelling("where({0}, {1}, {2})"),
}
PYTHON = Notation(
    PYTHON_FUNCTIONS,
    sums="sum({index}, {body})",
    maxima="max({index}, {body})",
    name=str,
    cell=lambda name, indices: f"{name}[{', '.join(indices)}]",
    digits=str,
)
