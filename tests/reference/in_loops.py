"""Attention from a problem file in plain Python, number by number, as docs/reference/input.md says
it; with bounds.

Nothing of the program is used, no NumPy and no matrix: arrays are nested lists of `Bounded`, batch
× head × row × column, each with as many entries and heads as it has of its own.
"""

from __future__ import annotations

from typing import Any

from tests.reference.bounded import Bounded, dot, given, softmax, times, total
from tests.reference.masks_in_loops import Masks, axes
from tests.reference.rope_in_loops import length_of, turned
from tests.reference.scores_in_loops import capped_at, score_of, slope_of, times_scale

Problem = dict[str, Any]
Rows = list[list[Bounded]]
Array = list[list[Rows]]


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
        length = length_of(rope, len(q[0][0]), len(k[0][0]), past)
        q = turned(q, "queries", past, rope, length)
        k = turned(k, "keys", 0, rope, length)
        steps |= {"Q_rot": q, "K_rot": k}
    entries = max(len(q), len(k), len(v), Masks(problem.get("mask"), 1, 1, 1).entries)
    masks = Masks(problem.get("mask"), len(q[0][0]), len(k[0][0]), past)
    names = ("scores", "scaled", "masked", "weights", "heads_output")
    steps |= {name: [[[] for _ in range(heads)] for _ in range(entries)] for name in names}
    for entry in range(entries):
        for head in range(heads):
            served = head // (heads // kv_heads)
            queries, keys, values = (
                _of(q, entry, head),
                _of(k, entry, served),
                _of(v, entry, served),
            )
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
    problem: Problem,
    queries: Rows,
    keys: Rows,
    values: Rows,
    masks: Masks,
    place: tuple[int, int, int],
) -> dict[str, Any]:
    entry, head, heads = place
    scores = [[score_of(problem, query, key) for key in keys] for query in queries]
    scaled = [[times_scale(problem, cell, len(keys[0])) for cell in row] for row in scores]
    cap = problem.get("softcap")
    slope = slope_of(problem, head, heads)
    masked: list[list[Bounded | None]] = []
    for i, row in enumerate(scaled):
        masked.append([])
        for j, cell in enumerate(row):
            added = masks.added(entry, head, i, j)
            if added is None:
                masked[i].append(None)
                continue
            terms = [
                cell if cap is None else capped_at(cell, cap),
                *(given(number) for number in added),
            ]
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
    return {
        "scores": scores,
        "scaled": scaled,
        "masked": masked,
        "weights": weights,
        "heads_output": output,
    }


def _heads(problem: Problem) -> tuple[int, int]:
    """As written, else as many as arrays with an axis of heads have; keys and values as many as
    queries.
    """

    def own(*letters: str) -> int | None:
        return next(
            (len(_leading(problem[each])[0]) for each in letters if axes(problem.get(each)) > 2),
            None,
        )

    heads = problem.get("heads") or own("Q") or 1
    return heads, problem.get("kv_heads") or own("K", "V") or heads


def _new(problem: Problem, letter: str, heads: int) -> Array:
    """Q, K or V, given or projected from X or the context."""
    if letter in problem:
        return _by_head(problem[letter], heads)
    source = problem["X"] if letter == "Q" or "context" not in problem else problem["context"]
    entries = source if axes(source) == 3 else [source]
    weights, bias = problem[f"W_{letter}"], problem.get(f"b_{letter}")
    return [_split(_projected(_numbers(entry), weights, bias), heads) for entry in entries]


def _projected(rows: Rows, weights: list[list[float]], bias: list[float] | None) -> Rows:
    columns = [[given(row[c]) for row in weights] for c in range(len(weights[0]))]
    plus = [[]] * len(columns) if bias is None else [[given(number)] for number in bias]
    return [
        [dot(row, column, *more) for column, more in zip(columns, plus, strict=True)]
        for row in rows
    ]


def _by_head(array: Any, heads: int) -> Array:
    if axes(array) == 2:
        return [_split(_numbers(array), heads)]
    return [[_numbers(head) for head in entry] for entry in _leading(array)]


def _split(rows: Rows, heads: int) -> list[Rows]:
    width = len(rows[0]) // heads
    return [[row[head * width : (head + 1) * width] for row in rows] for head in range(heads)]


def _after(cached: Array, new: Array) -> Array:
    entries = max(len(cached), len(new))
    return [
        [[*_of(cached, entry, head), *_of(new, entry, head)] for head in range(len(new[0]))]
        for entry in range(entries)
    ]


def _side_by_side(heads: list[Rows]) -> Rows:
    return [[cell for head in heads for cell in head[row]] for row in range(len(heads[0]))]


def _of(array: Array, entry: int, head: int) -> Rows:
    heads = array[entry if len(array) > 1 else 0]
    return heads[head if len(heads) > 1 else 0]


def _numbers(rows: list[list[float]]) -> Rows:
    return [[given(number) for number in row] for row in rows]


def _leading(array: Any) -> list[Any]:
    """With an axis of entries."""
    return array if axes(array) == 4 else [array]
