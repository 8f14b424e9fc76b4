"""MathML Core: the notation that browsers set by themselves, as one more table of spellings.

Every form is one element or a row of them, and every slot where an element takes a fixed number of
children stands in a row of its own. What a person wrote never comes here: names and numbers are
those of equations.
"""

from __future__ import annotations

from attncli.equation.notation import (
    ATOM,
    BOTH,
    CHOICE,
    COMPARISON,
    EITHER,
    MATRIX_PRODUCT,
    MINUS,
    POWER,
    PRODUCT,
    SUM,
    Notation,
    Spelling,
    operator,
)
from attncli.equation.symbols import symbol

# Browsers put gaps around parentheses that may grow, so only those around what is tall may.
_FLAT = '<mrow><mo stretchy="false">(</mo>{}<mo stretchy="false">)</mo></mrow>'
_TALL = "<mrow><mo>(</mo>{}<mo>)</mo></mrow>"
_THIN, _WIDE = '<mspace width="0.17em"/>', '<mspace width="0.4em"/>'
_FRACTION = Spelling("<mfrac><mrow>{0}</mrow><mrow>{1}</mrow></mfrac>", POWER)
_SLASH = Spelling('{0}<mo lspace="0" rspace="0">/</mo>{1}', PRODUCT, (PRODUCT, POWER))
_POWER_OF_E = Spelling("<msup><mi>e</mi><mrow>{0}</mrow></msup>", POWER)


def mathml_name(name: str) -> str:
    """W_Q is a W with a raised Q, as in LaTeX; d_k keeps its subscript; words stand upright.

    >>> mathml_name("W_Q")
    '<msup><mi>W</mi><mrow><mi>Q</mi></mrow></msup>'
    """
    base, mark, raised = _parts(name)
    if symbol(name).is_length:
        return _scripts(base, mark, raised)
    return _scripts(base, "", mark + raised)


def mathml_cell(name: str, indices: tuple[str, ...]) -> str:
    """A name with its indices below, which are written already."""
    base, mark, raised = _parts(name)
    below = "<mo>,</mo>".join(indices)
    if symbol(name).is_length:
        return _scripts(f"<mrow>{mathml_name(name)}</mrow>", below, "")
    return _scripts(base, below, mark + raised)


def _parts(name: str) -> tuple[str, str, str]:
    """The letter or the word of a name, its mark with the primes before it, and the sign of the
    transpose.
    """
    parts = symbol(name)
    stem = parts.base.rstrip("'")
    base = _identifier(stem.replace("_", " "))
    if parts.gradients:
        gap = _THIN if parts.is_word else ""
        signs = '<mi mathvariant="normal">d</mi>' * parts.gradients
        base = f"<mrow>{signs}{gap}{base}</mrow>"
    # W^2 would look like a square.
    mark = f"<mo>(</mo><mn>{parts.mark}</mn><mo>)</mo>" if parts.mark.isdigit() else ""
    if parts.mark and not mark:
        mark = _identifier(parts.mark)
    if primes := len(parts.base) - len(stem):
        mark = f"<mo>{'′' * primes}</mo>{mark}"
    return base, mark, '<mi mathvariant="normal">T</mi>' if parts.transposed else ""


def _identifier(text: str) -> str:
    """One letter slants by itself, a word stands upright."""
    return f"<mn>{text}</mn>" if text.isdigit() else f"<mi>{text}</mi>"


def _scripts(base: str, below: str, above: str) -> str:
    if below and above:
        return f"<msubsup>{base}<mrow>{below}</mrow><mrow>{above}</mrow></msubsup>"
    if below:
        return f"<msub>{base}<mrow>{below}</mrow></msub>"
    return f"<msup>{base}<mrow>{above}</mrow></msup>" if above else base


def mathml_digits(digits: str) -> str:
    """∞ for inf, and 1.5×10²⁰ for 1.5e+20.

    >>> mathml_digits("1.5e+20")
    '<mrow><mn>1.5</mn><mo>×</mo><msup><mn>10</mn><mrow><mn>20</mn></mrow></msup></mrow>'
    """
    if digits in ("inf", "nan"):
        return "<mi>∞</mi>" if digits == "inf" else "<mi>nan</mi>"
    digits, power, exponent = digits.partition("e")
    number = f"<mn>{digits}</mn>"
    if not power:
        return number
    sign = "<mo>−</mo>" if exponent.startswith("-") else ""
    digits_of_power = exponent.lstrip("+-0")
    power_of_ten = f"<msup><mn>10</mn><mrow>{sign}<mn>{digits_of_power}</mn></mrow></msup>"
    return f"<mrow>{number}<mo>×</mo>{power_of_ten}</mrow>"


def _sign(sign: str, level: int, *needs: int) -> Spelling:
    return operator(f"<mo>{sign}</mo>", level, *needs)


