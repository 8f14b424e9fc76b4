r"""How functions are spelled in each notation.

PLAIN is ASCII, for programs, and UNICODE for terminals; PYTHON is what the
parser reads back; LATEX is for TeX, KaTeX and MathJax.

These are tables only: the walker is in `printer.py`. A function that stands in no table is spelled
by its name, `name(x, y)`, or `\mathrm{name}(x, y)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from attncli.equation.symbols import bracketed, latex_cell, latex_name, plain_name, unicode_name

# How tightly a form binds: a product needs no parentheses in a sum, and a sum needs them in it.
# Other products need them in a product of matrices, whose sign is only a space.
CHOICE, EITHER, BOTH, COMPARISON, SUM, MINUS, PRODUCT, MATRIX_PRODUCT, POWER, ATOM = range(10)


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one function is written.

    `form` has a slot {0}, {1}, … for each argument; where there is a `separator`, the arguments are
    first joined by it, however many, and stand in {0} together. `level` is how tightly the whole
    binds, `needs` how tightly each argument must, the last entry serving all further arguments.
    `of_number` is how it is written of a number, `of_tall` of what is taller than a line, where
    that differs.
    """

    form: str
    level: int = ATOM
    needs: tuple[int, ...] = (CHOICE,)
    separator: str = ""
    of_number: Spelling | None = None
    of_tall: Spelling | None = None


def operator(sign: str, level: int, *needs: int) -> Spelling:
    """An operator that stands between any number of arguments."""
    return Spelling("{0}", level, needs or (level,), separator=sign)


@cache
def by_name(function: str) -> Spelling:
    """A function by its name: rotate(x, y)."""
    return Spelling(f"{function}({{0}})", separator=", ")


def latex_function(
    name: str, *, separator: str = ", ", of_number: Spelling | None = None
) -> Spelling:
    r"""\tanh(x), in parentheses as tall as the argument is; the space that \left puts before them
    is taken away.
    """
    tall = Spelling(name + r"\mathopen{{}}\left({0}\right)", separator=separator)
    return Spelling(name + "({0})", separator=separator, of_number=of_number, of_tall=tall)


@cache
def latex_by_name(function: str) -> Spelling:
    r"""The same in LaTeX: \mathrm{rotate}(x, y)."""
    name = function.replace("_", r"\_")
    return latex_function(rf"\mathrm{{{{{name}}}}}")


@dataclass(frozen=True, slots=True)
class Notation:
    """A table of spellings and the few forms that are not functions.

    `others` spells the functions that are not in the table; `name` spells a name, `cell` a name
    with indices, `digits` a number that has no sign and no structure. What holds one of the signs
    in `tall` is taller than a line, and takes `tall_parenthesis`. A name with one of
    the signs in `raised` has something raised already, beside which no exponent can stand.
    """

    functions: Mapping[str, Spelling]
    # Σ over an index has {index} and {body}.
    sums: str
    maxima: str
    name: Callable[[str], str]
    cell: Callable[[str, tuple[str, ...]], str]
    digits: Callable[[str], str]
    others: Callable[[str], Spelling] = by_name
    parenthesis: str = "({})"
    tall: tuple[str, ...] = ()
    tall_parenthesis: str = parenthesis
    raised: tuple[str, ...] = ()
    equals: str = "="
    nearly: str = "≈"

    def spelling(self, function: str) -> Spelling:
        return self.functions.get(function) or self.others(function)


INFINITY_SIGN = "∞"


def unicode_digits(digits: str) -> str:
    """∞ for inf, also after a sign."""
    return digits.removesuffix("inf") + INFINITY_SIGN if digits.endswith("inf") else digits


def latex_digits(digits: str) -> str:
    r"""\infty for inf, and 1.5 \times 10^{20} for 1.5e+20."""
    if digits == "inf":
        return r"\infty"
    digits, power, exponent = digits.partition("e")
    return rf"{digits} \times 10^{{{int(exponent)}}}" if power else digits


ARITHMETIC = {
    "add": operator(" + ", SUM, SUM, PRODUCT),
    "sub": operator(" - ", SUM, SUM, PRODUCT),
    "neg": Spelling("-{0}", MINUS, (PRODUCT,)),
    "div": Spelling("{0} / {1}", PRODUCT, (MINUS, POWER)),
    "lt": operator(" < ", COMPARISON, SUM),
    "gt": operator(" > ", COMPARISON, SUM),
}
# Forms of what is printed already: fractions, roots and powers of e as they stand in a number, and
# terms left out.
PRINTED = {
    "ratio": Spelling("{0}/{1}", PRODUCT, (PRODUCT, POWER)),
    # `over` is a fraction in an exponent, and `quotient` one of sums.
    "over": Spelling("{0}/{1}", PRODUCT, (PRODUCT, POWER)),
    "quotient": Spelling("{0}/{1}", PRODUCT, (PRODUCT, POWER)),
    "multiple": operator("*", PRODUCT, PRODUCT, POWER),
    "e_to": Spelling("e^{0}", POWER, (POWER,)),
    "left_out": Spelling("… {0} more …"),
    "comes_to": operator(" = ", CHOICE),
    "comes_near": operator(" ≈ ", CHOICE),
    "nearly": Spelling("{0} ≈", CHOICE),
    "equally": Spelling("{0} =", CHOICE),
}
SHARED_FORMS = (
    ARITHMETIC
    | PRINTED
    | {
        "add_mask": ARITHMETIC["add"],
        "share": ARITHMETIC["div"],
        "matmul": operator(" ", MATRIX_PRODUCT, MATRIX_PRODUCT, POWER),
        "finite": Spelling("{0}", POWER, (POWER,)),
        "eq": operator(" = ", COMPARISON, SUM),
        "log": Spelling("ln({0})"),
        "pi": Spelling("pi"),
        "floor_div": operator(" // ", PRODUCT, PRODUCT, POWER),
        "mod": operator(" mod ", PRODUCT, POWER, POWER),
        "diagonal": Spelling("diag({0})"),
        "relu": Spelling("ReLU({0})"),
        "gelu": Spelling("GELU({0})"),
        "silu": Spelling("SiLU({0})"),
    }
)

