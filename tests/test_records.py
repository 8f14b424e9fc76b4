"""Dataclasses that are made quickly mean what those of the standard library mean."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from attncli.records import _dataclass, _replace, names_of
from attncli.records.initializer import MANY, Field


def build(dataclass: Callable[..., Any], field: Callable[..., Any], **options: bool) -> tuple[type, type]:
    """A class with everything that is used in this package, and one that inherits from it."""

    @dataclass(slots=True, **options)
    class Cell:
        kind: ClassVar[str] = "cell"
        row: int
        column: int = 0
        marks: list[str] = field(default_factory=list)
        note: str = field(default="", compare=False, repr=False)
        sum: int = field(init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "sum", self.row + self.column)

    @dataclass(slots=True, **options)
    class Number(Cell):
        value: float = 0.0

    return Cell, Number


MAKERS = [(_dataclass, Field), (dataclasses.dataclass, dataclasses.field)]
OPTIONS = [{"frozen": True}, {"frozen": True, "eq": False}, {}, {"eq": False}]
CALLS: list[Callable[[type, type], Any]] = [
    lambda cell, number: repr(cell(1)),
    lambda cell, number: repr(number(1, 2, ["a"], value=2.5)),
    lambda cell, number: cell(1, 2).sum,
    lambda cell, number: cell(1) == cell(1, 0, [], "other note"),
    lambda cell, number: cell(1) == cell(1, 2),
    lambda cell, number: cell(1) == number(1),
    lambda cell, number: cell(1).marks is cell(1).marks,
    lambda cell, number: (cell.__match_args__, number.__match_args__, cell.__slots__, number.__slots__),
    lambda cell, number: (cell.kind, number.kind, cell.__qualname__.rpartition(".")[2]),
    lambda cell, number: [field.name for field in dataclasses.fields(number)],
    lambda cell, number: dataclasses.asdict(number(1, 2)),
    lambda cell, number: repr(dataclasses.replace(number(1, 2), row=5)),
    lambda cell, number: dataclasses.replace(number(1, 2), row=5).sum,
    lambda cell, number: cell(),
    lambda cell, number: cell(1, 2, [], "", 3),
    lambda cell, number: cell(1, colum=2),
    lambda cell, number: setattr(cell(1), "row", 2),
    lambda cell, number: delattr(cell(1), "row"),
    lambda cell, number: (lambda one, other: hash(one) == hash(other))(cell(1), cell(1)),
    lambda cell, number: (cell.__hash__ is None, cell.__hash__ is object.__hash__),
    lambda cell, number: copy.copy(number(1, 2, value=3.0)).value,
]


def outcome(call: Callable[[type, type], Any], classes: tuple[type, type]) -> object:
    try:
        return call(*classes)
    except (TypeError, AttributeError) as error:
        return type(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_the_same_as_in_the_standard_library(call: Callable[[type, type], Any], options: dict[str, bool]) -> None:
    ours, standard = (outcome(call, build(*maker, **options)) for maker in MAKERS)
    assert ours == standard


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_first_objects_and_those_after_many_are_alike(options: dict[str, bool]) -> None:
    cell, number = build(_dataclass, Field, **options)
    first, *_, last = [number(1, 2, ["a"], value=2.5) for _ in range(MANY + 1)]
    assert (repr(first), first.sum) == (repr(last), last.sum)
    for _ in range(2):
        with pytest.raises(TypeError, match="unexpected keyword argument 'colum'"):
            cell(1, colum=2)
        with pytest.raises(TypeError, match="multiple values for argument 'row'"):
            cell(1, row=2)
    assert cell(1, column=3).sum == 4


def test_replace() -> None:
    _, number = build(_dataclass, Field, frozen=True)
    changed = _replace(number(1, 2, value=3.0), row=5)
    assert (changed.row, changed.column, changed.value, changed.sum) == (5, 2, 3.0, 7)
    _, standard = build(dataclasses.dataclass, dataclasses.field, frozen=True)
    assert _replace(standard(1, 2), row=5).sum == 7
    assert names_of(number) == ("row", "column", "marks", "note", "sum", "value")


@_dataclass(frozen=True)
class Point:
    x: int
    y: int


def test_what_a_frozen_object_can_do() -> None:
    assert len({Point(1, 2), Point(1, 2), Point(2, 1)}) == 2
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)
    match Point(1, 2):
        case Point(x, y=2):
            assert x == 1
        case _:
            pytest.fail("no match")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        Point(1, 2).x = 2
