"""Attention from a problem file in plain Python, number by number, as docs/reference/input.md says it; with bounds.

Nothing of the program is used, no NumPy and no matrix: arrays are nested lists of `Bounded`, batch × head × row ×
column, each with as many entries and heads as it has of its own.
"""

from __future__ import annotations

from typing import Any

from bounded import Bounded, dot, given, power, softmax, tanh, times, total, turn
from mpmath import mp, mpf
from plain_masks import Masks

Problem = dict[str, Any]
Rows = list[list[Bounded]]
Array = list[list[Rows]]
ANY_ORDER = 8  # roundings for a scale that is multiplied in before, in two halves or after; see docs/reliability.md


def attention(problem: Problem) -> dict[str, Array]:
    """Every step by its name; concat and output have one head where the heads were joined."""
    heads, kv_heads = _heads(problem)
    q, k, v = _new(problem, "Q", heads), _new(problem, "K", kv_heads), _new(problem, "V", kv_heads)
    past = 0
    if "past" in problem:
        cached = {letter: _by_head(problem["past"][letter], kv_heads) for letter in "KV"}
        past = len(cached["K"][0][0])
        k, v = _after(cached["K"], k), _after(cached["V"], v)
    steps = {"Q": q, "K": k, "V": v}
    if rope := problem.get("position", {}).get("rope"):
        q, k = _turned(q, past, **rope), _turned(k, 0, **rope)
        steps |= {"Q_rot": q, "K_rot": k}
    entries = max(len(q), len(k), len(v), Masks(problem.get("mask"), 1, 1, 1).entries)
    masks = Masks(problem.get("mask"), len(q[0][0]), len(k[0][0]), past)
    names = ("scores", "scaled", "masked", "weights", "heads_output")
    steps |= {name: [[[] for _ in range(heads)] for _ in range(entries)] for name in names}
    for entry in range(entries):
        for head in range(heads):
            served = head // (heads // kv_heads)
            queries, keys, values = _of(q, entry, head), _of(k, entry, served), _of(v, entry, served)
            found = _head(problem, queries, keys, values, masks, (entry, head, heads))
            for name, rows in found.items():
                steps[name][entry][head] = rows
    joined = [[_side_by_side(entry)] for entry in steps["heads_output"]]
    steps["concat"] = steps["output"] = joined
    if "W_O" in problem:
        bias = problem.get("b_O")
        steps["output"] = [[_projected(entry[0], problem["W_O"], bias)] for entry in joined]
    return steps


def _head(
    problem: Problem, queries: Rows, keys: Rows, values: Rows, masks: Masks, place: tuple[int, int, int]
) -> dict[str, Any]:
    entry, head, heads = place
    scores = [[_score(problem, query, key) for key in keys] for query in queries]
    scaled = [[_scaled(problem, cell, len(keys[0])) for cell in row] for row in scores]
    cap = problem.get("softcap")
    slope = _slope(problem, head, heads)
    masked: list[list[Bounded | None]] = []
    for i, row in enumerate(scaled):
        masked.append([])
        for j, cell in enumerate(row):
            added = masks.added(entry, head, i, j)
            if added is None:
                masked[i].append(None)
                continue
            terms = [cell if cap is None else _capped(cell, cap), *(given(number) for number in added)]
            if slope is not None:
                far = given(-abs(i + masks.offset(entry) - j))
                terms.append(times(slope, far).rounded())
            masked[i].append(total(terms, 1))
    sink = problem.get("sink")
    rest = sink[head] if isinstance(sink, list) else sink
    base = problem.get("exp_base", "e")
    weights = [softmax(row, rest, None if base == "e" else base) for row in masked]
    columns = [[row[c] for row in values] for c in range(len(values[0]))]
    output = [[dot(row, column, more=3) for column in columns] for row in weights]
    return {"scores": scores, "scaled": scaled, "masked": masked, "weights": weights, "heads_output": output}


def _heads(problem: Problem) -> tuple[int, int]:
    """As written, else as many as arrays with an axis of heads have; keys and values as many as queries."""

    def own(*letters: str) -> int | None:
        return next((len(_leading(problem[each])[0]) for each in letters if _axes(problem.get(each)) > 2), None)

    heads = problem.get("heads") or own("Q") or 1
    return heads, problem.get("kv_heads") or own("K", "V") or heads


def _new(problem: Problem, letter: str, heads: int) -> Array:
    """Q, K or V, given or projected from X or the context."""
    if letter in problem:
        return _by_head(problem[letter], heads)
    source = problem["X"] if letter == "Q" or "context" not in problem else problem["context"]
    entries = source if _axes(source) == 3 else [source]
    weights, bias = problem[f"W_{letter}"], problem.get(f"b_{letter}")
    return [_split(_projected(_numbers(entry), weights, bias), heads) for entry in entries]


