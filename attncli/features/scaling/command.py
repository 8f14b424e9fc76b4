"""`attncli scaling`: how the softmax saturates without the scale 1/√d_k, for growing d_k."""

from typing import Annotated

import typer

from attncli.cli import options
from attncli.cli.files import require_writable
from attncli.cli.groups import grouped
from attncli.cli.look import PageLook
from attncli.cli.overrides import ReadingOverrides
from attncli.cli.pages import write_page
from attncli.cli.progress import progress

POSSIBLE_D_K = range(1, 4097)
POSSIBLE_DRAWS = range(1, 1001)
POSSIBLE_SEEDS = range(10**9)


@grouped
def scaling(
    *,
    file: options.ProblemFile,
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
            allowed=POSSIBLE_DRAWS,
        ),
    ] = 50,
    seed: Annotated[
        int,
        options.read_by(
            options.whole,
            "--seed",
            metavar="N",
            help="The same seed draws the same numbers.",
            allowed=POSSIBLE_SEEDS,
        ),
    ] = 0,
    look: PageLook,
    precision: options.Precision = 3,
    overrides: ReadingOverrides,
) -> None:
    """Show why scores are scaled: scores, weights and gradients with and without 1/√d_k, for larger
    and larger d_k.

    attncli draws the queries and keys at random; everything else is the problem's.

    Examples:
      attncli scaling inputs/i_love_ai.yaml
      attncli scaling inputs/i_love_ai.yaml --d-k 2,8,32,128
    """
    lengths = options.names("--d-k", d_k, what="number", example="2,8,32")
    sizes = tuple(options.whole("--d-k", length, allowed=POSSIBLE_D_K) for length in lengths)
    require_writable(look.output, file)

    from attncli.cli.input import load

    problem = load(file, overrides)

    from attncli.features.scaling.page import scaling_page
    from attncli.features.scaling.study import compare_scales

    progress.begin("drawing problems")
    drawn = compare_scales(problem, sizes=sizes, draws=draws, seed=seed)
    rows = tuple(progress.over(drawn, 1 + len(sizes)))
    page = scaling_page(problem.title, rows, draws=draws, seed=seed, precision=precision)
    write_page(page, look)
