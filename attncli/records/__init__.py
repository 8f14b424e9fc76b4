"""Dataclasses that are made quickly, by a decorator with the meaning of `dataclasses.dataclass`.

The standard one compiles up to six methods for each class while a program starts, which for all classes of this
package takes half as long as importing NumPy. Here they share the methods that can be shared, and `__init__` is
compiled once there are many objects of a class. `dataclasses.replace`, `fields` and `asdict` take these objects, too.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter

from attncli.records.initializer import MISSING, Field, initializer

TYPE_CHECKING = False  # as typing has it, without the time its import takes
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn


def _dataclass(*, frozen: bool = False, slots: bool = True, eq: bool = True) -> Callable[[type], type]:
    """Make a class of its annotations, as dataclasses do; slots it always has."""

    def make(plain: type) -> type:
        body = dict(plain.__dict__)
        own = _own_fields(body)
        inherited = getattr(plain, "__record_fields__", {})
        fields = inherited | own
        body.update(__slots__=tuple(name for name in own if name not in inherited), __record_fields__=fields)
        for name in (*own, "__dict__", "__weakref__"):
            body.pop(name, None)
        methods = _methods(fields, frozen=frozen, eq=eq)
        if "__eq__" in body and body.get("__hash__", MISSING) is None:
            del body["__hash__"]  # Python's own, for a class that says what is equal but not its hash
        return type(plain)(plain.__name__, plain.__bases__, methods | body | {"__qualname__": plain.__qualname__})

    return make


def _own_fields(body: Mapping[str, Any]) -> dict[str, Field]:
    fields = {}
    for name, annotation in body.get("__annotations__", {}).items():
        if not str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            default = body.get(name, MISSING)
            fields[name] = default if isinstance(default, Field) else Field(default=default)
    return fields


def _methods(fields: Mapping[str, Field], *, frozen: bool, eq: bool) -> dict[str, Any]:
    """What a class has unless it says so itself."""
    methods: dict[str, Any] = {
        "__init__": initializer(fields, frozen),
        "__repr__": _repr,
        "__match_args__": tuple(name for name, field in fields.items() if field.init),
        "__dataclass_fields__": _StandardFields(),
        "__getstate__": _state,
        "__setstate__": _set_state,
    }
    if eq:
        values = _values(tuple(name for name, field in fields.items() if field.compare))
        methods["__eq__"] = lambda self, other: (
            values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented
        )
        methods["__hash__"] = (lambda self: hash(values(self))) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    return methods


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that takes these values out of an object; `attrgetter` does so for two or more."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _repr(self: Any) -> str:
    shown = (name for name, field in self.__record_fields__.items() if field.repr)
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def _refuse(self: Any, name: str, *value: Any) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__record_fields__]


def _set_state(self: Any, values: list[Any]) -> None:
    for name, value in zip(self.__record_fields__, values, strict=True):
        object.__setattr__(self, name, value)


def _replace(record: Any, /, **changes: Any) -> Any:
    """The same object with other values; the standard library makes those of its own dataclasses."""
    fields = getattr(record, "__record_fields__", None)
    if fields is None:
        from dataclasses import replace as by_standard

        return by_standard(record, **changes)
    for name, field in fields.items():
        if field.init and name not in changes:
            changes[name] = getattr(record, name)
    return record.__class__(**changes)


def names_of(cls: Any) -> tuple[str, ...]:
    """What the values of such a class are called."""
    return tuple(cls.__record_fields__)


class _StandardFields:
    """The fields as the standard library's functions expect them, made when one of these looks."""

    __slots__ = ()

    def __get__(self, record: Any, cls: Any) -> dict[str, Any]:
        return _standard_fields(cls)


@cache
def _standard_fields(cls: Any) -> dict[str, Any]:
    from dataclasses import make_dataclass

    fields: Mapping[str, Field] = cls.__record_fields__
    standard: Any = make_dataclass(cls.__name__, fields)
    for name, field in fields.items():
        found = standard.__dataclass_fields__[name]
        found.init, found.repr, found.compare = field.init, field.repr, field.compare
    return dict(standard.__dataclass_fields__)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    dataclass, field, replace = _dataclass, Field, _replace
