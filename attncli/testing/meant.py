"""What is meant where software differs: with `--as torch`, what PyTorch does is right, and what
others do is a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from attncli.problem.parts.conventions import CONVENTIONS
from attncli.testing.case import Case

OTHER_NUMBERS = {True: "added", False: "truth values"}
SEES_NO_KEY = "sees no key"


@dataclass(frozen=True, slots=True)
class Meant:
    """What the functions of one piece of software do.

    `tokens_first` says whether tokens come before heads; None where that is not said. `true_hides`
    says that true in a mask hides a key. `facts` are what has to be so; a fact that is not there
    may be anything.
    """

    name: str
    tokens_first: bool | None = None
    true_hides: bool = False
    facts: Mapping[str, str] = field(default_factory=dict)

    def narrowed(self, case: Case) -> Case:
        """A case with only those of its meanings that are meant, if there are any, and with what
        true means.
        """
        if self.true_hides and "mask" in case.shows:
            case = replace(case, shows={**case.shows, "mask": "true is hidden"})
        meanings = tuple(each for each in case.meanings if self._allows(each.facts))
        return replace(case, meanings=meanings) if meanings else case

    def _allows(self, facts: Mapping[str, str]) -> bool:
        return all(self.facts.get(name, words) == words for name, words in facts.items())

    def handed_over(self, case: Case) -> Case:
        """A case with its mask of truth values as this software means it."""
        mask = case.asks.get("mask")
        if not self.true_hides or mask is None or mask.dtype != np.bool_:
            return case
        return replace(case, asks={**case.asks, "mask": ~mask})

    def allows_blind(self, words: str | None) -> bool:
        """Whether this is what a query that sees no key is meant to get."""
        meant = self.facts.get(SEES_NO_KEY)
        return words is None or meant is None or words == meant


# What a function of nobody in particular does: anything that some software does.
ANYTHING = Meant("")
# Those who say it, and what a window of two of them is.
_TOKENS_FIRST = {
    "torch": False,
    "keras": True,
    "jax": True,
    "onnx": False,
    "flash": True,
    "mlx": False,
}
_SEES_NO_KEY = {"torch": "0", "onnx": "0", "flash": "0", "keras": "average", "jax": "average"}
_WINDOW = {"jax": "beside the token itself", "flash": "beside the token itself"}


def meant_by(name: str | None) -> Meant:
    """What is meant by a word of `--as`: one of the conventions. None means anything."""
    if name is None:
        return ANYTHING
    convention = CONVENTIONS[name]
    facts = {"causal": convention.corner, "numbers in a mask": OTHER_NUMBERS[convention.adds]}
    if name in _SEES_NO_KEY:
        facts[SEES_NO_KEY] = _SEES_NO_KEY[name]
    if name in _WINDOW:
        facts["window"] = _WINDOW[name]
    return Meant(
        name,
        tokens_first=_TOKENS_FIRST.get(name),
        true_hides=convention.true == "hidden",
        facts=facts,
    )
