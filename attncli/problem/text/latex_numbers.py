r"""Numbers in LaTeX to the spelling of people: \frac{5}{\sqrt{3}} to 5/sqrt(3), 1.5 \times 10^{20}
to 1.5*10^(20).
"""

from __future__ import annotations

import re

from attncli.equation.functions import WRITTEN_NAMES
from attncli.problem.text.number_signs import DASHES
from attncli.problem.text.recurring_decimals import DOT_ABOVE, LINE_ABOVE

_FUNCTION_NAMES = tuple(WRITTEN_NAMES)
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
# A cell with more characters is no number, and is not parsed.
LONGEST_CELL = 4000
_DEEPEST = 30
_FRACTIONS = (r"\frac", r"\tfrac", r"\dfrac", r"\nicefrac", r"\sfrac")
# Each of these commands shows nothing, and takes so many arguments.
_INVISIBLE = {"vphantom": 1, "color": 1, "cellcolor": 1, "rowcolor": 1}
_GAPS = {"phantom": 1, "hphantom": 1, "hspace": 1, "rule": 2, "hfill": 0, "quad": 0, "qquad": 0}
# These show their last argument: some have a colour before it.
_COLORED = ("colorbox", "textcolor")
_AROUND_NUMBERS = ("fbox", "boxed", "underline", "num")
_LAYOUT = (
    "displaystyle",
    "textstyle",
    "left",
    "right",
    "big",
    "Big",
    "bigl",
    "bigr",
    "leavevmode",
    "mathrm",
    "mathbf",
    "mathopen",
    "strut",
    "hbox",
    "mbox",
    "text",
    "textbf",
    "textit",
    "texttt",
    "textrm",
    "mathit",
    "mathsf",
    "ensuremath",
    "mathstrut",
)
# Digits that recur have one of these signs above them.
_ABOVE = {"overline": LINE_ABOVE, "bar": LINE_ABOVE, "dot": DOT_ABOVE}
# This blank shows on the page, while most blanks of LaTeX do not.
_GAP = "\u2009"
_COMMANDS = {
    "cdot": "*",
    "times": "*",
    "div": "/",
    "infty": "inf",
    "_": "_",
    "%": "%",
    "textunderscore": "_",
    "approx": "≈",
    "dots": "…",
    "ldots": "…",
    "cdots": "…",
    "vdots": "…",
    "ddots": "…",
    "hdots": "…",
    **{name: name for name in _FUNCTION_NAMES},
}
_SIGNS = ("+", "-", *DASHES)
_DIGITS = re.compile(r"\.?[0-9]")
# Beside one of these, a fraction needs no parentheses.
_OPENS, _CLOSES = ("", *"+-*(=≈"), ("", *"+-*/)=≈")
# 2 (1 + e) looks as 2(1 + e) does.
_BLANK_UNSEEN = re.compile(r"(?<=[0-9)]) +(?=\()")
_SIMPLE = re.compile(r"[0-9.]+|e|(?:sqrt|e\^)\([^()]*\)")
_LENGTH = re.compile(
    r"\\kern\s*(?:\\[A-Za-z]+|-?[0-9.]+\s*[a-z]{2})|\\vrule(?:\s*(?:height|depth|width)\s*-?[0-9.]+\s*[a-z]{2})*"
)


def from_latex(source: str) -> str:
    """The number as claims spell it; what is not understood stays as it is, so that a message can
    show it.
    """
    if len(source) > LONGEST_CELL:
        return source
    cleaned = _LENGTH.sub(r"\\quad ", source)
    try:
        text = _Parser(_TOKEN.findall(cleaned)).all()
        return _BLANK_UNSEEN.sub("", text).replace(_GAP, " ").strip()
    except _Unreadable:
        return source.strip()


