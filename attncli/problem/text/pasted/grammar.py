"""The grammar of pasted rows: a text has rows, a row has cells, and a cell may be 1 / 3.

rows = row (line end row)*  or  row (";" row)*
row  = cell (separator cell)*, where a comma, a semicolon, a tab or a gap separates
cell = quoted text, or words, with blanks where one begins or ends with an operator
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from attncli.problem.text.pasted.tokens import Token, tokens

# A row as it is written: where it begins, and its text.
Piece: TypeAlias = tuple[int, str]
_THOUSANDS_BY_COMMA = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+")
_OPERATORS = ("/", "*", "(")
_DIGIT_BEFORE = tuple("0123456789.)")
_DIGIT_AFTER = tuple("0123456789.-+")
_IN_QUOTES = re.compile(r"(['\"]).*\1", re.DOTALL)


class Cell(NamedTuple):
    """What a cell says, without quotes around it, and where it is."""

    at: int
    text: str
    is_quoted: bool = False


CellRow: TypeAlias = list[Cell]


class Gap(NamedTuple):
    """What stands between two tokens of a row that do not touch."""

    before: Token
    signs: str
    after: Token

    @property
    def has_tab(self) -> bool:
        return "\t" in self.signs

    @property
    def is_between_words(self) -> bool:
        """Whether no comma or semicolon is beside it."""
        return not (self.before.is_separator or self.after.is_separator)

    @property
    def is_beside_comma(self) -> bool:
        return "," in (self.before.text, self.after.text)

    @property
    def is_beside_digits(self) -> bool:
        """Whether both words look like numbers there."""
        return self.before.text.endswith(_DIGIT_BEFORE) and self.after.text.startswith(_DIGIT_AFTER)


@dataclass(frozen=True, slots=True)
class PastedRow:
    """The tokens of a row, or of what may hold several, and where it begins."""

    at: int
    tokens: list[Token]

    @classmethod
    def of(cls, content: Iterable[Token], at: int = 0) -> PastedRow:
        """The row of these tokens, with a blank in place of each remark and of the gap before
        it.
        """
        kept: list[Token] = []
        for token in content:
            if token.kind == "remark":
                token = _as_blank(token, kept)
            kept.append(token)
        return cls(at, _with_numbers_together(kept))

    @classmethod
    def of_text(cls, text: str, at: int = 0) -> PastedRow:
        """The row of a text that stands at a place."""
        found = (token._replace(at=at + token.at) for token in tokens(text))
        return cls.of(found, at)

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)

    @property
    def piece(self) -> Piece:
        return self.at, self.text

    @property
    def is_blank(self) -> bool:
        return all(token.is_gap for token in self.tokens)

    @property
    def gaps(self) -> list[Gap]:
        return [*self._gaps()]

    @property
    def is_separated(self) -> bool:
        """Whether anything separates cells in it."""
        return bool(self.gaps) or any(token.is_separator for token in self.tokens)

    @property
    def can_only_be_several(self) -> bool:
        """Whether what stands between semicolons can only be several numbers: 1 2, or 1,2,3, but
        not 1,5.
        """
        if self.gaps:
            return True
        return self.holds(",", 2) and not _THOUSANDS_BY_COMMA.fullmatch(self.text.strip())

    def holds(self, sign: str, times: int = 1) -> bool:
        """Whether a separator is in it, at least so many times."""
        return sum(1 for token in self.tokens if token.text == sign) >= times

    def split(self, sign: str) -> list[PastedRow]:
        """What stands between separators, or between line ends."""
        parts = [PastedRow(self.at, [])]
        for token in self.tokens:
            if token.text == sign:
                parts.append(PastedRow(token.at + 1, []))
            else:
                parts[-1].tokens.append(token)
        return parts

    def without_indentation(self) -> PastedRow:
        """The row from its first token on that is no blank: a tab may end an empty cell."""
        for number, token in enumerate(self.tokens):
            if token.kind != "blank":
                return PastedRow(token.at, self.tokens[number:])
        return self

    def cells(self, separator: str) -> CellRow:
        """The cells of the row; they are apart by gaps if the sign is empty."""
        if not separator:
            return [_cell(part) for part in self._words()]
        if self.is_blank:
            return []
        return [_cell(part) for part in self.split(separator)]

    def _gaps(self) -> Iterator[Gap]:
        before: Token | None = None
        signs = ""
        for token in self.tokens:
            if token.is_gap:
                signs += token.text
                continue
            if before is not None and signs:
                yield Gap(before, signs, token)
            before, signs = token, ""

    def _words(self) -> Iterator[PastedRow]:
        """What stands between gaps, where a comma belongs to its number, but not at the end."""
        inside = [*self.tokens]
        while inside and inside[-1].is_gap:
            inside.pop()
        if inside and inside[-1].text == ",":
            inside.pop()
        word: list[Token] = []
        for token in inside:
            if not token.is_gap:
                word.append(token)
            elif word:
                yield PastedRow(word[0].at, word)
                word = []
        if word:
            yield PastedRow(word[0].at, word)


def rows_below(lines: Iterable[PastedRow]) -> list[PastedRow]:
    """Those of these rows that have anything in them."""
    return [line for line in lines if not line.is_blank]


def _as_blank(remark: Token, before: list[Token]) -> Token:
    """A blank in place of a remark and of the gap before it, which is taken away there."""
    at = remark.at
    while before and before[-1].kind in ("blank", "tab"):
        at = before.pop().at
    return Token("blank", at, " " * (remark.at + len(remark.text) - at))


def _with_numbers_together(content: list[Token]) -> list[Token]:
    """The tokens, of which blanks beside an operator are part of the number: 1 / 3, sqrt( 2 )."""
    together = [*content]
    for place in range(1, len(content) - 1):
        before, token, after = content[place - 1 : place + 2]
        if token.kind == "blank" and _is_in_number(before, after):
            together[place] = token._replace(kind="word")
    return together


def _is_in_number(before: Token, after: Token) -> bool:
    if not (before.is_content and after.is_content):
        return False
    return before.text.endswith(_OPERATORS) or after.text.startswith((*_OPERATORS, ")"))


def _cell(part: PastedRow) -> Cell:
    """The cell of these tokens; an empty one is where it begins, and not where it ends."""
    content = [token for token in part.tokens if not token.is_gap]
    at = content[0].at if content else part.at
    text = part.text.strip()
    is_quoted = text.startswith('"')
    if _IN_QUOTES.fullmatch(text):
        text = text[1:-1].strip()
    return Cell(at, text, is_quoted)
