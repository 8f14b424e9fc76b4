"""What of a trace is shown: the options that compute and gradient share, as one object."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from attncli.cli import options
from attncli.cli.groups import Group, Options
from attncli.cli.look import Look, conflicts_with_format
from attncli.cli.options import LEAVE_ONE_OUT, Conflict, reject_conflicts
from attncli.cli.pages import is_for_screen
from attncli.cli.progress import progress
from attncli.dtypes import NOT_FLOATS
from attncli.errors import usage_error
from attncli.render import OF_ONE_STEP, PAGES

if TYPE_CHECKING:
    from attncli.page.view import View
    from attncli.problem.model import Problem
    from attncli.tracing.model import Trace


class ViewOptions(NamedTuple):
    """The steps, the part and the detail of a trace that a page shows, and how numbers are rounded.

    `--steps weights --precision 2` is ViewOptions(steps=("weights",), precision=2).
    """

    steps: Sequence[str] | None = None
    detail: str | None = None
    cell: str | None = None
    query: str | None = None
    head: int | None = None
    entry: int | None = None
    precision: int = 3
    rounding: str = "shown"
    heatmap: bool = False
    pictures: bool = False

    def require_fitting(self, look: Look, dtype: str, device: str) -> None:
        """Raises AttncliError (exit 2) where these options do not go together, or not with the
        look, the number format or the processor.
        """
        of_some_formats = {
            "--heatmap": self.heatmap,
            "--query": self.query is not None,
            "--pictures": self.pictures,
        }
        reject_conflicts(
            *workbook_conflicts(look, self, dtype, device),
            *self._conflicts_of_cell(look),
            *conflicts_with_format(look.format, of_some_formats),
            *self._conflicts_of_query(),
            *self._conflicts_of_rounding(dtype, device),
        )
        self._require_one_step(look)

    def traced(
        self,
        problem: Problem,
        *,
        dtype: str,
        device: str,
        gradient: bool = False,
        keep: Collection[str] | None = None,
    ) -> Trace:
        """The problem worked out in this rounding and precision, while a terminal shows how far.

        The rest is as for `attncli.tracing.run`.
        """
        from attncli.tracing import run

        progress.begin("working out")
        return run(
            problem,
            dtype=dtype,
            device=device,
            rounding=self.rounding,
            precision=self.precision,
            gradient=gradient,
            keep=keep,
            report=progress.report,
        )

    def view(self, look: Look, *, all_: bool) -> View:
        """The view of a page with this look.

        On a screen it has only the ends of what is long (`page/ends.py`), unless `all_` of it is
        asked for.
        """
        from attncli.page.view import View

        usual_detail = "brief" if look.holds_numbers() else "rows"
        detail = self.detail or usual_detail
        return View(
            detail=detail,
            precision=self.precision,
            steps=self.steps,
            cell=self.cell,
            query=self.query,
            heatmap=self.heatmap,
            pictures=self.pictures,
            head=self.head,
            entry=self.entry,
            only_ends=is_for_screen(look) and not all_,
            short=look.is_short(),
            summary=detail != "brief",
        )

    def _conflicts_of_cell(self, look: Look) -> list[Conflict]:
        """One cell and whatever shows more than one, and worked lines in a file of numbers."""
        is_given = self.cell is not None
        help = f"--cell works one cell in full; {LEAVE_ONE_OUT}"
        is_table = look.format not in PAGES
        where = f"--format {look.format}"
        if look.format == "npy":
            where = f"-o {look.output}"
        return [
            Conflict(is_given and self.steps is not None, "--cell", "--steps", help),
            Conflict(is_given and self.detail is not None, "--cell", "--detail", help),
            Conflict(is_given and self.pictures, "--cell", "--pictures", help),
            Conflict(is_given and is_table, "--cell", where, help),
            Conflict(
                self.detail is not None and is_table,
                "--detail",
                where,
                f"{look.format.upper()} has no worked lines",
            ),
        ]

    def _conflicts_of_query(self) -> list[Conflict]:
        """One query, and options of whole steps."""
        of_whole_steps = {
            "--steps": self.steps is not None,
            "--detail": self.detail is not None,
            "--cell": self.cell is not None,
            "--heatmap": self.heatmap,
            "--pictures": self.pictures,
        }
        help = f"--query shows one row of the weights; {LEAVE_ONE_OUT}"
        return [
            Conflict(self.query is not None and is_given, "--query", option, help)
            for option, is_given in of_whole_steps.items()
        ]

    def _conflicts_of_rounding(self, dtype: str, device: str) -> list[Conflict]:
        """Decimals and exact numbers, and what only floating point has."""
        is_given = self.rounding in NOT_FLOATS
        option = f"--rounding {self.rounding}"
        help = NOT_FLOATS.get(self.rounding, "")
        return [
            Conflict(is_given and dtype != "float64", option, f"--dtype {dtype}", help),
            Conflict(is_given and device == "gpu", option, "--device gpu", help),
        ]

    def _require_one_step(self, look: Look) -> None:
        """Raises AttncliError (exit 2) where a file of one step is asked for, but not one step."""
        if look.format not in ("npy", *OF_ONE_STEP):
            return
        if self.steps is None or len(self.steps) != 1:
            option = f"--format {look.format} holds"
            if look.output:
                option = f"-o {look.output}: {look.format.upper()} holds"
            raise usage_error(
                f"{option} the numbers of one step", help="ask for one step: --steps output"
            )


_OPTIONS: Options = {
    "steps": (options.Steps, None),
    "detail": (options.Detail, None),
    "cell": (options.OneCell, None),
    "query": (options.OneQuery, None),
    "head": (options.OneHead, None),
    "entry": (options.OneEntry, None),
    "precision": (options.Precision, 3),
    "rounding": (options.Rounding, "shown"),
    "heatmap": (options.Heatmap, False),
    "pictures": (options.Pictures, False),
}
VIEW_OPTIONS = Group(ViewOptions, _OPTIONS)
# A page of gradients has no query to follow: they flow through all of them.
_OPTIONS_BACK = {
    **{name: option for name, option in _OPTIONS.items() if name != "query"},
    "steps": (options.StepsBack, None),
    "cell": (options.OneCellBack, None),
}
VIEW_OPTIONS_OF_GRADIENT = Group(ViewOptions, _OPTIONS_BACK)


def workbook_conflicts(
    look: Look, view_options: ViewOptions, dtype: str = "float64", device: str = "cpu"
) -> list[Conflict]:
    """A workbook, and what its formulas cannot do; none where the look is of another format."""
    if not look.is_workbook():
        return []
    workbook = f"--format {look.format}"
    calculates = "a workbook calculates in float64, as spreadsheets do"
    return [
        Conflict(
            view_options.steps is not None,
            "--steps",
            workbook,
            "the formulas of a workbook read the other steps; leave out --steps",
        ),
        Conflict(
            view_options.detail is not None,
            "--detail",
            workbook,
            "the formulas of a workbook are its worked lines; leave out --detail",
        ),
        Conflict(
            view_options.rounding != "shown",
            f"--rounding {view_options.rounding}",
            workbook,
            f"{calculates}; --precision sets the decimals it shows",
        ),
        Conflict(
            dtype != "float64",
            f"--dtype {dtype}",
            workbook,
            f"{calculates}; leave out --dtype",
        ),
        Conflict(
            device != "cpu", f"--device {device}", workbook, f"{calculates}; leave out --device"
        ),
    ]