def _function(name: str, *, of_number: Spelling | None = None) -> Spelling:
    """A word before parentheses, which grow with what stands in them."""
    flat, tall = (
        f"<mrow><mi>{name}</mi>{around.format('{0}')}</mrow>" for around in (_FLAT, _TALL)
    )
    return Spelling(
        flat,
        separator="<mo>,</mo>",
        of_number=of_number,
        of_tall=Spelling(tall, separator="<mo>,</mo>"),
    )


def _by_name(function: str) -> Spelling:
    return _function(function.replace("_", " "))


def _over(word: str, spaces: str = "") -> str:
    """A sum or a maximum, with its index below it where the formula has a line of its own."""
    large = f'<mo form="prefix" movablelimits="true"{spaces}>{word}</mo>'
    return f"<mrow><munder>{large}{{index}}</munder>{{body}}</mrow>"


MATHML = Notation(
    {
        "add": _sign("+", SUM, SUM, PRODUCT),
        "add_mask": _sign("+", SUM, SUM, PRODUCT),
        "sub": _sign("−", SUM, SUM, PRODUCT),
        "neg": Spelling('<mo form="prefix">−</mo>{0}', MINUS, (PRODUCT,)),
        "mul": _sign("·", PRODUCT, PRODUCT, POWER),
        "multiple": operator(_THIN, PRODUCT, PRODUCT, POWER),
        "matmul": operator(_THIN, MATRIX_PRODUCT, MATRIX_PRODUCT, POWER),
        "hadamard": _sign("∘", PRODUCT, PRODUCT, POWER),
        "mod": operator(f"{_WIDE}<mi>mod</mi>{_WIDE}", PRODUCT, POWER, POWER),
        "lt": _sign("&lt;", COMPARISON, SUM),
        "gt": _sign("&gt;", COMPARISON, SUM),
        "le": _sign("≤", COMPARISON, SUM),
        "ge": _sign("≥", COMPARISON, SUM),
        "eq": _sign("=", COMPARISON, SUM),
        "and_": operator(f"{_WIDE}<mtext>and</mtext>{_WIDE}", BOTH),
        "or_": operator(f"{_WIDE}<mtext>or</mtext>{_WIDE}", EITHER, COMPARISON),
        "comes_to": _sign("=", CHOICE),
        "comes_near": _sign("≈", CHOICE),
        "nearly": Spelling("{0}<mo>≈</mo>", CHOICE),
        "equally": Spelling("{0}<mo>=</mo>", CHOICE),
        "div": _FRACTION,
        "share": _FRACTION,
        "ratio": _FRACTION,
        "quotient": _FRACTION,
        "over": _SLASH,
        "pow": Spelling("<msup><mrow>{0}</mrow><mrow>{1}</mrow></msup>", POWER, (ATOM, CHOICE)),
        "sqrt": Spelling("<msqrt>{0}</msqrt>"),
        "exp": _function("exp", of_number=_POWER_OF_E),
        "e_to": _POWER_OF_E,
        "log": _function("ln"),
        "pi": Spelling("<mi>π</mi>"),
        "abs": Spelling('<mrow><mo stretchy="false">|</mo>{0}<mo stretchy="false">|</mo></mrow>'),
        "floor_div": Spelling(
            '<mrow><mo stretchy="false">⌊</mo>{0}<mo lspace="0" rspace="0">/</mo>{1}<mo'
            ' stretchy="false">⌋</mo></mrow>',
            needs=(PRODUCT, POWER),
        ),
        "finite": Spelling("{0}", POWER, (POWER,)),
        "diagonal": _function("diag"),
        "transposed": Spelling(
            '<msup><mrow>{0}</mrow><mi mathvariant="normal">T</mi></msup>', POWER, (ATOM,)
        ),
        "row_sums": _function("rowsum"),
        "column_sums": _function("colsum"),
        "row_maxima": _function("rowmax"),
        "join": Spelling(
            "<mrow><mi>Concat</mi>"
            + _FLAT.format(
                "<msub><mrow>{0}</mrow><mn>0</mn></msub><mo>,</mo><msub><mrow>{0}</mrow><mn>1</mn></msub>"
                "<mo>,</mo><mi>…</mi>"
            )
            + "</mrow>"
        ),
        "left_out": Spelling(
            '<mi>…</mi><mspace width="0.3em"/>{0}<mtext>&#160;more&#160;</mtext><mi>…</mi>'
        ),
        "where": Spelling(
            '<mrow><mo form="prefix">&#123;</mo><mtable>'
            "<mtr><mtd>{1}</mtd><mtd><mtext>if&#160;</mtext>{0}</mtd></mtr>"
            "<mtr><mtd>{2}</mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>",
            CHOICE,
        ),
    },
    sums=_over("∑"),
    maxima=_over("max", ' lspace="0" rspace="0.17em"'),
    name=mathml_name,
    cell=mathml_cell,
    digits=mathml_digits,
    others=_by_name,
    parenthesis=_FLAT,
    tall=("<mfrac", "<munder", "<mtable"),
    tall_parenthesis=_TALL,
    equals="<mo>=</mo>",
    nearly="<mo>≈</mo>",
)
