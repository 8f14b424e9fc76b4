"""Masks that models have as functions of positions: FlexAttention works them out, and Transformers
has those of Llama 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from software import imported

import attncli

DOCUMENTS = [0, 0, 0, 1, 1, 2, 2, 2]
# A mask of ours, and the same as a function of the positions of query and key.
FUNCTIONS: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "chunks": ({"causal": True, "chunk": 3}, lambda q, k: (q >= k) & (q // 3 == k // 3)),
    "prefix": ({"any": ["causal", {"first": 3}]}, lambda q, k: (q >= k) | (k < 3)),
    "window with sinks": (
        {"any": [{"causal": True, "window": [2, 0]}, [{"first": 1}, "causal"]]},
        lambda q, k: (q >= k) & ((q - k <= 2) | (k < 1)),
    ),
    "either side": (
        {"any": [{"window": [0, 1]}, {"chunk": 4}], "lengths": 7},
        lambda q, k: ((k - q <= 1) & (k >= q) | (q // 4 == k // 4)) & (k < 7),
    ),
}


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize(("queries", "keys"), [(8, 8), (5, 8)])
@pytest.mark.parametrize("name", [*FUNCTIONS, "documents", "causal documents"])
def test_flex_attention_gives_the_same_output(name: str, queries: int, keys: int) -> None:
    torch = imported("torch")
    flex = imported("torch.nn.attention.flex_attention")
    documents = torch.tensor(DOCUMENTS)
    functions = FUNCTIONS | {
        "documents": ({"documents": DOCUMENTS}, lambda q, k: documents[q] == documents[k]),
        "causal documents": (
            ["causal", {"documents": DOCUMENTS}],
            lambda q, k: (documents[q] == documents[k]) & (q >= k),
        ),
    }
    mask, function = functions[name]
    random = np.random.default_rng(7)
    q, k, v = (random.normal(size=(rows, 4)) for rows in (queries, keys, keys))
    block_mask = flex.create_block_mask(
        lambda b, h, q_idx, kv_idx: function(q_idx, kv_idx), None, None, queries, keys, device="cpu"
    )
    tensors = (torch.from_numpy(array)[None, None] for array in (q, k, v))
    theirs = flex.flex_attention(*tensors, block_mask=block_mask)[0, 0].numpy()
    ours = attncli.trace(Q=q, K=k, V=v, mask=mask)["output"]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("past", [0, 2, 5])
@pytest.mark.parametrize("chunk", [1, 3, 8])
def test_llama_4_has_the_same_chunks(chunk: int, past: int) -> None:
    """With a cache, the queries are the last positions."""
    torch = imported("torch")
    masking = imported("transformers.masking_utils")
    queries, keys = 8 - past, 8
    theirs = masking.sdpa_mask(
        batch_size=1,
        q_length=queries,
        kv_length=keys,
        q_offset=past,
        mask_function=masking.chunked_causal_mask_function(chunk, torch.zeros(1, dtype=torch.long)),
        allow_is_causal_skip=False,
    )
    random = np.random.default_rng(8)
    q, k, v = (random.normal(size=(rows, 4)) for rows in (queries, keys, keys))
    cache = {"past": {"K": k[:past], "V": v[:past]}} if past else {}
    trace = attncli.trace(
        Q=q, K=k[past:], V=v[past:], mask={"causal": True, "chunk": chunk}, **cache
    )
    np.testing.assert_array_equal(np.isfinite(trace["mask"]), theirs[0, 0].numpy())


def test_packed_texts_of_transformers_see_the_same() -> None:
    torch = imported("torch")
    masking = imported("transformers.masking_utils")
    rows = [DOCUMENTS, [0, 1, 1, 1, 2, 2, 3, 3]]
    packed = masking.packed_sequence_mask_function(torch.tensor(rows))
    theirs = masking.sdpa_mask(
        batch_size=2,
        q_length=8,
        kv_length=8,
        mask_function=masking.and_masks(packed, masking.causal_mask_function),
        allow_is_causal_skip=False,
    )
    given = {name: np.ones((2, 1, 8, 2)) for name in ("Q", "K", "V")}
    trace = attncli.trace(**given, mask=["causal", {"documents": rows}])
    np.testing.assert_array_equal(np.isfinite(trace["mask"]), theirs[:, 0].numpy())