def _projected(rows: Rows, weights: list[list[float]], bias: list[float] | None) -> Rows:
    columns = [[given(row[c]) for row in weights] for c in range(len(weights[0]))]
    plus = [[]] * len(columns) if bias is None else [[given(number)] for number in bias]
    return [[dot(row, column, *more) for column, more in zip(columns, plus, strict=True)] for row in rows]


def _by_head(array: Any, heads: int) -> Array:
    if _axes(array) == 2:
        return [_split(_numbers(array), heads)]
    return [[_numbers(head) for head in entry] for entry in _leading(array)]


def _split(rows: Rows, heads: int) -> list[Rows]:
    width = len(rows[0]) // heads
    return [[row[head * width : (head + 1) * width] for row in rows] for head in range(heads)]


def _after(cached: Array, new: Array) -> Array:
    entries = max(len(cached), len(new))
    return [
        [[*_of(cached, entry, head), *_of(new, entry, head)] for head in range(len(new[0]))] for entry in range(entries)
    ]


def _turned(array: Array, first: int, theta: float = 10000, pairing: str = "half") -> Array:
    """RoPE: a pair of features at position t turned by t·theta^(−2r/d_k)."""
    return [
        [[_turned_row(row, first + t, theta, pairing) for t, row in enumerate(head)] for head in entry]
        for entry in array
    ]


def _turned_row(row: list[Bounded], t: int, theta: float, pairing: str) -> list[Bounded]:
    width, found = len(row), list(row)
    for r in range(width // 2):
        a, b = (r, r + width // 2) if pairing == "half" else (2 * r, 2 * r + 1)
        angle = times(given(t), power(theta, -mpf(2 * r) / width, rounded=2)).rounded(2)
        cos, sin = turn(angle)
        minus = Bounded(-sin.value, sin.error, sin.size)
        found[a] = dot([row[a], row[b]], [cos, minus])
        found[b] = dot([row[a], row[b]], [sin, cos])
    return found


def _score(problem: Problem, query: list[Bounded], key: list[Bounded]) -> Bounded:
    match problem.get("score", "scaled_dot"):
        case "multiplicative":
            weights = [[given(number) for number in row] for row in problem["W_a"]]
            through = [dot(query, [row[k] for row in weights]) for k in range(len(key))]
            return dot(through, key)
        case "additive":
            hidden = []
            for a in range(len(problem["v"])):
                one = dot(query, [given(row[a]) for row in problem["W_1"]])
                other = dot(key, [given(row[a]) for row in problem["W_2"]])
                hidden.append(tanh(total([one, other])))
            return dot([given(number) for number in problem["v"]], hidden)
    return dot(query, key)


def _scaled(problem: Problem, score: Bounded, d_k: int) -> Bounded:
    """Times the scale; the default is 1/√d_k for scaled dot products and nothing for others."""
    said = problem.get("scale", "default")
    if said == "default":
        said = 1 / mp.sqrt(d_k) if problem.get("score", "scaled_dot") == "scaled_dot" else "none"
    factor = mpf(1) if said == "none" else mpf(said)
    size = abs(float(factor))
    return times(score, Bounded(factor, 0.0, size)).rounded(ANY_ORDER)


def _capped(score: Bounded, cap: float) -> Bounded:
    inner = tanh(Bounded(score.value / cap, score.error / cap).rounded())
    return times(given(cap), inner).rounded()


def _slope(problem: Problem, head: int, heads: int) -> Bounded | None:
    """ALiBi's: given, or 2^(−8(h+1)/H), and where H is no power of two those of the power below and others between."""
    alibi = problem.get("position", {}).get("alibi")
    if not alibi:
        return None
    if alibi is not True:
        return given(alibi["slopes"][head])
    below = 1 << (heads.bit_length() - 1)
    exponent = mpf(8 * (head + 1)) / below if head < below else mpf(8 * (2 * (head - below) + 1)) / (2 * below)
    return power(2, -exponent, rounded=2)


def _side_by_side(heads: list[Rows]) -> Rows:
    return [[cell for head in heads for cell in head[row]] for row in range(len(heads[0]))]


def _of(array: Array, entry: int, head: int) -> Rows:
    heads = array[entry if len(array) > 1 else 0]
    return heads[head if len(heads) > 1 else 0]


def _numbers(rows: list[list[float]]) -> Rows:
    return [[given(number) for number in row] for row in rows]


def _axes(array: Any) -> int:
    return 1 + _axes(array[0]) if isinstance(array, list) else 0


def _leading(array: Any) -> list[Any]:
    """With an axis of entries."""
    return array if _axes(array) == 4 else [array]
