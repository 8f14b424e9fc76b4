"""What Python has of a problem that is worked out: a trace with its numbers, pages and pictures,
which a notebook shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike, fspath
from os.path import splitext
from typing import TYPE_CHECKING, Any, Literal

from attncli import tracing
from attncli.arguments import ends_of_shades, flag, in_python, require_no_step_back, wanted_steps
from attncli.cli.saving import save_data
from attncli.dtypes import (
    DETAILS,
    DetailWord,
    DeviceWord,
    DtypeWord,
    RoundingWord,
    check_precision,
    chosen,
)
from attncli.english import as_written, entitled, listed
from attncli.errors import AttncliError, usage_error
from attncli.page.derivation import derivation
from attncli.page.document import Document
from attncli.page.gradient import gradient_page
from attncli.page.pictures import KINDS_WITHOUT_SHADES, OF_ONE_QUERY
from attncli.page.view import View, chosen_names, chosen_place
from attncli.problem.model import Problem
from attncli.render import LOWEST_HEADING, Style, picture_format, render
from attncli.tracing.serialization import from_dict, to_dict
from attncli.tracing.slices import backward_steps, trace_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attncli.page.drawing import Drawing
    from attncli.render.html.frame import Page

MATH_MARKS = ("dollars", "fences")
# In columns: the page as text, where a notebook shows no frame.
WIDTH_OF_TEXT_PAGE = 100


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Step(tracing.Step):
    """A step that a notebook shows as its section of the derivation.

    `whole` is the trace that it is a step of; None where other steps were left out.
    """

    whole: tracing.Trace | None = None

    def _repr_markdown_(self) -> str | None:
        if self.whole is None:
            # A notebook then prints it as one line, as Python does.
            return None
        page = _page_of(self.whole, View(steps=(self.name,)))
        return render(page, "markdown", Style(math="dollars"))


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

    def __getitem__(self, name: str) -> NDArray[np.floating[Any]]:
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
        with in_python():
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
        with in_python():
            kept = tuple(trace.steps) if names is None else chosen_names(names, tuple(trace.steps))
        values = {field.name: getattr(trace, field.name) for field in fields(tracing.Trace)}
        whole = trace if len(kept) == len(trace.steps) else None
        values["steps"] = {name: _shown(trace.steps[name], whole) for name in kept}
        values["truth"] = trace.truth and cls._of(trace.truth, problem, kept)
        return cls(
            **values,
            problem=problem,
            left_out=tuple(name for name in trace.steps if name not in kept),
        )

    def _missing(self) -> tuple[str, ...]:
        """The steps without which there is no whole trace: those that others read, the weights and
        an output. With equations of a problem's own, it need not have weights.
        """
        read = dict.fromkeys(name for step in self.steps.values() for name in step.rule.inputs)
        # The trace of one of several heads ends with heads_output.
        is_of_head = self.result == "output" and "heads_output" in self.steps
        ends = "heads_output" if is_of_head else self.result
        has_own = any(step.rule.own for step in self.steps.values())
        needed = dict.fromkeys((*read, ends) if has_own else (*read, "weights", ends))
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
        detail: DetailWord = "rows",
        precision: int = 3,
        heatmap: bool = False,
        pictures: bool = False,
        math: Literal["dollars", "fences"] = "dollars",
        title: bool = True,
        heading_level: int | None = None,
    ) -> str:
        """The worked derivation as Markdown, as `attncli compute --format markdown` writes it.

        Formulas stand between dollars, as in notebooks, or in `math` fences, as on GitHub. A trace
        with its gradient is written as `attncli gradient` does.

        A trace on paper is always shown at its own precision. With `pictures`, the text holds them,
        as it does below. `heading_level` is that of the highest heading, 1 to 6, of the `title`
        where it is there.
        """
        view = _view(detail, precision, heatmap, pictures)
        chosen("math", math, MATH_MARKS)
        style = Style(math=math, title=title, heading_level=_heading_level(heading_level))
        return render(_page(self, view), "markdown", style)

    def to_latex(
        self,
        *,
        detail: DetailWord = "rows",
        precision: int = 3,
        heatmap: bool = False,
        pictures: bool = False,
        fragment: bool = False,
        title: bool = True,
        heading_level: int | None = None,
    ) -> str:
        """The worked derivation as a LaTeX document, or as a fragment to paste into one;
        without its `title`, if that is False. `heading_level` is that of the highest heading of a
        fragment, 1 to 6.
        """
        level = _heading_level(heading_level, may_be_given=fragment)
        style = Style(fragment=fragment, title=title, heading_level=level)
        return render(_page(self, _view(detail, precision, heatmap, pictures)), "latex", style)

    def to_html(
        self,
        *,
        detail: DetailWord = "rows",
        precision: int = 3,
        heatmap: bool = False,
        pictures: bool = False,
        fragment: bool = False,
        title: bool = True,
        heading_level: int | None = None,
    ) -> str:
        """The worked derivation as a page for browsers, or as a fragment to put into one; nothing
        is left out but, if it is False, the `title`. `heading_level` is that of the highest heading
        of a fragment, 1 to 6.
        """
        level = _heading_level(heading_level, may_be_given=fragment)
        style = Style(fragment=fragment, title=title, heading_level=level)
        view = replace(_view(detail, precision, heatmap, pictures), short=fragment)
        return render(_page(self, view), "html", style)

    def to_xlsx(self, path: str | PathLike[str], *, precision: int = 3) -> None:
        """Write the trace as a workbook of live formulas, .xlsx, as `attncli compute -o
        problem.xlsx` does.

        A trace with its gradient has the backward pass, too. The file is replaced as a whole or not
        at all. Raises AttncliError: exit code 2 for another suffix, a trace that is not in float64,
        and one with too many formulas; 4 where the file cannot be written; 5 where XlsxWriter is
        not installed.
        """
        # Few programs need it.
        from attncli.page.workbook import with_workbook
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
        with in_python("trace.at({})"):
            page = with_workbook(_page(self, view), self, view)
        save_data(xlsx(page), name)

    def picture(
        self,
        of: str = "weights",
        *,
        query: str | int | None = None,
        head: int | None = None,
        entry: int | None = None,
        precision: int = 3,
        shades: tuple[float, float] | None = None,
        title: bool = True,
    ) -> Picture:
        """A picture, as `attncli picture` draws it; a notebook shows it.

        `of` is "weights", "scores", "flow", "dimensions", "output" or "softmax", or any other step,
        of which a heat map is drawn: "d_scores". Of the flow, the outputs and the softmax, `query`
        is the only one that is drawn: its label, or its index from 0. The softmax needs the trace's
        `problem`, which is worked out with another scale, too. The two numbers of `shades` have the
        first and the last colour of a heat map. Without a `title` it is for a caption of your own.
        Raises AttncliError (exit code 2) for what is not there.

            attncli.trace("problem.yaml").picture("flow", query="love").save("flow.svg")
        """
        # Few programs need these.
        from attncli.page.pictures.kinds import Choice, draw, picture_name

        if of not in self.steps:
            of = picture_name("picture", of)
        check_precision(precision)
        self._require_all("a picture")
        if query is not None and of not in OF_ONE_QUERY:
            raise usage_error(f"a picture of the {of} has all queries", help="leave out query")
        ends = ends_of_shades(shades)
        if ends is not None and of in KINDS_WITHOUT_SHADES:
            raise usage_error(f"a picture of the {of} has no shades", help="leave out shades")
        if "d_output" not in self:
            require_no_step_back([of])
        with in_python():
            other = self._with_other_scale() if of == "softmax" else None
            drawing = draw(of, self, Choice(query, head, entry, precision, ends), other)
        return Picture(drawing if flag("title", title) else drawing.without_title())

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
        detail: DetailWord = "rows",
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
        # Few programs need it.
        from attncli.page.kept_problem import with_problem
        from attncli.page.live.live_or_static import with_live
        from attncli.render.html.frame import Page

        if not isinstance(height, int) or isinstance(height, bool) or height < 1:
            raise usage_error(
                f"height cannot be {height!r}", help="give the pixels of the frame, such as 640"
            )
        view = replace(_view(detail, precision, heatmap, pictures), only_ends=True)
        text = render(
            _page(self, replace(view, pictures=False)), "table", Style(width=WIDTH_OF_TEXT_PAGE)
        )
        view = replace(view, short=False)
        page = _page(self, view)
        if self.problem:
            page = with_problem(page, self.problem, view)
            if not static:
                page = with_live(page, self.problem, self, view)
        return Page(self.title, render(page, "html"), text, height)

    def _repr_markdown_(self) -> str | None:
        try:
            return self.to_markdown(detail="rows")
        except AttncliError:
            # A notebook then prints it as one line, as Python does.
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
        # Few programs need it.
        from attncli.render.svg import svg

        return svg(self.drawing)

    def save(self, path: str | PathLike[str], *, fragment: bool = False) -> None:
        """Write the picture to a file, which is replaced as a whole or not at all: .svg, .png, .md
        or .tex.

        `fragment` asks for LaTeX to include in a document. Raises AttncliError: exit code 2 for
        another suffix, 4 where the file cannot be written, 5 where nothing that draws .png is
        installed.
        """
        # Few programs need it.
        from attncli.render.pictures import picture_file

        name = fspath(path)
        format = picture_format(name)
        if format is None:
            help = "end the name in .svg, .png, .md or .tex"
            raise usage_error(
                f"{name}: attncli does not write pictures with this suffix", help=help
            )
        save_data(picture_file(self.drawing, format, fragment=fragment), name)

    def _repr_svg_(self) -> str:
        return self.to_svg()


def work_out(
    problem: Problem,
    *,
    device: DeviceWord = "cpu",
    dtype: DtypeWord = "float64",
    rounding: RoundingWord = "shown",
    precision: int = 3,
    gradient: bool = False,
    steps: str | Sequence[str] | None = None,
) -> Trace:
    """A problem worked out, as `attncli.trace` does it; AttncliError as there."""
    gradient = flag("gradient", gradient)
    names = wanted_steps(steps, gradient=gradient)
    with in_python():
        worked = tracing.run(
            problem,
            device=device,
            dtype=dtype,
            rounding=rounding,
            precision=precision,
            gradient=gradient,
            keep=names,
        )
    return Trace._of(worked, problem, names)


def _shown(step: tracing.Step, whole: tracing.Trace | None) -> Step:
    values = {field.name: getattr(step, field.name) for field in fields(tracing.Step)}
    return Step(**values, whole=whole)


def _page(trace: Trace, view: View) -> Document:
    trace._require_all("a page")
    return _page_of(trace, view)


def _page_of(trace: tracing.Trace, view: View) -> Document:
    return gradient_page(trace, view) if backward_steps(trace) else derivation(trace, view)


def _heading_level(level: int | None, *, may_be_given: bool = True) -> int | None:
    """The level; raises AttncliError (exit 2) for what is none, and where a page has its own."""
    if level is None:
        return None
    if not may_be_given:
        raise usage_error(
            "heading_level is for a fragment",
            help="a whole page begins with its title: add fragment=True",
        )
    possible = range(1, LOWEST_HEADING + 1)
    if not isinstance(level, int) or isinstance(level, bool) or level not in possible:
        help = f"give a whole number from 1 to {LOWEST_HEADING}"
        raise usage_error(f"heading_level cannot be {as_written(level)}", help=help)
    return level


def _view(detail: str, precision: int, heatmap: bool, pictures: bool) -> View:
    chosen("detail", detail, DETAILS)
    check_precision(precision)
    return View(detail=detail, precision=precision, heatmap=heatmap, pictures=pictures)
