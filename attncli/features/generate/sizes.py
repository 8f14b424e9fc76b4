"""Which problems can be asked for, on the command line and in Python."""

from __future__ import annotations

MOST_PROBLEMS = 10_000
# With no decimals, few mistakes are told apart, and nobody writes more by hand.
POSSIBLE_DECIMALS = range(1, 7)
POSSIBLE_HEADS = range(1, 9)
POSSIBLE_SIZES = {
    "n": range(2, 17),
    "d_model": range(1, 17),
    "d_k": range(1, 17),
    "d_v": range(1, 17),
}
# With these sizes most mistakes are told apart.
USUAL_DIMS = (4, 2, 3, 5)
USUAL_DIMS_OF_HEADS = (4, 2, 3, 2)
USUAL_MARKS = 20
USUAL_TITLE = "Attention"


def usual_dims(heads: int) -> tuple[int, ...]:
    """The sizes n, d_model, d_k and d_v, of which the last two are those of one head."""
    return USUAL_DIMS if heads == 1 else USUAL_DIMS_OF_HEADS


def in_text(dims: tuple[int, ...]) -> str:
    """4,2,3,5."""
    return ",".join(map(str, dims))
