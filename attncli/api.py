"""The calculator for Python: load a problem, trace it, show it in a notebook, and check what was
worked out by hand.

`attncli/__init__.py` hands out what is here when it is first used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

from attncli.arguments import (
    each,
    flag,
    in_python,
    names_of,
    renamed_steps,
    require_decimals,
    require_executor,
    require_marks,
    require_seconds,
    require_tolerance,
    wanted_steps,
)
from attncli.dtypes import DTYPES, WHAT_MAY_BE_GIVEN, DeviceWord, DtypeWord, RoundingWord, chosen
from attncli.english import as_written, entitled, listed
from attncli.errors import usage_error
from attncli.notebook import Trace, work_out
from attncli.page.document import Document
from attncli.problem.loader import load as load_problem
from attncli.problem.model import Problem
from attncli.problem.python_values import ProblemKeys, read_values
from attncli.render import Style, render

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import ArrayLike

    from attncli.comparison.compared import Compared
    from attncli.features.check.diagnosis import Diagnosis
    from attncli.features.check.many.manifest import Submission
    from attncli.features.check.many.result_row import Marked
    from attncli.features.check.marks.model import Marks
    from attncli.features.check.verdicts import Solution
    from attncli.marking.scheme import Scheme

JOBS_EXAMPLE = (
    'give a list of students, problems and answers: [("Ada", "problem.yaml", "ada.yaml")]'
)
Given: TypeAlias = Problem | str | PathLike[str] | Mapping[str, Any]
# Numbers of another program by the names of steps, or the output alone.
Steps: TypeAlias = "ArrayLike | Mapping[str, ArrayLike]"
# Python has a number for the word of the command line.
_BLIND = {"0": "zero", "nan": "nan", "mean": "mean"}


def load(
    source: str | PathLike[str] | Mapping[str, Any],
    *,
    convention: str | None = None,
    allow_outside: bool = False,
) -> Problem:
    """The problem in a file (YAML or JSON), on standard input ("-"), or in a dict that has the same
    keys.

    `convention` is torch, torch-mha, keras, jax, onnx, flash or mlx: a mask that does not say what
    it means is read as that software reads it. `allow_outside` lets `{file: …}` lead out of the
    problem's folder, which for a dict is the current one. Raises AttncliError, whose `exit_code`,
    `path`, `place`, `help` and `more` say what is wrong and where.

        attncli.load("problem.yaml")
        attncli.load({"Q": queries, "K": keys, "V": values, "mask": "causal"})
    """
    return _read(source, convention=convention, outside=allow_outside)


def problems(
    seed: str | int,
    count: int = 1,
    *,
    dims: Sequence[int] | None = None,
    heads: int = 1,
    given: Literal["x", "qkv"] = "x",
    mask: str | Mapping[str, Any] | ArrayLike | None = None,
    ask: str | Sequence[str] | None = None,
    decimals: int = 2,
    separate: bool = True,
) -> list[Problem]:
    """The problems that `attncli generate` draws for a seed: small numbers, with which each known
    mistake gives another result, as far as these sizes allow.

    `dims` are n, d_model, d_k and d_v, the last two of one head; without them (4, 2, 3, 5), or with
    several heads (4, 2, 3, 2). `given` is "x" for X and the weights, or "qkv". `mask` is that of a
    problem. A mistake has to show in the last step of `ask`, to so many `decimals`. With
    `separate=False` nothing is looked for: such problems are drawn at once, of any sizes and with
    any mask. Raises AttncliError (exit code 2) for sizes that cannot be drawn, and where no draw
    tells mistakes apart.

        attncli.problems("midterm", 30, mask="causal")
        attncli.problems(7, dims=(6, 16, 8, 8), heads=4, separate=False)
    """
    # Few programs need these.
    from attncli.features.generate.problems import drawn_problems, layer_of

    chosen("given", given, WHAT_MAY_BE_GIVEN)
    separate = flag("separate", separate)
    asked = None if ask is None else names_of(ask)
    layer = layer_of(dims, heads, given)
    with in_python():
        return drawn_problems(seed, count, layer, mask, asked, decimals, separate)


def trace(
    problem: Given | None = None,
    *,
    device: DeviceWord = "cpu",
    dtype: DtypeWord = "float64",
    rounding: RoundingWord = "shown",
    precision: int = 3,
    gradient: bool = False,
    steps: str | Sequence[str] | None = None,
    **keys: Unpack[ProblemKeys],
) -> Trace:
    """Every step of a problem, worked out; with `gradient`, those of the backward pass as well:
    trace["d_W_Q"].

    `steps` are the only ones wanted: "output", "weights,output" or a list. The trace then has no
    others. Of a large problem, the matrices of queries by keys that nobody asked for are never
    held.

    `problem` is a Problem, a file, or a dict; or the keys of a problem stand in its place, as in
    `attncli.problem`. `device` is "cpu" or "gpu", `dtype` one of float16, bfloat16, float32 and
    float64, `rounding` "shown" (full precision inside), "paper" (each step rounded to `precision`
    decimals) or "exact" (fractions and closed forms, in each step's `exact`). Raises AttncliError:
    exit code 2 for a choice that is none of these, 3 for what is wrong in the problem or too large,
    5 where CuPy or a GPU is missing.

        attncli.trace("problem.yaml")["weights"]
        attncli.trace(Q=queries, K=keys, V=values, steps="output")["output"]
    """
    if problem is not None and keys:
        for name in keys:
            chosen("an option", name, [*(trace.__kwdefaults__ or ()), *ProblemKeys.__annotations__])
        raise usage_error(
            f"{listed([*keys])} given beside a problem",
            help="give a problem, or its keys, not both",
        )
    gradient = flag("gradient", gradient)
    names = wanted_steps(steps, gradient=gradient)
    with in_python():
        given = _problem(keys if problem is None else problem)
    return work_out(
        given,
        device=device,
        dtype=dtype,
        rounding=rounding,
        precision=precision,
        gradient=gradient,
        steps=names,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Checked:
    """A solution judged: a notebook shows it as the page of `attncli check`.

    `solution` holds the verdicts, `diagnoses` the known mistakes that give what is wrong. `marks`
    is how many marks there are, None if none were asked for. `earned` has the marks by a marking
    scheme, and how they come about; None without one.
    """

    solution: Solution
    diagnoses: tuple[Diagnosis, ...]
    marks: int | None = None
    earned: Marks | None = None

    def __repr__(self) -> str:
        verdicts = self.solution.verdicts
        counts = listed(
            [f"{found} {verdict}" for verdict, found in verdicts.counts.items() if found]
        )
        return f"<{entitled('checked', verdicts.trace.title)}: {counts}>"

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong or missing, or, unless it was judged leniently, off by
        rounding.
        """
        return self.solution.passed and (self.earned is None or not self.earned.is_unfinished)

    def to_dict(self) -> dict[str, Any]:
        """The verdicts as JSON data, format 1: plain lists, numbers and strings."""
        return self._page().data()

    def to_markdown(self) -> str:
        """The page as Markdown with dollar math."""
        return render(self._page(), "markdown", Style(math="dollars"))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _page(self) -> Document:
        from attncli.features.check.page import check_page

        return check_page(
            self.solution, marks=self.marks, diagnoses=self.diagnoses, earned=self.earned
        )


def check(
    problem: Given,
    answers: str | PathLike[str] | Mapping[str, Any],
    *,
    lenient: bool = False,
    steps: str | Sequence[str] | None = None,
    marks: int | None = None,
    decimals: int | None = None,
    marking: str | PathLike[str] | Mapping[str, Any] | None = None,
) -> Checked:
    """A solution that somebody worked out by hand, with a verdict on each cell.

    `problem` is a Problem, a file, or a dict. `answers` is a file, or a dict of steps to arrays, or
    to nested lists of numbers, or of strings where the digits matter ("0.70"), with None for a
    blank. `lenient` accepts what is off by rounding. `steps` are the only ones that are judged, and
    `marks` is how many marks the page gives. `decimals` are those that were asked for: they come
    before the digits that were written. `marking` is a scheme of marks, a file or a dict with the
    keys of one, in place of `steps` and `marks`. Raises AttncliError where the answers or the
    marking cannot be read, or do not fit the problem or the steps.
    """
    # Few programs need these.
    from attncli.features.check import one_solution

    names = None if steps is None else names_of(steps)
    require_marks(marks)
    require_decimals(decimals)
    scheme = _scheme(marking, steps=steps, marks=marks)
    lenient = flag("lenient", lenient)
    source = one_solution.answers_source(answers)
    earned = None
    with in_python():
        solution, diagnoses = one_solution.check_solution(
            _problem(problem),
            source,
            lenient=lenient,
            gradient=scheme is not None and scheme.marks_gradients,
            decimals=one_solution.decimals_asked(decimals, scheme),
            for_marks=scheme is not None,
        )
        if scheme is not None:
            solution, diagnoses, earned = one_solution.marked(solution, diagnoses, scheme)
        elif names is not None:
            solution, diagnoses = one_solution.on_steps(solution, diagnoses, names, source, "steps")
    return Checked(solution, diagnoses, marks, earned)


def compare(
    problem: Given,
    other: Given | Steps,
    *,
    tolerance: float | None = None,
    steps: str | Sequence[str] | None = None,
    gradient: bool = False,
    dtype: DtypeWord = "float64",
    rename: Mapping[str, str] | None = None,
    sees_no_key: Literal["0", "nan", "mean"] | None = None,
) -> Compared:
    """A problem held against the numbers of another program, or against another problem, step by
    step, as `attncli compare` does it.

    `problem` is a Problem, a file, or a dict. `other` is a dict of steps to arrays or tensors of
    any library, an array alone, which is the output, a Trace, a file of arrays, or another problem.
    `tolerance` is relative to the terms that a cell is computed from; without one, it goes by the
    coarser number format. `steps` are the only ones compared, `gradient` compares the backward
    pass, too, and `dtype` is the format in which problems are worked out. `rename` has the steps of
    names that attncli does not know.

    `sees_no_key` is what the other program means to give a query that sees no key: "0", as attncli
    does, "nan", or "mean", which is the mean of all values. A row that has this is right.

    Raises AttncliError: exit code 2 for a choice that is none, 3 for what is wrong in what was
    given and for sides that have no step in common, 4 for a file that cannot be read.

        assert attncli.compare(problem, my_attention(q, k, v))
        attncli.compare("problem.yaml", {"weights": weights, "output": output}).mistakes
    """
    # Few programs need these.
    from attncli.comparison.compared import Compared
    from attncli.features.compare.comparing import Wishes, compare_files
    from attncli.features.compare.handed_over import read_given

    gradient = flag("gradient", gradient)
    names = None if steps is None else names_of(steps)
    require_tolerance(tolerance)
    chosen("dtype", dtype, DTYPES)
    blind = None
    if sees_no_key is not None:
        blind = _BLIND[chosen("sees_no_key", sees_no_key, _BLIND)]
    renames = renamed_steps(rename)
    changes = {"dtype": dtype}
    wishes = Wishes(
        gradient=gradient,
        tolerance=None if tolerance is None else float(tolerance),
        steps=names,
        sees_no_key=blind,
    )
    with in_python():
        given = read_given(problem, other, changes, renames)
        return Compared(compare_files(given, wishes))


def check_many(
    jobs: Iterable[tuple[str, Given, str | PathLike[str] | Mapping[str, Any]]],
    executor: Executor | None = None,
    *,
    lenient: bool = False,
    steps: str | Sequence[str] | None = None,
    marks: int | None = None,
    seconds: float | None = None,
    decimals: int | None = None,
    marking: str | PathLike[str] | Mapping[str, Any] | None = None,
) -> list[Marked]:
    """Many solutions checked: a row for each, in their order, as `attncli check --batch` has them.

    Each job is a student, a problem and answers, both as for `check`. What is wrong with one of
    them is the `error` of its row, and ends nothing. `steps` are those that were asked for: of
    these, what is not in the answers is missing. `marks` is how many marks there are; else there is
    one for each cell. `seconds` is how long each of them may take. `decimals` and `marking` are as
    for `check`. The `note` of a row says whose answers it is like.

    `executor` is any `concurrent.futures.Executor`, such as a ProcessPoolExecutor or Dask's;
    without one, the jobs are done one after the other.

        with ProcessPoolExecutor() as executor:
            rows = attncli.check_many([("Ada", "problem.yaml", "ada.yaml")], executor)
    """
    from attncli.features.check.many.copies_in_class import copies_in, with_notes
    from attncli.features.check.many.marking import mark_all
    from attncli.features.check.many.result_row import Settings
    from attncli.features.check.one_solution import decimals_asked

    lenient = flag("lenient", lenient)
    submissions = _submissions(jobs)
    names = None if steps is None else names_of(steps)
    require_marks(marks)
    require_seconds(seconds)
    require_executor(executor)
    require_decimals(decimals)
    scheme = _scheme(marking, steps=steps, marks=marks)
    settings = Settings(
        lenient=lenient,
        steps=names,
        marks=marks,
        seconds=None if seconds is None else float(seconds),
        scheme=scheme,
        decimals=decimals_asked(decimals, scheme),
    )
    marked = dict(mark_all(submissions, settings, executor))
    rows = [marked[number] for number in range(len(submissions))]
    return with_notes(rows, copies_in(rows, submissions, settings))


def _scheme(marking: object, *, steps: object, marks: int | None) -> Scheme | None:
    """The scheme of a marking; AttncliError (exit 2) where it stands beside steps or marks."""
    if marking is None:
        return None
    from attncli.features.check.one_solution import scheme_of

    for name, value in {"steps": steps, "marks": marks}.items():
        if value is not None:
            help = f"the marking says them: leave out {name}, or the marking"
            raise usage_error(f"{name} cannot be used with marking", help=help)
    return scheme_of(marking)


def _problem(given: Given) -> Problem:
    return given if isinstance(given, Problem) else _read(given)


def _read(
    source: str | PathLike[str] | Mapping[str, Any],
    *,
    convention: str | None = None,
    outside: bool = False,
) -> Problem:
    if isinstance(source, Mapping):
        return read_values(source, convention=convention, outside=outside)
    if not isinstance(source, str | PathLike):
        raise usage_error(
            f"a problem cannot be {as_written(source)}", help="give a Problem, a file or a dict"
        )
    return load_problem(str(source), convention=convention, outside=outside)


def _submissions(jobs: object) -> list[Submission]:
    """The jobs as they are marked; raises AttncliError (exit 2) where one is not of three
    values.
    """
    from attncli.features.check.many.manifest import Submission

    submissions = []
    for job in each(jobs, "jobs", JOBS_EXAMPLE):
        values = [] if isinstance(job, str) else each(job, "a job", JOBS_EXAMPLE)
        if len(values) != 3:
            raise usage_error(f"a job cannot be {as_written(job)}", help=JOBS_EXAMPLE)
        submissions.append(Submission(*values))
    return submissions
