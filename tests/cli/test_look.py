"""Groups of options: what Typer sees of a command, and what the command gets."""

from inspect import signature
from typing import Annotated

import pytest

from attncli.cli.groups import Group, grouped
from attncli.cli.look import Look, PageLook, checked_look
from attncli.cli.overrides import Overrides, ReadingOverrides
from attncli.errors import AttncliError, Exit


@grouped
def listing(
    *,
    name: str = "x",
    look: PageLook,
    overrides: ReadingOverrides,
    size: int = 1,
    quiet: bool = False,
) -> tuple[str, Look, Overrides, int, bool]:
    """List something."""
    return name, look, overrides, size, quiet


def test_each_option_of_a_group_is_one_of_the_command() -> None:
    own = signature(listing).parameters
    assert [*own] == [
        "name",
        "format",
        "output",
        "as_",
        "allow_outside",
        "size",
        "color",
        "ascii",
        "quiet",
    ]
    assert own["color"].default == "auto"
    assert listing.__doc__ == "List something."


def test_a_command_gets_one_object_for_a_group() -> None:
    given = {"name": "y", "format": None, "output": "a.md", "as_": "torch", "allow_outside": False}
    style = {"size": 2, "color": "never", "ascii": False, "quiet": True}
    assert listing(**given, **style) == (
        "y",
        Look("markdown", "a.md", color="never"),
        Overrides(as_="torch"),
        2,
        True,
    )


def test_a_parameter_that_is_no_group_stays() -> None:
    @grouped
    def alone(size: Annotated[int, "in bytes"] = 3) -> int:
        return size

    assert [*signature(alone).parameters] == ["size"]
    assert alone(size=4) == 4


@pytest.mark.parametrize(
    ("format", "output", "style", "message"),
    [
        (None, "a.md", {"ascii": True}, "--ascii cannot be used with --format markdown"),
        ("json", None, {"math": "dollars"}, "--math cannot be used with --format json"),
        (
            None,
            "a-{n}.tex",
            {"fragment": False},
            "-o a-{n}.tex cannot be used with a page in one file",
        ),
        (None, "a.odt", {}, "-o a.odt: this command does not write .odt files"),
    ],
)
def test_a_look_is_checked_when_it_is_made(
    format: str | None, output: str | None, style: dict[str, object], message: str
) -> None:
    with pytest.raises(AttncliError) as caught:
        checked_look(format, output, **style)
    assert (caught.value.exit_code, caught.value.message) == (Exit.USAGE, message)


def test_what_is_checked_later_goes_with_any_format() -> None:
    look = checked_look(None, "a.json", checked_later=("--math",), math="dollars")
    assert (look.format, look.math) == ("json", "dollars")


def test_options_of_a_group_are_taken_out_of_all_values() -> None:
    values = {"as_": "torch", "allow_outside": True, "file": "p.yaml"}
    group = Group(Overrides, {"as_": (str, None), "allow_outside": (bool, False)})
    assert group.make_from(values) == Overrides(as_="torch", allow_outside=True)
    assert values == {"file": "p.yaml"}
