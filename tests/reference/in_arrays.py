"""Attention from a problem file, straight from the documentation; nothing of the program is used.

A step is a function of a sheet, which has what the problem gives and the steps before. So a mistake
is another function for a step, and rounding on paper what becomes of each step's numbers. The
arrays are NumPy's, or tensors of PyTorch, whose autograd then has all gradients: the functions that
are used have the same names in both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tests.reference.masks_in_arrays import is_mask, offsets, visible_and_added
from tests.reference.rope_in_arrays import length_of, positions_of, said_of, turning

Problem = dict[str, Any]
# Arrays by name: "Q", "W_Q", "past_K".
Given = Mapping[str, Any]
NAMES = (
    *("X", "context", "W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O"),
    *("Q", "K", "V", "W_a", "W_1", "W_2", "v", "sink"),
)
# Those of its steps that are compared, by the names that the program has for them.
STEPS = (
    *("new_K", "new_V", "Q", "K", "V", "Q_rot", "K_rot"),
    *("scores", "scaled", "capped", "bias", "mask", "masked", "weights"),
    *("heads_output", "concat", "output"),
)


class Sheet(dict[str, Any]):
    """What is given and what has been worked out, by name: `sheet.scores` is `sheet["scores"]`.

    Its arrays have the axes of the file, or, in full, batch × head × row × column, with lengths of
    1 where the file has no batch or no heads.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def group(self) -> int:
        """How many heads of queries share the keys and values of one head."""
        return int(self.heads // self.kv_heads)

    @property
    def queries(self) -> Any:
        return self.get("Q_rot", self["Q"])

    @property
    def keys_read(self) -> Any:
        return self.get("K_rot", self["K"])

    @property
    def read(self) -> Any:
        """Of queries: X, with the sines of its positions if it has any."""
        if "X_pos" in self:
            return self["X_pos"]
        return self["X"]

    @property
    def source(self) -> Any:
        """Of keys and values."""
        if "context" in self:
            return self["context"]
        return self.read

    @property
    def unmasked(self) -> Any:
        """The logits before the mask."""
        return next(self[name] for name in ("capped", "scaled", "scores") if name in self)

    @property
    def logits(self) -> Any:
        return self.get("masked", self.unmasked)

    @property
    def mixed(self) -> Any:
        """What each query takes from the values, heads side by side."""
        return self["concat"] if "concat" in self else self["heads_output"]

    @property
    def d_k(self) -> int:
        return int(self["K"].shape[-1])

    @property
    def factor(self) -> float:
        return scale(self.problem, self.d_k)

    @property
    def softcap(self) -> float:
        return float(self.problem["softcap"])

    @property
    def base(self) -> float:
        """Of the powers in the softmax."""
        said = self.problem.get("exp_base", "e")
        return math.e if said == "e" else float(said)

    @property
    def unseen(self) -> Any:
        """Where the mask hides a key."""
        return self["mask_given"] == -np.inf if "mask_given" in self else False


Work = Callable[[Sheet], Any]
Steps = dict[str, Work]
# What becomes of the numbers of a step, by its name.
Rounding = Callable[[str, Any], Any]


def attention(problem: Problem) -> Sheet:
    """Every step by its name, in NumPy; each with all entries of the batch.

    "output" is batch × query × … where heads were joined, else the heads' own.
    """
    steps = steps_of(np, problem, given_arrays(problem))
    with_entries = [name for name in ("Q", "K", "V", "Q_rot", "K_rot") if name in steps]
    most = max(len(steps[name]) for name in ("Q", "K", "V"))
    for name in with_entries:
        steps[name] = np.broadcast_to(steps[name], (most, *steps[name].shape[1:]))
    return steps


def steps_of(xp: Any, problem: Problem, given: Given) -> Sheet:
    """Every step by its name, worked out by NumPy or PyTorch from arrays of theirs.

    What has no batch of its own has one entry.
    """
    sheet = sheet_of(problem, xp=xp, given=given, in_full=True)
    return worked(sheet, there(sheet, FORWARD))


def given_arrays(problem: Problem) -> dict[str, np.ndarray]:
    """The arrays of a problem, as the file has them; those of a cache are "past_K" and "past_V"."""
    written = {name: problem[name] for name in NAMES if name in problem}
    written |= {f"past_{name}": array for name, array in problem.get("past", {}).items()}
    return {name: np.array(array, dtype=float) for name, array in written.items()}


def sheet_of(
    problem: Problem, *, xp: Any = np, given: Given | None = None, in_full: bool = False
) -> Sheet:
    """What a problem gives. In full, the softmax is shifted by the largest logit of each row."""
    given = given_arrays(problem) if given is None else given
    heads, kv_heads = head_counts(problem)
    s = Sheet(given, problem=problem, xp=xp, heads=heads, kv_heads=kv_heads)
    s["apart"], s["shifted"] = in_full or heads > 1, in_full
    for name in ("X", "context"):
        if in_full and name in s and s[name].ndim == 2:
            s[name] = s[name][None]
    for letter in "QKV":
        of_letter = heads if letter == "Q" else kv_heads
        for name in (letter, f"past_{letter}"):
            if name in given:
                s[name] = by_head(given[name], of_letter, apart=s.apart, in_full=in_full)
        if f"past_{letter}" in s and letter in s:
            s[f"new_{letter}"] = s.pop(letter)
    s["past"] = s.past_K.shape[-2] if "past_K" in s else 0
    s |= problem.get("position", {})
    if "sink" in s:
        s["sink"] = s.sink.reshape(-1, 1) if s.apart else s.sink.reshape(-1)
    rows, keys = (len_of(s, letter) for letter in "QK")
    mask = problem.get("mask")
    s["offset"] = offsets(mask, rows, keys + s.past, s.past)
    if is_mask(mask):
        visible, added = visible_and_added(mask, (1, 1, rows, keys + s.past), s.offset)
        s["mask_given"] = xp.asarray(own_axes(np.where(visible, added, -np.inf), s))
    return s


def len_of(s: Sheet, letter: str) -> int:
    """How many queries or new keys there are."""
    source = s.get(f"new_{letter}", s.get(letter))
    if source is None:
        source = s.read if letter == "Q" else s.source
    return int(source.shape[-2])


def own_axes(array: Any, s: Sheet) -> Any:
    """batch × head × row × column without the axes that the file has not."""
    if s.shifted:
        return array
    return array[0] if s.apart else array[0, 0]


def head_counts(problem: Problem) -> tuple[int, int]:
    """(heads, kv_heads): as written, else as many as the given arrays have."""

    def given(*names: str) -> int | None:
        arrays = (np.array(problem[name]) for name in names if name in problem)
        return next((array.shape[-3] for array in arrays if array.ndim > 2), None)

    heads = problem.get("heads") or given("Q") or 1
    return heads, problem.get("kv_heads") or given("K", "V") or heads


def by_head(array: Any, heads: int, *, apart: bool, in_full: bool) -> Any:
    """Given rows with the axes of a sheet; the columns of a matrix are those of all heads."""
    if apart and array.ndim == 2:
        array = cut(array, heads)
    return array[None] if in_full and array.ndim == 3 else array


# What is done with matrices, whatever axes stand before them.


def t(array: Any) -> Any:
    return array.swapaxes(-1, -2)


def cut(array: Any, heads: int) -> Any:
    """Rows × (heads · columns) → heads × rows × columns."""
    return array.reshape(*array.shape[:-1], heads, -1).swapaxes(-2, -3)


def joined(array: Any) -> Any:
    """Heads × rows × columns → rows × (heads · columns)."""
    moved = array.swapaxes(-2, -3)
    return moved.reshape(*moved.shape[:-2], -1)


def repeated(array: Any, s: Sheet) -> Any:
    """Heads of keys or values, each for as many heads of queries as share it."""
    of_each_head = [head // s.group for head in range(s.heads)]
    return array[..., of_each_head, :, :] if s.apart else array


def behind(s: Sheet, letter: str) -> Any:
    """The rows of the new tokens behind those of the cache."""
    pair = s[f"past_{letter}"], s[f"new_{letter}"]
    if pair[0].ndim < 4:
        return s.xp.concatenate(pair, axis=-2)
    entries = max(len(array) for array in pair)
    of_all = [s.xp.broadcast_to(array, (entries, *array.shape[1:])) for array in pair]
    return s.xp.concatenate(of_all, axis=-2)


def turned(s: Sheet, x: Any, which: str, *, way: int = 1, other_pairs: bool = False) -> Any:
    """RoPE: each pair (a, b) of features is turned by the angle of its position."""
    said = said_of(s.rope)
    queries, keys = s["Q"].shape[-2], s["K"].shape[-2]
    how = turning(said, x.shape[-1], length_of(said, queries, keys, s.past))
    if other_pairs:
        how = replace(how, interleaved=not how.interleaved)
    first = s.past if which == "queries" else 0
    return how.turned(x, positions_of(said, which, first, x.shape[-2]), s.xp, way)


def power(base: float, array: Any) -> Any:
    with np.errstate(over="ignore"):
        return base**array


def shares(part: Any, whole: Any, xp: Any = np) -> Any:
    """Zeros where the whole is 0, as it is where all keys are hidden."""
    return xp.where(whole == 0, 0.0, part / xp.where(whole == 0, 1.0, whole))


# The steps, each from a sheet.


def projected(name: str, weights: str = "", *, biased: bool = True) -> Work:
    """X W + b, in heads."""

    def work(s: Sheet) -> Any:
        rows = (s.read if name == "Q" else s.source) @ s[weights or f"W_{name}"]
        rows = rows + s[f"b_{name}"] if biased and f"b_{name}" in s else rows
        return cut(rows, s.heads if name == "Q" else s.kv_heads) if s.apart else rows

    return work


def cached(name: str) -> Work:
    """K or V, behind the rows of a cache if there is one."""
    return lambda s: behind(s, name) if f"past_{name}" in s else projected(name)(s)


def hidden_layer(s: Sheet) -> Any:
    """Of the additive score: queries by keys by hidden features."""
    of_queries = (s.queries @ s.W_1)[..., :, None, :]
    return s.xp.tanh(of_queries + (repeated(s.keys_read, s) @ s.W_2)[..., None, :, :])


def scores(s: Sheet) -> Any:
    """How well each query matches each key, before the scale."""
    if "v" in s:
        return hidden_layer(s) @ s.v
    queries = s.queries @ s.W_a if "W_a" in s else s.queries
    return queries @ repeated(s.K_T, s)


def scale(problem: Problem, d_k: int) -> float:
    """What the scores are multiplied by."""
    said = problem.get("scale", "default")
    if said == "default":
        return 1 / math.sqrt(d_k) if problem.get("score", "scaled_dot") == "scaled_dot" else 1
    return 1 if said == "none" else said


def is_scaled(problem: Problem) -> bool:
    said = problem.get("scale", "default")
    if said == "default":
        return bool(problem.get("score", "scaled_dot") == "scaled_dot")
    return bool(said != "none")


def default_slopes(heads: int) -> list[float]:
    """ALiBi's slopes, as the paper's code finds them for any number of heads."""
    if math.log2(heads).is_integer():
        return [2 ** (-8 * (head + 1) / heads) for head in range(heads)]
    closest = 2 ** int(math.log2(heads))
    return default_slopes(closest) + default_slopes(2 * closest)[::2][: heads - closest]


def alibi_bias(s: Sheet) -> Any:
    slopes = default_slopes(s.heads) if s.alibi is True else s.alibi["slopes"]
    i, j = np.indices(s.scores.shape[-2:])
    of_heads = np.reshape(slopes, (1, -1, 1, 1)) * abs(i + s.offset - j)
    return s.xp.asarray(own_axes(-of_heads, s))


def row_max(s: Sheet) -> Any:
    """The number that is subtracted from the logits of a row: 0 where all of it is hidden."""
    top = s.xp.amax(s.logits, -1)
    top = s.xp.maximum(top, s.sink) if "sink" in s else top
    return s.xp.where(top == -math.inf, 0.0, top)


def exponentials(s: Sheet) -> Any:
    return power(s.base, s.logits - s.row_max[..., None] if "row_max" in s else s.logits)


def row_sum(s: Sheet) -> Any:
    """A sink takes its share and is then left out."""
    total = s.exp.sum(-1)
    return total + power(s.base, s.sink - s.get("row_max", 0.0)) if "sink" in s else total


def output(s: Sheet) -> Any:
    if "heads_output" not in s:
        return s.weights @ s.V
    return s.mixed @ s.W_O + s.get("b_O", 0) if "W_O" in s else s.mixed


def sines(s: Sheet) -> Any:
    """Feature 2r of position t is sin(t / base^(2r / d_model)), and feature 2r + 1 its cosine; the
    cosines stand behind all sines in halves.
    """
    said = {} if s.sinusoidal is True else s.sinusoidal
    n, width = s.X.shape[-2:]
    positions = np.arange(n) + s.past + said.get("from", 0)
    pairs = (width + 1) // 2
    angles = np.outer(positions, said.get("base", 10000.0) ** (-2 * np.arange(pairs) / width))
    both = [np.sin(angles), np.cos(angles)]
    if said.get("layout") == "halves":
        return s.xp.asarray(np.concatenate(both, axis=-1))
    return s.xp.asarray(np.stack(both, axis=-1).reshape(n, -1)[:, :width])


FORWARD: Steps = {
    "PE": sines,
    "X_pos": lambda s: s.X + s.PE,
    "new_K": projected("K"),
    "new_V": projected("V"),
    "Q": projected("Q"),
    "K": cached("K"),
    "V": cached("V"),
    "Q_rot": lambda s: turned(s, s.Q, "queries"),
    "K_rot": lambda s: turned(s, s.K, "keys"),
    "K_T": lambda s: t(s.keys_read),
    "scores": scores,
    "scaled": lambda s: s.scores * s.factor,
    "capped": lambda s: s.softcap * s.xp.tanh(s.unmasked / s.softcap),
    "bias": alibi_bias,
    "mask": lambda s: s.mask_given,
    "masked": lambda s: s.unmasked + s.get("bias", 0.0) + s.get("mask", 0.0),
    "row_max": row_max,
    "exp": exponentials,
    "row_sum": row_sum,
    "weights": lambda s: shares(s.exp, s.row_sum[..., None], s.xp),
    "heads_output": lambda s: s.weights @ repeated(s.V, s),
    "concat": lambda s: joined(s.heads_output),
    "output": output,
}


def there(s: Sheet, steps: Steps) -> Steps:
    """Those of the steps that the problem has, in the order of work."""
    is_there = {
        "new_K": "past_K" in s and "new_K" not in s,
        "new_V": "past_V" in s and "new_V" not in s,
        "PE": bool(s.get("sinusoidal")),
        "X_pos": bool(s.get("sinusoidal")),
        "Q": "Q" not in s,
        "K": "K" not in s,
        "V": "V" not in s,
        "Q_rot": "rope" in s,
        "K_rot": "rope" in s,
        "K_T": "v" not in s,
        "scaled": is_scaled(s.problem),
        "capped": "softcap" in s.problem,
        "bias": bool(s.get("alibi")),
        "mask": "mask_given" in s,
        "masked": "mask_given" in s or bool(s.get("alibi")),
        "row_max": s.shifted,
        "heads_output": s.apart or "W_O" in s,
        "concat": s.apart,
    }
    return {name: work for name, work in steps.items() if is_there.get(name, True)}


def worked(given: Sheet, steps: Steps, rounding: Rounding | None = None) -> Sheet:
    """The sheet filled in; each step is rounded, if it is, before the next is worked out."""
    s = Sheet(given)
    for name, work in steps.items():
        found = work(s)
        s[name] = found if rounding is None else rounding(name, found)
    return s
