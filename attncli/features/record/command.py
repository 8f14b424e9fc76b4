"""`attncli record`: the calls of attention of a Transformers model on disk, one of them as a
problem to be worked out, or all of them against those of another model.
"""

import sys
from typing import Annotated, TypeAlias

import typer

from attncli.cli import options
from attncli.cli.error_report import warn, warn_of
from attncli.cli.files import require_writable
from attncli.cli.groups import grouped
from attncli.cli.look import Look, look_options
from attncli.cli.options import Conflict, reject_conflicts
from attncli.cli.pages import write_page
from attncli.cli.progress import progress
from attncli.dtypes import DETAILS
from attncli.english import listed
from attncli.errors import Exit, usage_error

POSSIBLE_NUMBERS = range(10**6)
# A problem has one of these suffixes.
YAML = ("yaml", "yml")
# How Transformers may work attention out; a folder of such a name is written ./sdpa.
IMPLEMENTATIONS = ("eager", "sdpa", "flex_attention")
RecordLook: TypeAlias = Annotated[Look, look_options("color", "ascii", data=YAML)]


@grouped
def record(
    *,
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
            help="Which call of attention to save or to compare, from 0.",
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
    latent: Annotated[
        bool,
        typer.Option(
            "--latent",
            help="Begin at the latent vectors of a model that has them, as DeepSeek V3.",
        ),
    ] = False,
    absorbed: Annotated[
        bool,
        typer.Option(
            "--absorbed", help="The same, with steps that make no keys and values of the vectors."
        ),
    ] = False,
    attention: Annotated[
        str | None,
        options.choice(
            "--attention",
            IMPLEMENTATIONS,
            "How the model works attention out.  [default: as its config says]",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="MODEL_DIR|WORD",
            help=(
                "Compare all calls with those of the model in this folder, or of the same model"
                f" with another attention: {listed(IMPLEMENTATIONS, last='or')}."
            ),
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        options.read_by(
            options.number,
            "--tolerance",
            metavar="T",
            help="How far apart two cells may be with --against, relative to the terms that they"
            " are computed from.  [default: 1e-5, that of float32]",
            example="1e-6",
            zero=True,
        ),
    ] = None,
    look: RecordLook,
    detail: Annotated[
        str | None,
        options.choice(
            "--detail",
            DETAILS,
            "With --against: without a worked cell, with one, or with all matrices.  [default:"
            " rows]",
        ),
    ] = None,
    precision: options.Precision = 3,
    quiet: options.Quiet = False,
) -> int:
    """Run a model on a text, and save the attention of one of its layers as a problem.

    Without -o it lists the calls of attention that the model makes. With --against it says which
    call is the first that differs from that of another model, in which step and cell; exit code 1
    says that one differs. The model is read from the folder alone: nothing is downloaded, and no
    code in it is run.

    Examples:
      attncli record model --text "I love AI"
      attncli record model --text "I love AI" --layer 3 -o layer.yaml
      attncli record model --text "I love AI" --against port
    """
    is_problem = look.format in YAML
    with_against = {
        "--tolerance": tolerance is not None,
        "--detail": detail is not None,
    }
    reject_conflicts(
        *(
            Conflict(against is None and given, name, "one model", f"{name} is for --against")
            for name, given in with_against.items()
        ),
        Conflict(
            latent and absorbed,
            "--latent",
            "--absorbed",
            "leave one of them out; --absorbed begins at the latent vectors, too",
        ),
        Conflict(
            against is not None and is_problem,
            "--against",
            f"-o {look.output}",
            "it writes a page: -o against.md",
        ),
    )
    if against is None:
        _require_what_is_saved(look, layer, head, latent or absorbed)
    require_writable(look.output, model)
    if against is not None:
        from attncli.features.record.against import Wishes, against_another
        from attncli.torch.compared.all_calls import page_of_calls

        wishes = Wishes(text, layer, head, attention, tolerance, latent, absorbed)
        found = against_another(model, against, wishes, IMPLEMENTATIONS)
        write_page(page_of_calls(found, detail or "rows", precision), look)
        warn_of(found.warnings, quiet=quiet)
        return Exit.OK if found.agrees else Exit.DIFFERENCE

    from attncli.features.record.model import read_model, run_model

    progress.begin("loading the model")
    loaded = read_model(model, attention=attention)
    progress.begin("running the model")
    recorded = run_model(loaded, text, [] if layer is None else [layer])
    if layer is None or look.output is None:
        write_page(recorded.page(), look)
    else:
        call = recorded.call_of_layer(layer)
        parts = recorded.options(call, head)
        parts["latent"] = latent
        parts["absorbed"] = absorbed
        doubt = call.write(look.output, **parts)
        if doubt:
            warn(doubt, sys.stderr)
    warn_of(loaded.warnings, quiet=quiet)
    return Exit.OK


def _require_what_is_saved(
    look: Look, layer: int | None, head: int | None, from_vectors: bool
) -> None:
    """Raises AttncliError (exit 2) where a layer has no file to go to, or a file no layer."""
    is_problem = look.format in YAML
    if is_problem and layer is None:
        raise usage_error(
            "-o needs --layer, which says which call to save",
            help="run it without -o to see them all",
        )
    if is_problem or (layer is None and head is None and not from_vectors):
        return
    if look.output is not None:
        from attncli.problem.saving import require_yaml

        require_yaml(look.output)
    options = "--latent and --absorbed" if from_vectors else "--layer and --head"
    raise usage_error(f"{options} say what -o saves", help="add -o problem.yaml")
