"""The calculator for Python: load a problem, trace it, show it in a notebook, and check what was
worked out by hand.

`attncli/__init__.py` hands out what is here when it is first used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from io import BytesIO
from numbers import Real
from os import PathLike, fspath
from os.path import splitext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

from attncli import tracing
from attncli.attention.registry import STEP_NAMES, holds_scores
from attncli.dtypes import DETAILS, check_precision, chosen
from attncli.english import as_written, entitled, listed
from attncli.errors import AttncliError, did_you_mean, usage_error
from attncli.page.derivation import derivation
from attncli.page.document import Document
from attncli.page.gradient import gradient_page
from attncli.page.pictures import OF_ONE_QUERY
from attncli.page.view import View, chosen_names, chosen_place, steps_back
from attncli.problem.loader import load as load_problem
from attncli.problem.model import Problem
from attncli.problem.python_values import ProblemKeys, read_values
from attncli.problem.python_values import problem as problem
from attncli.problem.shape_checks import WITHOUT_SCORES
from attncli.render import Style, picture_format, render
from attncli.tracing.serialization import from_dict, to_dict
from attncli.tracing.slices import backward_steps, trace_at

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from attncli.features.check.diagnosis import Diagnosis
    from attncli.features.check.many.manifest import Submission
    from attncli.features.check.many.marked import Marked
    from attncli.features.check.verdicts import Solution
    from attncli.page.drawing import Drawing
    from attncli.render.html.frame import Page

_OPTION = re.compile(r"--(head|entry|query)(?: (\d+)\b)?")
STEPS_ALONE = 'attncli.trace(problem, steps="output") does without it'
STEPS_EXAMPLE = 'give names of steps: steps="weights,output"'
JOBS_EXAMPLE = (
    'give a list of students, problems and answers: [("Ada", "problem.yaml", "ada.yaml")]'
)
MARKS = range(1, 1001)
# seconds; no clock of Python's counts up to every number
LONGEST = 1_000_000
MATH = ("dollars", "fences")
# columns of a page that stands for a frame
WIDTH_OF_TEXT = 100
Given: TypeAlias = Problem | str | PathLike[str] | Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trace(tracing.Trace):
    """A trace that a notebook shows as a worked derivation, and, with `page()`, as a page that
    works itself out.

    `trace["weights"]` is a step's value, a read-only NumPy array; `trace.steps` holds the steps
    with their equations and labels; `trace.to_dict()` is the JSON form, and `Trace.from_dict(data)`
    reads it back. `problem` is what was worked out; None where the trace was read from data, and
    for a single head or entry. `left_out` names the steps that were not asked for, or that the data
    lack. With such, a trace has numbers, labels, equations and JSON, and no pages.
    """

    problem: Problem | None = None
    left_out: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The value of a step: trace["weights"]; raises KeyError, which says how to get a step that
        was left out.
        """
        if isinstance(name, str) and name in self.left_out:
            raise KeyError(
                f"{name} was left out; ask for it, too: steps={','.join([*self.steps, name])!r}"
            )
        return tracing.Trace.__getitem__(self, name)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Trace:
        """The trace that `to_dict` wrote; raises KeyError, TypeError or ValueError where it is not
        one.
        """
        read = cls._of(from_dict(data))
        return replace(read, left_out=read._missing())

    def to_dict(self) -> dict[str, Any]:
        """The trace as JSON data, format 1: plain lists, numbers and strings."""
        return to_dict(self)

    def at(self, *, head: int | None = None, entry: int | None = None) -> Trace:
        """The trace of one head, or of one entry of a batch, or of both: of a single head, without
        a leading axis.

        Raises AttncliError (exit code 2) where there is no such head or entry. What comes of all
        heads together, as concat and output do, is not in the trace of a head.
        """
        self._require_all("a part of a trace")
        with _in_python():
            place = chosen_place(self, View(head=head, entry=entry))
        return Trace._of(trace_at(self, place)) if place else self

    @classmethod
    def _of(
        cls,
        trace: tracing.Trace,
        problem: Problem | None = None,
        names: Sequence[str] | None = None,
    ) -> Trace:
        """The same for Python: with all its steps, or only those of these names."""
        with _in_python():
            kept = tuple(trace.steps) if names is None else chosen_names(names, tuple(trace.steps))
        values = {field.name: getattr(trace, field.name) for field in fields(tracing.Trace)}
        values["steps"] = {name: trace.steps[name] for name in kept}
        values["truth"] = trace.truth and cls._of(trace.truth, problem, kept)
        return cls(
            **values,
            problem=problem,
            left_out=tuple(name for name in trace.steps if name not in kept),
        )

    def _missing(self) -> tuple[str, ...]:
        """The steps without which there is no whole trace: those that others read, the weights and
        an output.
        """
        read = dict.fromkeys(name for step in self.steps.values() for name in step.rule.inputs)
        # the trace of one of several heads ends with heads_output
        ends = "heads_output" if "heads_output" in self.steps else "output"
        needed = dict.fromkeys((*read, "weights", ends))
        return tuple(
            name for name in needed if name not in self.steps and name not in self.parameters
        )

    @property
    def shifted(self) -> bool:
        """Whether the largest score of each row was subtracted before the exponentials."""
        self._require_all("whether the softmax is shifted")
        return super(Trace, self).shifted

    @property
    def logits(self) -> str:
        """The step whose softmax is taken."""
        self._require_all("the step whose softmax is taken")
        return super(Trace, self).logits

    @property
    def leading_letters(self) -> tuple[str, ...]:
        """The letters of the leading axes: none, h, b, or b and h."""
        self._require_all("which axes lead")
        return super(Trace, self).leading_letters

    @property
    def self_attention(self) -> bool:
        """Whether queries and keys are the same tokens, so that a token can attend to itself."""
        self._require_all("whether queries and keys are the same tokens")
        return super(Trace, self).self_attention

    def own_key(self, query: int) -> int | None:
        """The key of a query's own token; None in cross-attention."""
        self._require_all("the key of a query's own token")
        return super(Trace, self).own_key(query)

    def _require_all(self, what: str) -> None:
        """Raises AttncliError (exit 2) where steps were left out, of which `what` is made."""
        if self.left_out:
            has = listed(list(self.steps), most=8)
            raise usage_error(
                f"{what} needs all steps, and this trace has only {has}",
                help="work all of them out: leave out steps",
            )

    def to_markdown(
        self,
        *,
        detail: str = "rows",
        precision: int = 3,
        heatmap: bool = False,
        pictures: bool = False,
        math: Literal["dollars", "fences"] = "dollars",
    ) -> str:
        """The worked derivation as Markdown, as `attncli compute --format markdown` writes it.

        Formulas stand between dollars, as in notebooks, or in `math` fences, as on GitHub. A trace
        with its gradient is written as `attncli gradient` does.

        A trace on paper is always shown at its own precision. With `pictures`, the text holds them,
        as it does below.
        """
        view = _view(detail, precision, heatmap, pictures)
        chosen("math", math, MATH)
        return render(_page(self, view), "markdown", Style(math=math))

    def to_latex(
        self,
        *,
        detail: str = "rows",
        precision: int = 3,
        heatmap: bool = False,
        pictures: bool = False,
        fragment: bool = False,
        title: bool = True,
    ) -> str:
        """The worked derivation as a LaTeX document, or as a fragment to paste into one;
        without its `title`, if that is False.
        """
        style = Style(fragment=fragment, title=title)
        return render(_page(self, _view(detail, precision, heatmap, pictures)), "latex", style)

    def to_html(
        self,
        *,
        detail: str = "rows",
        precision: int = 3,
        heatmap: bool = False,
        pictures: bool = False,
        fragment: bool = False,
        title: bool = True,
    ) -> str:
        """The worked derivation as a page for browsers, or as a fragment to put into one; nothing
        is left out but, if it is False, the `title`.
        """
        style = Style(fragment=fragment, title=title)
        return render(_page(self, _view(detail, precision, heatmap, pictures)), "html", style)

    def to_xlsx(self, path: str | PathLike[str], *, precision: int = 3) -> None:
        """Write the trace as a workbook of live formulas, .xlsx, as `attncli compute -o
        problem.xlsx` does.

        A trace with its gradient has the backward pass, too. The file is replaced as a whole or not
        at all. Raises AttncliError: exit code 2 for another suffix, a trace that is not in float64,
        and one with too many formulas; 4 where the file cannot be written; 5 where XlsxWriter is
        not installed.
        """
        from attncli.page.workbook import with_workbook  # which few programs need
        from attncli.render.xlsx import xlsx

        name = fspath(path)
        if splitext(name)[1].lower() != ".xlsx":
            raise usage_error(
                f"{name}: the name of a workbook ends in .xlsx", help="end the name in .xlsx"
            )
        if self.settings.rounding != "shown" or self.settings.dtype != "float64":
            raise usage_error(
                "a workbook calculates in float64, and this trace does not",
                help="leave out dtype and rounding",
            )
        view = _view("rows", precision, heatmap=False, pictures=False)
        with _in_python("trace.at({})"):
            page = with_workbook(_page(self, view), self, view)
        _save(xlsx(page), name)

    def picture(
        self,
        of: str = "weights",
        *,
        query: str | int | None = None,
        head: int | None = None,
        entry: int | None = None,
        precision: int = 3,
    ) -> Picture:
        """A picture, as `attncli picture` draws it; a notebook shows it.

        `of` is "weights", "scores", "flow", "dimensions", "output" or "softmax", or any other step,
        of which a heat map is drawn: "d_scores". Of the flow, the outputs and the softmax, `query`
        is the only one that is drawn: its label, or its index from 0. The softmax needs the trace's
        `problem`, which is worked out with another scale, too. Raises AttncliError (exit code 2)
        for what is not there.

            attncli.trace("problem.yaml").picture("flow", query="love").save("flow.svg")
        """
        # which few programs need
        from attncli.page.pictures.kinds import Choice, draw, picture_name

        of = picture_name("picture", of)
        check_precision(precision)
        self._require_all("a picture")
        if query is not None and of not in OF_ONE_QUERY:
            raise usage_error(f"a picture of the {of} has all queries", help="leave out query")
        if "d_output" not in self:
            _require_no_step_back([of])
        with _in_python():
            other = self._with_other_scale() if of == "softmax" else None
            return Picture(draw(of, self, Choice(query, head, entry, precision), other))

    def _with_other_scale(self) -> tracing.Trace:
        """The problem without its scale, or with one if it has none, worked out as this trace
        was.
        """
        from attncli.page.pictures.kinds import with_and_without_scale

        if not self.problem:
            help = (
                "draw it from attncli.trace(problem), and choose a part of it with head and entry"
            )
            raise usage_error(
                "a picture of the softmax works out a problem, and this trace has none", help=help
            )
        own = self.settings
        return tracing.run(
            with_and_without_scale(self.problem),
            device=own.device,
            dtype=own.dtype,
            rounding=own.rounding,
            precision=3 if own.precision is None else own.precision,
        )

    def page(
        self,
        *,
        detail: str = "rows",
        precision: int = 3,
        heatmap: bool = False,
        pictures: bool = False,
        static: bool = False,
        height: int = 640,
    ) -> Page:
        """The page of `attncli compute -o page.html`, whose numbers can be changed: a notebook
        shows it in a frame.

        `height` is that of the frame in pixels; `page.html` is the page, for a file. With `static`,
        and where attncli gives a reason on the page, its numbers cannot be changed; neither can
        those of a trace without its `problem`.

            attncli.trace("problem.yaml").page()
        """
        from attncli.page.live.data import with_live  # which few programs need
        from attncli.render.html.frame import Page

        if not isinstance(height, int) or isinstance(height, bool) or height < 1:
            raise usage_error(
                f"height cannot be {height!r}", help="give the pixels of the frame, such as 640"
            )
        view = replace(_view(detail, precision, heatmap, pictures), ends=True)
        page = _page(self, view)
        text = render(
            _page(self, replace(view, pictures=False)), "table", Style(width=WIDTH_OF_TEXT)
        )
        if self.problem and not static:
            page = with_live(page, self.problem, self, view)
        return Page(self.title, render(page, "html"), text, height)

    def _repr_markdown_(self) -> str | None:
        try:
            return self.to_markdown(detail="rows")
        except AttncliError:
            # a notebook then prints it as one line, as Python does
            return None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Picture:
    """A picture of a trace: a notebook shows it, and `save` writes it to a file."""

    drawing: Drawing

    def __repr__(self) -> str:
        return f"<{entitled('picture', self.title)}>"

    @property
    def title(self) -> str:
        """What is drawn."""
        return self.drawing.title

    @property
    def description(self) -> str:
        """The picture in words, for those who do not see it."""
        return self.drawing.description

    def to_svg(self) -> str:
        """The text of an SVG file."""
        from attncli.render.svg import svg  # which few programs need

        return svg(self.drawing)

    def save(self, path: str | PathLike[str], *, fragment: bool = False) -> None:
        """Write the picture to a file, which is replaced as a whole or not at all: .svg, .png, .md
        or .tex.

        `fragment` asks for LaTeX to include in a document. Raises AttncliError: exit code 2 for
        another suffix, 4 where the file cannot be written, 5 where nothing that draws .png is
        installed.
        """
        from attncli.render.pictures import picture_file  # which few programs need

        name = fspath(path)
        format = picture_format(name)
        if format is None:
            help = "end the name in .svg, .png, .md or .tex"
            raise usage_error(
                f"{name}: attncli does not write pictures with this suffix", help=help
            )
        _save(picture_file(self.drawing, format, fragment=fragment), name)

    def _repr_svg_(self) -> str:
        return self.to_svg()


