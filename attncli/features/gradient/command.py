"""`attncli gradient`: the backward pass of a problem worked out, from the output back to the input and the weights."""

from typing import Annotated

from attncli.cli import options
from attncli.cli.derive import derive


def gradient(
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
    all_: options.All = False,
    quiet: options.Quiet = False,
    verify: Annotated[
        bool, options.Option("--verify", help="Hold every gradient against central finite differences.")
    ] = False,
    step_size: Annotated[
        str | None,
        options.Option("--step-size", metavar="N", help="Take one step of gradient descent of this size: 0.1."),
    ] = None,
) -> int:
    """Work out the gradients of a problem, step by step.

    Shows the way forward in brief, then the way back: how much a loss changes with every number of every step.
    """
    return derive(
        file,
        gradient=True,
        format=format,
        output=output,
        steps=steps,
        detail=detail,
        cell=cell,
        head=head,
        entry=entry,
        precision=precision,
        rounding=rounding,
        heatmap=heatmap,
        mask=mask,
        as_=as_,
        allow_outside=allow_outside,
        scale=scale,
        dtype=dtype,
        device=device,
        color=color,
        math=math,
        fragment=fragment,
        all_=all_,
        quiet=quiet,
        verify=verify,
        step_size=step_size,
    )
