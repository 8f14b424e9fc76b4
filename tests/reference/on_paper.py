"""Rounding as people do it on paper, after each step; and problems to be worked so, drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tests.reference.back_in_arrays import sheet_of
from tests.reference.in_arrays import Problem, Rounding, Sheet
from tests.reference.mistaken_rope import D_K, SETTINGS

Array = NDArray[np.float64]
THETA = 100.0  # of RoPE


def half_up(array: Array, decimals: int) -> Array:
    """Rounded, halves away from zero, as on paper."""
    units = np.floor(abs(array) * 10.0**decimals + 0.5 + 1e-9)
    return np.copysign(units / 10.0**decimals, array) + 0.0


def to_decimals(decimals: int) -> Rounding:
    """Each step is rounded to so many before the next is worked out."""
    return lambda name, array: half_up(array, decimals)


# Problems


def numbers(choice: Generator, *shape: int, whole: bool, size: float = 1.0) -> Array:
    """A matrix of small whole numbers, or of numbers with one decimal."""
    if whole:
        return choice.integers(-1, 3, shape).astype(float)
    return choice.uniform(-1.5 * size, 1.5 * size, shape).round(1) + 0.0


@dataclass(frozen=True)
class Needs:
    """What a problem must have for a mistake to be made in it; `alike` are sizes that are to be the
    same.
    """

    square: bool = False
    mask: str = "any"
    heads: int = 1
    kv_heads: int = 0
    rope: bool = False
    rope_of: str = ""
    softcap: bool = False
    biased: bool = False
    exp_base: float = 0
    dot: bool = False
    additive: bool = False
    context: bool = False
    w_o: bool = False
    gradient: str = ""
    projected: bool = False
    alike: tuple[str, ...] = ()
    tokens: int = 2
    given: bool = False
    scale: float = 0
    sink: bool = False
    alibi: bool = False
    past: bool = False
    sines: bool = False

    @property
    def from_x(self) -> bool:
        return bool(
            self.projected
            or self.sines
            or self.square
            or self.biased
            or self.context
            or (self.heads > 1 and not self.past)
            or self.gradient
        )


def drawn(choice: Generator, needs: Needs) -> Sheet:
    """A problem of a size for paper."""
    return sheet_of(drawn_problem(choice, needs))


def drawn_problem(choice: Generator, needs: Needs) -> Problem:
    sizes = _sizes(choice, needs)
    n, d_model, d_k, d_v = sizes.values()
    m = n + int(choice.integers(1, 3)) if needs.context else n
    whole = bool(choice.integers(0, 2))
    heads, kv = needs.heads, needs.kv_heads or needs.heads
    p: Problem = {}

    def given(**shapes: tuple[int, ...]) -> None:
        """Matrices of these shapes; weights have decimals."""
        for name, shape in shapes.items():
            is_whole = whole and name in ("X", "context", "Q", "K", "V")
            p[name] = written(numbers(choice, *shape, whole=is_whole))

    if needs.from_x or (not needs.given and choice.random() < 0.6):
        given(
            X=(n, d_model),
            W_Q=(d_model, heads * d_k),
            W_K=(d_model, kv * d_k),
            W_V=(d_model, kv * d_v),
        )
        if needs.context:
            given(context=(m, d_model))
    else:
        given(Q=(n, d_k), K=(m, d_k), V=(m, d_v))
    past = 2 if needs.past else 0
    if past:
        p["past"] = {
            "K": written(numbers(choice, past, d_k, whole=whole)),
            "V": written(numbers(choice, past, d_v, whole=whole)),
        }
    if needs.biased:
        given(b_Q=(heads * d_k,), b_K=(kv * d_k,), b_V=(kv * d_v,))
    width = heads * d_v
    if needs.w_o:
        projected = width if needs.square or heads > 1 else d_model
        given(W_O=(width, projected))
        width = projected
        if needs.biased:
            given(b_O=(width,))
    if heads > 1:
        p["heads"] = heads
    if kv != heads:
        p["kv_heads"] = kv
    if needs.rope:
        pairing = str(choice.choice(["half", "interleaved"]))
        p["position"] = {"rope": {"theta": THETA, "pairing": pairing}}
    if needs.rope_of:
        said = dict(SETTINGS[needs.rope_of])
        if "positions" in said:
            said["positions"] = said["positions"][:n]
        # Neighbours are what they are, whatever is said of parts of a key.
        p["position"] = {"rope": {**said, "pairing": "half"}}
    if needs.alibi:
        p["position"] = {"alibi": True}
    if needs.sines:
        p["position"] = {"sinusoidal": {"base": 20, "from": 1}}
    if needs.scale:
        p["scale"] = needs.scale
    if needs.sink:
        sinks = written(numbers(choice, heads, whole=False))
        p["sink"] = sinks if heads > 1 else sinks[0]
    if needs.softcap:
        p["softcap"] = float(choice.choice([0.5, 1.0, 2.0]))
    if needs.exp_base:
        p["exp_base"] = needs.exp_base
    if needs.dot:
        p["score"] = "dot"
    if needs.additive:
        p["score"] = "additive"
        given(W_1=(d_k, 2), W_2=(d_k, 2), v=(2,))
    p |= _mask(choice, needs.mask, n, m + past)
    return p | _gradient(choice, needs.gradient, n, width)


def _sizes(choice: Generator, needs: Needs) -> dict[str, int]:
    sizes = {"n": int(choice.integers(needs.tokens, 5)), "d_model": int(choice.integers(3, 6)),
             "d_k": int(choice.integers(2, 5)), "d_v": int(choice.integers(2, 5))}  # fmt: skip
    if alike := ("d_model", "d_k", "d_v") if needs.square else needs.alike:
        sizes |= dict.fromkeys(alike, sizes[alike[0]])
    if needs.heads > 1:
        sizes |= {"d_k": 2, "d_v": 2}
    if needs.sines:
        sizes |= {"d_model": 4, "d_k": 3}
    if needs.rope_of:
        sizes |= {"d_k": D_K}
    if needs.rope:
        sizes |= dict.fromkeys(alike, 4) | {"d_k": 4}
    return sizes


def _mask(choice: Generator, kind: str, n: int, m: int) -> Problem:
    if kind in ("any", "some"):
        among = ["causal", "padding", "none"] if kind == "any" else ["causal", "padding"]
        kind = str(choice.choice(among))
    if kind == "causal":
        return {"mask": "causal"}
    if kind == "padding":
        kept = int(choice.integers(1, m))
        return {"mask": {"keep": [[int(at < kept) for at in range(m)] for _ in range(n)]}}
    if kind == "nothing seen":
        return {"mask": {"keep": [[int(row > 0)] * m for row in range(n)]}}
    if kind == "window":
        return {"mask": {"window": [1, int(choice.integers(0, 2))]}}
    if kind == "causal window":
        return {"mask": {"window": [1, 0]}}
    if kind == "causal and another":
        kept = [[int(row == at or bool(choice.integers(2))) for at in range(m)] for row in range(n)]
        return {"mask": {"causal": True, "keep": kept}}
    if kind == "causal and padding":
        kept = int(choice.integers(1, m))
        return {"mask": {"causal": True, "padding": [int(at < kept) for at in range(m)]}}
    if kind == "numbers":
        added = numbers(choice, n, m, whole=False).tolist()
        hidden = [[*row[: at + 1], *["-inf"] * (m - at - 1)] for at, row in enumerate(added)]
        return {"mask": hidden}
    return {}


def _gradient(choice: Generator, kind: str, n: int, width: int) -> Problem:
    if kind == "mse":
        target = numbers(choice, n, width, whole=False, size=3)
        return {"loss": {"kind": "mse", "target": written(target)}}
    if kind == "cross_entropy":
        targets = choice.integers(0, width, n)
        return {"loss": {"kind": "cross_entropy", "targets": targets.tolist()}}
    if kind:
        return {"d_output": written(numbers(choice, n, width, whole=False, size=4))}
    return {}


def written(array: Array) -> Any:
    """Nested lists, whole numbers without decimals."""
    return (array.astype(int) if (array == array.astype(int)).all() else array).tolist()
