"""A case: a small problem, what a function is asked with it, and what may come out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.english import count
from attncli.problem.model import Problem
from attncli.problem.python_values import read_values

Array: TypeAlias = NDArray[Any]
# Entries of a batch, heads, tokens, features.
MOST_AXES = 4


@dataclass(frozen=True, slots=True)
class Meaning:
    """One of the ways in which software understands what is asked.

    `facts` are what a function does that means this, such as {"causal": "bottom-right"}; `keys` are
    those of the problem, in which the settings that are asked mean this.
    """

    keys: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """A problem with entries and heads, and the settings that a function is called with.

    `queries`, `keys` and `values` are entries × heads × tokens × features. `asks` are the settings
    by their roles, such as {"scale": 0.3}: arrays among them have entries and heads on their first
    two axes, unless they are `per_head`. `meanings` are the ways to understand this; a function
    agrees if it gives the output of one. `shows` are the facts that a function has which agrees
    here. `upstream` is the gradient of the output, where gradients are asked for. `needs` says
    which of the leading axes the case is about, if it is: "entries" or "heads", and
    `needs_more_keys` that it is about more keys than queries.
    """

    name: str
    queries: Array
    keys: Array
    values: Array
    asks: Mapping[str, Any] = field(default_factory=dict)
    upstream: Array | None = None
    meanings: tuple[Meaning, ...] = (Meaning(),)
    shows: Mapping[str, str] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()
    needs_more_keys: bool = False
    dtype: str = ""

    def __str__(self) -> str:
        return self.name

    def with_axes(self, axes: int) -> Case | None:
        """The case of a function that takes so many axes; None where it is about an axis that is
        not there.

        Of the leading axes, three axes have the heads, unless the case is about entries.
        """
        kept = "entries" if self.needs == {"entries"} else "heads"
        lost = _lost(axes, kept)
        if self.needs & lost:
            return None
        meanings = [replace(each, keys=_cut(each.keys, lost)) for each in self.meanings]
        return replace(
            self,
            queries=_cut(self.queries, lost),
            keys=_cut(self.keys, lost),
            values=_cut(self.values, lost),
            asks=_cut(self.asks, lost),
            upstream=_cut(self.upstream, lost),
            meanings=tuple(meanings),
        )

    def alone(self, entry: int, head: int) -> Case:
        """One head of one entry, as a case of two axes."""
        group = self.queries.shape[1] // self.keys.shape[1]
        place = (entry, head)
        of_keys = (entry, head // group)
        meanings = [replace(each, keys=_at(each.keys, place)) for each in self.meanings]
        return replace(
            self,
            queries=self.queries[place],
            keys=self.keys[of_keys],
            values=self.values[of_keys],
            asks=_at(self.asks, place),
            upstream=_at(self.upstream, place),
            meanings=tuple(meanings),
        )

    def with_values_as_wide_as_keys(self) -> Case:
        """The case of a function that takes no other values: the first columns of these."""
        width = self.keys.shape[-1]
        upstream = None if self.upstream is None else self.upstream[..., :width]
        return replace(self, values=self.values[..., :width], upstream=upstream)

    def with_as_many_keys_as_queries(self) -> Case | None:
        """The case of a function that takes as many keys as queries: the first ones; None where it
        is about more keys.
        """
        if self.needs_more_keys:
            return None
        most = min(self.queries.shape[-2], self.keys.shape[-2])
        meanings = [replace(each, keys=_first_tokens(each.keys, most)) for each in self.meanings]
        return replace(
            self,
            queries=self.queries[..., :most, :],
            keys=self.keys[..., :most, :],
            values=self.values[..., :most, :],
            asks=_first_tokens(self.asks, most),
            upstream=None if self.upstream is None else self.upstream[..., :most, :],
            meanings=tuple(meanings),
        )

    @property
    def has_blind_query(self) -> bool:
        """Whether its mask of truth values hides all keys from a query."""
        mask = self.asks.get("mask")
        return mask is not None and mask.dtype == np.bool_ and not mask.any(axis=-1).all()

    @property
    def title(self) -> str:
        """What its problem is called."""
        return self.name[0].upper() + self.name[1:]

    @property
    def heads(self) -> int:
        """How many heads there are, with heads first; one where there is no axis for them."""
        return int(self.queries.shape[-3]) if self.queries.ndim > 2 else 1

    @property
    def given(self) -> dict[str, Any]:
        """What the problem is given, before its settings."""
        return {"Q": self.queries, "K": self.keys, "V": self.values}

    @property
    def sizes(self) -> list[str]:
        """Its sizes in words."""
        *leading, queries, width = self.queries.shape
        words = (("entry", "entries"), ("head", "heads"))[2 - len(leading) :]
        sizes = [count(size, *each) for size, each in zip(leading, words, strict=True)]
        if leading and self.keys.shape[-3] != leading[-1]:
            sizes[-1] += f", which share {self.keys.shape[-3]} of keys and values"
        return [
            *sizes,
            count(queries, "query", "queries"),
            count(self.keys.shape[-2], "key"),
            f"d_k = {width}",
            f"d_v = {self.values.shape[-1]}",
        ]

    @property
    def size(self) -> int:
        """How many numbers a person has to read."""
        return self.queries.size + self.keys.size + self.values.size

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of its output."""
        return (*self.queries.shape[:-1], self.values.shape[-1])

    def problem(self, meaning: Meaning) -> Problem:
        """The problem by one of the meanings."""
        return read_values({"title": self.title, **_plain(self.named(meaning))})

    def named(self, meaning: Meaning) -> dict[str, Any]:
        """The keys of this problem."""
        of_gradient = {} if self.upstream is None else {"d_output": self.upstream}
        return {**self.given, **meaning.keys, **of_gradient}


