"""Groups of options: a command takes one object, and its `--help` lists every option of the group.

    @grouped
    def steps(name: StepName = None, look: PageLook = LOOK) -> None: ...

Typer sees a command with `--format`, `-o`, `--color` and `--ascii`. The function gets one `Look`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

Result = TypeVar("Result")
# The type of an option and its default, by the name of the parameter.
Options: TypeAlias = Mapping[str, tuple[Any, object]]

NO_OPTIONS: Options = MappingProxyType({})
# What a page looks like is listed before the first of these, which are asked for less often.
LISTED_LAST = ("all_", "quiet")


class Group(NamedTuple):
    """The options behind one parameter of a command, and what makes one object of their values.

    `here` are listed where the parameter stands, `at_the_end` after the command's other options.
    It belongs into the type of the parameter: `look: Annotated[Look, Group(Look, …)]`.
    """

    make: Callable[..., object]
    here: Options
    at_the_end: Options = NO_OPTIONS

    def make_from(self, values: dict[str, Any]) -> object:
        """The object that the command gets; takes the values of its options out of all `values`."""
        names = [*self.here, *self.at_the_end]
        return self.make(**{name: values.pop(name) for name in names})


def grouped(command: Callable[..., Result]) -> Callable[..., Result]:
    """The command with all options of its groups, as Typer and whoever lists options see it."""
    groups: dict[str, Group] = {}
    listed: list[Parameter] = []
    at_the_end: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        group = _group_of(parameter)
        if group is None:
            listed.append(parameter)
        else:
            groups[parameter.name] = group
            listed += _parameters(group.here)
            at_the_end += _parameters(group.at_the_end)

    end = _where_the_last_begin(listed)
    listed[end:end] = at_the_end
    # Parameters without a default may follow others: Typer passes all of them by name.
    listed = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in listed]

    @wraps(command)
    def with_options(**values: Any) -> Result:
        for name, group in groups.items():
            values[name] = group.make_from(values)
        return command(**values)

    # `inspect.signature`, which Typer asks, looks there; the types of functions do not say so.
    with_options.__signature__ = Signature(listed)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in listed}
    return with_options


def _group_of(parameter: Parameter) -> Group | None:
    about = getattr(parameter.annotation, "__metadata__", ())
    return next((each for each in about if isinstance(each, Group)), None)


def _parameters(options: Options) -> list[Parameter]:
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, (kind, default) in options.items()
    ]


def _where_the_last_begin(listed: list[Parameter]) -> int:
    for at, parameter in enumerate(listed):
        if parameter.name in LISTED_LAST:
            return at
    return len(listed)
