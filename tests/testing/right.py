"""The right functions by their names, each with its layout and what else it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attncli.testing.layouts import AxisLayout

FOUR, TOKENS_FIRST = AxisLayout(4), AxisLayout(4, tokens_first=True)
NARROW = AxisLayout(4, wide_values=False)


class Right(NamedTuple):
    """The layout of a right function, and its facts where software differs."""

    layout: AxisLayout = FOUR
    facts: Mapping[str, str] = {}


IN_NUMPY: dict[str, Right] = {
    "homework": Right(AxisLayout(2)),
    "three_axes": Right(AxisLayout(3), {"sees no key": "average"}),
    "by_einsum": Right(FOUR, {"sees no key": "NaN", "numbers in a mask": "added"}),
    "tokens_first": Right(TOKENS_FIRST, {"causal": "bottom-right"}),
    "by_loops": Right(FOUR, {"sees no key": "0"}),
    "by_log_sum_exp": Right(FOUR, {"sees no key": "NaN"}),
    "in_blocks": Right(FOUR, {"sees no key": "0", "causal": "top-left"}),
    "with_weights": Right(FOUR, {"sees no key": "average"}),
    "with_a_mask_that_must_be_given": Right(
        FOUR, {"sees no key": "0", "numbers in a mask": "truth values"}
    ),
    "with_a_bias_alone": Right(FOUR, {"mask": "true is seen"}),
    "with_values_as_wide_as_keys": Right(NARROW, {"causal": "top-left", "window": "not asked"}),
    "with_all": Right(
        FOUR,
        {
            "causal": "bottom-right",
            "window": "beside the token itself",
            "kv heads": "repeated",
            "softcap": "before the mask",
            "sink": "takes a share and has no value",
            "rope": "turns pairs of neighbours",
        },
    ),
}
IN_TORCH: dict[str, Right] = {
    "by_pytorch": Right(FOUR, {"sees no key": "0", "causal": "top-left", "kv heads": "repeated"}),
    "by_hand": Right(FOUR, {"sees no key": "NaN"}),
    "in_single_precision": Right(FOUR, {"sees no key": "average"}),
    "tokens_first": Right(TOKENS_FIRST, {"mask": "not asked"}),
    "in_blocks": Right(FOUR, {"causal": "top-left"}),
}