def _lost(axes: int, kept: str) -> frozenset[str]:
    if axes == MOST_AXES:
        return frozenset()
    if axes == MOST_AXES - 1:
        return frozenset({"entries", "heads"} - {kept})
    return frozenset({"entries", "heads"})


@dataclass(frozen=True, slots=True)
class PerHead:
    """An array with a number for each head."""

    numbers: Array

    def cut(self, lost: frozenset[str]) -> PerHead | float:
        """The same, or that of the first head alone."""
        return float(self.numbers[0]) if "heads" in lost else self


def _cut(value: Any, lost: frozenset[str]) -> Any:
    """Arrays without the leading axes that are lost, of which they keep the first place; also
    those within lists and mappings.
    """
    match value:
        case PerHead():
            return value.cut(lost)
        case np.ndarray():
            if "heads" in lost:
                value = value[:, 0]
            return value[0] if "entries" in lost else value
        case Mapping():
            return {key: _cut(each, lost) for key, each in value.items()}
        case list():
            return [_cut(each, lost) for each in value]
        case _:
            return value


def _first_tokens(value: Any, most: int) -> Any:
    """Settings with so many rows and columns of masks; also of those within mappings."""
    match value:
        case np.ndarray():
            return value[..., :most, :most]
        case Mapping():
            return {key: _first_tokens(each, most) for key, each in value.items()}
        case _:
            return value


def _at(value: Any, place: tuple[int, int]) -> Any:
    """Settings of one head of one entry."""
    match value:
        case PerHead():
            return float(value.numbers[place[1]])
        case np.ndarray():
            entry, head = (min(at, size - 1) for at, size in zip(place, value.shape, strict=False))
            return value[entry, head]
        case Mapping():
            return {key: _at(each, place) for key, each in value.items()}
        case list():
            return [_at(each, place) for each in value]
        case _:
            return value


def _plain(value: Any) -> Any:
    """Settings as a problem takes them."""
    match value:
        case PerHead():
            return value.numbers
        case Mapping():
            return {key: _plain(each) for key, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case _:
            return value