def load(
    source: str | PathLike[str] | Mapping[str, Any],
    *,
    convention: str | None = None,
    allow_outside: bool = False,
) -> Problem:
    """The problem in a file (YAML or JSON), on standard input ("-"), or in a dict that has the same
    keys.

    `convention` is torch, torch-mha, keras, jax, onnx or flash: a mask that does not say what it
    means is read as that software reads it. `allow_outside` lets `{file: …}` lead out of the
    problem's folder, which for a dict is the current one. Raises AttncliError, whose `exit_code`,
    `path`, `place`, `help` and `more` say what is wrong and where.

        attncli.load("problem.yaml")
        attncli.load({"Q": queries, "K": keys, "V": values, "mask": "causal"})
    """
    return _read(source, convention=convention, outside=allow_outside, holds_scores=False)


def save(problem: Problem, path: str | PathLike[str]) -> None:
    """Write a problem to a YAML file, which `load` reads back as the same problem.

    Small matrices stand in the file, as they were given. Arrays of more than 1,024 numbers go into
    a .npz file beside it, which has the same name. Both files are replaced as a whole or not at
    all. Raises AttncliError (exit code 2 or 4) where they cannot be written.

        attncli.save(attncli.problem(Q=queries, K=keys, V=values), "problem.yaml")
    """
    from numpy import savez

    from attncli.cli.files import require_writable, write, write_files
    from attncli.problem.saving import as_yaml, require_yaml

    if not isinstance(problem, Problem):
        raise usage_error(
            f"{as_written(problem)} is no problem",
            help="make one: attncli.problem(…) or attncli.load(…)",
        )
    if not isinstance(path, str | PathLike):
        raise usage_error(f"path cannot be {as_written(path)}", help='name a file: "problem.yaml"')
    name = fspath(path)
    require_yaml(name)
    arrays_file = Path(name).with_suffix(".npz")
    text, arrays = as_yaml(problem, arrays_file.name)
    try:
        require_writable(name, "-")
        if arrays:
            stream = BytesIO()
            savez(stream, allow_pickle=False, **arrays)
            write_files([(str(arrays_file), [stream.getbuffer()]), (name, [text])])
        else:
            write(text, name, portable=True)
    except AttncliError as error:
        raise AttncliError(error.exit_code, error.message, help="choose another place") from None


