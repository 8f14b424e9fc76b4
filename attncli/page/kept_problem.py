"""The problem that a whole page keeps, so that it can be worked out again from the page alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from attncli.page.document import Document
from attncli.page.view import View
from attncli.problem.kept import KEY, text_to_keep
from attncli.problem.model import Problem


def with_problem(page: Document, problem: Problem, view: View) -> Document:
    """The page of a problem, which keeps it; a part of a page keeps none."""
    if view.is_part:
        return page

    @cache
    def kept() -> str:
        return text_to_keep(problem)

    def data() -> dict[str, Any]:
        found = page.data()
        return found | {KEY: kept()} if kept() else found

    return replace(page, problem=kept, data=data)
