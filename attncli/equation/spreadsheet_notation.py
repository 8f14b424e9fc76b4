"""The notation of spreadsheets: an expression over cells is what stands after = in a formula of
Excel or LibreOffice.

Names and cells are spelled by addresses, which only a workbook knows: it puts its own `name` and
`cell` into the table.

A spreadsheet has no infinity. Where a score is hidden stands the text −∞, and the functions that
may meet it here are functions of their own, `shown_…`, since a spreadsheet cannot calculate with
text.
"""

from __future__ import annotations

from attncli.equation.notation import (
    ATOM,
    COMPARISON,
    MINUS,
    POWER,
    PRODUCT,
    SUM,
    Notation,
    Spelling,
    operator,
)

HIDDEN = "−∞"
# Excel and LibreOffice call these as we do, in capitals.
_SAME_NAME = frozenset({"exp", "sqrt", "tanh", "sin", "cos", "abs", "max", "min", "mod"})


def _function(name: str) -> Spelling:
    return Spelling(f"{name}({{0}})", separator=",")


def _of_the_same_name(function: str) -> Spelling:
    """The spelling of a function without a row of its own; LookupError where spreadsheets have no
    function of that name, as a cell with it would be an error there.
    """
    if function not in _SAME_NAME:
        raise LookupError(
            f"spreadsheets may have no {function.upper()}: spell {function} in"
            " equation/spreadsheet_notation.py"
        )
    return _function(function.upper())


def _unless_hidden(cell: str, form: str, *needs: int, hidden: str = "0") -> Spelling:
    return Spelling(f"IF(ISTEXT({cell}),{hidden},{form})", needs=needs)


SPREADSHEET = Notation(
    {
        "add": operator("+", SUM, SUM, PRODUCT),
        "sub": operator("-", SUM, SUM, PRODUCT),
        # Spreadsheets take a minus before a power.
        "neg": Spelling("-{0}", MINUS, (ATOM,)),
        "mul": operator("*", PRODUCT, PRODUCT, POWER),
        "multiple": operator("*", PRODUCT, PRODUCT, POWER),
        "div": Spelling("{0}/{1}", PRODUCT, (PRODUCT, POWER)),
        "ratio": Spelling("{0}/{1}", PRODUCT, (PRODUCT, POWER)),
        "pow": Spelling("{0}^{1}", POWER, (ATOM, ATOM)),
        "lt": operator("<", COMPARISON, SUM),
        "gt": operator(">", COMPARISON, SUM),
        "le": operator("<=", COMPARISON, SUM),
        "ge": operator(">=", COMPARISON, SUM),
        "eq": operator("=", COMPARISON, SUM),
        "and_": Spelling("AND({0},{1})"),
        "or_": Spelling("OR({0},{1})"),
        "log": _function("LN"),
        "pi": Spelling("PI()"),
        # EXP of a number above 709 is an error there.
        "sigmoid": Spelling("1/(1+EXP(-MAX({0},-700)))", PRODUCT),
        "silu": Spelling("{0}/(1+EXP(-MAX({0},-700)))", PRODUCT, (PRODUCT,)),
        "softplus": Spelling("LN(1+EXP(-ABS({0})))+MAX({0},0)", SUM),
        "relu": Spelling("MAX({0},0)"),
        "erf": _function("ERF"),
        "gelu": Spelling("{0}*NORMSDIST({0})", PRODUCT, (PRODUCT,)),
        "phi": Spelling("EXP(-(({0})^2)/2)/SQRT(2*PI())", PRODUCT),
        "floor_div": Spelling("INT({0}/{1})", needs=(PRODUCT, POWER)),
        "where": Spelling("IF({0},{1},{2})"),
        "range": Spelling("{0}:{1}"),
        "sum_of": _function("SUM"),
        "products_of": Spelling("SUMPRODUCT({0},{1})"),
        "row_by_column": Spelling("SUMPRODUCT(MMULT({0},{1}))"),
        "share": Spelling("IF({1}=0,0,{0}/{1})", needs=(PRODUCT, POWER)),
        "add_mask": _unless_hidden("{1}", "{0}+{1}", SUM, ATOM, hidden=f'"{HIDDEN}"'),
        # N of a text is 0.
        "finite": _function("N"),
        "shown_exp": _unless_hidden("{0}", "EXP({0})", SUM),
        "shown_exp_of": _unless_hidden("{0}", "{1}", SUM),
        "shown_pow": _unless_hidden("{1}", "{0}^{1}", ATOM),
        "shown_sub": _unless_hidden("{0}", "{0}-{1}", SUM, PRODUCT, hidden=f'"{HIDDEN}"'),
        "shown_max": Spelling(f'IF(COUNT({{0}})=0,"{HIDDEN}",MAX({{0}}))'),
        "kept_hidden": _unless_hidden("{0}", "{1}", SUM, hidden=f'"{HIDDEN}"'),
        "hidden": Spelling(f'"{HIDDEN}"'),
        "where_hidden": _unless_hidden("{0}", "{2}", SUM, hidden="{1}"),
    },
    # Sums are written out, or are the SUM of a range, so no form has an index.
    sums="",
    maxima="",
    name=str,
    cell=lambda name, indices: f"{name}[{','.join(indices)}]",
    # Spreadsheets write 1E+20.
    digits=str.upper,
    others=_of_the_same_name,
)
