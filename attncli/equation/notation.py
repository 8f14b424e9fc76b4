"""How functions, names and numbers are spelled in each notation: tables only, the walker is in `write.py`.

PLAIN is ASCII for programs, UNICODE for terminals, LATEX for TeX, KaTeX and MathJax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

CHOICE, COMPARISON, SUM, MINUS, PRODUCT, POWER, ATOM = range(7)  # how tightly a form binds


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one function is written.

    `form` has a slot {0}, {1}, … for each argument, or is the separator of an n-ary operator where
    `joins`. `level` is how tightly the whole binds, `needs` how tightly each argument must, the last
    entry serving all further arguments. `of_number` replaces the form where the argument is a number.
    """

    form: str
    level: int = ATOM
    needs: tuple[int, ...] = (CHOICE,)
    joins: bool = False
    of_number: str = ""


@dataclass(frozen=True, slots=True)
class Notation:
    """A table of spellings and the few forms that are not functions."""

    functions: Mapping[str, Spelling]
    sums: str  # Σ over an index: {index}, {body}
    maxima: str
    name: Callable[[str], str]
    cell: Callable[[str, tuple[str, ...]], str]
    number: Callable[[str], str]
    parenthesis: str = "({})"
    equals: str = "="
    nearly: str = "≈"


def operator(separator: str, level: int, *needs: int) -> Spelling:
    return Spelling(separator, level, needs or (level,), joins=True)


_SHARED = {
    "add": operator(" + ", SUM, SUM, PRODUCT),
    "add_mask": operator(" + ", SUM, SUM, PRODUCT),
    "sub": operator(" - ", SUM, SUM, PRODUCT),
    "neg": Spelling("-{0}", MINUS, (PRODUCT,)),
    "div": Spelling("{0} / {1}", PRODUCT, (MINUS, POWER)),
    "share": Spelling("{0} / {1}", PRODUCT, (MINUS, POWER)),
    "matmul": operator(" ", PRODUCT, PRODUCT, POWER),
    "finite": Spelling("{0}", POWER, (POWER,)),
    "max": Spelling(", ", ATOM, (CHOICE,), joins=True),
    "lt": operator(" < ", COMPARISON, SUM),
    "gt": operator(" > ", COMPARISON, SUM),
    "eq": operator(" = ", COMPARISON, SUM),
    "tanh": Spelling("tanh({0})"),
    "softmax": Spelling("softmax({0})"),
}

PLAIN_FUNCTIONS = _SHARED | {
    "mul": operator("*", PRODUCT, PRODUCT, POWER),
    "pow": Spelling("{0}^{1}", POWER, (ATOM, ATOM)),
    "sqrt": Spelling("sqrt({0})"),
    "exp": Spelling("exp({0})"),
    "le": operator(" <= ", COMPARISON, SUM),
    "ge": operator(" >= ", COMPARISON, SUM),
    "and_": operator(" and ", COMPARISON),
    "not_": Spelling("not {0}", COMPARISON, (ATOM,)),
    "where": Spelling("{1} if {0} else {2}", CHOICE, (COMPARISON, SUM, SUM)),
    "transpose": Spelling("transpose({0})"),
    "row_sums": Spelling("rowsum({0})"),
    "row_maxima": Spelling("rowmax({0})"),
}

UNICODE_FUNCTIONS = PLAIN_FUNCTIONS | {
    "mul": operator("·", PRODUCT, PRODUCT, POWER),
    "sqrt": Spelling("√{0}", POWER, (ATOM,)),
    "exp": Spelling("exp({0})", of_number="e^{0}", needs=(ATOM,)),
    "le": operator(" ≤ ", COMPARISON, SUM),
    "ge": operator(" ≥ ", COMPARISON, SUM),
    "transpose": Spelling("transpose of {0}", PRODUCT, (POWER,)),
    "row_sums": Spelling("row sums of {0}", PRODUCT),
    "row_maxima": Spelling("row maxima of {0}", PRODUCT),
}

