"""`attncli compute`: a problem worked out from the input to the output, step by step."""

import sys

from attncli.choices import NOT_FLOATS, PRECISION
from attncli.console import options, values


def compute(
    file: options.Problem,
    format: options.Format = None,
    output: options.Output = None,
    steps: options.Steps = None,
    detail: options.Detail = None,
    cell: options.Cell = None,
    head: options.Head = None,
    entry: options.Entry = None,
    precision: options.Precision = "3",
    rounding: options.Rounding = "shown",
    heatmap: options.Heatmap = False,
    mask: options.Mask = None,
    as_: options.As = None,
    allow_outside: options.AllowOutside = False,
    scale: options.Scale = None,
    dtype: options.Dtype = "float64",
    device: options.Device = "cpu",
    color: options.Color = "auto",
    math: options.Math = None,
    fragment: options.Fragment = False,
    quiet: options.Quiet = False,
) -> None:
    """Work out a problem, step by step.

    Shows the whole way from the input to the output, or with -o solution.md, .tex or .json writes it down.
    """
    page_format = values.output_format(format, output, arrays=True)
    decimals = values.whole("--precision", precision, PRECISION)
    one_head, one_entry = (
        None if place is None else values.place(option, place)
        for option, place in (("--head", head), ("--entry", entry))
    )
    chosen = None if steps is None else values.names("--steps", steps)
    values.words(detail=detail, rounding=rounding, dtype=dtype, device=device, as_=as_, color=color, math=math)
    no_floats = rounding in NOT_FLOATS
    values.apart(
        _ADVICE,
        ("--cell", "--steps", cell is not None and steps is not None),
        ("--cell", "--detail", cell is not None and detail is not None),
        ("--math", f"--format {page_format}", math is not None and page_format != "markdown"),
        ("--fragment", f"--format {page_format}", fragment and page_format != "latex"),
        ("--heatmap", "--format json", heatmap and page_format == "json"),
        ("--cell", f"-o {output}", cell is not None and page_format == "npy"),
        (f"--rounding {rounding}", f"--dtype {dtype}", no_floats and dtype != "float64"),
        (f"--rounding {rounding}", "--device gpu", no_floats and device == "gpu"),
    )

    from attncli.console.interruption import also_amid_arithmetic
    from attncli.console.output import check
    from attncli.console.threads import limit_threads
    from attncli.problem.source import read_source

    check(output, file)
    source = read_source(file, outside=allow_outside)
    if limit_threads(source.text):  # before the first import of NumPy
        also_amid_arithmetic()

    from attncli.console.array import insist_one, write_array
    from attncli.console.page import write_page
    from attncli.console.progress import Progress
    from attncli.console.report import warn
    from attncli.memory import NoRoom
    from attncli.page.data import data_page
    from attncli.page.derivation import derivation
    from attncli.page.room import insist_page
    from attncli.page.view import View
    from attncli.problem.extent import TooLarge
    from attncli.problem.reader import change, read_problem
    from attncli.tracing import run
    from attncli.tracing.kept import holds_scores

    bare = page_format in ("json", "npy")  # numbers alone
    if page_format == "npy" and output is not None:
        insist_one(chosen, output)
    view = View(
        detail=detail or ("brief" if bare else "rows"),
        precision=decimals,
        steps=chosen,
        cell=cell,
        heatmap=heatmap,
        head=one_head,
        entry=one_entry,
    )
    keep = view.kept(data=bare) if (rounding, device) == ("shown", "cpu") else None
    problem = read_problem(source, convention=as_, scores=keep is None or holds_scores(keep))
    if mask is not None or scale is not None:
        problem = change(problem, mask=mask, scale=scale, outside=allow_outside)
    report = Progress("working out", sys.stderr)
    try:
        trace = run(
            problem, device=device, dtype=dtype, rounding=rounding, precision=decimals, keep=keep, report=report
        )
    except TooLarge:
        read_problem(source, convention=as_)  # which says so, and where
        raise
    parting, told = None, list(trace.warnings)
    if dtype != "float64" and all(part is None for part in (steps, cell, one_head, one_entry)):
        from attncli.study.formats import parting_of

        try:
            parting = parting_of(problem, trace, decimals)
        except NoRoom:
            told.append(f"where {dtype} parts from float64 is not told: there is no memory left to work out both")
    if page_format == "npy" and output is not None:
        write_array(trace, view, output)
    else:
        if not bare:
            insist_page(trace, view)
        document = (data_page if page_format == "json" else derivation)(trace, view, parting)
        write_page(document, page_format, output, color=color, math=math or "fences", fragment=fragment)
    if not quiet:
        for message in told:
            warn(message, sys.stderr)


_ADVICE = {
    "--cell": "--cell works one cell in full; leave out one of the two",
    "--math": "--math is for --format markdown",
    "--fragment": "--fragment is for --format latex",
    "--heatmap": "JSON holds the numbers themselves; leave out --heatmap",
    **{f"--rounding {rounding}": why for rounding, why in NOT_FLOATS.items()},
}
