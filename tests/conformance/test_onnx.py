"""ONNX's Attention operator, opsets 23 to 25, by the reference evaluator of the onnx package.

Evaluators before 1.23 are not what the specification now says (and PyTorch computes): that of 1.20
adds the mask before the softcap, that of 1.22 gives NaN for rows that see nothing and aligns
lengths to the other corner.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.cases import in_one_test
from tests.conformance.onnx_operator import onnx_attention
from tests.conformance.problems import arrays, heads_of, problem_file

pytestmark = pytest.mark.onnx
Solve = Callable[[dict[str, Any]], dict[str, np.ndarray]]
Operator = Callable[..., tuple[np.ndarray, ...]]
RAW, CAPPED, MASKED, WEIGHTS = range(4)  # what qk_matmul_output_mode asks for


@pytest.fixture(scope="module", params=[23, 24, 25])
def attention(request: pytest.FixtureRequest) -> Operator:
    """`attention(Q=…, K=…, V=…, is_causal=1, …)` gives the output and the scores or weights asked
    for.
    """
    pytest.importorskip("onnx", minversion="1.23", reason="ONNX 1.23 is not installed")
    return partial(onnx_attention, request.param)


def agree(ours: np.ndarray, theirs: np.ndarray) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


@in_one_test("kv_heads", [1, 2, 4])
def test_heads_as_an_axis(attention: Operator, solve: Solve, kv_heads: int) -> None:
    given = arrays(np.random.default_rng(kv_heads), kv_heads=kv_heads)
    output, weights = attention(**given, qk_matmul_output_mode=WEIGHTS)
    found = solve(problem_file(**given))
    agree(heads_of(found), output)
    agree(found["weights"], weights)


@in_one_test("kv_heads", [1, 2, 4])
def test_heads_beside_one_another(attention: Operator, solve: Solve, kv_heads: int) -> None:
    """Three axes there are batch × row × heads·d; a matrix of Q here is the same without a
    batch.
    """
    given = arrays(np.random.default_rng(kv_heads), batch=1, kv_heads=kv_heads)
    joined = {
        name: array[0].swapaxes(0, 1).reshape(array.shape[2], -1) for name, array in given.items()
    }
    counts = {"q_num_heads": 4, "kv_num_heads": kv_heads}
    output, weights = attention(
        **{name: array[None] for name, array in joined.items()},
        **counts,
        qk_matmul_output_mode=WEIGHTS,
    )
    found = solve(problem_file(**joined, heads=4, kv_heads=kv_heads))
    agree(found["weights"], weights)
    agree(found["output"], output)


@in_one_test("leading", [(), (4,), (1, 1), (2, 1), (1, 4), (2, 4)])
@in_one_test("causal", [False, True])
def test_masks(attention: Operator, solve: Solve, leading: tuple[int, ...], causal: bool) -> None:
    random = np.random.default_rng(5)
    given, keep = arrays(random), random.random((*leading, 3, 5)) < 0.5
    bias = random.choice([0, 1.5, -3, -np.inf], size=keep.shape)
    for part, attn_mask in (({"keep": keep}, keep), ({"additive": bias}, bias)):
        theirs = attention(
            **given, attn_mask=attn_mask, is_causal=int(causal), qk_matmul_output_mode=WEIGHTS
        )
        found = solve(problem_file(**given, mask=["causal", part] if causal else part))
        agree(heads_of(found), theirs[0])
        agree(found["weights"], theirs[1])


@in_one_test("softcap", [None, 1.5])
@in_one_test("scale", [None, 0.25, 4.0])
def test_scale_then_softcap_then_mask(
    attention: Operator, solve: Solve, scale: float, softcap: float
) -> None:
    """The evaluator takes the root of a scale in single precision, so that only squares are exact;
    and with a softcap it gives the capped scores where the raw ones are asked for, against its
    specification.
    """
    random = np.random.default_rng(3)
    given, bias = arrays(random), random.choice([0, 1.5, -3, -np.inf], size=(3, 5))
    found = solve(problem_file(**given, scale=scale, softcap=softcap, mask={"additive": bias}))
    numbers = {
        name: value for name, value in (("scale", scale), ("softcap", softcap)) if value is not None
    }
    for mode, step in (
        (RAW, "scaled"),
        (CAPPED, "capped"),
        (MASKED, "masked"),
        (WEIGHTS, "weights"),
    ):
        if mode == RAW and softcap:
            continue
        output, qk = attention(**given, attn_mask=bias, qk_matmul_output_mode=mode, **numbers)
        agree(found[step if step in found else "scaled"], qk)
        agree(heads_of(found), output)


@in_one_test("masked", [False, True])
@in_one_test("past", [1, 2, 6])
def test_a_cache(attention: Operator, solve: Solve, past: int, masked: bool) -> None:
    random = np.random.default_rng(past)
    given, cached = arrays(random, n=2, m=2), arrays(random, n=2, m=past)
    keep = {"attn_mask": random.random((2, past + 2)) < 0.6} if masked else {}
    output, weights = attention(
        **given,
        past_key=cached["K"],
        past_value=cached["V"],
        is_causal=1,
        qk_matmul_output_mode=WEIGHTS,
        **keep,
    )
    mask = ["causal", {"keep": keep["attn_mask"]}] if masked else "causal"
    found = solve(
        problem_file(**given, past={letter: cached[letter] for letter in "KV"}, mask=mask)
    )
    agree(heads_of(found), output)
    agree(found["weights"], weights)


@pytest.mark.parametrize("attention", [24, 25], indirect=True)
@pytest.mark.parametrize("lengths", [[5, 3], [2, 4], [0, 1]])
def test_lengths_and_the_bottom_right_corner(
    attention: Operator, solve: Solve, lengths: list[int]
) -> None:
    given = arrays(np.random.default_rng(1))
    choices = {"nonpad_kv_seqlen": np.array(lengths), "qk_matmul_output_mode": WEIGHTS}
    agree(
        solve(problem_file(**given, mask={"lengths": lengths}))["weights"],
        attention(**given, **choices)[1],
    )
    corner = {"causal": True, "corner": "bottom-right", "lengths": lengths}
    agree(
        solve(problem_file(**given, mask=corner))["weights"],
        attention(**given, is_causal=1, **choices)[1],
    )


@pytest.mark.parametrize("attention", [25], indirect=True)
@pytest.mark.parametrize("window", [(0, 0), (1, 0), (1, 2), (-1, 1), (2, -1)])
def test_windows(attention: Operator, solve: Solve, window: tuple[int, int]) -> None:
    random = np.random.default_rng(2)
    given, cached = arrays(random), arrays(random, m=2)
    left, right = window
    sides = {"left_window_size": left, "right_window_size": right, "qk_matmul_output_mode": WEIGHTS}
    mask = {"window": window}
    agree(solve(problem_file(**given, mask=mask))["weights"], attention(**given, **sides)[1])
    theirs = attention(**given, past_key=cached["K"], past_value=cached["V"], **sides)[1]
    past = {letter: cached[letter] for letter in "KV"}
    agree(solve(problem_file(**given, past=past, mask=mask))["weights"], theirs)
    theirs = attention(**given, nonpad_kv_seqlen=np.array([5, 2]), **sides)[1]
    corner = {"window": window, "corner": "bottom-right", "lengths": [5, 2]}
    agree(solve(problem_file(**given, mask=corner))["weights"], theirs)
