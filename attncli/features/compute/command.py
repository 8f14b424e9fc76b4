"""`attncli compute`: a problem worked out from the input to the output, step by step."""

import sys

from attncli.cli import options
from attncli.render import WORKBOOK


def compute(
    file: options.Problem,
    format: options.TraceFormat = None,
    output: options.Output = None,
    steps: options.Steps = None,
    detail: options.Detail = None,
    cell: options.Cell = None,
    query: options.Query = None,
    head: options.Head = None,
    entry: options.Entry = None,
    precision: options.Precision = 3,
    rounding: options.Rounding = "shown",
    heatmap: options.Heatmap = False,
    pictures: options.Pictures = False,
    mask: options.Mask = None,
    as_: options.As = None,
    allow_outside: options.AllowOutside = False,
    scale: options.Scale = None,
    dtype: options.Dtype = "float64",
    device: options.Device = "cpu",
    color: options.Color = "auto",
    ascii: options.Ascii = False,
    math: options.Math = None,
    fragment: options.Fragment = False,
    no_title: options.NoTitle = False,
    static: options.Static = False,
    all_: options.All = False,
    watch: options.Watch = False,  # which `cli/app.py` heeds
    quiet: options.Quiet = False,
) -> None:
    """Work out a problem, step by step.

    Shows every step from the input to the output. -o solution.md, .html, .tex, .xlsx or .json
    writes them to a file.
    """
    format = options.page_format(format, output, one_step=True, workbook=True)
    options.reject_conflicts(
        *options.workbook_conflicts(
            format, steps=steps, detail=detail, rounding=rounding, dtype=dtype, device=device
        ),
        *options.view_conflicts(
            format, output, steps=steps, detail=detail, cell=cell, pictures=pictures
        ),
        *options.format_conflicts(
            format,
            output,
            heatmap=heatmap,
            math=math,
            fragment=fragment,
            no_title=no_title,
            ascii=ascii,
            static=static,
            query=query is not None,
            pictures=pictures,
        ),
        *options.query_conflicts(
            query,
            {
                "--steps": steps,
                "--detail": detail,
                "--cell": cell,
                "--heatmap": heatmap or None,
                "--pictures": pictures or None,
            },
        ),
        *options.rounding_conflicts(rounding, dtype=dtype, device=device),
    )
    options.require_one_step(format, output, steps)
    numbers_alone = options.holds_numbers(format)

    # Neither help nor what is wrong with options needs these imports. `warn` is among the first of
    # them, not where it is called: there may be no memory left by then.
    from attncli.attention.registry import holds_scores
    from attncli.cli.error_report import warn
    from attncli.cli.files import require_writable
    from attncli.cli.input import load
    from attncli.cli.pages import is_for_screen, require_workbook, write_page
    from attncli.cli.progress import progress
    from attncli.page.view import View

    require_writable(output, file)
    require_workbook(format, output)
    view = View(
        detail=detail or ("brief" if numbers_alone else "rows"),
        precision=precision,
        steps=steps,
        cell=cell,
        query=query,
        heatmap=heatmap,
        pictures=pictures,
        head=head,
        entry=entry,
        ends=not all_ and is_for_screen(format, output),
    )
    kept_steps = view.steps_needed(numbers_alone) if rounding == "shown" else None
    needs_score_matrix = kept_steps is None or holds_scores(kept_steps)
    problem = load(
        file,
        mask=mask,
        scale=scale,
        convention=as_,
        outside=allow_outside,
        holds_scores=needs_score_matrix,
    )

    from attncli.page.derivation import derivation, page_deviation
    from attncli.tracing import run

    progress.begin("working out")
    trace = run(
        problem,
        dtype=dtype,
        device=device,
        rounding=rounding,
        precision=precision,
        keep=kept_steps,
        report=progress.report,
    )
    warnings = list(trace.warnings)
    progress.begin("writing")
    page = derivation(trace, view, page_deviation(problem, trace, view, warnings))
    if format == "html" and not (static or fragment):
        from attncli.page.live.data import with_live  # which no other format has

        page = with_live(page, problem, trace, view)
    if format in WORKBOOK:
        from attncli.page.workbook import with_workbook

        page = with_workbook(page, trace, view)
    write_page(
        page,
        format,
        output,
        color=color,
        math=math,
        fragment=fragment,
        title=not no_title,
        ascii=ascii,
        pictures=pictures,
    )
    if not quiet:
        for message in warnings:
            warn(message, sys.stderr)
