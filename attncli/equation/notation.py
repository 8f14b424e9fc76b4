"""How functions are spelled in each notation: tables only, the walker is in `write.py`.

PLAIN is ASCII for programs, UNICODE for terminals, LATEX for TeX, KaTeX and MathJax.
"""

from __future__ import annotations

from attncli.equation.numerals import latex_digits, unicode_digits
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
    latex_function,
    operator,
)
from attncli.equation.symbols import bracketed, latex_cell, latex_name, plain_name, unicode_name
from attncli.records import replace

_SHARED = {
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

PLAIN_FUNCTIONS = _SHARED | {
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

LATEX_FUNCTIONS = _SHARED | {
    "mul": operator(r" \cdot ", PRODUCT, PRODUCT, POWER),
    "div": Spelling(r"\frac{{{0}}}{{{1}}}", POWER),
    "share": Spelling(r"\frac{{{0}}}{{{1}}}", POWER),
    "ratio": Spelling(r"\frac{{{0}}}{{{1}}}", POWER),
    "quotient": Spelling(r"\frac{{{0}}}{{{1}}}", POWER),
    "e_to": Spelling("e^{{{0}}}", POWER),
    "multiple": operator(" ", PRODUCT, PRODUCT, POWER),
    "left_out": Spelling(r"\ldots\;{0}\;\mathrm{{more}}\;\ldots"),
    "comes_near": operator(r" \approx ", CHOICE),
    "nearly": Spelling(r"{0} \approx", CHOICE),
    "matmul": operator(r" \, ", PRODUCT, PRODUCT, POWER),
    "pow": Spelling("{0}^{{{1}}}", POWER, (ATOM, CHOICE)),
    "sqrt": Spelling(r"\sqrt{{{0}}}"),
    "exp": latex_function(r"\exp", of_number=Spelling("e^{{{0}}}", POWER)),
    "log": latex_function(r"\ln"),
    "tanh": latex_function(r"\tanh"),
    "sin": latex_function(r"\sin"),
    "cos": latex_function(r"\cos"),
    "abs": Spelling(r"\left|{0}\right|"),
    "floor_div": Spelling(r"\lfloor {0} / {1} \rfloor", needs=(PRODUCT, POWER)),
    "mod": operator(r" \bmod ", PRODUCT, PRODUCT, POWER),
    "rotate": latex_function(r"\mathrm{{rotate}}", separator=", "),
    "stack": latex_function(r"\mathrm{{stack}}", separator=", "),
    "join": Spelling(r"\mathrm{{Concat}}({0}_0, {0}_1, \ldots)"),
    "max": latex_function(r"\max", separator=", "),
    "le": operator(r" \le ", COMPARISON, SUM),
    "ge": operator(r" \ge ", COMPARISON, SUM),
    "and_": operator(r" \;\mathrm{and}\; ", COMPARISON),
    "where": Spelling(
        r"\left\{{\begin{{array}}{{ll}}{1} & \mathrm{{if}}\; {0} \\ {{{2}}} & \mathrm{{otherwise}}"
        r"\end{{array}}\right.",
        CHOICE,
        (CHOICE, CHOICE, CHOICE),
    ),
    "transpose": latex_function(r"\mathrm{{transpose}}"),
    "softmax": latex_function(r"\mathrm{{softmax}}"),
    "diagonal": latex_function(r"\mathrm{{diag}}"),
    "transposed": Spelling(r"{{{0}}}^{{\top}}", POWER, (ATOM,)),
    "hadamard": operator(r" \circ ", PRODUCT, PRODUCT, POWER),
    "row_sums": latex_function(r"\mathrm{{rowsum}}"),
    "column_sums": latex_function(r"\mathrm{{colsum}}"),
    "row_maxima": latex_function(r"\mathrm{{rowmax}}"),
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
LATEX = Notation(
    LATEX_FUNCTIONS,
    sums=r"\sum_{{{index}}} {body}",
    maxima=r"\max_{{{index}}} {body}",
    name=latex_name,
    cell=latex_cell,
    digits=latex_digits,
    tall=(r"\frac", r"\begin", r"\sum"),
    tall_parenthesis=r"\left({}\right)",
    nearly=r"\approx",
)
LATEX_LINE = replace(  # for lines of text, where a fraction would be too small to read and a case cannot be broken
    LATEX,
    tall=(),
    functions=LATEX_FUNCTIONS
    | {
        "div": _SHARED["div"],
        "share": _SHARED["share"],
        "quotient": _SHARED["div"],
        "where": Spelling(r"{1} \;\mathrm{{if}}\; {0} \;\mathrm{{else}}\; {2}", CHOICE, (COMPARISON, SUM, SUM)),
    },
)
LATEX_TERMS = replace(  # for sums that TeX breaks into lines, where it may break before a term and nowhere else
    LATEX_LINE,
    functions={
        **LATEX_LINE.functions,
        "add": operator(r" \allowbreak + ", SUM, SUM, PRODUCT),
        "add_mask": operator(r" \allowbreak + ", SUM, SUM, PRODUCT),
        "sub": operator(r" \allowbreak - ", SUM, SUM, PRODUCT),
        "max": latex_function(r"\max", separator=r", \allowbreak "),
        "comes_to": operator(r" \allowbreak = ", CHOICE),
        "comes_near": operator(r" \allowbreak \approx ", CHOICE),
    },
)
