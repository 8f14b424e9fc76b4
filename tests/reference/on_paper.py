"""Attention and its gradients by NumPy alone, worked as people do it on paper; and problems to be
worked, drawn.

A sheet has what a problem gives, and then a matrix for every step: `RIGHT` says how each is worked
out from the sheet. Nothing here is imported from the program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Array = NDArray[np.float64]
THETA = 100.0  # of RoPE


class Sheet(dict[str, Any]):
    """What is given and what has been worked out, by name: `sheet.scores` is `sheet["scores"]`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def queries(self) -> Array:
        return self.get("Q_rot", self["Q"])

    @property
    def keys_read(self) -> Array:
        return self.get("K_rot", self["K"])

    @property
    def source(self) -> Array:
        return self["context"] if "context" in self else self["X"]

    @property
    def unmasked(self) -> Array:
        """The logits before the mask."""
        return next(self[name] for name in ("capped", "scaled", "scores") if name in self)

    @property
    def logits(self) -> Array:
        return self.get("masked", self.unmasked)

    @property
    def base(self) -> float:
        return float(self.get("exp_base", math.e))

    @property
    def d_k(self) -> int:
        return int(self["K"].shape[-1])

    @property
    def unseen(self) -> Any:
        """Where the mask hides a key."""
        return (
            self["mask_given"] == -np.inf
            if "mask_given" in self
            else np.zeros(self["scores"].shape, dtype=bool)
        )


Work = Callable[[Sheet], Array]
Steps = dict[str, Work]


# What people do with matrices


def half_up(array: Array, decimals: int) -> Array:
    """Rounded, halves away from zero, as on paper."""
    return (
        np.copysign(np.floor(abs(array) * 10.0**decimals + 0.5 + 1e-9) / 10.0**decimals, array)
        + 0.0
    )


def t(array: Array) -> Array:
    return array.swapaxes(-1, -2)


def cut(array: Array, heads: int) -> Array:
    """(rows, heads·width) -> (heads, rows, width); as it is with one head."""
    return array if heads == 1 else array.reshape(len(array), heads, -1).swapaxes(0, 1)


def joined(array: Array) -> Array:
    return array if array.ndim == 2 else array.swapaxes(0, 1).reshape(array.shape[1], -1)


def repeated(array: Array, group: int) -> Array:
    """Heads of keys and values, each for as many heads of queries."""
    return array if group == 1 else np.repeat(array, group, axis=0)


def tiled(array: Array, group: int) -> Array:
    return np.tile(array, (group, 1, 1))


