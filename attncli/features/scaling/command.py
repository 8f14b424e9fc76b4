"""`attncli scaling`: how the softmax saturates without 1/√d_k, at growing d_k."""

from typing import Annotated

from attncli.cli import options, values
from attncli.dtypes import PRECISION

_SIZES, _DRAWS, _SEEDS = range(1, 4097), range(1, 1001), range(10**9)


def scaling(
    file: options.Problem,
    d_k: Annotated[
        str, options.Option("--d-k", metavar="N,…", help="The lengths of keys that are drawn.")
    ] = "2,8,32,128,512",
    draws: Annotated[str, options.Option("--draws", metavar="N", help="How often queries and keys are drawn.")] = "50",
    seed: Annotated[str, options.Option("--seed", metavar="N", help="The same seed draws the same numbers.")] = "0",
    format: options.Format = None,
    output: options.Output = None,
    precision: options.Precision = "3",
    as_: options.As = None,
    allow_outside: options.AllowOutside = False,
    color: options.Color = "auto",
) -> None:
    """Show what 1/√d_k is for: scores, weights and gradients with it and without, at growing d_k.

    Queries and keys are drawn at random; all else is the problem's.
    """
    page_format = values.output_format(format, output)
    sizes = tuple(values.whole("--d-k", size, _SIZES) for size in values.names("--d-k", d_k, "number", "2,8,32"))
    times, start = values.whole("--draws", draws, _DRAWS), values.whole("--seed", seed, _SEEDS)
    decimals = values.whole("--precision", precision, PRECISION)
    values.words(color=color, as_=as_)

    from attncli.cli.output import check
    from attncli.cli.page import write_page
    from attncli.cli.progress import progress
    from attncli.cli.threads import limit_threads
    from attncli.problem.source import read_source

    check(output, file)
    source = read_source(file, outside=allow_outside)
    limit_threads(source.text)  # before the first import of NumPy

    from attncli.features.scaling.page import scaling_page
    from attncli.features.scaling.study import saturation
    from attncli.problem.loader import read_problem

    problem = read_problem(source, convention=as_)
    progress.begin("drawing problems")
    drawn = saturation(problem, sizes=sizes, draws=times, seed=start)
    rows = tuple(progress.over(drawn, 1 + len(sizes)))
    page = scaling_page(problem.title, rows, draws=times, seed=start, precision=decimals)
    write_page(page, page_format, output, color=color)
