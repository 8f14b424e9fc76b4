"""`attncli gradient`: the backward pass of a problem, from the output back to the input and the
weights.
"""

import sys
from dataclasses import replace
from typing import Annotated

import typer

from attncli.cli import options
from attncli.errors import Exit
from attncli.render import WORKBOOK


def gradient(
    file: options.Problem,
    format: options.TraceFormat = None,
    output: options.Output = None,
    steps: options.Steps = None,
    detail: options.Detail = None,
    cell: options.Cell = None,
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
    all_: options.All = False,
    watch: options.Watch = False,  # which `cli/app.py` heeds
    quiet: options.Quiet = False,
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

    Shows the forward pass in brief, then the backward pass: how much the loss grows with every
    number of every step.
    """
    format = options.page_format(format, output, one_step=True, workbook=True)
    size = (
        None
        if step_size is None
        else options.number("--step-size", step_size, example="0.1", zero=False)
    )
    floats = rounding == "shown"
    descent_help = f"a step of gradient descent needs floating point: {options.ALONE}"
    verify_help = f"finite differences need all digits: {options.ALONE}"
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
            pictures=pictures,
        ),
        *options.rounding_conflicts(rounding, dtype=dtype, device=device),
        *(
            (
                asked,
                option,
                f"--format {format}",
                "a workbook has the forward and the backward pass; write .html or .md",
            )
            for asked, option in ((verify, "--verify"), (size is not None, "--step-size"))
            if format in WORKBOOK
        ),
        (verify and not floats, "--verify", f"--rounding {rounding}", verify_help),
        (size is not None and not floats, "--step-size", f"--rounding {rounding}", descent_help),
        (verify and dtype != "float64", "--verify", f"--dtype {dtype}", verify_help),
    )
    options.require_one_step(format, output, steps)
    numbers_alone = options.holds_numbers(format)

    # while there is memory for it: an error may be that there is none
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
        heatmap=heatmap,
        pictures=pictures,
        head=head,
        entry=entry,
        ends=not all_ and is_for_screen(format, output),
    )
    problem = load(file, mask=mask, scale=scale, convention=as_, outside=allow_outside)

    from attncli.features.gradient.descent import descend
    from attncli.features.gradient.page import gradient_document
    from attncli.features.gradient.verification import verify_view
    from attncli.page.derivation import page_deviation
    from attncli.problem.matrix import Scalar
    from attncli.tracing import run

    progress.begin("working out")
    trace = run(
        problem,
        dtype=dtype,
        device=device,
        rounding=rounding,
        precision=precision,
        gradient=True,
        report=progress.report,
    )
    if verify:
        progress.begin("verifying")
    checks = verify_view(trace, view) if verify else ()
    descent = descend(problem, trace, Scalar(size, step_size)) if size and step_size else None
    if descent:
        trace = replace(trace, warnings=(*trace.warnings, *descent.warnings))
    warnings = list(trace.warnings)
    progress.begin("writing")
    deviation = (
        page_deviation(problem, trace, view, warnings) if format == "json" and not descent else None
    )
    page = gradient_document(trace, view, checks, descent, deviation)
    if format == "html" and not fragment:
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
    return Exit.OK if all(each.verdict != "disagree" for each in checks) else Exit.DIFFERENCE
