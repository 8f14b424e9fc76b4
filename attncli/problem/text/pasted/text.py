"""A pasted text, where it stands in a file, and what can be wrong in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attncli.english import shorten

# So many characters are pasted at most. A larger file is data, and to look for pasted matrices in
# it would take seconds.
LONGEST_PASTED = 2**22
# Kᵀ, K^T, K^\top, K' and K^{-1} are other matrices than K.
TURNED = re.compile(
    r"\s*\}?\s*(?:\^\s*\{?\s*(?:\\(?:top|intercal|mathsf|mathrm|text|dagger|ast|prime)|T\b|[-−0-9*])|['′ᵀ])"
)


class PasteError(Exception):
    """What is wrong with a pasted text, what helps, and where in the source it is."""

    def __init__(self, message: str, help: str, at: int) -> None:
        super().__init__(message, help)
        self.at = at


@dataclass(frozen=True, slots=True)
class PastedText:
    """A pasted text, and where it stands: place 3 of it is `step` times 3 behind `at`.

    The step is 0 for a text without places, as one that is given in Python. `of_file` says that it
    is a whole file: there only the lines are rows, whatever a semicolon may separate. In one
    `of_tabs`, no comma separates numbers. `doubt` is where a line break may be one that a program
    put into a long line: YAML takes a break for a blank, and an empty line for a break, but after a
    |. `shape` says how long its axes are, where that is known.
    """

    text: str
    at: int
    step: int = 1
    of_file: bool = False
    of_tabs: bool = False
    of_answers: bool = False
    doubt: int | None = None
    shape: tuple[int, ...] = ()

    def fits(self, lengths: Sequence[int]) -> bool:
        """Whether rows of so many numbers are known to be its own: a list of numbers may stand in a
        row or in a column.
        """
        if not lengths or not any(self.shape):
            return False
        if len(self.shape) == 1:
            [length] = self.shape
            return [*lengths] in ([length], [1] * length)
        return set(lengths) == {self.shape[-1]}

    def place(self, at: int) -> int:
        """Where in the source a place of the text is."""
        return self.at + at * self.step

    def require_lines(self) -> None:
        """Raises what is wrong where a line may be no row."""
        if self.doubt is None:
            return
        message = "a line break can be read as the end of a row, or as a blank"
        help = "write a | after the key, and each row on a line of its own"
        raise self.error(message, help, self.doubt)

    def require_clear(self, doubt: tuple[int, str, str] | None) -> None:
        """Raises a doubt, which is a place, a message and a help; nothing where there is none."""
        if doubt is not None:
            at, message, help = doubt
            raise self.error(message, help, at)

    def error(self, message: str, help: str, at: int) -> PasteError:
        """What is wrong at a place of the text."""
        return PasteError(message, help, self.place(at))


def require_not_turned(text: PastedText, name: str, at: int) -> None:
    """Raises what is wrong where the name before a matrix says that it is transposed: under the key
    K, Kᵀ = would be read as K.
    """
    if text.of_answers or not TURNED.search(name):
        return
    shown = shorten(name.strip().rstrip(":= "))
    message = f"this is {shown}, and not the matrix itself"
    raise text.error(message, "write the matrix itself: one row for each token", at)
