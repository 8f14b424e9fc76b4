"""Many short cases in one test: what pytest does around a test takes longer than most of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

FAILURES = (Exception, pytest.fail.Exception)
SET_OF_VALUES = type(pytest.param())
Test = Callable[..., None]


@dataclass(frozen=True)
class Case:
    """What a test gets, its id where it has one, and how its values are described where not."""

    values: tuple[Any, ...]
    id: str | None
    described: Callable[[Any], object]

    @property
    def name(self) -> str:
        return self.id or ", ".join(str(self.described(value)) for value in self.values)


def in_one_test(
    names: str | Iterable[str],
    cases: Iterable[Any],
    ids: Iterable[str] | Callable[[Any], object] | None = None,
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, but all cases are one test. It plays all of them, and then
    fails with the failures of those that failed, which name their cases.

    It is for cases that leave nothing behind: they share the fixtures of the test.
    """
    chosen = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    listed = [*cases]
    given = [*ids] if ids is not None and not callable(ids) else [None] * len(listed)
    described = ids if callable(ids) else short
    played = [
        as_case(case, len(chosen), name, described)
        for case, name in zip(listed, given, strict=True)
    ]
    assert played

    def decorated(test: Test) -> Test:
        @functools.wraps(test)
        def play(**fixtures: Any) -> None:
            failures = []
            for case in played:
                try:
                    test(**dict(zip(chosen, case.values, strict=True)), **fixtures)
                except FAILURES as failure:
                    failure.add_note(f"in the case {case.name}")
                    failures.append(failure)
                except pytest.skip.Exception as skipped:
                    raise AssertionError(f"the case {case.name} would be skipped") from skipped
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(played)} cases", failures)

        whole = inspect.signature(test)
        fixtures = [each for name, each in whole.parameters.items() if name not in chosen]
        play.__signature__ = whole.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return play

    return decorated


def as_case(case: Any, names: int, name: str | None, described: Callable[[Any], object]) -> Case:
    if isinstance(case, SET_OF_VALUES):
        assert not case.marks, "a case of one test has no marks"
        return Case(case.values, case.id or name, described)
    return Case((case,) if names == 1 else tuple(case), name, described)


def short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 200 else f"{text[:200]}…"
