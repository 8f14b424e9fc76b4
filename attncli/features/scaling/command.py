"""`attncli scaling`: how the softmax saturates without the scale 1/√d_k, for growing d_k."""

from typing import Annotated

import typer

from attncli.cli import options

_SIZES, _DRAWS, _SEEDS = range(1, 4097), range(1, 1001), range(10**9)


def scaling(
    file: options.Problem,
    d_k: Annotated[
        str,
        typer.Option(
            "--d-k", metavar="N,…", help="The values of d_k to draw queries and keys for."
        ),
    ] = "2,8,32,128,512",
    draws: Annotated[
        int,
        options.read_by(
            options.whole,
            "--draws",
            metavar="N",
            help="How often to draw queries and keys for each d_k.",
            allowed=_DRAWS,
        ),
    ] = 50,
    seed: Annotated[
        int,
        options.read_by(
            options.whole,
            "--seed",
            metavar="N",
            help="The same seed draws the same numbers.",
            allowed=_SEEDS,
        ),
    ] = 0,
    format: options.Format = None,
    output: options.Output = None,
    precision: options.Precision = 3,
    as_: options.As = None,
    allow_outside: options.AllowOutside = False,
    color: options.Color = "auto",
    ascii: options.Ascii = False,
) -> None:
    """Show why scores are scaled: scores, weights and gradients with and without 1/√d_k, for larger
    and larger d_k.

    attncli draws the queries and keys at random; everything else is the problem's.
    """
    format = options.page_format(format, output)
    options.reject_conflicts(*options.format_conflicts(format, ascii=ascii))
    lengths = options.names("--d-k", d_k, what="number", example="2,8,32")
    sizes = tuple(options.whole("--d-k", length, allowed=_SIZES) for length in lengths)

    from attncli.cli.files import require_writable
    from attncli.cli.input import load
    from attncli.cli.pages import write_page
    from attncli.cli.progress import progress

    require_writable(output, file)
    problem = load(file, convention=as_, outside=allow_outside)

    from attncli.features.scaling.page import scaling_page
    from attncli.features.scaling.study import compare_scales

    progress.begin("drawing problems")
    drawn = compare_scales(problem, sizes=sizes, draws=draws, seed=seed)
    rows = tuple(progress.over(drawn, 1 + len(sizes)))
    page = scaling_page(problem.title, rows, draws=draws, seed=seed, precision=precision)
    write_page(page, format, output, color=color, ascii=ascii)
