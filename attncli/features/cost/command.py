"""`attncli cost`: how many operations and bytes each step takes, for a problem or for sizes given by options."""

from typing import Annotated

from attncli.cli import options, values

_SIZES = range(1, 10**9 + 1)


def _size(*names: str, help: str) -> object:
    return options.Option(*names, metavar="N", help=help)


def cost(
    file: Annotated[
        str | None,
        options.Argument(
            metavar="FILE",
            help="The problem whose sizes are taken where no option gives another; - is standard input.  "
            "[default: self-attention with n and d_model 512, 8 heads, d_k and d_v d_model / heads]",
        ),
    ] = None,
    n: Annotated[str | None, _size("--n", help="Queries.")] = None,
    m: Annotated[str | None, _size("--m", help="Keys.")] = None,
    d_model: Annotated[str | None, _size("--d-model", "--d", help="Features of an input row.")] = None,
    d_k: Annotated[str | None, _size("--d-k", help="Features of a query and of a key, per head.")] = None,
    d_v: Annotated[str | None, _size("--d-v", help="Features of a value, per head.")] = None,
    heads: Annotated[str | None, _size("--heads", help="Heads.")] = None,
    kv_heads: Annotated[
        str | None, _size("--kv-heads", help="Heads of keys and values, of which --heads is a multiple.")
    ] = None,
    batch: Annotated[str | None, _size("--batch", help="Entries of a batch.")] = None,
    layers: Annotated[str | None, _size("--layers", help="Layers.")] = None,
    dtype: Annotated[
        str, options.choice("--dtype", "The format in which numbers are kept.  [default: float32]")
    ] = "float32",
    allow_outside: options.AllowOutside = False,
    format: options.Format = None,
    output: options.Output = None,
    color: options.Color = "auto",
) -> None:
    """Count the operations and bytes of every step."""
    page_format = values.output_format(format, output)
    values.words(color=color, dtype=dtype)
    given = {
        "n": n, "m": m, "d_model": d_model, "d_k": d_k, "d_v": d_v, "heads": heads, "kv_heads": kv_heads,
        "batch": batch, "layers": layers,
    }  # fmt: skip
    sizes = {
        name: values.whole(f"--{name.replace('_', '-')}", value, _SIZES)
        for name, value in given.items()
        if value is not None
    }

    from attncli.cli.output import check
    from attncli.problem.loader import load

    check(output, file or "-")
    read = None if file is None else load(file, outside=allow_outside)  # tells what is wrong before NumPy is needed

    from attncli.cli.page import write_page
    from attncli.features.cost.page import cost_page
    from attncli.features.cost.sizes import Sizes
    from attncli.features.cost.study import cost_of, usual

    problem, chosen = usual(sizes) if read is None else (read, Sizes(**sizes))
    write_page(cost_page(cost_of(problem, chosen, dtype)), page_format, output, color=color)
