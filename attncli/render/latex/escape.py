r"""Any text as LaTeX that shows it: nothing people write is obeyed, lost or fatal, in any engine.

Accented Latin letters go through TeX's own accents, and what the basic fonts lack stays as U+65E5.
"""

from __future__ import annotations

import unicodedata

from attncli.render.labels import visible

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\^{}", "~": r"\~{}", "<": "$<$", ">": "$>$", "|": "$|$", '"': "''", "`": r"\`{}",
    "[": "{[}", "]": "{]}", "-": "-{}", "'": "'{}", "*": "{*}",
    "\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,", "–": "--", "—": "---", "‘": "`{}", "’": "'{}",
    "“": "``", "”": "''", "…": r"\ldots{}", "␣": r"\textvisiblespace{}", "§": r"\S{}", "•": r"$\bullet$",
    "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}",
    "Ø": r"\O{}", "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "¡": "!`", "¿": "?`",
    "×": r"$\times$", "·": r"$\cdot$", "÷": r"$\div$", "±": r"$\pm$", "−": "$-$", "≈": r"$\approx$",
    "≠": r"$\neq$", "≤": r"$\leq$", "≥": r"$\geq$", "→": r"$\rightarrow$", "←": r"$\leftarrow$",
    "∞": r"$\infty$", "√": r"$\surd$", "Σ": r"$\Sigma$", "∑": r"$\sum$", "°": r"$^\circ$", "ᵀ": r"$^\top$",
    "²": "$^2$", "³": "$^3$", "½": r"$\frac12$", "α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$",
    "δ": r"$\delta$", "ε": r"$\varepsilon$", "η": r"$\eta$", "θ": r"$\theta$", "λ": r"$\lambda$",
    "μ": r"$\mu$", "π": r"$\pi$", "ρ": r"$\rho$", "σ": r"$\sigma$", "τ": r"$\tau$", "φ": r"$\varphi$",
    "ω": r"$\omega$", "Δ": r"$\Delta$", "Ω": r"$\Omega$",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0331": "b",
}  # fmt: skip
_BELOW = "dcb"


def escape(text: str) -> str:
    """The text, letter for letter, outside math; the result is ASCII."""
    return "".join(map(_character, unicodedata.normalize("NFC", visible(text))))


def length(text: str) -> int:
    """About how many letters wide the escaped text is on the page."""
    spelled = map(_character, unicodedata.normalize("NFC", visible(text)))
    return sum(6 if piece.startswith("U+") else 1 for piece in spelled)


def _character(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character.isascii():
        return character
    base, *marks = list(unicodedata.normalize("NFD", character))
    if base.isascii() and base.isalpha() and len(marks) == 1 and marks[0] in _ACCENTS:
        accent = _ACCENTS[marks[0]]
        dotless = base in "ij" and accent not in _BELOW
        return rf"\{accent}{{\{base}}}" if dotless else rf"\{accent}{{{base}}}"
    return rf"U+{ord(character):04X}\allowbreak{{}}"
