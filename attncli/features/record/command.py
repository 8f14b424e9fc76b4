"""`attncli record`: one call of attention of a Transformers model on disk, as a problem to be
worked out.
"""

import sys
from typing import Annotated

import typer

from attncli.cli import options
from attncli.cli.error_report import warn, warn_of
from attncli.cli.files import require_writable, write
from attncli.cli.progress import progress
from attncli.errors import usage_error

POSSIBLE_NUMBERS = range(10**6)


def record(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL_DIR", help="The folder of a Transformers model, with its tokenizer."
        ),
    ],
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="What the model reads.")],
    layer: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--layer",
            metavar="N",
            help="Which call of attention to save, from 0.",
            allowed=POSSIBLE_NUMBERS,
        ),
    ] = None,
    head: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--head",
            metavar="N",
            help="Only this head of it, from 0.",
            allowed=POSSIBLE_NUMBERS,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write the problem to this .yaml file."
        ),
    ] = None,
) -> None:
    """Run a model on a text, and save the attention of one of its layers as a problem.

    Without -o it lists the calls of attention that the model makes. The model is read from the
    folder alone: nothing is downloaded, and no code in it is run.
    """
    if output is not None and layer is None:
        raise usage_error(
            "-o needs --layer, which says which call to save",
            help="run it without -o to see them all",
        )
    if output is None and (layer is not None or head is not None):
        raise usage_error("--layer and --head say what -o saves", help="add -o problem.yaml")

    from attncli.features.record.model import read_model, run_model
    from attncli.problem.saving import require_yaml

    if output is not None:
        require_yaml(output)
    require_writable(output, model)
    progress.begin("loading the model")
    loaded = read_model(model)
    progress.begin("running the model")
    recorded = run_model(loaded, text, layer)
    calls = recorded.calls
    if output is None:
        write(f"{calls!r}\n", None, portable=False)
    else:
        call = next((each for each in calls if each.layer == layer), None)
        if call is None:
            raise usage_error(
                f"there is no layer {layer}", help=f"the model has layer 0 to {calls[-1].layer}"
            )
        doubt = call.write(output, **recorded.options(call, head))
        if doubt:
            warn(doubt, sys.stderr)
    warn_of(loaded.warnings, quiet=False)
