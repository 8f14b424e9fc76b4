"""`attncli cost`: how many operations and bytes each step takes, for a problem or for sizes given
by options.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncli.cli import options
from attncli.cli.files import require_writable
from attncli.cli.groups import grouped
from attncli.cli.look import PageLook
from attncli.cli.pages import write_page
from attncli.dtypes import DTYPES

if TYPE_CHECKING:
    from attncli.page.document import Document

POSSIBLE_SIZES = range(1, 10**9 + 1)


def _size(*names: str, help: str) -> Any:
    return typer.Option(
        *names,
        metavar="N",
        help=help,
        parser=partial(options.whole, names[0], allowed=POSSIBLE_SIZES),
    )


@grouped
def cost(
    *,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help=(
                "A problem whose sizes are used, if no option gives another; - is standard input.  "
                "[default: self-attention with n = 512, d_model = 512, 8 heads, d_k = d_v = d_model"
                " / heads]"
            ),
        ),
    ] = None,
    n: Annotated[int | None, _size("--n", help="Number of queries.")] = None,
    m: Annotated[int | None, _size("--m", help="Number of keys.")] = None,
    d_model: Annotated[
        int | None, _size("--d-model", "--d", help="Features of a row of the input.")
    ] = None,
    d_k: Annotated[
        int | None, _size("--d-k", help="Features of a query and of a key, per head.")
    ] = None,
    d_v: Annotated[int | None, _size("--d-v", help="Features of a value, per head.")] = None,
    heads: Annotated[int | None, _size("--heads", help="Number of heads.")] = None,
    kv_heads: Annotated[
        int | None,
        _size(
            "--kv-heads",
            help="Number of heads of keys and values; --heads must be a multiple of it.",
        ),
    ] = None,
    batch: Annotated[int | None, _size("--batch", help="Number of entries of a batch.")] = None,
    layers: Annotated[int | None, _size("--layers", help="Number of layers.")] = None,
    dtype: Annotated[
        str,
        options.choice(
            "--dtype", DTYPES, "The number format, for the bytes per number.  [default: float32]"
        ),
    ] = "float32",
    allow_outside: options.AllowOutside = False,
    look: PageLook,
) -> None:
    """Count the operations and bytes of every step.

    Examples:
      attncli cost inputs/i_love_ai.yaml
      attncli cost --n 4096 --d-model 4096 --heads 32 --kv-heads 8
    """
    require_writable(look.output, file or "-")
    given = {
        "n": n,
        "m": m,
        "d_model": d_model,
        "d_k": d_k,
        "d_v": d_v,
        "heads": heads,
        "kv_heads": kv_heads,
        "batch": batch,
        "layers": layers,
    }
    sizes = {name: size for name, size in given.items() if size is not None}
    write_page(_page_of(file, sizes, dtype, outside=allow_outside), look)


def _page_of(file: str | None, sizes: dict[str, int], dtype: str, *, outside: bool) -> "Document":
    """The page of a problem in a file, or of the usual one, where its sizes are others."""
    read = None
    if file is not None:
        from attncli.problem.loader import load

        # NumPy is imported after this.
        read = load(file, outside=outside)

    from attncli.features.cost.page import cost_page
    from attncli.features.cost.sizes import GivenSizes
    from attncli.features.cost.study import cost_of, default_problem

    problem, chosen = default_problem(sizes) if read is None else (read, GivenSizes(**sizes))
    return cost_page(cost_of(problem, chosen, dtype))
