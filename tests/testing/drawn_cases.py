"""Cases drawn by a number, of any sizes and with any settings, for functions that are right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator

from attncli.testing.case import Case, Meaning

# What makes scores of usual size, large ones, and nearly equal ones.
SIZES_OF_NUMBERS = (0.25, 1.0, 1.0, 4.0)


def drawn_case(seed: int) -> Case:
    """A case with settings that every right function understands."""
    random = np.random.default_rng(seed)
    case = _plain(random, f"drawn {seed}")
    asked = random.choice(["nothing", "truth", "numbers", "causal", "scale", "softcap", "grouped"])
    if asked == "grouped" and case.heads % 2 == 0:
        shared = {"keys": case.keys[:, ::2], "values": case.values[:, ::2]}
        return replace(case, **shared, asks={"grouped": True}, needs=frozenset({"heads"}))
    asks, *keys = _settings(str(asked), case, random)
    return replace(case, asks=asks, meanings=tuple(map(Meaning, keys)))


def _plain(random: Generator, name: str) -> Case:
    entries, heads = random.integers(1, 4, size=2)
    n, m, d_k, d_v = random.integers(1, 9, size=4)
    size = random.choice(SIZES_OF_NUMBERS)

    def numbers(*shape: int) -> Any:
        """Multiples of an eighth, which every number format has."""
        return np.rint(random.normal(size=shape).clip(-3.5, 3.5) * 8) / 8

    return Case(
        name,
        numbers(entries, heads, n, d_k) * size,
        numbers(entries, heads, m, d_k) * size,
        numbers(entries, heads, m, max(d_k, d_v)),
    )


def _settings(asked: str, case: Case, random: Generator) -> tuple[dict[str, Any], ...]:
    """What a function is asked, and how problems say it: one for each way to understand it."""
    n, m = case.queries.shape[-2], case.keys.shape[-2]
    is_square = n == m
    entries, heads = case.queries.shape[:2]
    if asked in ("truth", "numbers"):
        shape = (random.choice([1, entries]), random.choice([1, heads]), n, m)
        keep = random.random(shape) < 0.6
        if asked == "truth":
            return {"mask": keep}, {"mask": {"keep": keep}}
        added = np.where(keep, np.rint(random.normal(size=shape) * 8) / 8, -np.inf)
        return {"mask": added}, {"mask": {"additive": added}}, {"mask": {"keep": added != 0}}
    if asked == "causal" and is_square:
        return {"causal": True}, {"mask": "causal"}
    if asked in ("scale", "softcap"):
        number = float(random.choice([0.125, 0.5, 1.0, 3.0]))
        return {asked: number}, {asked: number}
    return {}, {}
