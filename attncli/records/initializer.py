"""How objects of a class are made: by code that all classes share, and many of one class by code of its own."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, without the time its import takes
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

MISSING: Any = object()
MANY = 80  # objects, which take as long to make without a compiled `__init__` as it takes to compile one, and with it


class Field:
    """What a class says of one of its values."""

    __slots__ = ("compare", "default", "factory", "init", "repr")

    def __init__(
        self,
        *,
        default: Any = MISSING,
        default_factory: Any = MISSING,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
    ) -> None:
        self.default, self.factory = default, default_factory
        self.init, self.repr, self.compare = init, repr, compare


def initializer(fields: Mapping[str, Field], frozen: bool) -> Callable[..., None]:
    """An `__init__` that puts the compiled one in its own place after many calls, or to tell what is wrong with one."""
    parameters = tuple(name for name, field in fields.items() if field.init)
    made = 0

    def first(self: Any, *values: Any, **named: Any) -> None:
        nonlocal made
        made += 1
        given = dict(zip(parameters, values, strict=False))
        if made < MANY and len(given) == len(values) and given.keys().isdisjoint(named):
            given.update(named)
            if _filled(self, fields, given) == len(given):
                if hasattr(self, "__post_init__"):
                    self.__post_init__()
                return
        cls: Any = next(cls for cls in type(self).__mro__ if cls.__dict__.get("__init__") is first)
        compiled = _compiled(fields, frozen, hasattr(cls, "__post_init__"))
        compiled.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = compiled
        compiled(self, *values, **named)

    return first


def _filled(self: Any, fields: Mapping[str, Field], given: Mapping[str, Any]) -> int:
    """Set the values of an object; how many of them were given, or -1 where one is missing."""
    used = 0
    for name, field in fields.items():
        if field.init and name in given:
            value = given[name]
            used += 1
        elif field.factory is not MISSING:
            value = field.factory()
        elif field.default is not MISSING:
            value = field.default
        elif field.init:
            return -1
        else:
            continue  # __post_init__ sets it
        object.__setattr__(self, name, value)
    return used


def _compiled(fields: Mapping[str, Field], frozen: bool, finished: bool) -> Callable[..., None]:
    known: dict[str, Any] = {"MISSING": MISSING, "set": object.__setattr__}
    parameters, lines = ["self"], []
    for name, field in fields.items():
        value = name
        if field.factory is not MISSING:
            known[f"make_{name}"] = field.factory
            value = f"make_{name}() if {name} is MISSING else {name}" if field.init else f"make_{name}()"
        elif field.default is not MISSING:
            known[f"default_{name}"] = field.default
        elif not field.init:
            continue  # __post_init__ sets it
        if field.init:
            default = "MISSING" if field.factory is not MISSING else f"default_{name}"
            given = field.factory is not MISSING or field.default is not MISSING
            parameters.append(f"{name}={default}" if given else name)
        lines.append(f"set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if finished:
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"]), known)
    made: Callable[..., None] = known["__init__"]
    return made
