"""How other software reads a mask: what true and 1 mean in a matrix, and which corner `causal`
starts from.

Each line was found by running the software, or where that needs a GPU in its documentation; the
tests run it again where it is installed. docs/reference/conventions.md compares the rest.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from attncli.dtypes import chosen
from attncli.problem.keys import CORNERS, Corner

Polarity: TypeAlias = Literal["attend", "hidden"]


class Convention(NamedTuple):
    """How one piece of software reads a mask that does not say itself what it means.

    `true` is what true means in a matrix of truth values; `one` what 1 means in a matrix of only 0
    and 1, None where it could mean either, "refused" where integers are an error and 1.0 is added;
    `corner` is that of a causal mask or window without one. `call` and `source` are where this
    holds and where it is written down.
    """

    name: str
    call: str
    true: Polarity
    one: Polarity | Literal["added", "refused"] | None
    corner: Corner
    source: str

    @property
    def adds(self) -> bool:
        """Whether numbers are added to the scores; otherwise they stand for truth values."""
        return self.one in (None, "added", "refused")


OWN = Convention(
    "attncli", "a problem file", "attend", None, CORNERS[0], "docs/reference/input.md#masks"
)

CONVENTIONS = {
    convention.name: convention
    for convention in (
        Convention(
            "torch",
            "torch.nn.functional.scaled_dot_product_attention",
            "attend",
            "refused",
            "top-left",
            "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
        ),
        Convention(
            "torch-mha",
            "torch.nn.MultiheadAttention",
            "hidden",
            "refused",
            "top-left",
            "https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
        ),
        Convention(
            "keras",
            "keras.layers.MultiHeadAttention",
            "attend",
            "attend",
            "top-left",
            "https://keras.io/api/layers/attention_layers/multi_head_attention/",
        ),
        Convention(
            "jax",
            "jax.nn.dot_product_attention",
            "attend",
            "added",
            "top-left",
            "https://docs.jax.dev/en/latest/_autosummary/jax.nn.dot_product_attention.html",
        ),
        Convention(
            "onnx",
            "ONNX Attention",
            "attend",
            "added",
            "top-left",
            "https://onnx.ai/onnx/operators/onnx__Attention.html",
        ),
        Convention(
            "flash",
            "flash_attn.flash_attn_func",
            "attend",
            "attend",
            "bottom-right",
            "https://github.com/Dao-AILab/flash-attention#how-to-use-flashattention",
        ),
        Convention(
            "mlx",
            "mlx.core.fast.scaled_dot_product_attention",
            "attend",
            "added",
            "bottom-right",
            "https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.fast.scaled_dot_product_attention.html",
        ),
    )
}


def convention_named(name: str) -> Convention:
    """The convention of this name; raises AttncliError (exit 2) where there is none."""
    return CONVENTIONS[chosen("convention", name, CONVENTIONS)]
