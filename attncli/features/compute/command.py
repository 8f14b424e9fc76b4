"""`attncli compute`: a problem worked out from the input to the output, step by step.

`work_out` is the way of every problem: read it, work it out, make a page. The command below has the
options, and checks what they say first.
"""

from typing import TYPE_CHECKING, Annotated, TypeAlias

from attncli.cli import options
from attncli.cli.error_report import warn_of
from attncli.cli.files import require_writable
from attncli.cli.groups import grouped
from attncli.cli.look import OF_ONE_STEP_OR_TRACE, Look, look_options
from attncli.cli.overrides import AllOverrides, Overrides
from attncli.cli.pages import (
    require_workbook,
    with_changeable_numbers,
    write_page,
)
from attncli.cli.progress import progress
from attncli.cli.view_options import VIEW_OPTIONS, ViewOptions

if TYPE_CHECKING:
    from attncli.page.document import Document

TraceLook: TypeAlias = Annotated[
    Look,
    look_options(
        "color",
        "ascii",
        "math",
        "fragment",
        "no_title",
        "heading_level",
        "static",
        option=options.TraceFormat,
        data=OF_ONE_STEP_OR_TRACE,
    ),
]


def work_out(
    file: str,
    overrides: Overrides,
    look: Look,
    view_options: ViewOptions,
    *,
    dtype: str,
    device: str,
    all_: bool,
) -> "tuple[Document, list[str]]":
    """The page of the problem in a file, and what its reader must be warned of."""
    # Neither help nor what is wrong with options needs these imports, and NumPy comes after `load`.
    from attncli.cli.input import load

    view = view_options.view(look, all_=all_)
    keep = view.steps_needed(look.holds_numbers()) if view_options.rounding == "shown" else None
    problem = load(file, overrides)

    from attncli.page.derivation import derivation, page_deviation

    trace = view_options.traced(problem, dtype=dtype, device=device, keep=keep)
    warnings = list(trace.warnings)
    progress.begin("writing")
    page = derivation(trace, view, page_deviation(problem, trace, view, warnings))
    return with_changeable_numbers(page, look, problem, trace, view), warnings


@grouped
def compute(
    file: options.ProblemFile,
    look: TraceLook,
    view_options: Annotated[ViewOptions, VIEW_OPTIONS],
    overrides: AllOverrides,
    dtype: options.Dtype = "float64",
    device: options.Device = "cpu",
    all_: options.All = False,
    # `cli/app.py` takes it away, and calls the command again and again.
    watch: options.Watched = False,
    quiet: options.Quiet = False,
) -> None:
    """Work out a problem, step by step.

    Shows every step from the input to the output. -o solution.md, .html, .tex, .xlsx or .json
    writes them to a file.

    Examples:
      attncli compute inputs/i_love_ai.yaml
      attncli compute inputs/i_love_ai.yaml --cell 'weights[I,love]'
      attncli compute homework.yaml --rounding exact -o solution.md
    """
    view_options.require_fitting(look, dtype, device)
    require_writable(look.output, file)
    require_workbook(look)
    page, warnings = work_out(
        file, overrides, look, view_options, dtype=dtype, device=device, all_=all_
    )
    write_page(page, look, pictures=view_options.pictures)
    warn_of(warnings, quiet=quiet)
