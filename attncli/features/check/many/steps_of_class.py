"""Whether the problems of a class have the steps that a marking names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from attncli.errors import AttncliError
from attncli.features.check.many.manifest import Submission
from attncli.features.check.many.marking import problem_of
from attncli.features.check.many.result_row import Settings
from attncli.marking.scheme import Scheme
from attncli.tracing import run
from attncli.tracing.model import Trace


def require_steps_of_class(submissions: Sequence[Submission], settings: Settings) -> None:
    """Raises AttncliError (exit 3) for a marking with a step that no problem of the class has.

    What only some of them lack is the error of their rows, and so is a problem that cannot be
    worked out.
    """
    scheme = settings.scheme
    if scheme is None:
        return
    error: AttncliError | None = None
    for trace in _traces(submissions, settings, scheme):
        try:
            scheme.require_steps(trace)
        except AttncliError as lacking:
            error = error or lacking
        else:
            return
    if error is not None:
        raise error


def _traces(
    submissions: Sequence[Submission], settings: Settings, scheme: Scheme
) -> Iterator[Trace]:
    """Each problem worked out, with the plain softmax and with the shifted one."""
    seen: list[object] = []
    for submission in submissions:
        given = submission.problem
        if not given or submission.error or given in seen:
            continue
        seen.append(given)
        with suppress(AttncliError):
            problem = problem_of(given, settings)
            for shifted in (None, True):
                yield run(problem, shifted=shifted, gradient=scheme.marks_gradients)