LATEX_FUNCTIONS = _SHARED | {
    "mul": operator(r" \cdot ", PRODUCT, PRODUCT, POWER),
    "div": Spelling(r"\frac{{{0}}}{{{1}}}", POWER),
    "share": Spelling(r"\frac{{{0}}}{{{1}}}", POWER),
    "matmul": operator(r" \, ", PRODUCT, PRODUCT, POWER),
    "pow": Spelling("{0}^{{{1}}}", POWER, (ATOM, CHOICE)),
    "sqrt": Spelling(r"\sqrt{{{0}}}"),
    "exp": Spelling(r"\exp({0})", of_number="e^{{{0}}}"),
    "tanh": Spelling(r"\tanh({0})"),
    "le": operator(r" \le ", COMPARISON, SUM),
    "ge": operator(r" \ge ", COMPARISON, SUM),
    "and_": operator(r" \;\mathrm{and}\; ", COMPARISON),
    "not_": Spelling(r"\mathrm{{not}}\;{0}", COMPARISON, (ATOM,)),
    "where": Spelling(
        r"\left\{{\begin{{array}}{{ll}}{1} & \mathrm{{if}}\; {0} \\{{}} {2} & \mathrm{{otherwise}}"
        r"\end{{array}}\right.",
        CHOICE,
        (CHOICE, CHOICE, CHOICE),
    ),
    "transpose": Spelling(r"\mathrm{{transpose}}({0})"),
    "softmax": Spelling(r"\mathrm{{softmax}}({0})"),
    "row_sums": Spelling(r"\mathrm{{rowsum}}({0})"),
    "row_maxima": Spelling(r"\mathrm{{rowmax}}({0})"),
}


def _plain_name(name: str) -> str:
    return name[:-2] + "^T" if name.endswith("_T") else name


def _unicode_name(name: str) -> str:
    return "∞" if name == "inf" else name[:-2] + "ᵀ" if name.endswith("_T") else name


def _latex_name(name: str) -> str:
    """W_Q is W^Q, so that it can still take indices; d_k keeps its subscript; words stand upright."""
    if name == "inf":
        return r"\infty"
    base, _, tail = name.partition("_")
    if len(base.rstrip("'")) > 1:
        return rf"\mathrm{{{name.translate(_UPRIGHT)}}}"
    if not tail:
        return base
    mark = r"\top" if tail == "T" else tail if len(tail) == 1 else rf"\mathrm{{{tail}}}"
    return f"{base}_{{{mark}}}" if base in ("d", "n") else f"{base}^{{{mark}}}"


_UPRIGHT = str.maketrans({"_": "~", " ": "~", "…": r"\ldots{}"})


def _latex_cell(name: str, indices: tuple[str, ...]) -> str:
    base = f"{{{name}}}" if "_" in name else name  # a second subscript on the same letter is an error
    return f"{base}_{{{','.join(indices)}}}"


def _unicode_number(text: str) -> str:
    return _RADICAL.sub(r"√\1", text.replace("inf", "∞").replace("*", "·"))


_RADICAL = re.compile(r"sqrt\((\d+)\)")
_EXPONENT = re.compile(r"e([+-]?)0*(\d+)$")
_FRACTION = re.compile(r"(-?)(.+)/(.+)")


def _latex_number(text: str) -> str:
    if "inf" in text:
        return text.replace("inf", r"\infty")
    fraction = _FRACTION.fullmatch(text)
    if fraction:
        return rf"{fraction[1]}\frac{{{_latex_number(fraction[2])}}}{{{_latex_number(fraction[3])}}}"
    text = re.sub(r"sqrt\((.+?)\)", r"\\sqrt{\1}", text).replace("*", " ")
    return _EXPONENT.sub(lambda found: rf" \times 10^{{{found[1].replace('+', '')}{found[2]}}}", text)


PLAIN = Notation(
    PLAIN_FUNCTIONS,
    sums="sum({index}, {body})",
    maxima="max({index}, {body})",
    name=_plain_name,
    cell=lambda name, indices: f"{name}[{', '.join(indices)}]",
    number=lambda text: text,
)
UNICODE = Notation(
    UNICODE_FUNCTIONS,
    sums="Σ_{index} {body}",
    maxima="max_{index} {body}",
    name=_unicode_name,
    cell=lambda name, indices: f"{name}[{', '.join(indices)}]",
    number=_unicode_number,
)
LATEX = Notation(
    LATEX_FUNCTIONS,
    sums=r"\sum_{{{index}}} {body}",
    maxima=r"\max_{{{index}}} {body}",
    name=_latex_name,
    cell=_latex_cell,
    number=_latex_number,
    nearly=r"\approx",
)
LATEX_LINE = replace(  # for lines of text, where a fraction would be too small to read and a case cannot be broken
    LATEX,
    functions=LATEX_FUNCTIONS
    | {
        "div": _SHARED["div"],
        "share": _SHARED["share"],
        "where": Spelling(r"{1} \;\mathrm{{if}}\; {0} \;\mathrm{{else}}\; {2}", CHOICE, (COMPARISON, SUM, SUM)),
    },
)