def trace(
    problem: Given | None = None,
    *,
    device: str = "cpu",
    dtype: str = "float64",
    rounding: str = "shown",
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
    gradient = _flag("gradient", gradient)
    names = None if steps is None else _names_of(steps)
    if names is not None and not gradient:
        _require_no_step_back(names)
    with _in_python():
        given = _problem(
            keys if problem is None else problem, holds_scores=names is None or holds_scores(names)
        )
        worked = tracing.run(
            given,
            device=device,
            dtype=dtype,
            rounding=rounding,
            precision=precision,
            gradient=gradient,
            keep=names,
        )
    return Trace._of(worked, given, names)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Checked:
    """A solution judged: a notebook shows it as the page of `attncli check`.

    `solution` holds the verdicts, `diagnoses` the known mistakes that give what is wrong. `marks`
    is how many marks there are, None if none were asked for.
    """

    solution: Solution
    diagnoses: tuple[Diagnosis, ...]
    marks: int | None = None

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
        return self.solution.passed

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

        return check_page(self.solution, marks=self.marks, diagnoses=self.diagnoses)


def check(
    problem: Given,
    answers: str | PathLike[str] | Mapping[str, Any],
    *,
    lenient: bool = False,
    steps: str | Sequence[str] | None = None,
    marks: int | None = None,
) -> Checked:
    """A solution that somebody worked out by hand, with a verdict on each cell.

    `problem` is a Problem, a file, or a dict. `answers` is a file, or a dict of steps to arrays, or
    to nested lists of numbers, or of strings where the digits matter ("0.70"), with None for a
    blank. `lenient` accepts what is off by rounding. `steps` are the only ones that are judged, and
    `marks` is how many marks the page gives. Raises AttncliError where the answers cannot be read,
    or do not fit the problem or the steps.
    """
    # which few programs need
    from attncli.features.check.one_solution import answers_source, check_solution, on_steps

    names = None if steps is None else _names_of(steps)
    _require_marks(marks)
    lenient = _flag("lenient", lenient)
    source = answers_source(answers)
    with _in_python():
        solution, diagnoses = check_solution(_problem(problem), source, lenient=lenient)
        if names is not None:
            solution, diagnoses = on_steps(solution, diagnoses, names, source, "steps")
    return Checked(solution, diagnoses, marks)


def check_many(
    jobs: Iterable[tuple[str, Given, str | PathLike[str] | Mapping[str, Any]]],
    executor: Executor | None = None,
    *,
    lenient: bool = False,
    steps: str | Sequence[str] | None = None,
    marks: int | None = None,
    seconds: float | None = None,
) -> list[Marked]:
    """Many solutions checked: a row for each, in their order, as `attncli check --batch` has them.

    Each job is a student, a problem and answers, both as for `check`. What is wrong with one of
    them is the `error` of its row, and ends nothing. `steps` are those that were asked for: of
    these, what is not in the answers is missing. `marks` is how many marks there are; else there is
    one for each cell. `seconds` is how long each of them may take.

    `executor` is any `concurrent.futures.Executor`, such as a ProcessPoolExecutor or Dask's;
    without one, the jobs are done one after the other.

        with ProcessPoolExecutor() as executor:
            rows = attncli.check_many([("Ada", "problem.yaml", "ada.yaml")], executor)
    """
    from attncli.features.check.many.marked import Settings
    from attncli.features.check.many.marking import mark_all

    lenient = _flag("lenient", lenient)
    submissions = _submissions(jobs)
    names = None if steps is None else _names_of(steps)
    _require_marks(marks)
    _require_seconds(seconds)
    _require_executor(executor)
    settings = Settings(
        lenient=lenient,
        steps=names,
        marks=marks,
        seconds=None if seconds is None else float(seconds),
    )
    marked = dict(mark_all(submissions, settings, executor))
    return [marked[number] for number in range(len(submissions))]


def _problem(given: Given, *, holds_scores: bool = True) -> Problem:
    return given if isinstance(given, Problem) else _read(given, holds_scores=holds_scores)


def _read(
    source: str | PathLike[str] | Mapping[str, Any],
    *,
    holds_scores: bool,
    convention: str | None = None,
    outside: bool = False,
) -> Problem:
    if isinstance(source, Mapping):
        return read_values(source, convention=convention, outside=outside)
    if not isinstance(source, str | PathLike):
        raise usage_error(
            f"a problem cannot be {as_written(source)}", help="give a Problem, a file or a dict"
        )
    return load_problem(
        str(source), convention=convention, outside=outside, holds_scores=holds_scores
    )


def _names_of(steps: object) -> tuple[str, ...]:
    """The names of the steps asked for: "weights,output" or a list, by names or letters.

    Raises AttncliError (exit 2) for anything else.
    """
    given = steps.split(",") if isinstance(steps, str) else steps
    given = _each(given, "steps", STEPS_EXAMPLE)
    words = [word.strip() if isinstance(word, str) else word for word in given]
    if not words:
        raise usage_error("steps has no name", help=STEPS_EXAMPLE)
    for word in words:
        if not isinstance(word, str):
            raise usage_error(f"no step is called {as_written(word)}", help=STEPS_EXAMPLE)
        if word not in STEP_NAMES:
            help = did_you_mean(word, list(STEP_NAMES), STEPS_EXAMPLE)
            raise usage_error(f"no step is called {as_written(word)}", help=help)
    return tuple(STEP_NAMES[word] for word in words)


def _each(values: object, what: str, help: str) -> list[Any]:
    """All of the values; raises AttncliError (exit 2) where there is nothing to go through."""
    try:
        return list(values)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        raise usage_error(f"{what} cannot be {as_written(values)}", help=help) from None


def _submissions(jobs: object) -> list[Submission]:
    """The jobs as they are marked; raises AttncliError (exit 2) where one is not of three
    values.
    """
    from attncli.features.check.many.manifest import Submission

    submissions = []
    for job in _each(jobs, "jobs", JOBS_EXAMPLE):
        values = [] if isinstance(job, str) else _each(job, "a job", JOBS_EXAMPLE)
        if len(values) != 3:
            raise usage_error(f"a job cannot be {as_written(job)}", help=JOBS_EXAMPLE)
        submissions.append(Submission(*values))
    return submissions


def _flag(what: str, value: object) -> bool:
    """Whether something is wanted; raises AttncliError (exit 2) for an array, which is neither true
    nor false.
    """
    try:
        return bool(value)
    except ValueError:
        raise usage_error(
            f"{what} cannot be {as_written(value)}", help="give True or False"
        ) from None


def _require_seconds(seconds: object) -> None:
    """Raises AttncliError (exit 2) for what is no time."""
    if seconds is None:
        return
    is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if not is_number or not 0 < seconds <= LONGEST:  # type: ignore[operator]
        help = f"give a number of seconds above 0 and at most {LONGEST:,}"
        raise usage_error(f"seconds cannot be {as_written(seconds)}", help=help)


def _require_executor(executor: object) -> None:
    """Raises AttncliError (exit 2) for what cannot be given work."""
    if executor is not None and (
        isinstance(executor, type) or not callable(getattr(executor, "submit", None))
    ):
        raise usage_error(
            f"executor cannot be {as_written(executor)}",
            help="give one of concurrent.futures, such as ProcessPoolExecutor()",
        )


def _require_marks(marks: int | None) -> None:
    """Raises AttncliError (exit 2) for what is no number of marks."""
    if marks is not None and (type(marks) is not int or marks not in MARKS):
        help = f"give a whole number from {MARKS[0]} to {MARKS[-1]}"
        raise usage_error(f"marks cannot be {as_written(marks)}", help=help)


def _require_no_step_back(names: Sequence[str]) -> None:
    """Raises AttncliError (exit 2) for a step of a loss or of the backward pass, where there are
    none.
    """
    if back := steps_back(names):
        help = "work the gradient out, too: attncli.trace(problem, gradient=True)"
        raise usage_error(f"{back[0]} is a step of the backward pass", help=help)


def _page(trace: Trace, view: View) -> Document:
    trace._require_all("a page")
    return gradient_page(trace, view) if backward_steps(trace) else derivation(trace, view)


def _save(data: bytes, name: str) -> None:
    """Replace a file as a whole or not at all. Raises AttncliError (exit code 4) where that cannot
    be done.
    """
    from attncli.cli.files import require_writable, write_bytes

    try:
        require_writable(name, "-")
        write_bytes([data], name)
    except AttncliError as error:
        raise AttncliError(error.exit_code, error.message, help="choose another place") from None


@contextmanager
def _in_python(chosen: str = "{}") -> Iterator[None]:
    """Errors in words of Python: head=0, or what else is `chosen` with it, for --head 0."""

    def said(option: re.Match[str]) -> str:
        return chosen.format(f"{option[1]}={option[2]}") if option[2] else option[1]

    def in_words(text: str) -> str:
        return _OPTION.sub(said, text).replace(WITHOUT_SCORES, STEPS_ALONE)

    try:
        yield
    except AttncliError as error:
        raise AttncliError(
            error.exit_code,
            in_words(error.message),
            path=error.path,
            place=error.place,
            help=in_words(error.help),
            more=error.more,
            untold=error.untold,
        ) from None


def _view(detail: str, precision: int, heatmap: bool, pictures: bool) -> View:
    chosen("detail", detail, DETAILS)
    check_precision(precision)
    return View(detail=detail, precision=precision, heatmap=heatmap, pictures=pictures)
