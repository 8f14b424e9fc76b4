"""One solution checked: its verdicts, and what explains them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from attncli.answers.model import Answers
from attncli.answers.reader import mentions_gradients, read_answers
from attncli.english import as_written, listed
from attncli.errors import input_error, usage_error
from attncli.features.check.diagnosed import diagnosed
from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.hidden_cells import with_hidden_filled
from attncli.features.check.marks.model import Marks
from attncli.features.check.verdicts import Solution, judge_solution
from attncli.marking.scheme import Scheme, read_scheme
from attncli.page.view import chosen_steps, steps_back
from attncli.problem.model import Problem
from attncli.problem.text.source import Source, read_source
from attncli.tracing.model import Trace


def check_solution(
    problem: Problem,
    source: Source,
    *,
    lenient: bool,
    gradient: bool = False,
    decimals: int | None = None,
    for_marks: bool = False,
) -> tuple[Solution, tuple[Diagnosis, ...]]:
    """The verdicts on the answers in a file, and the mistakes that explain them. Raises what
    `read_answers` raises.

    A blank cell is missing; `for_marks`, one that the mask hides is no work that was left out, and
    all of a matrix that has another shape than its step is missing. All steps are, if the file was
    handed in blank.

    The backward pass is worked out if the answers mention it, or if `gradient` asks for it. With
    `decimals`, these were asked for, and come before the digits that were written.
    """
    gradient = gradient or mentions_gradients(source, problem.system)

    def read(trace: Trace) -> Answers:
        answers = read_answers(source, trace, for_marks=for_marks)
        return with_hidden_filled(trace, answers) if for_marks else answers

    solution = judge_solution(
        problem,
        read,
        lenient=lenient,
        gradient=gradient,
        decimals=decimals,
    )
    return diagnosed(solution)


def on_steps(
    solution: Solution,
    diagnoses: Sequence[Diagnosis],
    steps: Sequence[str],
    source: Source,
    option: str = "--steps",
) -> tuple[Solution, tuple[Diagnosis, ...]]:
    """The verdicts on these steps alone, and what explains them; all other numbers still say what
    follows.

    Raises AttncliError (exit 2), in the name of the `option`, for a step that the answers in
    `source` do not have.
    """
    answered = list(solution.verdicts.steps)
    trace = solution.verdicts.trace
    # Gradients are worked out only if the answers mention them.
    back = [name for name in steps_back(steps) if name not in trace]
    names = () if back else chosen_steps(trace, steps)
    if lacking := back or [name for name in names if name not in answered]:
        raise usage_error(
            f"{option}: {source.name} has no answers to {listed(lacking)}",
            help=f"it has {listed(answered)}",
        )
    asked = solution.only(names)
    return asked, of_steps(diagnoses, [*names, *asked.wrong_outside])


def of_steps(diagnoses: Sequence[Diagnosis], names: Sequence[str]) -> tuple[Diagnosis, ...]:
    """What explains the wrong numbers of these steps."""
    return tuple(found for found in diagnoses if found.step in names)


def marked(
    solution: Solution, diagnoses: Sequence[Diagnosis], scheme: Scheme
) -> tuple[Solution, tuple[Diagnosis, ...], Marks]:
    """The solution without steps that are neither marked nor filled in, what explains it, and what
    it earns: all that takes marks off.

    A single number that is marked as a slip has no other explanation that is only possible.

    Raises AttncliError (exit 3) for a step of the scheme that the problem has not.
    """
    from attncli.features.check.marks.best_marks import best_marks
    from attncli.features.check.marks.solution import (
        with_all_that_costs,
        with_named_slips,
        without_guesses_at_slips,
        without_uncharged,
    )

    solution, diagnoses, earned = best_marks(solution, diagnoses, scheme)
    judgement = solution.for_marks
    diagnoses = without_guesses_at_slips(judgement, diagnoses, earned)
    diagnoses = without_uncharged(diagnoses, earned)
    earned = with_named_slips(judgement, diagnoses, earned)
    diagnoses = with_all_that_costs(judgement, diagnoses, earned)
    answers = solution.verdicts.answers.steps
    shown = [
        name for name in solution.verdicts.steps if name in scheme.steps or not answers[name].blank
    ]
    if len(shown) < len(answers):
        solution = solution.only(shown)
    return solution, diagnoses, earned


def scheme_of(marking: object) -> Scheme:
    """The scheme of a file, or of a dict with its keys. Raises what `read_scheme` raises."""
    if isinstance(marking, Mapping):
        help = 'give a dict with the keys of a marking: {"marks": 20, …}'
        return read_scheme(_as_source(marking, "marking", help))
    if not isinstance(marking, str | os.PathLike):
        raise usage_error(
            f"a marking cannot be {as_written(marking)}", help="give a file, or a dict"
        )
    return read_scheme(read_source(str(marking)))


def decimals_asked(decimals: int | None, scheme: Scheme | None) -> int | None:
    """How many decimals were asked for: so many, or else those of the scheme."""
    if decimals is None and scheme is not None:
        return scheme.decimals
    return decimals


def answers_source(answers: object) -> Source:
    """The text of answers: that of a file, or of a dict of steps to arrays or lists."""
    if isinstance(answers, Source):
        return answers
    if isinstance(answers, Mapping):
        help = 'give a dict of steps to arrays or lists: {"weights": [[0.7, 0.3]]}'
        return _as_source(answers, "answers", help)
    if not isinstance(answers, str | os.PathLike):
        raise usage_error(
            f"answers cannot be {as_written(answers)}",
            help="give a file, or a dict of steps to arrays",
        )
    return read_source(str(answers))


def _as_source(given: Mapping[Any, Any], name: str, help: str) -> Source:
    import json

    from attncli.problem.text.source import decode

    try:
        text = json.dumps(given, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise input_error(f"the {name} cannot be read: {error}", help=help) from None
    return decode(text.encode(), name)


def _plain(value: Any) -> Any:
    """An array as nested lists, a fraction as text, for JSON."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