class _Unreadable(Exception):
    """What stands there is not of the forms that a number has."""


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.rest = tokens[::-1]

    def all(self) -> str:
        text = self.until("", 0)
        if self.rest:
            raise _Unreadable
        return text

    def until(self, end: str, depth: int) -> str:
        """Everything up to a closing sign, which is taken too."""
        pieces: list[str] = []
        fractions: set[int] = set()
        while self.rest:
            if self.rest[-1] == end:
                self.rest.pop()
                return _joined(pieces, fractions)
            if self.rest[-1] in _FRACTIONS:
                fractions.add(len(pieces))
            if piece := self.piece(depth):
                pieces.append(piece)
        if end:
            raise _Unreadable
        return _joined(pieces, fractions)

    def piece(self, depth: int) -> str:
        """The next number, sign, command or group."""
        if depth > _DEEPEST or not self.rest:
            raise _Unreadable
        token = self.rest.pop()
        if token == "{":
            return self.until("}", depth + 1)
        if token in "}]$" or token == "&":
            if token == "$":
                return ""
            raise _Unreadable
        if token == "^":
            return self.exponent(depth)
        if token.isspace() or token in ("~", r"\,", r"\;", r"\:", r"\!", r"\ ", r"\>"):
            return self.blank(token)
        return self.command(token[1:], depth) if token[0] == "\\" else token

    def command(self, name: str, depth: int) -> str:
        # Of all functions, only the root has its argument in braces.
        if name == "sqrt":
            return self.root(depth)
        if name in _COMMANDS:
            return _COMMANDS[name]
        if name in _LAYOUT:
            return ""
        if f"\\{name}" in _FRACTIONS:
            above, below = self.argument(depth), self.argument(depth)
            return f"{_in_parentheses(above)}/{_in_parentheses(below)}"
        if name in _INVISIBLE or name in _GAPS:
            self.option(depth)
            for _ in range(_INVISIBLE.get(name, 0) or _GAPS.get(name, 0)):
                self.argument(depth)
            return _GAP if name in _GAPS else ""
        if name in _ABOVE:
            return self.marked(_ABOVE[name], depth)
        if name in _COLORED:
            self.option(depth)
            self.argument(depth)
            return self.argument(depth)
        if name in _AROUND_NUMBERS:
            self.option(depth)
            return self.argument(depth)
        raise _Unreadable

    def blank(self, token: str) -> str:
        """A blank between numbers; before a parenthesis only one that shows."""
        if token == r"\!":
            return ""
        return " " if token.isspace() else _GAP

    def marked(self, sign: str, depth: int) -> str:
        """Digits with a line or a dot above each."""
        digits = self.argument(depth)
        if not (digits.isascii() and digits.isdigit()):
            raise _Unreadable
        return "".join(f"{digit}{sign}" for digit in digits)

    def exponent(self, depth: int) -> str:
        """^(2) for ^2 and ^{2}; of ^10 and ^-1 what TeX raises, in braces, which make it no number:
        ^{1}0 and ^{-}1.
        """
        raised, is_cut_off = self.first_sign(depth)
        return f"^{{{raised}}}" if is_cut_off else f"^({raised})"

    def root(self, depth: int) -> str:
        """The same for a root: sqrt(2), and sqrt{2}3 for a root over the 2 of 23."""
        under, is_cut_off = self.first_sign(depth)
        return f"sqrt{{{under}}}" if is_cut_off else f"sqrt({under})"

    def first_sign(self, depth: int) -> tuple[str, bool]:
        """An argument, and whether it is only the first sign of a number, as without braces."""
        self.skip_spaces()
        has_braces = self.rest[-1:] == ["{"]
        argument = self.argument(depth)
        following = "".join(reversed(self.rest[-2:]))
        is_digit = argument.isdigit() and not has_braces
        goes_on = is_digit and _DIGITS.match(following) is not None
        return argument, goes_on or argument in _SIGNS

    def option(self, depth: int) -> None:
        self.skip_spaces()
        if self.rest and self.rest[-1] == "[":
            self.rest.pop()
            while self.rest and self.rest.pop() != "]":
                pass

    def argument(self, depth: int) -> str:
        self.skip_spaces()
        return self.piece(depth + 1).strip()

    def skip_spaces(self) -> None:
        while self.rest and self.rest[-1].isspace():
            self.rest.pop()


def _joined(pieces: list[str], fractions: set[int]) -> str:
    """The pieces of a line; a fraction is put in parentheses where it would bind otherwise than
    with its own line.
    """
    said = before = ""
    for place, piece in enumerate(pieces):
        between = " " if said[-1:].isalpha() and piece.startswith(_FUNCTION_NAMES) else ""
        if place in fractions:
            after = next((other.strip()[0] for other in pieces[place + 1 :] if other.strip()), "")
            if before.isdigit():
                # 2 1/3 is two and a third to some and two thirds to others: claims refuse it.
                between = " "
            elif before not in _OPENS or after not in _CLOSES:
                piece = f"({piece})"
        said += between + piece
        before = piece.rstrip()[-1:] or before
    return said


def _in_parentheses(text: str) -> str:
    """In parentheses, unless it is just digits, a root or a power of e."""
    return text if _SIMPLE.fullmatch(text) else f"({text})"
