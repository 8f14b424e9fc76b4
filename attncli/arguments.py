"""What Python hands over: names of steps, flags and numbers, checked in words of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from numbers import Real
from typing import Any

from attncli.attention.registry import STEP_NAMES, step_meant
from attncli.dtypes import PRECISION
from attncli.english import as_written
from attncli.errors import AttncliError, usage_error
from attncli.page.view import HELP_ON_BACKWARD, steps_back
from attncli.problem.shape_checks import WITHOUT_SCORES

# Options whose arguments have the same names in Python, with the number that may stand behind one.
OPTION_OF_PYTHON = re.compile(
    r"--(head|entry|query|steps|rename|sees-no-key|dims|mask|ask)(?: (\d+)\b)?"
)
# --rename attn=weights is rename={"attn": "weights"}.
RENAMED = re.compile(r"--rename (\S+)=(\w+)")
SIZED = re.compile(r"--dims (\d+(?:,\d+)+)")
STEPS_ALONE = 'attncli.trace(problem, steps="output") does without it'
STEPS_EXAMPLE = 'give names of steps: steps="weights,output"'
POSSIBLE_MARKS = range(1, 1001)
# No clock of Python's counts up to every number of seconds.
LONGEST_TIME_LIMIT = 1_000_000


def names_of(steps: object) -> tuple[str, ...]:
    """The names of the steps asked for: "weights,output" or a list, by names or letters.

    Raises AttncliError (exit 2) for anything else.
    """
    given = steps.split(",") if isinstance(steps, str) else steps
    given = each(given, "steps", STEPS_EXAMPLE)
    words = [word.strip() if isinstance(word, str) else word for word in given]
    if not words:
        raise usage_error("steps has no name", help=STEPS_EXAMPLE)
    for word in words:
        if not isinstance(word, str):
            raise usage_error(f"no step is called {as_written(word)}", help=STEPS_EXAMPLE)
        if word not in STEP_NAMES:
            help = step_meant(word, list(STEP_NAMES), STEPS_EXAMPLE)
            raise usage_error(f"no step is called {as_written(word)}", help=help)
    return tuple(STEP_NAMES[word] for word in words)


def wanted_steps(steps: str | Sequence[str] | None, *, gradient: bool) -> tuple[str, ...] | None:
    """The names of the only steps asked for, as of `names_of`; None where all are.

    Raises AttncliError (exit 2) also for a step of the backward pass without its `gradient`.
    """
    if steps is None:
        return None
    names = names_of(steps)
    if not gradient:
        require_no_step_back(names)
    return names


def each(values: object, what: str, help: str) -> list[Any]:
    """All of the values; raises AttncliError (exit 2) where there is nothing to go through."""
    try:
        # Whether it can be gone through is what is asked here.
        return list(values)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        raise usage_error(f"{what} cannot be {as_written(values)}", help=help) from None


def flag(what: str, value: object) -> bool:
    """Whether something is wanted; raises AttncliError (exit 2) for an array, which is neither true
    nor false.
    """
    try:
        return bool(value)
    except ValueError:
        raise usage_error(
            f"{what} cannot be {as_written(value)}", help="give True or False"
        ) from None


def require_seconds(seconds: object) -> None:
    """Raises AttncliError (exit 2) for what is no time."""
    if seconds is None:
        return
    is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    # Mypy does not know that a Real can be compared with whole numbers.
    if not is_number or not 0 < seconds <= LONGEST_TIME_LIMIT:  # type: ignore[operator]
        help = f"give a number of seconds above 0 and at most {LONGEST_TIME_LIMIT:,}"
        raise usage_error(f"seconds cannot be {as_written(seconds)}", help=help)


def ends_of_shades(shades: object) -> tuple[float, float] | None:
    """The numbers with the first and the last shade, the smaller one first, or None.

    Raises AttncliError (exit 2) for anything else.
    """
    if shades is None:
        return None
    help = "give two numbers, the smaller one first: shades=(0, 1)"
    found = each(shades, "shades", help)
    are_numbers = all(isinstance(one, Real) and not isinstance(one, bool) for one in found)
    if not are_numbers or len(found) != 2 or not -inf < found[0] < found[1] < inf:
        raise usage_error(f"shades cannot be {as_written(shades)}", help=help)
    low, high = map(float, found)
    return low, high


def require_executor(executor: object) -> None:
    """Raises AttncliError (exit 2) for what cannot be given work."""
    if executor is not None and (
        isinstance(executor, type) or not callable(getattr(executor, "submit", None))
    ):
        raise usage_error(
            f"executor cannot be {as_written(executor)}",
            help="give one of concurrent.futures, such as ProcessPoolExecutor()",
        )


def require_marks(marks: int | None) -> None:
    """Raises AttncliError (exit 2) for what is no number of marks."""
    if marks is not None and (type(marks) is not int or marks not in POSSIBLE_MARKS):
        help = f"give a whole number from {POSSIBLE_MARKS[0]} to {POSSIBLE_MARKS[-1]}"
        raise usage_error(f"marks cannot be {as_written(marks)}", help=help)


def require_decimals(decimals: object) -> None:
    """Raises AttncliError (exit 2) for what is no number of decimals."""
    if decimals is not None and (type(decimals) is not int or decimals not in PRECISION):
        help = f"give a whole number from {PRECISION[0]} to {PRECISION[-1]}"
        raise usage_error(f"decimals cannot be {as_written(decimals)}", help=help)


def require_tolerance(tolerance: object) -> None:
    """Raises AttncliError (exit 2) for what is no number, or one below 0."""
    if tolerance is None:
        return
    is_number = isinstance(tolerance, Real) and not isinstance(tolerance, bool)
    # Mypy does not know that a Real can be compared with whole numbers.
    if not is_number or not 0 <= tolerance < inf:  # type: ignore[operator]
        raise usage_error(
            f"tolerance cannot be {as_written(tolerance)}", help="give a number such as 1e-6, or 0"
        )


def renamed_steps(rename: object) -> dict[str, str]:
    """The step of each name that other software has; raises AttncliError (exit 2) for anything
    else.
    """
    if rename is None:
        return {}
    example = 'give names with their steps: rename={"attn": "weights"}'
    if not isinstance(rename, Mapping):
        raise usage_error(f"rename cannot be {as_written(rename)}", help=example)
    for name in rename:
        if not isinstance(name, str):
            raise usage_error(f"rename: {as_written(name)} is no name", help=example)
    steps = names_of(rename.values()) if rename else ()
    return dict(zip(rename, steps, strict=True))


def require_no_step_back(names: Sequence[str]) -> None:
    """Raises AttncliError (exit 2) for a step of a loss or of the backward pass, where there are
    none.
    """
    if back := steps_back(names):
        help = "work the gradient out, too: attncli.trace(problem, gradient=True)"
        raise usage_error(f"{back[0]} is a step of the backward pass", help=help)


def in_words_of_python(text: str, chosen: str = "{}") -> str:
    """What the command line says, with arguments in place of its options.

    >>> in_words_of_python("write --rename attn=weights, or leave out --sees-no-key")
    'write rename={"attn": "weights"}, or leave out sees_no_key'
    """

    def said(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return chosen.format(f"{name}={option[2]}") if option[2] else name

    text = text.replace(WITHOUT_SCORES, STEPS_ALONE)
    text = text.replace(HELP_ON_BACKWARD, "work the gradient out, too: gradient=True")
    text = RENAMED.sub(r'rename={"\1": "\2"}', text)
    text = SIZED.sub(r"dims=(\1)", text)
    return OPTION_OF_PYTHON.sub(said, text)


@contextmanager
def in_python(chosen: str = "{}") -> Iterator[None]:
    """Errors in words of Python: head=0, or what else is `chosen` with it, for --head 0."""

    try:
        yield
    except AttncliError as error:
        raise AttncliError(
            error.exit_code,
            in_words_of_python(error.message, chosen),
            path=error.path,
            place=error.place,
            help=in_words_of_python(error.help, chosen),
            more=error.more,
            untold=error.untold,
        ) from None
