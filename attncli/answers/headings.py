"""What a heading that people wrote may call a step: each of its names, and whether its other words
say anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from attncli.tracing.model import Step

# The step that goes by exactly this name; None for none.
FindStep: TypeAlias = Callable[[str], "Step | None"]

# Nobody writes a longer heading, and a text of many lines asks for each.
LONGEST_HEADING = 100
# Gradient of the score weights of the queries.
_MOST_WORDS_OF_A_NAME = 8
_LAYOUT = re.compile(r"[*_`$]*(?=\s|\Z|[:=(),])|(?<![^\s(:=])[*_`$]+")
# Scores (QK^T), S (scores): what stands there says the same again, or is a remark.
_IN_PARENTHESES = re.compile(
    r"(?<!softmax)(?<!sqrt)(?<!attention)(?:\s+|(?<=[a-z]{3}))"
    r"\(((?:[^()]|\([^()]*\))*)\)(?=\s|[:=]|\Z)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\s*[:：]\s*(?!=)|\s+[-–—|]+\s+")
_EQUALS = re.compile(r"\s*(?::=|[=≈＝])\s*")
# Step 1, part b), exercise 2.3: numbers, letters of a list, and what is counted.
_NUMBERING = r"\(?(?:[0-9]+(?:[.,×x][0-9]+)*[a-z]?|[a-z]|[ivx]+)[.)]*"
_COUNTED = (
    "step|part|exercise|question|problem|task|answer|result|solution|number|no|nr|schritt|teil"
    "|aufgabe|frage|lösung|ergebnis|étape|partie|exercice|paso|parte|ejercicio"
)
_PLAIN_WORDS = (
    "my|our|your|the|this|these|that|are|is|as|follows|below|here|of|for|with|and|all|every|a|an"
    "|matrix|matrices|table|raw|final|first|second|third|last|next|then|now|attention|calculated"
    "|computed|worked|out|after|tokens?|words?|sentence|meine|die|der|das|matriz|les|las|los|la|le"
)
_SAYS_NOTHING = re.compile(
    rf"(?:{_NUMBERING}|(?:{_COUNTED})s?|{_PLAIN_WORDS})[.,;]?", re.IGNORECASE
)


@dataclass(slots=True)
class HeadingNames:
    """What a heading names: its steps by their names, and its first word that is no name and says
    something.
    """

    find: FindStep
    steps: dict[str, Step] = field(default_factory=dict)
    other_word: str = ""

    def add(self, part: str) -> None:
        """The names in a part of a heading, the longest at each place."""
        words = part.split()
        place = 0
        while place < len(words):
            place += self._add_at(place, words) or self._pass_over(words[place])

    def _add_at(self, place: int, words: Sequence[str]) -> int:
        """How many words from there on are a name, which is added; 0 for none."""
        # A matrix of scores begins with an article.
        if words[place] == "A" and place == 0 and len(words) > 1:
            return 0
        longest = min(len(words) - place, _MOST_WORDS_OF_A_NAME)
        for length in range(longest, 0, -1):
            phrase = " ".join(words[place : place + length])
            if self.add_exactly(phrase.rstrip(",.;")):
                return length
        return 0

    def add_exactly(self, phrase: str) -> bool:
        """Whether a phrase is the name of a step, which is added."""
        step = self.find(phrase)
        if step is not None:
            self.steps.setdefault(step.name, step)
        return step is not None

    def _pass_over(self, word: str) -> int:
        if not _SAYS_NOTHING.fullmatch(word):
            self.other_word = self.other_word or word
        return 1


def names_in(heading: str, find: FindStep) -> HeadingNames:
    """The steps that a heading names: Step 1: Scores S = QK^T names the scores three times."""
    names = HeadingNames(find)
    if len(heading) > LONGEST_HEADING:
        return names
    remarks = [found[1] for found in _IN_PARENTHESES.finditer(heading)]
    for part in _PARTS.split(_IN_PARENTHESES.sub("", heading)):
        named, *formulas = _EQUALS.split(part)
        names.add(_LAYOUT.sub("", named))
        _add_formulas(names, formulas)
    for remark in remarks:
        _add_formulas(names, _EQUALS.split(remark))
    return names


def _add_formulas(names: HeadingNames, formulas: Sequence[str]) -> None:
    """What a formula says besides names is not read: Z = S / 2 is named at its beginning."""
    for formula in formulas:
        names.add_exactly(formula.strip("*_`$ "))
