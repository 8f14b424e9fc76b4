"""`attncli compare`: two problems, a problem and its changed version, or a problem and another
program's numbers.
"""

from typing import Annotated

import typer

from attncli.cli import options
from attncli.cli.error_report import warn_of
from attncli.cli.files import require_writable
from attncli.cli.groups import grouped
from attncli.cli.look import PageLook
from attncli.cli.options import LEAVE_ONE_OUT, Conflict, reject_conflicts
from attncli.cli.overrides import ReadingOverrides
from attncli.cli.pages import write_page
from attncli.cli.progress import progress
from attncli.dtypes import DETAILS, SEES_NO_KEY
from attncli.errors import Exit, usage_error


@grouped
def compare(
    *,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE_A",
            help="A problem in YAML or JSON, or a dump (see FILE_B); - is standard input.",
        ),
    ],
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE_B",
            help=(
                "Another problem, or a dump: the steps that other software computed, in .npz,"
                " .safetensors or .json."
            ),
        ),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help=(
                "Change a key of the problem: any key with its value in YAML, or dtype, device,"
                " rounding, as. An "
                "empty value removes the key. Without FILE_B, FILE_A is compared with its changed"
                " version; with FILE_B, "
                "both problems are changed."
            ),
        ),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(
            "--rename",
            metavar="NAME=STEP",
            help=(
                "Read this name in a dump as this step, as in --rename att=weights. attncli knows"
                " what many "
                "frameworks call a step."
            ),
        ),
    ] = None,
    dtypes: Annotated[
        bool,
        typer.Option(
            "--dtypes", help="Compare float32, float16 and bfloat16 with float64, in one table."
        ),
    ] = False,
    gradient: Annotated[
        bool,
        typer.Option(
            "--gradient", help="Compare gradients, too; a dump with gradients does not need this."
        ),
    ] = False,
    overrides: ReadingOverrides,
    tolerance: Annotated[
        float | None,
        options.read_by(
            options.number,
            "--tolerance",
            metavar="T",
            help="How far apart two cells may be, relative to the terms they are computed from.  "
            "[default: 1e-9; float32 1e-5, float16 3e-3, bfloat16 2e-2]",
            example="1e-6",
            zero=True,
        ),
    ] = None,
    sees_no_key: Annotated[
        str | None,
        options.choice(
            "--sees-no-key",
            SEES_NO_KEY,
            "What the other program means to give a query that sees no key: 0, NaN, or the mean of"
            " all values.  [default: 0, as attncli does]",
        ),
    ] = None,
    look: PageLook,
    steps: options.Steps = None,
    detail: Annotated[
        str | None,
        options.choice(
            "--detail",
            DETAILS,
            "Without a worked cell, with one, or with all matrices.  [default: rows]",
        ),
    ] = None,
    precision: options.Precision = 3,
    quiet: options.Quiet = False,
) -> int:
    """Compare two problems, a problem with its changed version, or a problem with the numbers of
    another program.

    Shows the first step that differs, which weights moved where, and all steps side by side. Exit
    code 1 says that something differs.

    Examples:
      attncli compare inputs/i_love_ai.yaml --set mask=causal
      attncli compare one.yaml other.yaml --steps scores,weights
      attncli compare layer.yaml dump.npz --rename attn=weights
    """
    data_help = "JSON always has the same detail; leave out --detail"
    others = {
        "FILE_B": other is not None,
        "--tolerance": tolerance is not None,
        "--steps": steps is not None,
        "--gradient": gradient,
        "--rename": bool(rename),
        "--sees-no-key": sees_no_key is not None,
        "--detail": detail is not None,
    }
    dtypes_help = f"--dtypes compares one problem in all number formats; {LEAVE_ONE_OUT}"
    is_json = look.format == "json"
    reject_conflicts(
        Conflict(detail is not None and is_json, "--detail", "--format json", data_help),
        *(
            Conflict(dtypes and is_given, "--dtypes", name, dtypes_help)
            for name, is_given in others.items()
        ),
    )

    from attncli.features.compare.operands import read_files

    for path in (file, other):
        require_writable(look.output, path or "-", what="what is compared")
    if other is None and not set and not dtypes:
        raise usage_error(
            f"there is nothing to compare {file} with",
            help="give a second file, or a change: --set mask=causal",
        )
    paths = [path for path in (file, other) if path is not None]
    files = read_files(
        paths, set or [], overrides.as_, outside=overrides.allow_outside, renames=rename or []
    )

    from attncli.comparison.page import comparison_page
    from attncli.features.compare.comparing import Wishes, compare_files
    from attncli.features.compare.operands import format_deviations
    from attncli.page.number_formats import formats_page

    progress.begin("comparing")
    if dtypes:
        deviations, title = format_deviations(files[0], precision)
        write_page(formats_page(deviations, title, precision), look)
        return Exit.OK
    wishes = Wishes(precision, gradient, tolerance, steps, sees_no_key)
    comparison = compare_files(files, wishes)
    page = comparison_page(comparison, detail=detail or "rows", precision=precision)
    write_page(page, look)
    warn_of(comparison.warnings, quiet=quiet)
    return Exit.OK if comparison.first is None else Exit.DIFFERENCE
