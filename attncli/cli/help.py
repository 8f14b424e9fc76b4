"""What `--help` shows: commands by what they are for, and options by what they change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

# Commands under their heading, in the order in which people meet them.
COMMANDS = {
    "Begin": ("example", "new", "steps"),
    "Work out": ("compute", "gradient", "picture"),
    "Check": ("check", "worksheet"),
    "Teach": ("generate", "export"),
    "Look closer": ("compare", "mask", "record", "test", "scaling", "cost", "schema"),
}
# Options that many commands have, under their heading. What one command has alone comes first.
OPTIONS = {
    "What to show": (
        "--steps",
        "--detail",
        "--cell",
        "--query",
        "--head",
        "--entry",
        "--heatmap",
        "--pictures",
        "--all",
    ),
    "Numbers": (
        "--precision",
        "--rounding",
        "--mask",
        "--as",
        "--scale",
        "--tolerance",
        "--dtype",
        "--device",
    ),
    "Files": (
        "--format",
        "--output",
        "--directory",
        "--fragment",
        "--no-title",
        "--heading-level",
        "--math",
        "--static",
        "--allow-outside",
        "--watch",
    ),
    "Terminal": ("--color", "--ascii", "--quiet", "--help"),
}
OF_THE_COMMAND = "Options"
# So few options are read at a glance, without headings.
_FEW = 6
# An option or a command as help shows it: `--precision N`, and what it says.
Shown: TypeAlias = tuple[str, str]


def sections_of_options(command: Any, context: Any) -> dict[str, list[Shown]]:
    """The options of a command under their headings, in their order; its own come first."""
    options = [each for each in command.get_params(context) if each.param_type_name == "option"]
    titles = [OF_THE_COMMAND, *OPTIONS]
    if len(options) <= _FEW:
        titles = [OF_THE_COMMAND]
    found: dict[str, list[Shown]] = {title: [] for title in titles}
    for option in sorted(options, key=_place_of):
        row = option.get_help_record(context)
        if row is None:
            continue
        title = titles[min(_place_of(option)[0], len(titles) - 1)]
        found[title].append(row)
    return {title: rows for title, rows in found.items() if rows}


def _place_of(option: Any) -> tuple[int, int]:
    """Which heading it stands under, and where; 0, 0 for the first, what one command has alone."""
    for heading, names in enumerate(OPTIONS.values(), 1):
        for place, name in enumerate(names):
            if name in option.opts:
                return heading, place
    return 0, 0


def sections_of_commands(group: Any) -> Iterator[tuple[str, list[Shown]]]:
    """The commands of a group under their headings, each with its first sentence."""
    # So that the sentences of all headings stand below one another.
    width = max(map(len, group.commands), default=0)
    for title, names in COMMANDS.items():
        there = [group.commands[name] for name in names if name in group.commands]
        if there:
            yield title, [(each.name.ljust(width), each.get_short_help_str()) for each in there]
