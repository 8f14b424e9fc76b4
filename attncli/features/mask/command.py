"""`attncli mask`: what a mask_mod or a score_mod of PyTorch's FlexAttention does, in the words of
attncli.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from attncli.cli import options
from attncli.cli.files import require_writable
from attncli.cli.groups import grouped
from attncli.cli.look import Look, look_options
from attncli.cli.options import Conflict, reject_conflicts
from attncli.cli.pages import is_for_screen, write_page
from attncli.cli.progress import progress
from attncli.errors import input_error, usage_error
from attncli.render import PAGES

if TYPE_CHECKING:
    from attncli.features.mask.study import Study

POSSIBLE_LENGTHS = range(1, 257)
POSSIBLE_HEADS = range(1, 65)
POSSIBLE_SECONDS = range(1, 3601)
USUAL_QUERIES = 8
USUAL_SECONDS = 5
PROBLEM = "yaml"

# A file of YAML is a problem with the mask.
MaskLook: TypeAlias = Annotated[Look, look_options("color", "ascii", data=(PROBLEM,))]


def _size(*names: str, help: str, allowed: range) -> Any:
    return typer.Option(
        *names,
        metavar="N",
        help=help,
        parser=partial(options.whole, names[0], allowed=allowed),
    )


@grouped
def mask(
    *,
    function: Annotated[
        str,
        typer.Argument(
            metavar="FILE.py:NAME",
            help=(
                "The function: in a file of Python, or in an installed package, as in"
                " package.module:NAME; or what makes it: 'FILE.py:NAME(3)'."
            ),
        ),
    ],
    n: Annotated[
        int,
        _size("-n", "--n", help="Number of queries.", allowed=POSSIBLE_LENGTHS),
    ] = USUAL_QUERIES,
    m: Annotated[
        int | None,
        _size("-m", "--m", help="Number of keys.  [default: -n]", allowed=POSSIBLE_LENGTHS),
    ] = None,
    heads: Annotated[
        int, _size("--heads", help="Number of heads: h is 0, 1, …", allowed=POSSIBLE_HEADS)
    ] = 1,
    batch: Annotated[
        int, _size("--batch", help="Number of entries: b is 0, 1, …", allowed=POSSIBLE_HEADS)
    ] = 1,
    seconds: Annotated[
        int,
        options.read_by(
            options.whole,
            "--seconds",
            metavar="N",
            help="How long it may take to load, and to be called at all positions.",
            allowed=POSSIBLE_SECONDS,
        ),
    ] = USUAL_SECONDS,
    look: MaskLook,
    detail: Annotated[
        str | None,
        options.choice(
            "--detail",
            options.DETAILS,
            "brief: only matrices; rows: also why one key of each query is seen or hidden; cells:"
            " why each is.  [default: brief]",
        ),
    ] = None,
    precision: options.Precision = 3,
    all_: options.All = False,
) -> None:
    """Say what a mask_mod or score_mod of PyTorch's FlexAttention does, in the words of attncli.

    attncli calls the function with whole numbers for b, h, q_idx and kv_idx, or with tensors if it
    needs these, and finds the shortest form of a problem that does the same at every position. -o
    mask.yaml writes a problem with it. The function runs in a process of its own with limits of
    time and memory. These are no sandbox: give only code that you would run yourself.

    Examples:
      attncli mask masks.py:sliding_window
      attncli mask masks.py:sliding_window --n 8 -o mask.yaml
    """
    _require_format(look, detail)
    _require_few(n, n if m is None else m, heads, batch)
    _require_other_file(look.output, function)

    from attncli.features.mask.study import Sizes, study_function
    from attncli.testing.running.process import Limits

    sizes = Sizes(batch, heads, n, n if m is None else m)
    study = study_function(function, sizes, Limits(seconds=seconds), progress.begin)
    is_problem = look.format == PROBLEM
    page_look = look._replace(format="table", output=None) if is_problem else look

    from attncli.features.mask.page import study_page
    from attncli.page.view import View

    only_ends = is_for_screen(page_look) and not all_
    view = View(detail or "brief", precision, only_ends=only_ends)
    page = study_page(study, view)
    # Where no problem can be written, nothing is.
    if is_problem:
        assert look.output is not None
        _save(study, look.output)
    write_page(page, page_look)


def _require_format(look: Look, detail: str | None) -> None:
    """Raises AttncliError (exit 2) for a page in a file of YAML, and for worked lines in data."""
    is_file_of_problem = str(look.output).endswith(f".{PROBLEM}")
    reject_conflicts(
        Conflict(
            is_file_of_problem and look.format != PROBLEM,
            f"--format {look.format}",
            f"-o {look.output}",
            "a file of YAML is a problem with the mask: leave --format out",
        ),
        Conflict(
            detail is not None and look.format in PAGES and PAGES[look.format].is_data,
            "--detail",
            f"--format {look.format}",
            f"{look.format.upper()} has no worked lines",
        ),
    )


def _require_few(n: int, m: int, heads: int, batch: int) -> None:
    """Raises AttncliError (exit 2) for more positions than a function is called for."""
    from attncli.features.mask.study import MOST_CELLS

    cells = n * m * heads * batch
    if cells > MOST_CELLS:
        asked = f"{batch} × {heads} × {n} × {m} positions are {cells:,}"
        raise usage_error(
            f"{asked}, and {MOST_CELLS:,} are the most",
            help="a few heads and entries tell as much: leave --heads or --batch out",
        )


def _require_other_file(output: str | None, function: str) -> None:
    """Raises AttncliError (exit 2) where the page would be written over the function."""
    require_writable(output, "-")

    from attncli.cli.classes.manifest import require_none_of
    from attncli.testing.targets import place_and_name

    place, _ = place_and_name(function)
    require_none_of(output, [place])


def _save(study: "Study", path: str) -> None:
    """Write a problem with what the function does; raises AttncliError (exit 3) where no problem
    does it.
    """
    from attncli.cli.saving import write_problem
    from attncli.features.mask.problem import COMMENT, problem_of

    if study.is_broken:
        raise input_error(
            f"{path} was not written: the function gives NaN or infinity",
            help="without -o, the page says where: look there at divisions, roots and logarithms",
        )
    if not study.has_form:
        raise input_error(
            f"{path} was not written: no key of a problem does what the function does",
            help=(
                "without -o, the page shows what it does; attncli new --equations begins a problem"
                " with equations of your own"
            ),
        )
    write_problem(problem_of(study), path, COMMENT)
