"""Draws whole problem files, as the plain data that JSON holds, from everything that the contract
allows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.conformance.drawn_masks import masks

sizes, choose = st.integers(1, 3), st.sampled_from
Matrix = Callable[..., Any]


@dataclass(frozen=True)
class Sizes:
    """How large everything is; `batch` is 0 where there is no such axis."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    new_keys: int
    past: int
    d_q: int
    d_k: int
    d_v: int

    @property
    def keys(self) -> int:
        return self.past + self.new_keys


def matrices(seed: int, spread: float = 1.5) -> Matrix:
    """`matrix(2, 3)` is nested lists of short decimals."""
    random = np.random.default_rng(seed)
    return lambda *shape: random.normal(scale=spread, size=shape).round(2).tolist()


@st.composite
def problem_files(
    draw: st.DrawFn, small: bool = False, mixed: bool = False, settings_of_rope: bool = False
) -> dict[str, Any]:
    """A problem file of any kind; with small numbers only, with entries in some arrays only, or
    with all that config.json says of RoPE, and sines, if told so.
    """
    matrix = matrices(
        draw(st.integers(0, 2**16)), 1.5 if small else draw(choose([1.5, 1.5, 1.5, 12]))
    )
    settings = draw(scoring())
    position = draw(choose([(), (), ("rope",), ("alibi",), ("rope", "alibi")]))
    kv_heads = draw(choose([1, 1, 2, 3]))
    d_k = 2 * draw(sizes) if "rope" in position else draw(sizes)
    own_width = settings.get("score") in ("multiplicative", "additive") and "rope" not in position
    projected = draw(st.sets(choose("QKV"))) if draw(st.booleans()) else {*"QKV"}
    context = bool(projected & {*"KV"}) and draw(st.booleans())
    queries = draw(sizes)
    of_x = projected and not (context and "Q" not in projected)
    size = Sizes(
        batch=draw(choose([0, 0, 1, 2])),
        heads=kv_heads * draw(choose([1, 1, 2, 3])),
        kv_heads=kv_heads,
        queries=queries,
        new_keys=queries if of_x and projected & {*"KV"} and not context else draw(sizes),
        past=draw(choose([0, 0, 1, 2])),
        d_q=draw(sizes) if own_width else d_k,
        d_k=d_k,
        d_v=draw(sizes),
    )
    problem = draw(arrays(size, matrix, projected, context, mixed)) | settings
    if settings.get("score") == "multiplicative":
        problem["W_a"] = matrix(size.d_q, size.d_k)
    if settings.get("score") == "additive":
        problem |= {"W_1": matrix(size.d_q, 2), "W_2": matrix(size.d_k, 2), "v": matrix(2)}
    if position:
        problem["position"] = {kind: draw(positions(kind, size.heads)) for kind in position}
    if settings_of_rope and "rope" in position:
        problem["position"]["rope"] = draw(ropes(size))
    if settings_of_rope and "X" in problem and draw(st.booleans()):
        sines = draw(choose([True, {"base": 20, "from": 2}, {"base": 7}]))
        problem["position"] = {**problem.get("position", {}), "sinusoidal": sines}
    if draw(st.booleans()):
        problem["sink"] = draw(choose([-1.5, 0, 2, matrix(size.heads)]))
    if draw(st.booleans()):
        problem["tokens"] = [f"q{place}" for place in range(size.queries)]
        problem["context_tokens"] = [f"k{place}" for place in range(size.keys)]
    if (
        mask := draw(masks(size.batch or 1, size.heads, size.queries, size.keys, matrix))
    ) is not None:
        problem["mask"] = mask
    return problem


@st.composite
def scoring(draw: st.DrawFn) -> dict[str, Any]:
    """Score, scale, softcap and base; each is left out as often as written."""
    words = {
        "score": ["scaled_dot", "dot", "multiplicative", "additive"],
        "scale": [0.3, -2, "none", "default"],
        "softcap": [0.7, 5],
        "exp_base": ["e", 2, 3, 1.5],
    }
    return {key: draw(choose(values)) for key, values in words.items() if draw(st.booleans())}


@st.composite
def positions(draw: st.DrawFn, kind: str, heads: int) -> Any:
    """What RoPE or ALiBi takes."""
    if kind == "rope":
        rope = [{"theta": 10000}, {"theta": 50, "pairing": "half"}, {"pairing": "interleaved"}]
        return draw(choose(rope))
    slopes = [round(0.75**head, 3) for head in range(heads)]
    return draw(choose([True, {"slopes": slopes}]))


