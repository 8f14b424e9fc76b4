"""How functions are spelled in each notation: tables only, the walker is in `write.py`.

PLAIN is ASCII for programs, UNICODE for terminals; `latex.py` has those for TeX, KaTeX and MathJax.
"""

from __future__ import annotations

from attncli.equation.numerals import unicode_digits
from attncli.equation.spelling import (
    ATOM,
    CHOICE,
    COMPARISON,
    MINUS,
    POWER,
    PRODUCT,
    SUM,
    Notation,
    Spelling,
    operator,
)
from attncli.equation.symbols import bracketed, plain_name, unicode_name

SHARED = {
    "add": operator(" + ", SUM, SUM, PRODUCT),
    "add_mask": operator(" + ", SUM, SUM, PRODUCT),
    "sub": operator(" - ", SUM, SUM, PRODUCT),
    "neg": Spelling("-{0}", MINUS, (PRODUCT,)),
    "div": Spelling("{0} / {1}", PRODUCT, (MINUS, POWER)),
    "share": Spelling("{0} / {1}", PRODUCT, (MINUS, POWER)),
    "matmul": operator(" ", PRODUCT, PRODUCT, POWER),
    "finite": Spelling("{0}", POWER, (POWER,)),
    "max": Spelling("max({0})", separator=", "),
    "lt": operator(" < ", COMPARISON, SUM),
    "gt": operator(" > ", COMPARISON, SUM),
    "eq": operator(" = ", COMPARISON, SUM),
    "log": Spelling("ln({0})"),
    "tanh": Spelling("tanh({0})"),
    "sin": Spelling("sin({0})"),
    "cos": Spelling("cos({0})"),
    "abs": Spelling("abs({0})"),
    "floor_div": operator(" // ", PRODUCT, PRODUCT, POWER),
    "mod": operator(" mod ", PRODUCT, PRODUCT, POWER),
    "rotate": Spelling("rotate({0}, {1})"),
    "stack": Spelling("stack({0}, {1})"),
    "join": Spelling("join({0})"),
    "softmax": Spelling("softmax({0})"),
    "diagonal": Spelling("diag({0})"),
    "ratio": Spelling("{0}/{1}", PRODUCT, (PRODUCT, POWER)),
    "over": Spelling("{0}/{1}", PRODUCT, (PRODUCT, POWER)),  # in an exponent
    "quotient": Spelling("{0}/{1}", PRODUCT, (PRODUCT, POWER)),  # of sums
    "multiple": operator("*", PRODUCT, PRODUCT, POWER),
    "e_to": Spelling("e^{0}", POWER, (POWER,)),
    "left_out": Spelling("… {0} more …"),
    "comes_to": operator(" = ", CHOICE),
    "comes_near": operator(" ≈ ", CHOICE),
    "nearly": Spelling("{0} ≈", CHOICE),
    "equally": Spelling("{0} =", CHOICE),
}

PLAIN_FUNCTIONS = SHARED | {
    "mul": operator("*", PRODUCT, PRODUCT, POWER),
    "pow": Spelling("{0}^{1}", POWER, (ATOM, ATOM)),
    "sqrt": Spelling("sqrt({0})"),
    "exp": Spelling("exp({0})"),
    "le": operator(" <= ", COMPARISON, SUM),
    "ge": operator(" >= ", COMPARISON, SUM),
    "and_": operator(" and ", COMPARISON),
    "where": Spelling("{1} if {0} else {2}", CHOICE, (COMPARISON, SUM, SUM)),
    "transpose": Spelling("transpose({0})"),
    "transposed": Spelling("{0}^T", POWER, (ATOM,)),
    "hadamard": operator(" o ", PRODUCT, PRODUCT, POWER),
    "row_sums": Spelling("rowsum({0})"),
    "column_sums": Spelling("colsum({0})"),
    "row_maxima": Spelling("rowmax({0})"),
}

UNICODE_FUNCTIONS = PLAIN_FUNCTIONS | {
    "mul": operator("·", PRODUCT, PRODUCT, POWER),
    "multiple": operator("·", PRODUCT, PRODUCT, POWER),
    "sqrt": Spelling("√{0}", POWER, (ATOM,)),
    "abs": Spelling("|{0}|"),
    "floor_div": Spelling("⌊{0}/{1}⌋", needs=(PRODUCT, POWER)),
    "stack": Spelling("{0} above {1}", SUM, (PRODUCT,)),
    "join": Spelling("the heads of {0}, side by side", PRODUCT, (POWER,)),
    "rotate": Spelling("{0} rotated by {1}", PRODUCT, (POWER,)),
    "exp": Spelling("exp({0})", of_number=Spelling("e^{0}", POWER, (ATOM,))),
    "le": operator(" ≤ ", COMPARISON, SUM),
    "ge": operator(" ≥ ", COMPARISON, SUM),
    "transpose": Spelling("transpose of {0}", PRODUCT, (POWER,)),
    "transposed": Spelling("{0}ᵀ", POWER, (ATOM,)),
    "hadamard": operator(" ∘ ", PRODUCT, PRODUCT, POWER),
    "row_sums": Spelling("row sums of {0}", PRODUCT, (POWER,)),
    "column_sums": Spelling("column sums of {0}", PRODUCT, (POWER,)),
    "row_maxima": Spelling("row maxima of {0}", PRODUCT),
}

PLAIN = Notation(
    PLAIN_FUNCTIONS,
    sums="sum({index}, {body})",
    maxima="max({index}, {body})",
    name=plain_name,
    cell=lambda name, indices: bracketed(plain_name(name), indices),
    digits=str,
)
UNICODE = Notation(
    UNICODE_FUNCTIONS,
    sums="Σ_{index} {body}",
    maxima="max_{index} {body}",
    name=unicode_name,
    cell=lambda name, indices: bracketed(unicode_name(name), indices),
    digits=unicode_digits,
)
