"""The options of commands that work on a class."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer

from attncli.cli import options
from attncli.cli.options import Conflict, reject_conflicts
from attncli.render import FORMATS

POSSIBLE_MARKS = range(1, 1001)
POSSIBLE_WORKERS = range(1, 1001)
FORMATS_OF_PAGES = [name for name in FORMATS if not FORMATS[name].is_data]


def workers(what: str) -> Any:
    """The option --workers; `what` they do for a class begins its help."""
    return options.read_by(
        options.whole,
        "--workers",
        metavar="N",
        help=f"{what} in N processes.  [default: one for each core]",
        allowed=POSSIBLE_WORKERS,
    )


FeedbackFolder: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--feedback", metavar="FOLDER", help="Write a page for each student to this folder."
    ),
]
FeedbackFormat: TypeAlias = Annotated[
    str | None,
    options.choice(
        "--feedback-format",
        (*FORMATS_OF_PAGES, "pdf"),
        "The format of these pages.  [default: markdown]",
    ),
]


def format_of_pages(feedback: str | None, feedback_format: str | None) -> str | None:
    """The format in which pages of feedback are rendered, if there are any: a PDF is made of
    LaTeX.
    """
    if feedback is None:
        return None
    if feedback_format == "pdf":
        return "latex"
    return feedback_format or "markdown"


def require_folder_of_feedback(feedback: str | None, feedback_format: str | None) -> None:
    """AttncliError (exit 2) for a format of pages that nobody asked for."""
    is_alone = feedback_format is not None and feedback is None
    help = "name a folder too"
    reject_conflicts(Conflict(is_alone, "--feedback-format", "no --feedback", help))
