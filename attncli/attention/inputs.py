"""The arrays a problem may give, as rules of steps: each row of the table of keys, and K and V of new tokens."""

from __future__ import annotations

from attncli.equation.rule import Rule
from attncli.problem.keys import ARRAYS, Array


def _given(array: Array) -> Rule:
    return Rule(
        array.name, array.symbol or array.name, array.title, array.cell,
        meaning=array.meaning, when=array.when, gradient=array.gradient or "",
    )  # fmt: skip


_PROJECTED = ("Q", "K", "V")  # or given directly: they stand last, where they would be worked out
GIVEN = (
    *(_given(array) for name, array in ARRAYS.items() if name not in _PROJECTED),
    _given(ARRAYS["Q"]),
    Rule(
        "new_K", "K_new", "New keys", "new_K[s, k]",
        meaning="one row per new token: its key.",
        when="where the problem gives past and K",
    ),
    _given(ARRAYS["K"]),
    Rule(
        "new_V", "V_new", "New values", "new_V[s, c]",
        meaning="one row per new token: its value.",
        when="where the problem gives past and V",
    ),
    _given(ARRAYS["V"]),
)  # fmt: skip
