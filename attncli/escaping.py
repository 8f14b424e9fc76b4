"""Make what people wrote safe and visible: nothing of it steers a terminal or vanishes on the
page.
"""

from __future__ import annotations

import unicodedata

# They shape Persian and Indic words and emoji, and cannot mislead.
JOINERS = "\u200c\u200d"
SPACE = "␣"
# What stands for signs that an encoding lacks.
IN_ASCII = str.maketrans(
    {
        **dict(zip("─━⎡⎢⎣⎤⎥⎦•·×≈–“”‘’░▒▓█", "-=[|[]|]-*x~-\"\"''.:+#", strict=True)),
        "−": "-",
        "—": "-",
        "✓": "+",
        "✗": "x",
        "»": ">",
        "→": "->",
        "↓": "v",
        "…": "...",
        "²": "^2",
        "√": "sqrt",
        "Σ": "sum",
        "ᵀ": "^T",
        "≤": "<=",
        "≥": ">=",
        "␣": r"\x20",
    }
)


def visible(text: str) -> str:
    r"""Control, direction and other unseen characters as escapes, such as \x1b or \u202e."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode("ascii") if unseen(character) else character
        for character in text
    )


def in_ascii(text: str) -> str:
    r"""The text for an encoding that lacks some of it: stand-ins for the signs of attncli, and
    codes such as \u674e.
    """
    return text.translate(IN_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def label(text: str) -> str:
    """A token as a label: `visible`, and with ␣ for the spaces at its ends, which tell tokens
    apart.
    """
    shown = visible(text)
    core = shown.strip()
    if core == shown:
        return shown
    head = len(shown) - len(shown.lstrip())
    return SPACE * head + core + SPACE * (len(shown) - head - len(core))


def unseen(character: str) -> bool:
    """Whether a character shows nothing of itself: a control, a direction, a lone half of a
    pair.
    """
    category = unicodedata.category(character)
    return category in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in JOINERS