def power(base: float, array: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.where(array == -np.inf, 0.0, base ** np.where(array == -np.inf, 0.0, array))


def shares(part: Array, whole: Array) -> Array:
    return np.where(whole == 0, 0.0, part / np.where(whole == 0, 1, whole))


def summed(array: Array, axis: int = -1) -> Array:
    return array.sum(axis=axis, keepdims=True)


def causal(n: int, m: int, offset: int = 0) -> Array:
    return np.where(np.arange(m) <= np.arange(n)[:, None] + offset, 0.0, -np.inf)


def turned(array: Array, pairing: str, way: int = 1) -> Array:
    """RoPE."""
    rows, width = array.shape[-2:]
    angles = way * np.arange(rows)[:, None] / THETA ** (2 * np.arange(width // 2) / width)
    halves = slice(0, width // 2), slice(width // 2, None)
    one, other = halves if pairing == "half" else (slice(0, None, 2), slice(1, None, 2))
    found = np.empty_like(array)
    found[..., one] = array[..., one] * np.cos(angles) - array[..., other] * np.sin(angles)
    found[..., other] = array[..., one] * np.sin(angles) + array[..., other] * np.cos(angles)
    return found


def handed_back(array: Array, s: Sheet) -> Array:
    """What the heads that share keys and values hand back."""
    return (
        array if s.group == 1 else array.reshape(s.kv_heads, s.group, *array.shape[1:]).sum(axis=1)
    )


# The steps, each from a sheet


def projected(name: str, weights: str, *, biased: bool = True, transposed: bool = False) -> Work:
    """X W + b, in heads."""

    def work(s: Sheet) -> Array:
        heads = s.heads if name == "Q" else s.kv_heads
        w = cut(s[weights], heads)
        none = np.zeros(s[weights].shape[1])
        bias = cut(np.atleast_2d(s.get(f"b_{name}", none) if biased else none), heads)
        return (s.X if name == "Q" else s.source) @ (t(w) if transposed else w) + bias

    return work


def scale(s: Sheet) -> float:
    return float(s.d_k**-0.5)


RIGHT: Steps = {
    "Q": projected("Q", "W_Q"),
    "K": projected("K", "W_K"),
    "V": projected("V", "W_V"),
    "Q_rot": lambda s: turned(s.Q, s.pairing),
    "K_rot": lambda s: turned(s.K, s.pairing),
    "K_T": lambda s: t(s.keys_read),
    "scores": lambda s: hidden_layer(s) @ s.v if "v" in s else s.queries @ repeated(s.K_T, s.group),
    "scaled": lambda s: s.scores * scale(s),
    "capped": lambda s: s.softcap * np.tanh(s.scaled / s.softcap),
    "mask": lambda s: s.mask_given,
    "masked": lambda s: np.where(
        s.mask == -np.inf, -np.inf, s.unmasked + np.where(s.mask == -np.inf, 0, s.mask)
    ),
    "exp": lambda s: power(s.base, s.logits),
    "row_sum": lambda s: s.exp.sum(axis=-1),
    "weights": lambda s: shares(s.exp, s.row_sum[..., None]),
    "heads_output": lambda s: s.weights @ repeated(s.V, s.group),
    "concat": lambda s: joined(s.heads_output),
    "output": lambda s: output_of(s),
    "error": lambda s: s.output - s.target,
    "loss": lambda s: loss_of(s) / loss_number(s),
    "d_output": lambda s: d_output_of(s) / loss_number(s),
    "d_W_O": lambda s: joined(s.heads_output).T @ s.d_output,
    "d_concat": lambda s: s.d_output @ s.W_O.T,
    "d_heads_output": lambda s: (
        cut(s.d_concat, s.heads) if "d_concat" in s else s.d_output @ s.W_O.T
    ),
    "d_weights": lambda s: of_mixture(s) @ t(repeated(s.V, s.group)),
    "delta": lambda s: (s.weights * s.d_weights).sum(axis=-1),
    "d_masked": lambda s: through_softmax(s),
    "d_capped": lambda s: s.d_masked if "d_masked" in s else through_softmax(s),
    "d_scaled": lambda s: d_scaled_of(s),
    "d_scores": lambda s: s.d_scaled * scale(s) if "d_scaled" in s else through_softmax(s),
    "d_hidden": lambda s: s.d_scores[..., None] * s.v * (1 - hidden_layer(s) ** 2),
    "d_Q_rot": lambda s: s.d_scores @ repeated(s.keys_read, s.group),
    "d_K_rot": lambda s: handed_back(t(s.d_scores) @ s.queries, s),
    "d_Q": lambda s: d_q_of(s),
    "d_K": lambda s: d_k_of(s),
    "d_V": lambda s: handed_back(t(s.weights) @ of_mixture(s), s),
    "d_W_Q": lambda s: s.X.T @ s.d_Q,
    "d_W_K": lambda s: s.source.T @ s.d_K,
    "d_W_V": lambda s: s.source.T @ s.d_V,
    "d_X": lambda s: sum(into_input(s).values()),
}


def output_of(s: Sheet) -> Array:
    if "concat" in s:
        return s.concat @ s.W_O + s.get("b_O", 0.0) if "W_O" in s else s.concat
    return s.heads_output @ s.W_O + s.get("b_O", 0.0) if "W_O" in s else s.weights @ s.V


def hidden_layer(s: Sheet) -> Array:
    """Of the additive score: queries by keys by hidden features."""
    return np.tanh((s.Q @ s.W_1)[:, None] + (s.K @ s.W_2)[None])


def d_q_of(s: Sheet) -> Array:
    if "d_hidden" in s:
        return s.d_hidden.sum(axis=1) @ s.W_1.T
    return turned(s.d_Q_rot, s.pairing, -1) if "Q_rot" in s else RIGHT["d_Q_rot"](s)


def d_k_of(s: Sheet) -> Array:
    if "d_hidden" in s:
        return s.d_hidden.sum(axis=0) @ s.W_2.T
    return turned(s.d_K_rot, s.pairing, -1) if "Q_rot" in s else RIGHT["d_K_rot"](s)


def probabilities(s: Sheet) -> Array:
    exp = np.exp(s.output)
    return exp / summed(exp)


def loss_number(s: Sheet) -> int:
    """The N of the mean."""
    return {"mse": s.output.size, "cross_entropy": len(s.output)}.get(s.get("loss_kind"), 1)


def loss_of(s: Sheet) -> Array:
    if s.loss_kind == "mse":
        return np.asarray((s.error**2).sum())
    return -np.asarray((s.one_hot * np.log(probabilities(s))).sum())


def d_output_of(s: Sheet) -> Array:
    """The gradient of the loss added up, or the one given."""
    if s.get("loss_kind") == "mse":
        return 2 * s.error
    return probabilities(s) - s.one_hot if "loss_kind" in s else s.d_output_given


def of_mixture(s: Sheet) -> Array:
    return s.d_heads_output if "d_heads_output" in s else s.d_output


def through_softmax(s: Sheet) -> Array:
    return s.weights * (s.d_weights - s.delta[..., None]) * math.log(s.base)


def d_scaled_of(s: Sheet) -> Array:
    if "d_capped" in s:
        return s.d_capped * (1 - np.tanh(s.scaled / s.softcap) ** 2)
    return s.d_masked if "d_masked" in s else through_softmax(s)


def into_input(s: Sheet, of: Mapping[str, str] = {}, *, transposed: str = "") -> dict[str, Array]:
    """What comes back through Q, K and V, with the weights `of` another, or without their being
    transposed.
    """
    parts = {}
    for name in "QKV":
        w = s[f"W_{of.get(name, name)}"]
        parts[name] = joined(s[f"d_{name}"]) @ (w if name in transposed else w.T)
    return parts


def steps_of(p: Sheet) -> Steps:
    """The steps of a problem, in the order of work."""
    there = {
        "Q": "X" in p,
        "K": "X" in p,
        "V": "X" in p,
        "Q_rot": "pairing" in p,
        "K_rot": "pairing" in p,
        "K_T": "v" not in p,
        "scaled": "score" not in p,
        "d_scaled": "score" not in p,
        "d_hidden": "v" in p,
        "capped": "softcap" in p,
        "mask": "mask_given" in p,
        "masked": "mask_given" in p,
        "heads_output": p.heads > 1 or "W_O" in p,
        "concat": p.heads > 1,
        "error": p.get("loss_kind") == "mse",
        "loss": "loss_kind" in p,
        "d_concat": p.heads > 1 and "W_O" in p,
        "d_heads_output": p.heads > 1 or "W_O" in p,
        "d_W_O": "W_O" in p,
        "d_masked": "mask_given" in p,
        "d_capped": "softcap" in p,
        "d_Q_rot": "pairing" in p,
        "d_K_rot": "pairing" in p,
        "d_W_Q": "X" in p,
        "d_W_K": "X" in p,
        "d_W_V": "X" in p,
        "d_X": "X" in p and "context" not in p,
    }
    gradient = "d_output_given" in p or "loss_kind" in p
    return {
        name: work
        for name, work in RIGHT.items()
        if there.get(name, True) and (gradient or not name.startswith(("d_", "delta")))
    }


def worked(p: Sheet, steps: Steps, decimals: int | None = None) -> Sheet:
    """The sheet filled in; with `decimals`, each step is rounded to so many before the next is
    worked out.
    """
    s = Sheet(p)
    for name, work in steps.items():
        found = np.asarray(work(s), dtype=float)
        s[name] = found if decimals is None else half_up(found, decimals)
    return s


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

    @property
    def from_x(self) -> bool:
        return bool(
            self.projected
            or self.square
            or self.biased
            or self.context
            or self.heads > 1
            or self.gradient
        )


def drawn(choice: Generator, needs: Needs) -> Sheet:
    """A problem of a size for paper."""
    sizes = _sizes(choice, needs)
    n, d_model, d_k, d_v = sizes.values()
    m = n + int(choice.integers(1, 3)) if needs.context else n
    whole = bool(choice.integers(0, 2))
    heads, kv = needs.heads, needs.kv_heads or needs.heads
    p = Sheet(heads=heads, kv_heads=kv, group=heads // kv)

    def given(**shapes: tuple[int, ...]) -> None:
        """Matrices of these shapes; weights have decimals."""
        for name, shape in shapes.items():
            p[name] = numbers(
                choice, *shape, whole=whole and name in ("X", "context", "Q", "K", "V")
            )

    if needs.from_x or choice.random() < 0.6:
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
    if needs.biased:
        given(b_Q=(heads * d_k,), b_K=(kv * d_k,), b_V=(kv * d_v,))
    width = heads * d_v
    if needs.w_o:
        given(W_O=(width, width if needs.square or heads > 1 else d_model))
        if needs.biased:
            given(b_O=(len(p.W_O.T),))
    if needs.rope:
        p["pairing"] = str(choice.choice(["half", "interleaved"]))
    if needs.softcap:
        p["softcap"] = float(choice.choice([0.5, 1.0, 2.0]))
    if needs.exp_base:
        p["exp_base"] = needs.exp_base
    if needs.dot:
        p["score"] = "dot"
    if needs.additive:
        p["score"] = "additive"
        given(W_1=(d_k, 2), W_2=(d_k, 2), v=(2,))
    _mask(p, choice, needs.mask, n, m)
    _gradient(p, choice, needs.gradient, n, len(p.W_O.T) if needs.w_o else width)
    return p


def _sizes(choice: Generator, needs: Needs) -> dict[str, int]:
    sizes = {"n": int(choice.integers(needs.tokens, 5)), "d_model": int(choice.integers(3, 6)),
             "d_k": int(choice.integers(2, 5)), "d_v": int(choice.integers(2, 5))}  # fmt: skip
    if alike := ("d_model", "d_k", "d_v") if needs.square else needs.alike:
        sizes |= dict.fromkeys(alike, sizes[alike[0]])
    if needs.heads > 1:
        sizes |= {"d_k": 2, "d_v": 2}
    if needs.rope:
        sizes["d_k"] = 4
    return sizes


def _mask(p: Sheet, choice: Generator, kind: str, n: int, m: int) -> None:
    if kind in ("any", "some"):
        kind = str(
            choice.choice(["causal", "padding", "none"] if kind == "any" else ["causal", "padding"])
        )
    if kind == "causal":
        p["mask_given"], p["mask_said"] = causal(n, m), "causal"
    elif kind == "padding":
        kept = int(choice.integers(1, m))
        p["mask_given"] = np.where(np.arange(m) < kept, 0.0, -np.inf) + np.zeros((n, 1))
        p["mask_said"] = {"keep": [[int(at < kept) for at in range(m)] for _ in range(n)]}


def _gradient(p: Sheet, choice: Generator, kind: str, n: int, width: int) -> None:
    if kind == "mse":
        p |= {"loss_kind": "mse", "target": numbers(choice, n, width, whole=False, size=3)}
    elif kind == "cross_entropy":
        targets = choice.integers(0, width, n)
        p |= {"loss_kind": "cross_entropy", "targets": targets, "one_hot": np.eye(width)[targets]}
    elif kind:
        p["d_output_given"] = numbers(choice, n, width, whole=False, size=4)


def written(array: Array) -> Any:
    """Nested lists, whole numbers without decimals."""
    return (array.astype(int) if (array == array.astype(int)).all() else array).tolist()


def problem_of(p: Sheet) -> dict[str, Any]:
    """The problem as a file says it."""
    arrays = (
        "X",
        "context",
        "W_Q",
        "W_K",
        "W_V",
        "W_O",
        "b_Q",
        "b_K",
        "b_V",
        "b_O",
        "Q",
        "K",
        "V",
        "W_1",
        "W_2",
        "v",
    )
    said: dict[str, Any] = {name: written(p[name]) for name in arrays if name in p}
    said |= {name: p[name] for name in ("softcap", "exp_base", "score") if name in p}
    if p.heads > 1:
        said["heads"] = p.heads
        said |= {"kv_heads": p.kv_heads} if p.kv_heads != p.heads else {}
    if "pairing" in p:
        said["position"] = {"rope": {"theta": THETA, "pairing": p.pairing}}
    if "mask_said" in p:
        said["mask"] = p.mask_said
    if "d_output_given" in p:
        said["d_output"] = written(p.d_output_given)
    if p.get("loss_kind") == "mse":
        said["loss"] = {"kind": "mse", "target": written(p.target)}
    elif "loss_kind" in p:
        said["loss"] = {"kind": "cross_entropy", "targets": p.targets.tolist()}
    return said
