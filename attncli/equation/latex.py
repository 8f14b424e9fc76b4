"""How functions are spelled in LaTeX, for TeX, KaTeX and MathJax: tables only, as in `notation.py`."""

from __future__ import annotations

from dataclasses import replace

from attncli.equation.notation import SHARED
from attncli.equation.numerals import latex_digits
from attncli.equation.spelling import (
    ATOM,
    CHOICE,
    COMPARISON,
    POWER,
    PRODUCT,
    SUM,
    Notation,
    Spelling,
    latex_function,
    operator,
)
from attncli.equation.symbols import latex_cell, latex_name

LATEX_FUNCTIONS = SHARED | {
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
        "div": SHARED["div"],
        "share": SHARED["share"],
        "quotient": SHARED["div"],
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
