"""`attncli compute`: a problem worked out from the input to the output, step by step."""

from attncli.cli import options
from attncli.cli.derive import derive


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
    all_: options.All = False,
    quiet: options.Quiet = False,
) -> None:
    """Work out a problem, step by step.

    Shows the whole way from the input to the output, or with -o solution.md, .tex or .json writes it down.
    """
    derive(
        file,
        gradient=False,
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
    )
