"""`attncli generate`: a problem of their own for every student, in which each mistake can be told
from the others.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer

from attncli.cli import options
from attncli.cli.error_report import warn_of
from attncli.cli.files import require_new_folder, require_writable, write_folder
from attncli.cli.look import Look, checked_look
from attncli.cli.options import LEAVE_ONE_OUT, Conflict, reject_conflicts
from attncli.cli.pages import write_page
from attncli.cli.progress import progress
from attncli.cli.sheet_options import Ask, marks_of
from attncli.english import listed
from attncli.errors import usage_error
from attncli.features.generate.sizes import (
    MOST_PROBLEMS,
    POSSIBLE_DECIMALS,
    POSSIBLE_HEADS,
    POSSIBLE_SIZES,
    USUAL_DIMS,
    USUAL_DIMS_OF_HEADS,
    USUAL_MARKS,
    USUAL_TITLE,
    in_text,
    usual_dims,
)
from attncli.marking.sheet_marks import SheetMarks

EXAMPLE_OF_A_SET = "write attncli generate --seed midterm --count 30 -d set"


def _dims(option: str, value: str) -> tuple[int, ...]:
    """The sizes n, d_model, d_k and d_v; raises AttncliError (exit 2) for anything else."""
    parts = options.names(option, value, what="size", example=in_text(USUAL_DIMS))
    if len(parts) != len(POSSIBLE_SIZES):
        what = f"{option} has {len(parts)} sizes, not 4"
        help = f"n, d_model, d_k and d_v: {option} {in_text(USUAL_DIMS)}"
        raise usage_error(what, help=help)
    sizes = []
    for name, part in zip(POSSIBLE_SIZES, parts, strict=True):
        allowed = POSSIBLE_SIZES[name]
        size = options.whole(f"{option}: {name}", part, allowed=allowed)
        sizes.append(size)
    return tuple(sizes)


def _whole(option: str, allowed: range, help: str, metavar: str = "N") -> Any:
    return options.read_by(options.whole, option, metavar=metavar, help=help, allowed=allowed)


def generate(
    seed: Annotated[
        str | None,
        typer.Option(
            "--seed", metavar="TEXT", help="The same text always gives the same problems."
        ),
    ] = None,
    count: Annotated[
        int | None, _whole("--count", range(1, MOST_PROBLEMS + 1), "How many problems.")
    ] = None,
    roster: Annotated[
        str | None,
        typer.Option(
            "--roster",
            metavar="FILE",
            help=(
                "A problem for each of these students: a name in each line, or CSV with a column"
                " student or name."
            ),
        ),
    ] = None,
    directory: Annotated[
        str | None,
        typer.Option(
            "-d", "--directory", metavar="FOLDER", help="Write all files to this new folder."
        ),
    ] = None,
    dims: Annotated[
        Sequence[int] | None,
        options.read_by(
            _dims,
            "--dims",
            metavar="N,D_MODEL,D_K,D_V",
            help="Tokens, and the numbers in a row of X, of a query and of a value.  "
            f"[default: {in_text(USUAL_DIMS)}; with several heads, {in_text(USUAL_DIMS_OF_HEADS)}]",
        ),
    ] = None,
    heads: Annotated[
        int | None, _whole("--heads", POSSIBLE_HEADS, "Heads; d_k and d_v are those of one head.")
    ] = None,
    given: options.Given = None,
    mask: Annotated[
        str | None,
        typer.Option(
            "--mask",
            metavar="MASK",
            help="A mask: causal, …",
            autocompletion=options.offer(lambda: ("causal",)),
        ),
    ] = None,
    ask: Ask = None,
    decimals: Annotated[
        int, _whole("--decimals", POSSIBLE_DECIMALS, "Decimals of the answers.")
    ] = 2,
    marks: Annotated[Any, marks_of("a sheet", USUAL_MARKS)] = None,
    title: Annotated[
        str | None,
        typer.Option(
            "--title",
            metavar="TEXT",
            help=f"The title, before the student's name.  [default: {USUAL_TITLE}]",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Worksheets say what each step is, and why: they give the method away.",
        ),
    ] = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="Worksheets on one page, if the problems are small.")
    ] = False,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Also write sheets.pdf and keys.pdf, by TeX.")
    ] = False,
    audit: Annotated[
        str | None,
        typer.Option(
            "--audit",
            metavar="FILE",
            help="Write nothing. Say which mistakes this problem can show.",
        ),
    ] = None,
    format: options.PageFormat = None,
    output: options.Output = None,
    color: options.Color = "auto",
    ascii: options.Ascii = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a set of problems with small numbers, one for each student, with worksheets, answers to
    fill in, and keys.

    attncli generate --seed midterm --count 30 -d set writes 30 problems. attncli checks before that
    each mistake it knows changes the numbers, and no two in the same way, as far as these sizes
    allow. The keys say which mistakes cannot be told apart. --audit problem.yaml says so of any
    problem.

    Examples:
      attncli generate --seed midterm --count 30 -d set
      attncli generate --seed midterm --roster roster.csv --given qkv -d set
    """
    of_a_set = {
        "--seed": seed,
        "--count": count,
        "--roster": roster,
        "-d": directory,
        "--dims": dims,
        "--heads": heads,
        "--given": given,
        "--mask": mask,
        "--marks": marks,
        "--title": title,
        "--explain": explain or None,
        "--compact": compact or None,
        "--pdf": pdf or None,
    }
    if audit is not None:
        help = "--audit looks at a problem that is there already"
        reject_conflicts(
            *(
                Conflict(value is not None, "--audit", name, help)
                for name, value in of_a_set.items()
            )
        )
        look = checked_look(format, output, color=color, ascii=ascii)
        _audit(audit, ask, decimals, look, quiet=quiet)
        return
    help = "the paragraphs of --explain need more room; leave out one of the two"
    reject_conflicts(Conflict(explain and compact, "--explain", "--compact", help))
    help = "these options are for --audit; the files of a set have formats of their own"
    of_a_page = {"--format": format is not None, "-o": output is not None, "--ascii": ascii}
    reject_conflicts(
        *(
            Conflict(is_given, name, "a set of problems", help)
            for name, is_given in of_a_page.items()
        )
    )
    if seed is None or directory is None or (count is None) == (roster is None):
        if count is not None and roster is not None:
            raise usage_error("--count cannot be used with --roster", help=LEAVE_ONE_OUT)
        lacking = "--seed" if seed is None else "-d" if directory is None else "--count or --roster"
        raise usage_error(f"{lacking} is missing", help=EXAMPLE_OF_A_SET)
    n, d_model, d_k, d_v = dims or usual_dims(heads or 1)

    from attncli.features.generate.roster import numbered, read_roster
    from attncli.problem.text.source import read_source

    require_new_folder(directory)
    students = numbered(count or 0) if roster is None else read_roster(read_source(roster))

    from attncli.features.generate.drawing import Layer
    from attncli.features.generate.files import ClassFiles, Sheets, files_of, manifest
    from attncli.features.generate.marking_scheme import marking
    from attncli.features.generate.search import Search
    from attncli.marking.shares import numbers_of
    from attncli.render.latex.escape import lacks_letters
    from attncli.render.pdf import engine as pdf_engine
    from attncli.tracing import run

    engine = pdf_engine() if pdf else None
    layer = Layer(n, d_model, d_k, d_v, heads or 1, gives_qkv=given == "qkv")
    marks = marks or SheetMarks(USUAL_MARKS)
    # Who says what each step is worth has said which are asked for.
    ask = ask or [*marks.of_steps] or None
    search = Search.of(layer, mask, ask, decimals)
    marks.require_all(numbers_of(run(search.like), search.asked), search.asked)
    title = " ".join((title or USUAL_TITLE).split())
    whole = ClassFiles(title)
    sheets = Sheets(marks, named=roster is not None, explain=explain, compact=compact)

    def files() -> Iterator[tuple[str, Iterable[str | bytes]]]:
        progress.begin("drawing problems")
        for student in progress.over(students, len(students)):
            key = [seed, student.key]
            found = search.problem(key, student.title_of(title))
            yield from files_of(student, found, search.asked, sheets, whole)
        if engine is not None:
            progress.begin("making PDF")
        yield from whole.files(engine)
        yield "manifest.csv", manifest(students)
        # All problems of a set have the same steps.
        yield "marking.yaml", marking(found.trace, search.asked, marks, decimals)

    write_folder(directory, files())
    left_out = [student.name for student in students if lacks_letters(student.name)]
    if left_out:
        warning = (
            "TeX's basic fonts lack letters of some names, so the .tex files of"
            f" {listed(left_out)} have a line for the name instead; the .html files show"
            " all letters"
        )
        warn_of([warning], quiet=quiet)


def _audit(file: str, ask: Sequence[str] | None, decimals: int, look: Look, *, quiet: bool) -> None:
    """Print the page on what mistakes a problem can show in the last of the steps that are asked
    for.
    """
    require_writable(look.output, file)

    from attncli.cli.input import load

    problem = load(file)

    from attncli.mistakes.audit import audit
    from attncli.page.audit import audit_page
    from attncli.page.worksheet import blank_steps
    from attncli.tracing import run

    trace = run(problem)
    found = audit(trace, blank_steps(trace, ask)[-1], decimals)
    write_page(audit_page(trace, found), look)
    warn_of(trace.warnings, quiet=quiet)
