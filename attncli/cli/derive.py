"""What compute and gradient share: their options read, the problem worked out, and the page put where it belongs."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from attncli.cli import terminal, values
from attncli.dtypes import NOT_FLOATS, PRECISION
from attncli.errors import Exit

if TYPE_CHECKING:
    from attncli.features.gradient.finite_differences import Held


def derive(
    file: str,
    *,
    gradient: bool,
    format: str | None,
    output: str | None,
    steps: str | None,
    detail: str | None,
    cell: str | None,
    head: str | None,
    entry: str | None,
    precision: str,
    rounding: str,
    heatmap: bool,
    mask: str | None,
    as_: str | None,
    allow_outside: bool,
    scale: str | None,
    dtype: str,
    device: str,
    color: str,
    math: str | None,
    fragment: bool,
    quiet: bool,
    all_: bool = False,
    verify: bool = False,
    step_size: str | None = None,
) -> int:
    """Work a problem out, on request with its gradient, and show its derivation as the options say.

    The exit code is 1 where finite differences were asked and disagree.
    """
    page_format = values.output_format(format, output, arrays=True)
    decimals = values.whole("--precision", precision, PRECISION)
    one_head, one_entry = (
        None if place is None else values.place(option, place)
        for option, place in (("--head", head), ("--entry", entry))
    )
    chosen = None if steps is None else values.names("--steps", steps)
    values.words(detail=detail, rounding=rounding, dtype=dtype, device=device, as_=as_, color=color, math=math)
    size = None if step_size is None else values.step_size("--step-size", step_size)
    no_floats = rounding in NOT_FLOATS
    values.apart(
        _ADVICE,
        ("--cell", "--steps", cell is not None and steps is not None),
        ("--cell", "--detail", cell is not None and detail is not None),
        *values.of_format(page_format, math=math, fragment=fragment),
        ("--heatmap", "--format json", heatmap and page_format == "json"),
        ("--cell", f"-o {output}", cell is not None and page_format == "npy"),
        (f"--rounding {rounding}", f"--dtype {dtype}", no_floats and dtype != "float64"),
        (f"--rounding {rounding}", "--device gpu", no_floats and device == "gpu"),
        ("--verify", f"--rounding {rounding}", verify and no_floats),
        ("--step-size", f"--rounding {rounding}", size is not None and no_floats),
        ("--verify", f"--dtype {dtype}", verify and dtype != "float64"),
    )

    from attncli.cli.output import check
    from attncli.cli.signals import also_amid_arithmetic
    from attncli.cli.threads import limit_threads
    from attncli.problem.source import read_source

    check(output, file)
    source = read_source(file, outside=allow_outside)
    if limit_threads(source.text):  # before the first import of NumPy
        also_amid_arithmetic()

    if page_format == "npy" and output is not None:
        values.one_step(chosen, output)
    from attncli.cli.error_report import warn  # while there is memory for it: an error may be that there is none
    from attncli.problem.loader import change, read_problem

    problem = read_problem(source, convention=as_, scores=False)  # which tells what is wrong before NumPy is needed
    if mask is not None or scale is not None:
        problem = change(problem, mask=mask, scale=scale, outside=allow_outside)

    from attncli.attention.registry import holds_scores
    from attncli.cli.derived import page_of, parting_told
    from attncli.cli.page import write_page
    from attncli.cli.progress import progress
    from attncli.page.view import View
    from attncli.problem.extent import TooLarge, require_scores
    from attncli.tracing import run

    bare = page_format in ("json", "npy")  # numbers alone
    view = View(
        detail=detail or ("brief" if bare else "rows"),
        precision=decimals,
        steps=chosen,
        cell=cell,
        heatmap=heatmap,
        head=one_head,
        entry=one_entry,
        ends=not all_ and page_format == "table" and terminal.width(terminal.standard(output)) is not None,
    )
    keep = view.kept(data=bare) if (rounding, gradient) == ("shown", False) else None
    progress.begin("working out")
    try:
        if keep is None or holds_scores(keep):
            require_scores(problem.given)
        trace = run(
            problem,
            device=device,
            dtype=dtype,
            rounding=rounding,
            precision=decimals,
            gradient=gradient,
            keep=keep,
            report=progress.report,
        )
    except TooLarge:
        read_problem(source, convention=as_)  # which says so, and where
        raise
    verified: tuple[Held, ...] = ()
    if verify:
        from attncli.features.gradient.verifying import verified_of

        progress.begin("verifying")
        verified = verified_of(problem, trace, view)
    descent = None
    if size is not None:
        from attncli.features.gradient.descent import descend

        descent = descend(problem, trace, size)
        trace = replace(trace, warnings=(*trace.warnings, *descent.warnings))
    told = list(trace.warnings)
    progress.begin("writing")
    if page_format == "npy" and output is not None:
        from attncli.cli.array import write_array

        write_array(trace, view, output)
    else:
        parting, untold = parting_told(problem, trace, view)
        told += untold
        document = page_of(trace, view, page_format == "json", gradient, parting, verified, descent)
        write_page(document, page_format, output, color=color, math=math or "fences", fragment=fragment)
    if not quiet:
        for message in told:
            warn(message, sys.stderr)
    return Exit.OK if all(each.verdict != "disagree" for each in verified) else Exit.DIFFERENCE


_ADVICE = {
    "--cell": "--cell works one cell in full; leave out one of the two",
    "--verify": "finite differences need all digits: leave out one of the two",
    "--step-size": "a step of gradient descent is worked in floating point: leave out one of the two",
    **values.FORMAT_ADVICE,
    "--heatmap": "JSON holds the numbers themselves; leave out --heatmap",
    **{f"--rounding {rounding}": why for rounding, why in NOT_FLOATS.items()},
}