@st.composite
def ropes(draw: st.DrawFn, size: Sizes) -> dict[str, Any]:
    """A RoPE as config.json has it, for keys of so many features, at drawn positions."""
    said = {"rope_theta": draw(choose([50.0, 10000])), "pairing": draw(choose(PAIRINGS))}
    width = size.d_k
    if size.d_k == 4 and draw(st.booleans()):
        said["partial_rotary_factor"] = 0.5
        width = 2
    kinds = ["default", "linear", "yarn", "longrope", "llama3", "proportional"]
    if width > 2:
        kinds.append("dynamic")
    kind = draw(choose(kinds))
    said |= {"rope_type": kind, **draw(of_type(kind, width // 2))}
    # Sections are of all pairs, and of the proportional type all pairs are in them.
    if size.d_k == 6 and draw(st.booleans()):
        said |= {"mrope_section": [1, 1, 1], "mrope_interleaved": draw(st.booleans())}
    if draw(st.booleans()):
        said["positions"] = {
            "queries": draw(places(size, size.queries, "mrope_section" in said)),
            "keys": draw(places(size, size.keys, "mrope_section" in said)),
        }
    return said


PAIRINGS = ("half", "interleaved")


@st.composite
def of_type(draw: st.DrawFn, kind: str, pairs: int) -> dict[str, Any]:
    """The keys that a type of RoPE needs, and some that it may have."""
    original = {"original_max_position_embeddings": draw(choose([3, 9, 64]))}
    divisors = [round(1 + 0.75 * pair, 2) for pair in range(pairs)]
    needed: dict[str, dict[str, Any]] = {
        "default": {},
        "linear": {"factor": 4},
        "dynamic": {"factor": 2, "max_position_embeddings": draw(choose([2, 3, 64]))},
        "yarn": {"factor": draw(choose([1, 8])), **original},
        "longrope": {
            "factor": 4,
            "short_factor": divisors,
            "long_factor": divisors[::-1],
            **original,
        },
        "llama3": {"factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, **original},
        "proportional": draw(choose([{}, {"factor": 2}])),
    }
    more: list[dict[str, Any]] = [{}]
    if kind in ("yarn", "longrope"):
        more.append({"attention_factor": 1.25})
    if kind == "yarn":
        more += [{"mscale": 0.7, "mscale_all_dim": 0.4}, {"mscale": 0.7}]
        more += [{"truncate": False}, {"beta_fast": 8, "beta_slow": 0.5}]
    return {**needed[kind], **draw(choose(more))}


@st.composite
def places(draw: st.DrawFn, size: Sizes, rows: int, has_axes: bool) -> Any:
    """Positions of queries or keys: of all entries, or of each; perhaps time, height and width."""
    shape: tuple[int, ...] = (rows,)
    if size.batch > 1 and draw(st.booleans()):
        shape = (size.batch, rows)
        if has_axes:
            shape = (3, *shape)
    elif has_axes and draw(st.booleans()):
        shape = (3, rows)
    random = np.random.default_rng(draw(st.integers(0, 2**16)))
    return random.integers(0, 9, size=shape).tolist()


@st.composite
def arrays(
    draw: st.DrawFn, size: Sizes, matrix: Matrix, projected: set[str], context: bool, mixed: bool
) -> dict[str, Any]:
    """X, context, the projections, what is given in their place, the cache, and how many heads
    there are.
    """
    entries = (size.batch,) if size.batch else ()
    width, other = draw(sizes), draw(sizes)
    per_head = {"Q": size.d_q, "K": size.d_k, "V": size.d_v}
    heads = {"Q": size.heads, "K": size.kv_heads, "V": size.kv_heads}
    many = {"Q": size.queries, "K": size.new_keys, "V": size.new_keys}
    joined = not size.batch and draw(st.booleans())  # columns of all heads beside one another
    # has entries, where X and the context do not tell them
    keeper = None if projected else draw(choose("QKV"))
    found: dict[str, Any] = {}

    def given(letter: str, count: int) -> Any:
        if joined:
            return matrix(count, heads[letter] * per_head[letter])
        apart = entries if not mixed or letter == keeper else draw(choose([entries, ()]))
        return matrix(*apart, heads[letter], count, per_head[letter])

    if "Q" in projected or (projected and not context):
        found["X"] = matrix(*entries, size.queries, width)
    if context:
        found["context"] = matrix(*entries, size.new_keys, other)
    for letter in "QKV":
        if letter not in projected:
            found[letter] = given(letter, many[letter])
            continue
        enters = other if context and letter != "Q" else width
        found[f"W_{letter}"] = matrix(enters, heads[letter] * per_head[letter])
        if draw(st.booleans()):
            found[f"b_{letter}"] = matrix(heads[letter] * per_head[letter])
    if size.past:
        found["past"] = {letter: given(letter, size.past) for letter in "KV"}
    if draw(st.booleans()):
        found["W_O"] = matrix(size.heads * size.d_v, draw(sizes))
        if draw(st.booleans()):
            found["b_O"] = matrix(len(found["W_O"][0]))
    seen = not projected and not joined
    if (size.heads > 1 and not seen) or draw(st.booleans()):
        found["heads"] = size.heads
    if (size.kv_heads != size.heads and not seen) or draw(st.booleans()):
        found["kv_heads"] = size.kv_heads
    return found
