"""`attncli test`: what a function of somebody else does, and which mistake it has."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from attncli.cli import class_options, options
from attncli.cli.class_options import (
    POSSIBLE_MARKS,
    FeedbackFolder,
    FeedbackFormat,
    format_of_pages,
    require_folder_of_feedback,
)
from attncli.cli.error_report import warn_of
from attncli.cli.files import require_writable, write
from attncli.cli.groups import grouped
from attncli.cli.look import Look, look_options
from attncli.cli.options import Conflict, reject_conflicts
from attncli.cli.pages import write_page
from attncli.cli.progress import progress
from attncli.english import listed, shorten
from attncli.errors import AttncliError, Exit, did_you_mean, usage_error
from attncli.features.test.by_files import export_cases, require_one_way
from attncli.features.test.ways import require_class_alone, require_no_class
from attncli.problem.parts.conventions import CONVENTIONS
from attncli.render import FORMATS, OF_ONE_STEP, WORKBOOK

if TYPE_CHECKING:
    from attncli.features.test.points import Scheme
    from attncli.testing.trial import Trial

POSSIBLE_SECONDS = range(1, 3601)
USUAL_SECONDS = 5
# What it is called in a file that is named alone.
USUAL_NAME = "attention"
# JAX compiles a function and its gradients when it is first called.
SECONDS_WITH_GRADIENTS = 20
PROBLEM = "yaml"
GRADESCOPE = "gradescope"
# These have a row for each student of a class.
OF_A_CLASS = (*OF_ONE_STEP, *WORKBOOK)
WEIGHTS = ("W_Q", "W_K", "W_V", "W_O", "W_QKV", "b_Q", "b_K", "b_V", "b_O", "b_QKV")
EXAMPLE_OF_WEIGHTS = "W_Q=queries.weight,W_K=keys.weight,W_V=values.weight"
OF_OUTPUTS = "the outputs show what a program takes: give --require with --outputs"
EXAMPLE_OF_A_CALL = "f is the function: --call 'f(q, k, v, mask=~mask)'"

# A file of YAML is that of the smallest problem that shows what is wrong.
TestLook: TypeAlias = Annotated[
    Look,
    look_options(
        "color",
        "ascii",
        option=Annotated[
            str | None,
            options.choice("--format", (*FORMATS, *OF_A_CLASS, GRADESCOPE), options.FORMAT_HELP),
        ],
        data=(PROBLEM, *OF_A_CLASS),
    ),
]


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


def _settings(option: str, value: str) -> tuple[str, ...]:
    """The settings that a function has to take, such as ("mask", "causal")."""
    from attncli.testing.required import SETTINGS

    found = options.names(option, value, what="setting", example="mask,causal")
    for name in found:
        if name not in SETTINGS:
            help = did_you_mean(name, list(SETTINGS), f"the settings are {listed(SETTINGS)}")
            raise usage_error(f"{option}: there is no setting {shorten(name)}", help=help)
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
            CONVENTIONS,
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
            help=(
                "How long it may take to load, and each call of it.  [default:"
                f" {USUAL_SECONDS}; with --gradient {SECONDS_WITH_GRADIENTS}]"
            ),
            allowed=POSSIBLE_SECONDS,
        ),
    ] = None,
    gradient: Annotated[
        bool,
        typer.Option(
            "--gradient",
            help=(
                "Judge the gradients, too: those by autograd of PyTorch or JAX, or the ones that"
                " the function returns for dO, the gradient of the output. With --export and"
                " --outputs, those in files."
            ),
        ),
    ] = False,
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
    require: Annotated[
        Sequence[str] | None,
        options.read_by(
            _settings,
            "--require",
            metavar="SETTING,…",
            help="Let the cases of these settings fail where no parameter stands for them: mask.",
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="FILE",
            help="Test a class: a CSV file with the columns student and function.",
        ),
    ] = None,
    directory: Annotated[
        str | None,
        typer.Option(
            "-d",
            "--directory",
            metavar="FOLDER",
            help="The folder of the functions that --batch names.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="FUNCTION",
            help="What the function is called where --batch names a file alone."
            f"  [default: {USUAL_NAME}]",
        ),
    ] = None,
    marks: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--marks",
            metavar="N",
            help="Share N marks out among the cases: of a class, or for Gradescope.",
            allowed=POSSIBLE_MARKS,
        ),
    ] = None,
    mistake: Annotated[
        float | None,
        options.read_by(
            options.number,
            "--mistake",
            metavar="MARKS",
            help=(
                "Take so many marks off once for each mistake; the cases that it explains keep"
                " theirs."
            ),
            example="2",
            zero=True,
        ),
    ] = None,
    feedback: FeedbackFolder = None,
    feedback_format: FeedbackFormat = None,
    workers: Annotated[int | None, class_options.workers("Test a class")] = None,
    look: TestLook,
    precision: options.Precision = 3,
) -> int:
    """Test a function that works attention out: say what it does, and which mistake it has.

    attncli calls it with small problems that tell mistakes apart, in a process of its own with
    limits of time and memory. These are no sandbox: test only code that you would run yourself.
    A program in another language is tested by files: --export cases writes what it is asked,
    --outputs cases judges what it has written. --batch tests the functions of a class. Exit code 1
    says that a function differs from attention.

    Examples:
      attncli test attention.py:attention
      attncli test --export cases
      attncli test --outputs cases
    """
    of_function = {
        "--call": call is not None,
        "--weights": weights is not None,
        "--seconds": seconds is not None,
    }
    reject_conflicts(
        Conflict(bool(export and require), "--export", "--require", OF_OUTPUTS),
    )
    of_class = {
        "-d": directory is not None,
        "--name": name is not None,
        "--feedback": feedback is not None,
        "--feedback-format": feedback_format is not None,
        "--workers": workers is not None,
    }
    of_marks = {"--marks": marks is not None, "--mistake": mistake is not None}
    if batch is None:
        require_one_way(function, export, outputs, of_function)
        require_no_class(of_class, of_marks, look)
    else:
        require_class_alone(function, export, outputs, look)
        require_folder_of_feedback(feedback, feedback_format)
    if call is not None:
        _require_expression(call)
    if export is not None:
        export_cases(export, as_, look, gradient=gradient)
        return Exit.OK
    from attncli.features.test.points import Scheme

    scheme = Scheme(marks, mistake)
    usual_seconds = SECONDS_WITH_GRADIENTS if gradient else USUAL_SECONDS
    limit = usual_seconds if seconds is None else seconds
    if batch is not None:
        from attncli.features.test.many.class_test import functions_of, test_class
        from attncli.features.test.many.result_row import TestSettings

        settings = TestSettings(
            expression=call or "",
            convention=as_,
            weights=weights,
            seconds=limit,
            gradient=gradient,
            required=tuple(require or ()),
            scheme=scheme,
            feedback=format_of_pages(feedback, feedback_format),
            precision=precision,
        )
        all_agree = test_class(
            functions_of(batch, folder=directory, name=name or USUAL_NAME, output=look.output),
            settings,
            look,
            feedback=feedback,
            feedback_format=feedback_format or "markdown",
            workers=workers,
        )
        return Exit.OK if all_agree else Exit.DIFFERENCE

    _require_format(look)
    _require_other_file(look.output, function)
    try:
        trial = _trial(
            function,
            outputs,
            call=call,
            as_=as_,
            weights=weights,
            seconds=limit,
            gradient=gradient,
        )
    except AttncliError as error:
        # A student's file that cannot be loaded has a result there, too: no marks, and why.
        if look.format != GRADESCOPE or error.exit_code == Exit.USAGE:
            raise
        from attncli.features.test.gradescope import gradescope_error

        write(gradescope_error(error, scheme), look.output, portable=True)
        return Exit.DIFFERENCE
    if require:
        from attncli.testing.required import requiring

        trial = requiring(trial, require)
    _write_trial(trial, look, scheme, precision)
    return Exit.OK if trial.agrees else Exit.DIFFERENCE


def _require_format(look: Look) -> None:
    """Raises AttncliError (exit 2) for a page in a file of YAML."""
    is_file_of_problem = str(look.output).endswith(f".{PROBLEM}")
    reject_conflicts(
        Conflict(
            is_file_of_problem and look.format != PROBLEM,
            f"--format {look.format}",
            f"-o {look.output}",
            "a file of YAML is that of the smallest problem: leave --format out",
        )
    )


def _require_other_file(output: str | None, function: str | None) -> None:
    """Raises AttncliError (exit 2) where the page would be written over the function."""
    require_writable(output, "-")
    if function is not None:
        from attncli.cli.classes.manifest import require_none_of
        from attncli.testing.targets import place_and_name

        place, _ = place_and_name(function)
        require_none_of(output, [place])


def _trial(
    function: str | None,
    outputs: str | None,
    *,
    call: str | None,
    as_: str | None,
    weights: dict[str, str] | None,
    seconds: int,
    gradient: bool,
) -> "Trial":
    """What comes of a function, or of the outputs in a folder."""
    from attncli.testing.meant import meant_by

    if function is None:
        from attncli.testing.outputs import try_outputs

        return try_outputs(
            outputs or "", meant=meant_by(as_), gradient=gradient, begin=progress.begin
        )
    from attncli.testing.running.process import Limits
    from attncli.testing.trial import try_function

    return try_function(
        function,
        expression=call or "",
        meant=meant_by(as_),
        weights=weights,
        limits=Limits(seconds=seconds),
        gradient=gradient,
        begin=progress.begin,
    )


def _write_trial(trial: "Trial", look: Look, scheme: "Scheme", precision: int) -> None:
    """Write the page, the results for Gradescope, or the page and a problem."""
    from attncli.testing.page import trial_page

    if look.format == GRADESCOPE:
        from attncli.features.test.gradescope import gradescope_results

        text = gradescope_results(trial, scheme, precision)
        write(text, look.output, portable=True)
        return
    page = trial_page(trial, precision)
    if look.format != PROBLEM:
        write_page(page, look)
        return
    assert look.output is not None
    write_page(page, look._replace(format="table", output=None))
    _save(trial, look.output)


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
        failed = any(each.result == "error" for each in trial.results)
        why = "no case differs" if not failed else "a case that fails has no output to compare"
        warn_of([f"{why}, so {path} was not written"], quiet=False)
        return
    write_problem(problem, path)
