"""`attncli compare`: two problems, a problem with a change, or a problem with another program's numbers."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from attncli.cli import options
from attncli.dtypes import DETAILS
from attncli.english import listed
from attncli.errors import Exit, input_error, usage_error

if TYPE_CHECKING:
    from attncli.tracing.comparison import Comparison


def compare(
    file: Annotated[
        str, typer.Argument(metavar="FILE_A", help="A problem in YAML or JSON, or a dump; - is standard input.")
    ],
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE_B",
            help="Another problem, or a dump: steps that other software worked out, in .npz, .safetensors or .json.",
        ),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Without FILE_B, compare with FILE_A so changed; with it, change the problems on both sides. "
            "Any key of a problem with its value in YAML, or dtype, device, rounding, as. Nothing after the = takes "
            "the key away.",
        ),
    ] = None,
    dtypes: Annotated[
        bool, typer.Option("--dtypes", help="Compare float32, float16 and bfloat16 with float64, in one table.")
    ] = False,
    gradient: Annotated[
        bool, typer.Option("--gradient", help="Compare gradients, too; a dump that has some asks for them itself.")
    ] = False,
    as_: options.As = None,
    allow_outside: options.AllowOutside = False,
    tolerance: Annotated[
        float | None,
        options.read_by(
            options.number,
            "--tolerance",
            metavar="T",
            help="How far apart cells may be, in relation to what they are made of.  "
            "[default: 1e-9; float32 1e-5, float16 3e-3, bfloat16 2e-2]",
            example="1e-6",
            zero=True,
        ),
    ] = None,
    format: options.Format = None,
    output: options.Output = None,
    steps: options.Steps = None,
    detail: Annotated[
        str | None,
        options.choice("--detail", DETAILS, "Without a worked cell, with one, or with all matrices.  [default: rows]"),
    ] = None,
    precision: options.Precision = 3,
    color: options.Color = "auto",
    quiet: options.Quiet = False,
) -> int:
    """Compare two problems, a problem with a change, or a problem with a dump.

    Shows the first step that differs, which weights moved where, and all steps side by side. Ends with exit code 1
    where something differs.
    """
    format = options.page_format(format, output)
    data_help = "JSON holds the differences themselves; leave out --detail"
    others = {
        "FILE_B": other is not None,
        "--tolerance": tolerance is not None,
        "--steps": steps is not None,
        "--gradient": gradient,
        "--detail": detail is not None,
    }
    dtypes_help = f"--dtypes compares one problem with itself in all formats; {options.ALONE}"
    options.reject_conflicts(
        (detail is not None and format == "json", "--detail", "--format json", data_help),
        *((dtypes and given, "--dtypes", name, dtypes_help) for name, given in others.items()),
    )

    from attncli.cli.output import require_writable, write_page
    from attncli.cli.progress import progress
    from attncli.features.compare.operands import read_files

    for path in (file, other):
        require_writable(output, path or "-", what="what is compared")
    if other is None and not set and not dtypes:
        raise usage_error(
            f"there is nothing to compare {file} with",
            help="give a second file, or a change: --set mask=causal",
        )
    files = read_files([path for path in (file, other) if path is not None], set or [], as_, outside=allow_outside)

    from attncli.features.compare.operands import format_deviations, operands
    from attncli.features.compare.page import comparison_page
    from attncli.page.number_formats import formats_page
    from attncli.page.view import chosen_names
    from attncli.tracing.comparison import compare as compare_operands

    progress.begin("comparing")
    if dtypes:
        deviations, title = format_deviations(files[0], precision)
        write_page(formats_page(deviations, title, precision), format, output, color=color)
        return Exit.OK
    a, b = operands(files, precision, gradient=gradient)
    names = None if steps is None else chosen_names(steps, tuple(dict.fromkeys([*a.names, *b.names])))
    comparison = compare_operands(a, b, tolerance=tolerance, steps=names)
    _require_common_step(comparison, steps)
    page = comparison_page(comparison, detail=detail or "rows", precision=precision)
    write_page(page, format, output, color=color)
    if not quiet:
        _warn(comparison)
    return Exit.OK if comparison.first is None else Exit.DIFFERENCE


def _require_common_step(comparison: "Comparison", chosen: Sequence[str] | None) -> None:
    """Raises AttncliError where no step is on both sides: exit 2 if these are the only steps wanted, else exit 3."""
    if not all(step.one_sided for step in comparison.steps):
        return
    message = "there is nothing to compare: no step is on both sides"
    if chosen is not None:
        raise usage_error(message, help="leave out --steps")
    few = min((comparison.a, comparison.b), key=lambda side: len(side.names))
    raise input_error(message, help=f"{few.name} has only {listed(few.names)}")


def _warn(comparison: "Comparison") -> None:
    from attncli.cli.error_report import warn

    sides = (comparison.a, comparison.b)
    for message in dict.fromkeys([*sides[0].warnings, *sides[1].warnings]):
        where = [side for side in sides if message in side.warnings]
        if len(where) == 1:
            message = f"{message} ({where[0].phrase})" if where[0].trace else f"{where[0].name}: {message}"
        warn(message, sys.stderr)
