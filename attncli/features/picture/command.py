"""`attncli picture`: a problem to look at, as SVG, PNG, Markdown or LaTeX."""

from collections.abc import Sequence
from typing import Annotated

import typer

from attncli.cli import options
from attncli.cli.error_report import warn_of
from attncli.cli.files import require_writable, write_bytes
from attncli.cli.groups import grouped
from attncli.cli.options import Conflict, reject_conflicts
from attncli.cli.overrides import AllOverrides
from attncli.cli.progress import progress
from attncli.cli.terminal import is_on_terminal
from attncli.english import shorten
from attncli.errors import usage_error
from attncli.page.pictures import KINDS, KINDS_WITHOUT_SHADES, OF_ONE_QUERY
from attncli.render import PICTURES, picture_format


def _ends(option: str, value: str) -> tuple[float, float]:
    """Two numbers, 0..1, the smaller one first; raises AttncliError (exit 2) for what is none."""
    from attncli.problem.text.number_forms import NumberError
    from attncli.problem.text.numbers import as_float

    try:
        low, high = map(as_float, value.split("..", 1))
    except (NumberError, ValueError):
        low = high = 0.0
    if low < high:
        return low, high
    raise usage_error(
        f"{option} cannot be {shorten(repr(value))}",
        help=f"give two numbers, the smaller one first: {option} 0..1",
    )


@grouped
def picture(
    *,
    file: options.ProblemFile,
    of: Annotated[
        str,
        typer.Option(
            "--of",
            metavar=f"{'|'.join(KINDS)}|STEP",
            help=(
                "weights, scores: heat maps; flow: ribbons from queries to keys; dimensions: a"
                " chart of all shapes; "
                "output: what each output is made of; softmax: the weights with and without the"
                " scale; the name of any "
                "other step: a heat map of its numbers, also of gradients (d_scores)."
            ),
            autocompletion=options.offer(lambda: (*KINDS, *options.step_names())),
        ),
    ] = "weights",
    format: Annotated[
        str | None,
        options.choice(
            "--format",
            PICTURES,
            "The format of the picture.  [default: from the name after -o, else svg]",
        ),
    ] = None,
    output: options.Output = None,
    query: Annotated[
        str | None,
        typer.Option(
            "--query", metavar="TOKEN", help="Draw only this query: in flow, output and softmax."
        ),
    ] = None,
    head: Annotated[
        int | None,
        options.read_by(
            options.index, "--head", metavar="N", help="Draw only this head; the first is 0."
        ),
    ] = None,
    entry: Annotated[
        int | None,
        options.read_by(
            options.index,
            "--entry",
            metavar="N",
            help="Draw only this entry of a batch; the first is 0.",
        ),
    ] = None,
    shades: Annotated[
        Sequence[float] | None,
        options.read_by(
            _ends,
            "--shades",
            metavar="A..B",
            help=(
                "Of a heat map: the numbers with the first and the last colour, such as 0..1."
                "  [default: as the numbers need it]"
            ),
        ),
    ] = None,
    precision: options.Precision = 3,
    overrides: AllOverrides,
    fragment: Annotated[
        bool,
        typer.Option(
            "--fragment", help="Write LaTeX to include in a document, which needs the package tikz."
        ),
    ] = False,
    no_title: Annotated[
        bool,
        typer.Option("--no-title", help="Leave out the title, for a caption of your own."),
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a problem: who attends to whom, what an output is made of, or which shapes meet.

    -o picture.svg, .png, .md or .tex writes it to a file.

    Examples:
      attncli picture inputs/i_love_ai.yaml
      attncli picture inputs/i_love_ai.yaml --of output -o output.svg
    """
    format = _format(format, output)
    kind = _kind(of)
    reject_conflicts(
        Conflict(
            fragment and format != "latex",
            "--fragment",
            f"--format {format}",
            "--fragment is for --format latex",
        ),
        Conflict(
            query is not None and kind not in OF_ONE_QUERY,
            "--query",
            f"--of {kind}",
            "use --of flow, output or softmax, or leave out --query",
        ),
        Conflict(
            shades is not None and kind in KINDS_WITHOUT_SHADES,
            "--shades",
            f"--of {kind}",
            "use --of weights, scores or another step, or leave out --shades",
        ),
    )

    require_writable(output, file)
    if format == "png":
        _require_png(output)

    from attncli.cli.input import load

    problem = load(file, overrides)

    from attncli.page.pictures.kinds import (
        Choice,
        draw,
        is_of_gradient,
        picture_name,
        with_and_without_scale,
    )
    from attncli.render.pictures import picture_file, warnings_of_picture
    from attncli.tracing import run

    of = picture_name("--of", of, problem)
    progress.begin("working out")
    trace = run(problem, gradient=is_of_gradient(of))
    other = run(with_and_without_scale(problem)) if of == "softmax" else None
    progress.begin("drawing")
    drawing = draw(of, trace, Choice(query, head, entry, precision, shades), other)
    if no_title:
        drawing = drawing.without_title()
    write_bytes([picture_file(drawing, format, fragment=fragment)], output)
    warn_of([*trace.warnings, *warnings_of_picture(drawing, format)], quiet=quiet)


def _kind(of: str) -> str:
    """What --of names where the problem has no equations of its own."""
    if of in KINDS:
        return of
    # Few lines have another picture.
    from attncli.attention.registry import STEP_NAMES

    return STEP_NAMES.get(of, of)


def _require_png(output: str | None) -> None:
    """Refuse a picture that a terminal cannot show, or that nothing here can draw.

    Raises AttncliError (exit 2 or 5).
    """
    if is_on_terminal(output):
        raise usage_error(
            "a terminal cannot show a .png file", help="write it to a file: -o picture.png"
        )

    from attncli.render.png import renderer

    renderer()


def _format(given: str | None, output: str | None) -> str:
    """The format asked for, or the one that the suffix of the output names; SVG without a
    suffix.
    """
    if given is not None or not options.suffix_of(output):
        return given or "svg"
    if format := picture_format(output or ""):
        return format
    known = ".svg, .png, .md or .tex, or choose a format with --format"
    raise options.unknown_suffix("-o", output or "", known)
