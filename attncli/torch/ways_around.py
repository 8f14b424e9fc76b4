"""What to do about a call that cannot be recorded, by the words that say why."""

from __future__ import annotations

# A part of the reason, and what to do. The first one that is found counts.
_WAYS = (
    (
        "which attncli cannot read",
        "convert such tensors before the call: torch.nested.to_padded_tensor() for nested ones,"
        " to_dense() for sparse ones, float() for formats of 8 bits; call the model without vmap",
    ),
    (
        "is not understood",
        "an equation of your own can say what it does: see docs/how-to/write-your-own-attention.md",
    ),
    (
        "its score_mod cannot be tried",
        "a score_mod has to take scores of float64, too, as float() of its buffers does",
    ),
    (
        "is not tried out",
        "record a shorter text, or save one layer from a hook",
    ),
    (
        "its weights are changed after the softmax",
        "leave the change out, such as a head_mask, or write it as an equation of your own",
    ),
    (
        "its weights are not the softmax",
        "call detach().clone() before what changes scores or weights in place",
    ),
    (
        "its sink is not one number for each head",
        "give them as keys of their own: a key whose scores they are, with values of 0",
    ),
    ("which attncli does not know", "call scaled_dot_product_attention with them"),
    ("its mask has", "look at what made the mask: -inf hides a key"),
    ("the limit of", "record fewer layers, as layers=[3], or more bytes, as limit=2**32"),
    (
        "softmax over another axis",
        "if the softmax shall run over the keys, give it their axis, dim=-1; one over the queries"
        " is an equation of your own: weights[i, j] = softmax(i, scaled[i, j])",
    ),
    (
        "softmax of scores that no product gave",
        "take queries, keys and values from a hook of the module, or write the scores as an"
        " equation of your own",
    ),
    (
        "with a nested tensor",
        "pad the batch: torch.nested.to_padded_tensor()",
    ),
    (
        "softmax between two products",
        "give scaled_dot_product_attention the same queries, keys, values and mask, and record"
        " that",
    ),
    (
        "of Transformers",
        "load the model with attn_implementation='sdpa' or 'eager'",
    ),
)


def way_around(reason: str) -> str:
    """What to do about a call that was not kept for this reason, or about what was not seen; empty
    where nothing helps.
    """
    for part, way in _WAYS:
        if part in reason:
            return way
    return ""