PYTHON_FUNCTIONS = ARITHMETIC | {
    "pi": Spelling("pi"),
    "mul": operator(" * ", PRODUCT, PRODUCT, POWER),
    "matmul": operator(" @ ", PRODUCT, PRODUCT, POWER),
    "pow": Spelling("{0} ** {1}", POWER, (ATOM, ATOM)),
    "floor_div": operator(" // ", PRODUCT, PRODUCT, POWER),
    "mod": operator(" % ", PRODUCT, PRODUCT, POWER),
    "le": operator(" <= ", COMPARISON, SUM),
    "ge": operator(" >= ", COMPARISON, SUM),
    "eq": operator(" == ", COMPARISON, SUM),
    "and_": operator(" and ", BOTH),
    "or_": operator(" or ", EITHER, COMPARISON),
}

PLAIN_FUNCTIONS = SHARED_FORMS | {
    "mul": operator("*", PRODUCT, PRODUCT, POWER),
    "pow": Spelling("{0}^{1}", POWER, (ATOM, ATOM)),
    "le": operator(" <= ", COMPARISON, SUM),
    "ge": operator(" >= ", COMPARISON, SUM),
    "and_": operator(" and ", BOTH),
    "or_": operator(" or ", EITHER, COMPARISON),
    "where": Spelling("{1} if {0} else {2}", CHOICE, (EITHER, SUM, SUM)),
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
    "pi": Spelling("π", needs=()),
    "phi": Spelling("φ({0})"),
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

LATEX_FUNCTIONS = SHARED_FORMS | {
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
    "matmul": operator(r" \, ", MATRIX_PRODUCT, MATRIX_PRODUCT, POWER),
    "pow": Spelling("{0}^{{{1}}}", POWER, (ATOM, CHOICE)),
    "sqrt": Spelling(r"\sqrt{{{0}}}"),
    "exp": latex_function(r"\exp", of_number=Spelling("e^{{{0}}}", POWER)),
    "log": latex_function(r"\ln"),
    "tanh": latex_function(r"\tanh"),
    "sin": latex_function(r"\sin"),
    "cos": latex_function(r"\cos"),
    "phi": latex_function(r"\varphi"),
    "relu": latex_function(r"\mathrm{{ReLU}}"),
    "gelu": latex_function(r"\mathrm{{GELU}}"),
    "silu": latex_function(r"\mathrm{{SiLU}}"),
    "abs": Spelling(r"\left|{0}\right|"),
    "pi": Spelling(r"\pi"),
    "floor_div": Spelling(r"\lfloor {0} / {1} \rfloor", needs=(PRODUCT, POWER)),
    "mod": operator(r" \bmod ", PRODUCT, POWER, POWER),
    "join": Spelling(r"\mathrm{{Concat}}({0}_0, {0}_1, \ldots)"),
    "max": latex_function(r"\max"),
    "min": latex_function(r"\min"),
    "le": operator(r" \le ", COMPARISON, SUM),
    "ge": operator(r" \ge ", COMPARISON, SUM),
    "and_": operator(r" \;\mathrm{and}\; ", BOTH),
    "or_": operator(r" \;\mathrm{or}\; ", EITHER, COMPARISON),
    "where": Spelling(
        r"\left\{{\begin{{array}}{{ll}}{1} & \mathrm{{if}}\; {0} \\ {{{2}}} & \mathrm{{otherwise}}"
        r"\end{{array}}\right.",
        CHOICE,
        (CHOICE, CHOICE, CHOICE),
    ),
    "diagonal": latex_function(r"\mathrm{{diag}}"),
    "transposed": Spelling(r"{{{0}}}^{{\top}}", POWER, (POWER,)),
    "hadamard": operator(r" \circ ", PRODUCT, PRODUCT, POWER),
    "row_sums": latex_function(r"\mathrm{{rowsum}}"),
    "column_sums": latex_function(r"\mathrm{{colsum}}"),
    "row_maxima": latex_function(r"\mathrm{{rowmax}}"),
}

PYTHON = Notation(
    PYTHON_FUNCTIONS,
    sums="sum({index}, {body})",
    maxima="max({index}, {body})",
    name=str,
    cell=lambda name, indices: f"{name}[{', '.join(indices)}]",
    digits=str,
)
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
    others=latex_by_name,
    tall=(r"\frac", r"\begin", r"\sum"),
    tall_parenthesis=r"\left({}\right)",
    raised=("^", "'"),
    nearly=r"\approx",
)
# In a line of text, a fraction would be too small to read, and a case cannot be broken.
LATEX_LINE = replace(
    LATEX,
    tall=(),
    functions=LATEX_FUNCTIONS
    | {
        "div": SHARED_FORMS["div"],
        "share": SHARED_FORMS["share"],
        "quotient": SHARED_FORMS["div"],
        "where": Spelling(
            r"{1} \;\mathrm{{if}}\; {0} \;\mathrm{{else}}\; {2}", CHOICE, (EITHER, SUM, SUM)
        ),
    },
)
# TeX breaks a long sum into lines, but may do so only before a term.
LATEX_TERMS = replace(
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
