r"""Any text as LaTeX that shows it: nothing people write is obeyed, lost or fatal, in any engine.

Accented Latin letters go through TeX's own accents, and what the basic fonts lack stays as U+65E5.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from math import fsum

from attncli.escaping import visible

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\^{}",
    "~": r"\~{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
    "`": r"\`{}",
    "[": "{[}",
    "]": "{]}",
    "-": "-{}",
    "'": "'{}",
    "*": "{*}",
    "\u00a0": "~",
    "\u2009": r"\,",
    "\u202f": r"\,",
    "–": "--",
    "—": "---",
    "‘": "`{}",
    "’": "'{}",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "␣": r"\textvisiblespace{}",
    "§": r"\S{}",
    "•": r"$\bullet$",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "¡": "!`",
    "¿": "?`",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "⋅": r"$\cdot$",
    "∙": r"$\cdot$",
    "∗": r"$\ast$",
    "∕": "/",
    "⁄": "/",
    "÷": r"$\div$",
    "±": r"$\pm$",
    "−": "$-$",
    "≈": r"$\approx$",
    "≠": r"$\neq$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "↓": r"$\downarrow$",
    "←": r"$\leftarrow$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "Σ": r"$\Sigma$",
    "∑": r"$\sum$",
    "°": r"$^\circ$",
    "ᵀ": r"$^\top$",
    "⊤": r"$\top$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "η": r"$\eta$",
    "θ": r"$\theta$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "π": r"$\pi$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "φ": r"$\varphi$",
    "ω": r"$\omega$",
    "Δ": r"$\Delta$",
    "Ω": r"$\Omega$",
    "✓": r"$\checkmark$",
    "✗": r"$\times$",
    "»": r"$\gg$",
}
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0323": "d",
    "\u0327": "c",
    "\u0331": "b",
}
_BELOW = "dcb"
# Text has one accent above a letter. Those above an accented letter are those of formulas.
_ACCENTS_ABOVE_OTHERS = {
    "`": "grave",
    "'": "acute",
    "^": "hat",
    "~": "tilde",
    "=": "bar",
    "u": "breve",
    ".": "dot",
    '"': "ddot",
    "v": "check",
}
# Digits that recur have a line or dots above them; one line is drawn above all of its digits.
# A bar of several signs is one, too, so that no gap shows in it.
_PIECE = re.compile(r"(?:[0-9][\u0304\u0305])+|[0-9]\u0307|█+|.", re.DOTALL)
_MARKS = re.compile("[\u0304\u0305\u0307]")
_RAISED_OR_LOWERED = {"<super>": "^", "<sub>": "_"}
# Raised, it is not wider than other signs.
_SMALL = re.compile("[A-Za-z0-9+=()-]")
_FALLBACK, _BREAK = "U+", r"\allowbreak{}"
_CODE = re.compile(rf"{re.escape(_FALLBACK)}[0-9A-F]{{4,6}}{re.escape(_BREAK)}")
_ENDS_IN_CODE = re.compile(rf"{re.escape(_FALLBACK)}[0-9A-F]{{4,6}}$")
# The other raw quotation marks close.
_OPENING = re.compile(r'(?:(?<=[\s(\[{–—-])|^)"(?=[^\s"])')
_WIDTHS = {
    **dict.fromkeys("fijlrstI.,:;!'`|()[]/ -", 0.8),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZw", 1.55),
    **dict.fromkeys('0123456789"', 1.0),
    "m": 1.7,
    "M": 1.9,
    "W": 2.1,
    "⅒": 2.0,
    # A half em.
    "█": 1.0,
}
_LETTER, _SIGN = 1.1, 1.7


def escape(text: str) -> str:
    """The text, letter for letter, outside math; the result is ASCII."""
    return "".join(map(_spelled, _pieces(text)))


def coded(text: str) -> str:
    """The text with the codes in it that `escape` writes, apart from letters beside them: U+65E5
    U+672C.
    """
    written = ""
    for piece in _PIECE.findall(_normal(text)):
        spelled = _spelled(piece)
        is_code = spelled.startswith(_FALLBACK)
        if (is_code or piece[0].isalnum()) and _ENDS_IN_CODE.search(written):
            written += " "
        written += spelled.removesuffix(_BREAK) if is_code else piece
    return written


def length(text: str) -> float:
    """About how wide the escaped text is on the page, never less than it is, in digits: a half em
    each.
    """
    # It is the same in every Python: from 3.12 on `sum` is as exact.
    return fsum(map(_width, _pieces(text)))


def lacks_letters(text: str) -> bool:
    """Whether something of the text can only be written as a code, U+65E5."""
    return any(_spelled(piece).startswith(_FALLBACK) for piece in _pieces(text))


def has_codes(latex: str) -> bool:
    """Whether a page has such a code; nobody's text can look like one, since its backslashes are
    escaped.
    """
    return _BREAK in latex and _CODE.search(latex) is not None


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", visible(text))


def _pieces(text: str) -> list[str]:
    """The characters of a text, and digits together with what is above them."""
    return _PIECE.findall(_OPENING.sub("“", _normal(text)))


@cache
def _width(piece: str) -> float:
    spelled = _spelled(piece)
    if spelled.startswith(_FALLBACK):
        return fsum(map(_width, spelled.removesuffix(_BREAK)))
    digits = _MARKS.sub("", piece)
    if len(digits) > 1:
        return fsum(map(_width, digits))
    letter = unicodedata.normalize("NFD", piece)[0]
    return _WIDTHS.get(letter, _LETTER if letter.islower() else _SIGN)


def _spelled(piece: str) -> str:
    if piece[0] == "█":
        return rf"\rule{{{len(piece) / 2:g}em}}{{1.4ex}}"
    if len(piece) == 1:
        return _character(piece)
    above = r"\dot" if piece.endswith("\u0307") else r"\overline"
    return f"${above}{{{_MARKS.sub('', piece)}}}$"


def _character(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character.isascii():
        return character
    written = _accented(character) or _made_of_others(character)
    return written or f"{_FALLBACK}{ord(character):04X}{_BREAK}"


def _accented(character: str) -> str:
    r"""\'{e} for é, $\tilde{\mbox{\^{e}}}$ for ễ; empty for anything else."""
    base, *marks = list(unicodedata.normalize("NFD", character))
    is_letter = base.isascii() and base.isalpha()
    if not (is_letter and marks and all(mark in _ACCENTS for mark in marks)):
        return ""
    accents = [_ACCENTS[mark] for mark in marks]
    is_dotless = base in "ij" and any(accent not in _BELOW for accent in accents)
    written = rf"\{base}" if is_dotless else base
    for place, accent in enumerate(accents):
        if not place or accent in _BELOW:
            written = rf"\{accent}{{{written}}}"
        elif accent in _ACCENTS_ABOVE_OTHERS:
            written = rf"$\{_ACCENTS_ABOVE_OTHERS[accent]}{{\mbox{{{written}}}}}$"
        else:
            return ""
    return written


def _made_of_others(character: str) -> str:
    """$^{2}$ for ², $_{2}$ for ₂ and a fraction for ½; empty for anything else."""
    how, *codes = unicodedata.decomposition(character).split() or [""]
    if not how.startswith("<"):
        return ""
    others = "".join(chr(int(code, 16)) for code in codes)
    if how == "<fraction>":
        above, below = others.split("⁄")
        return rf"$\frac{{{above}}}{{{below}}}$" if below else ""
    small = others.replace("−", "-")
    is_small = how in _RAISED_OR_LOWERED and _SMALL.fullmatch(small)
    return f"${_RAISED_OR_LOWERED[how]}{{{small}}}$" if is_small else ""
