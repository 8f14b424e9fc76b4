"""`attncli gradient`: the backward pass of a problem, from the output back to the input and the
weights.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import typer

from attncli.cli import options
from attncli.cli.error_report import warn_of
from attncli.cli.files import require_writable
from attncli.cli.groups import grouped
from attncli.cli.look import OF_ONE_STEP_OR_TRACE, Look, look_options
from attncli.cli.options import LEAVE_ONE_OUT, Conflict, reject_conflicts
from attncli.cli.overrides import AllOverrides, Overrides
from attncli.cli.pages import (
    require_workbook,
    with_changeable_numbers,
    write_page,
)
from attncli.cli.progress import progress
from attncli.cli.view_options import VIEW_OPTIONS_OF_GRADIENT, ViewOptions
from attncli.errors import Exit

if TYPE_CHECKING:
    from attncli.page.document import Document

GradientLook: TypeAlias = Annotated[
    Look,
    look_options(
        "color",
        "ascii",
        "math",
        "fragment",
        "no_title",
        "heading_level",
        option=options.TraceFormat,
        data=OF_ONE_STEP_OR_TRACE,
    ),
]


class WorkedGradient(NamedTuple):
    """The page, what its reader must be warned of, and whether finite differences agree."""

    page: "Document"
    warnings: list[str]
    agrees: bool


def work_back(
    file: str,
    overrides: Overrides,
    look: Look,
    view_options: ViewOptions,
    *,
    dtype: str,
    device: str,
    all_: bool,
    verify: bool,
    step_size: tuple[float, str] | None,
    forward: bool,
) -> WorkedGradient:
    """The page of the gradients of the problem in a file, with what is asked for beside them.

    With `forward`, the forward pass stands before them. `verify` compares them with finite
    differences. `step_size` is that of a step of descent, as a number and as it was written: (0.1,
    "1e-1").
    """
    # Neither help nor what is wrong with options needs these imports, and NumPy comes after `load`.
    from attncli.cli.input import load

    view = replace(view_options.view(look, all_=all_), forward=forward)
    problem = load(file, overrides)

    from attncli.features.gradient.descent import descend
    from attncli.features.gradient.page import gradient_document
    from attncli.features.gradient.verification import verify_view
    from attncli.page.derivation import page_deviation
    from attncli.problem.matrix import Scalar

    trace = view_options.traced(problem, dtype=dtype, device=device, gradient=True)
    if verify:
        progress.begin("verifying")
    checks = verify_view(trace, view) if verify else ()
    descent = None
    if step_size is not None:
        descent = descend(problem, trace, Scalar(*step_size))
        trace = replace(trace, warnings=(*trace.warnings, *descent.warnings))
    warnings = list(trace.warnings)
    progress.begin("writing")
    deviation = None
    if look.format == "json" and descent is None:
        deviation = page_deviation(problem, trace, view, warnings)
    page = gradient_document(trace, view, checks, descent, deviation)
    page = with_changeable_numbers(page, look, problem, trace, view)
    agrees = all(each.verdict != "disagree" for each in checks)
    return WorkedGradient(page, warnings, agrees)


@grouped
def gradient(
    file: options.ProblemFile,
    look: GradientLook,
    view_options: Annotated[ViewOptions, VIEW_OPTIONS_OF_GRADIENT],
    overrides: AllOverrides,
    dtype: options.Dtype = "float64",
    device: options.Device = "cpu",
    all_: options.All = False,
    # `cli/app.py` takes it away, and calls the command again and again.
    watch: options.Watched = False,
    quiet: options.Quiet = False,
    forward: Annotated[
        bool,
        typer.Option(
            "--forward", help="Show the forward pass in brief, too, before the gradients."
        ),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check every gradient against central finite differences."),
    ] = False,
    step_size: Annotated[
        str | None,
        typer.Option(
            "--step-size",
            metavar="N",
            help="Take one step of gradient descent with this step size: 0.1.",
        ),
    ] = None,
) -> int:
    """Work out the gradients of a problem, step by step.

    Shows the backward pass: how much the loss grows with every number of every step.

    Examples:
      attncli gradient inputs/next_token.yaml
      attncli gradient inputs/next_token.yaml --cell 'd_Q[0,1]'
      attncli gradient inputs/next_token.yaml --verify --steps d_W_Q,d_W_K
    """
    size = None
    if step_size is not None:
        size = options.number("--step-size", step_size, example="0.1", zero=False), step_size
    view_options.require_fitting(look, dtype, device)
    reject_conflicts(
        *_conflicts_of_workbook(look, verify=verify, step_size=step_size),
        *_conflicts_of_rounding(view_options, verify=verify, step_size=step_size),
        *_conflicts_of_forward(look, view_options, forward=forward),
        Conflict(
            verify and dtype != "float64",
            "--verify",
            f"--dtype {dtype}",
            f"finite differences need all digits: {LEAVE_ONE_OUT}",
        ),
    )
    require_writable(look.output, file)
    require_workbook(look)
    worked = work_back(
        file,
        overrides,
        look,
        view_options,
        dtype=dtype,
        device=device,
        all_=all_,
        verify=verify,
        step_size=size,
        forward=forward,
    )
    write_page(worked.page, look, pictures=view_options.pictures)
    warn_of(worked.warnings, quiet=quiet)
    return Exit.OK if worked.agrees else Exit.DIFFERENCE


def _conflicts_of_forward(
    look: Look, view_options: ViewOptions, *, forward: bool
) -> list[Conflict]:
    """A page of some steps, and a file of numbers, which has both passes."""
    numbers = f"--format {look.format}"
    help = "it has the forward pass without --forward"
    return [
        Conflict(
            forward and view_options.steps is not None,
            "--forward",
            "--steps",
            "--steps can name steps of the forward pass, such as weights",
        ),
        Conflict(
            forward and view_options.cell is not None,
            "--forward",
            "--cell",
            f"--cell works one cell in full; {LEAVE_ONE_OUT}",
        ),
        Conflict(forward and look.holds_numbers(), "--forward", numbers, help),
        Conflict(forward and look.is_workbook(), "--forward", numbers, help),
    ]


def _conflicts_of_workbook(look: Look, *, verify: bool, step_size: str | None) -> list[Conflict]:
    """What a workbook of the two passes has no room for."""
    workbook = f"--format {look.format}"
    help = "a workbook has the forward and the backward pass; write .html or .md"
    is_workbook = look.is_workbook()
    return [
        Conflict(is_workbook and verify, "--verify", workbook, help),
        Conflict(is_workbook and step_size is not None, "--step-size", workbook, help),
    ]


def _conflicts_of_rounding(
    view_options: ViewOptions, *, verify: bool, step_size: str | None
) -> list[Conflict]:
    """What needs floating point, and numbers that are rounded or exact."""
    rounding = f"--rounding {view_options.rounding}"
    is_rounded = view_options.rounding != "shown"
    return [
        Conflict(
            is_rounded and verify,
            "--verify",
            rounding,
            f"finite differences need all digits: {LEAVE_ONE_OUT}",
        ),
        Conflict(
            is_rounded and step_size is not None,
            "--step-size",
            rounding,
            f"a step of gradient descent needs floating point: {LEAVE_ONE_OUT}",
        ),
    ]
