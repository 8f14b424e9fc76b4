"""`attncli test`: what a function of somebody else does, and which mistake it has."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from attncli.cli import options
from attncli.cli.error_report import warn_of
from attncli.cli.files import require_writable
from attncli.cli.groups import grouped
from attncli.cli.look import Look, look_options
from attncli.cli.pages import write_page
from attncli.cli.progress import progress
from attncli.english import listed, shorten
from attncli.errors import Exit, usage_error
from attncli.features.test.by_files import export_cases, require_one_way
from attncli.problem.parts.conventions import CONVENTIONS

if TYPE_CHECKING:
    from attncli.testing.trial import Trial

POSSIBLE_SECONDS = range(1, 3601)
USUAL_SECONDS = 5
PROBLEM = "yaml"
WEIGHTS = ("W_Q", "W_K", "W_V", "W_O", "W_QKV", "b_Q", "b_K", "b_V", "b_O", "b_QKV")
EXAMPLE_OF_WEIGHTS = "W_Q=queries.weight,W_K=keys.weight,W_V=values.weight"
EXAMPLE_OF_A_CALL = "f is the function: --call 'f(q, k, v, mask=~mask)'"

# A file of YAML is that of the smallest problem that shows what is wrong.
TestLook: TypeAlias = Annotated[Look, look_options("color", "ascii", data=(PROBLEM,))]


def _weights(option: str, value: str) -> dict[str, str]:
    """The names of weights by what they are: {"W_Q": "queries.weight"}."""
    found = {}
    for pair in options.names(option, value, what="weight", example=EXAMPLE_OF_WEIGHTS):
        name, equals, weight = pair.partition("=")
        if name not in WEIGHTS or not equals or not weight:
            help = f"write {option} {EXAMPLE_OF_WEIGHTS}; the names are {listed(WEIGHTS)}"
            raise usage_error(f"{option}: {shorten(pair)} is no weight of attention", help=help)
        found[name] = weight
    return found


@grouped
def test(
    *,
    function: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE.py:NAME",
            help=(
                "The function: in a file of Python, or in an installed package, as in"
                " package.module:NAME."
            ),
        ),
    ] = None,
    call: Annotated[
        str | None,
        typer.Option(
            "--call",
            metavar="EXPRESSION",
            help=(
                "How it is called, where its parameters do not say so, in Python: f is the"
                " function, q, k and v are arrays: --call 'f(q, k, v, mask=~mask)'."
            ),
        ),
    ] = None,
    as_: Annotated[
        str | None,
        options.choice(
            "--as",
            (*CONVENTIONS, "mlx"),
            "Whose layout and meaning is meant: what this software does is right, and what others"
            " do is a mistake.",
        ),
    ] = None,
    weights: Annotated[
        dict[str, str] | None,
        options.read_by(
            _weights,
            "--weights",
            metavar="NAME=WEIGHT,…",
            help=(
                "Which weight of a layer is which, where their names do not say so:"
                " --weights W_Q=ask,W_K=offer."
            ),
        ),
    ] = None,
    seconds: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--seconds",
            metavar="N",
            help=f"How long it may take to load, and each call of it.  [default: {USUAL_SECONDS}]",
            allowed=POSSIBLE_SECONDS,
        ),
    ] = None,
    export: Annotated[
        str | None,
        typer.Option(
            "--export",
            metavar="FOLDER",
            help="Write every case to this new folder, for a program in any language.",
        ),
    ] = None,
    outputs: Annotated[
        str | None,
        typer.Option(
            "--outputs",
            metavar="FOLDER",
            help="Judge what such a program has worked out and written to this folder.",
        ),
    ] = None,
    look: TestLook,
    precision: options.Precision = 3,
) -> int:
    """Test a function that works attention out: say what it does, and which mistake it has.

    attncli calls it with small problems that tell mistakes apart, in a process of its own with
    limits of time and memory. These are no sandbox: test only code that you would run yourself.
    A program in another language is tested by files: --export cases writes what it is asked,
    --outputs cases judges what it has written. Exit code 1 says that it differs from attention.
    """
    of_function = {
        "--call": call is not None,
        "--weights": weights is not None,
        "--seconds": seconds is not None,
    }
    require_one_way(function, export, outputs, of_function)
    if export is not None:
        export_cases(export, as_, look)
        return Exit.OK
    require_writable(look.output, "-")
    if call is not None:
        _require_expression(call)

    from attncli.testing.meant import meant_by
    from attncli.testing.page import trial_page
    from attncli.testing.running.process import Limits
    from attncli.testing.trial import try_function

    if function is None:
        from attncli.testing.outputs import try_outputs

        trial = try_outputs(outputs or "", meant=meant_by(as_), begin=progress.begin)
    else:
        trial = try_function(
            function,
            expression=call or "",
            meant=meant_by(as_),
            weights=weights,
            limits=Limits(seconds=USUAL_SECONDS if seconds is None else seconds),
            begin=progress.begin,
        )
    page = trial_page(trial, precision)
    if look.format == PROBLEM:
        assert look.output is not None
        write_page(page, look._replace(format="table", output=None))
        _save(trial, look.output)
    else:
        write_page(page, look)
    return Exit.OK if trial.agrees else Exit.DIFFERENCE


def _require_expression(call: str) -> None:
    """Raises AttncliError (exit 2) for a text that is no expression of Python with q, k and v."""
    # Few commands have one.
    from ast import Name, parse, walk

    try:
        tree = parse(call.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        what = f"--call {shorten(call)} is no expression of Python"
        raise usage_error(what, help=EXAMPLE_OF_A_CALL) from None
    named = {node.id for node in walk(tree) if isinstance(node, Name)}
    lacking = [name for name in ("f", "q", "k", "v") if name not in named]
    if lacking:
        what = f"--call {shorten(call)} does not name {listed(lacking)}"
        raise usage_error(what, help=EXAMPLE_OF_A_CALL)


def _save(trial: "Trial", path: str) -> None:
    """Write the smallest problem that shows what is wrong."""
    from attncli.cli.saving import write_problem
    from attncli.testing.smallest import smallest_failing_problem

    problem = smallest_failing_problem(trial)
    if problem is None:
        warn_of([f"no case differs, so {path} was not written"], quiet=False)
        return
    write_problem(problem, path)
