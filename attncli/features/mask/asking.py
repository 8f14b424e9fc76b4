"""A function of FlexAttention in its process: whether it is a mask_mod or a score_mod, and what it
gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.attention.changes_of_scores import SCORES
from attncli.english import count, listed
from attncli.errors import AttncliError, input_error
from attncli.features.mask.positions import Positions
from attncli.testing.running.process import FunctionError, FunctionProcess

Kind: TypeAlias = Literal["mask_mod", "score_mod"]
# By the number of their parameters, as in PyTorch.
KINDS: Mapping[int, Kind] = {4: "mask_mod", 5: "score_mod"}
SCORE = "score"
USUAL_FUNCTION = (
    "it must be a mask_mod with the parameters b, h, q_idx and kv_idx, or a score_mod with score"
    " before them"
)


class Mod:
    """A mask_mod or a score_mod, which is called at every position that it is asked for."""

    def __init__(self, process: FunctionProcess, text: str, described: Mapping[str, Any]) -> None:
        self.text = text
        self.kind = _kind_of(text, described)
        self._process = process
        self._has_torch = bool(described["has_torch"])
        self._ways = ["numbers", "tensors"] if self._has_torch else ["numbers"]

    def values(
        self,
        positions: Positions,
        entries: Sequence[int],
        heads: Sequence[int],
        scores: Sequence[float] = SCORES,
    ) -> NDArray[Any]:
        """What it gives, by entry, head, query and key: truth values of a mask_mod, of a score_mod
        numbers for each of the scores.

        The first call finds out whether it needs tensors. Raises FunctionError where it fails.
        """
        places = [[*entries], [*heads], [*positions.queries], [*positions.keys]]
        if self.kind == "mask_mod":
            scores = ()
        while True:
            try:
                found = self._sampled(self._ways[0], places, scores)
            except FunctionError as error:
                if error.ended or len(self._ways) == 1:
                    raise
                self._ways.pop(0)
                continue
            # From now on it gets what it has taken once.
            self._ways = self._ways[:1]
            return found

    def value(self, place: tuple[int, int, int, int], score: float) -> float:
        """What a score_mod gives for a score at an entry, a head, a query and a key.

        Raises FunctionError where it fails.
        """
        way = self._ways[0]
        found = self._sampled(way, [[each] for each in place], [score])
        return float(found.item())

    def _sampled(
        self, way: str, places: Sequence[Sequence[int]], scores: Sequence[float] = ()
    ) -> NDArray[Any]:
        """Numbers where there are scores, else truth values."""
        message = {"way": way, "places": places, "scores": scores}
        found = self._process.samples(message)
        return found if scores else found == 1

    def by_flex_attention(
        self, positions: Positions, entries: Sequence[int], heads: Sequence[int]
    ) -> NDArray[np.bool_] | None:
        """The mask that PyTorch makes of it, from position 0 on; None without PyTorch.

        Raises FunctionError where PyTorch makes none.
        """
        if not self._has_torch:
            return None
        try:
            self._process.begin_flex_attention()
        except FunctionError:
            # It is older than FlexAttention.
            return None
        places = [[*entries], [*heads], [*positions.queries], [*positions.keys]]
        return self._sampled("flex", places)

    def failure(self, error: FunctionError) -> AttncliError:
        """The error about a call that failed (exit 3)."""
        return input_error(f"{self.text} fails: {error}", help=self._way_to_call(str(error), error))

    def _way_to_call(self, said: str, error: FunctionError) -> str:
        if error.hangs:
            return (
                "if it needs more time, give it some: --seconds 60, or fewer positions: -n 4 -m 4"
            )
        if "it returns a function" in said:
            return f"name what it makes, with its arguments: attncli mask '{self.text}(…)'"
        if "IndexError" in said or "out of range" in said or "out of bounds" in said:
            return "perhaps it is for fewer positions: -n and -m say how many there are"
        if self.kind == "score_mod":
            return "a score_mod gets score, b, h, q_idx and kv_idx, and returns a score"
        return "a mask_mod gets b, h, q_idx and kv_idx, and returns true or false"


def _kind_of(text: str, described: Mapping[str, Any]) -> Kind:
    """What a function is by its parameters; AttncliError (exit 3) where it is neither."""
    parameters = described.get("parameters")
    is_open = parameters is None or described["starred"]
    parameters = parameters or []
    named = [each["name"] for each in parameters if each["required"] and not each["positional"]]
    if named:
        raise input_error(
            f"{text} needs {listed(named)} by name, which FlexAttention does not give",
            help=f"bind what it needs: functools.partial({_name(text)}, {named[0]}=…)",
        )
    places = [each for each in parameters if each["positional"]]
    required = [each["name"] for each in places if each["required"]]
    if len(required) in KINDS:
        return KINDS[len(required)]
    if len(required) < min(KINDS) and (is_open or len(places) in KINDS):
        names = [each["name"] for each in places]
        return "score_mod" if SCORE in names[:1] or len(names) > min(KINDS) else "mask_mod"
    raise _wrong_parameters(text, required or [each["name"] for each in places])


def _wrong_parameters(text: str, names: Sequence[str]) -> AttncliError:
    has = f"{count(len(names), 'parameter')} ({', '.join(names)})" if names else "no parameters"
    what = f"{text} has {has}, but a mask_mod has 4, and a score_mod 5"
    if len(names) < min(KINDS):
        made = f"{text}({', '.join('…' for _ in names)})"
        help = f"if it makes a mask_mod, name what it makes, such as attncli mask '{made}'"
    else:
        help = f"bind what is more, as in functools.partial({_name(text)}, {names[-1]}=…)"
    return input_error(what, help=help)


def _name(text: str) -> str:
    """What stands behind the file."""
    return text.rpartition(":")[2]
