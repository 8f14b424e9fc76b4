"""Which weights of a layer are which: by the names that people give them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from attncli.testing.case import Array

# The names of a projection, in lower case and without what says that it is a weight or a bias.
_PROJECTIONS: Mapping[str, tuple[str, ...]] = {
    "QKV": ("in_proj", "c_attn", "to_qkv", "qkv", "qkv_proj", "wqkv", "w_qkv", "query_key_value"),
    "Q": ("q_proj", "w_q", "wq", "query", "to_q", "q", "linear_q", "q_linear", "w_query", "fc_q"),
    "K": ("k_proj", "w_k", "wk", "key", "to_k", "k", "linear_k", "k_linear", "w_key", "fc_k"),
    "V": ("v_proj", "w_v", "wv", "value", "to_v", "v", "linear_v", "v_linear", "w_value", "fc_v"),
    "O": (
        "out_proj",
        "o_proj",
        "c_proj",
        "w_o",
        "wo",
        "to_out",
        "proj",
        "out",
        "o",
        "linear_out",
        "out_linear",
        "fc_out",
        "fc_o",
        "w_out",
        "dense",
    ),
}
# Four layers in a list, as the Annotated Transformer has them.
_IN_A_LIST = {"linears.0": "Q", "linears.1": "K", "linears.2": "V", "linears.3": "O"}
_BIAS = re.compile(r"(^b_|[._]bias$|^bias_)")
_NOT_IN_A_NAME = re.compile(r"[._](weight|bias|kernel)$")
# Of these, the weight of a layer is stored as in × out; that of any other layer as out × in.
_IN_BY_OUT = ("Conv1D", "")


class Weight(NamedTuple):
    """A weight of a layer: its name, its shape, and the class of the layer that it belongs to, ""
    where it stands alone.

    `key` is what it is, as "W_Q", "W_QKV" or "b_O"; None where that is not known.
    """

    name: str
    shape: tuple[int, ...]
    owner: str
    key: str | None

    @property
    def is_out_by_in(self) -> bool:
        """Whether its rows are the features of the result."""
        return self.owner not in _IN_BY_OUT


def key_of(name: str, axes: int) -> str | None:
    """What a weight of so many axes is, by its name; None where that does not say so.

    >>> key_of("attn.c_attn.bias", 1), key_of("to_out.0.weight", 2), key_of("norm.weight", 1)
    ('b_QKV', 'W_O', None)
    """
    name = name.lower()
    letter = "b" if _BIAS.search(name) and axes == 1 else "W"
    name = _NOT_IN_A_NAME.sub("", name)
    # Of a sequence of layers, to_out.0 is the one with weights.
    name = re.sub(r"^(to_out|out|proj)\.\d+$", r"\1", name)
    if name in _IN_A_LIST:
        return f"{letter}_{_IN_A_LIST[name]}"
    last = name.rpartition(".")[2]
    if letter == "b":
        last = last.replace("b_", "w_", 1) if last.startswith("b_") else last
    for projection, names in _PROJECTIONS.items():
        # A vector whose name says nothing of a bias is that of a norm, or of anything.
        if last in names and (axes == 2 or letter == "b"):
            return f"{letter}_{projection}"
    return None


def problem_weights(
    weights: Sequence[Weight], numbers: Sequence[Array], widths: tuple[int, int]
) -> dict[str, Any]:
    """The weights of a problem, in × out, from those of a layer.

    `widths` are how many columns queries take of fused weights, and keys and values each.
    """
    found: dict[str, Any] = {}
    for weight, array in zip(weights, numbers, strict=True):
        key = weight.key
        if key is None:
            continue
        matrix = array.T if array.ndim == 2 and weight.is_out_by_in else array
        if key.endswith("QKV"):
            of_queries, of_keys = widths
            ends = [of_queries, of_queries + of_keys]
            parts = np.split(matrix, ends, axis=-1)
            found.update(zip((f"{key[0]}_{name}" for name in "QKV"), parts, strict=True))
        else:
            found[key] = matrix
    return found
