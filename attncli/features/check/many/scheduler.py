"""A class on a cluster: the only place that knows of Dask."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace

from attncli.errors import AttncliError, file_error, missing_error
from attncli.features.check.many.manifest import Submission
from attncli.features.check.many.result_row import Settings
from attncli.problem.text.source import read_source

SECONDS_TO_CONNECT = 10


@contextmanager
def workers_of(scheduler: str) -> Iterator[Executor]:
    """The workers of a scheduler of Dask, as an executor.

    Certificates are where Dask's own configuration says. Raises AttncliError if Dask is not there
    (exit 5), or if the scheduler cannot be reached (exit 4).
    """
    try:
        from distributed import Client
    except ImportError:
        message = "--scheduler needs Dask, which is not installed"
        raise missing_error(message, help="pip install 'attncli[dask]'") from None
    # What goes wrong with a submission is in its row, so Dask need not say it, too.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
        why = (str(error) or type(error).__name__).strip().splitlines()[0]
        help = (
            "start it with dask scheduler; with tls://, say in Dask's configuration where its"
            " certificates are"
        )
        raise file_error(f"cannot reach the scheduler {scheduler}: {why}", help=help) from None
    with client:
        yield client.get_executor()


def with_texts(submission: Submission, settings: Settings) -> Submission:
    """The same with the texts of its files, for a computer without them; as it is where they cannot
    be read.
    """
    if submission.error:
        return submission
    problem, answers = submission.problem, submission.answers
    try:
        if isinstance(problem, str):
            problem = read_source(problem, outside=settings.outside)
        if isinstance(answers, str):
            answers = read_source(answers)
    except AttncliError:
        return submission
    return replace(submission, problem=problem, answers=answers)
