"""`--help`: every command and option under its heading, and examples that the command can read."""

from __future__ import annotations

import re
import shlex
from collections import Counter

import pytest

from attncli.cli.app import _group, command_names
from attncli.cli.help import COMMANDS, OF_THE_COMMAND, OPTIONS, sections_of_options
from attncli.cli.main import run
from attncli.errors import AttncliError

GROUP = _group(*command_names())


def section(help: str, title: str) -> str:
    """What stands under a heading of help."""
    return help.partition(f"\n{title}:\n")[2].partition("\n\n")[0]


def test_each_command_stands_under_one_heading(capsys: pytest.CaptureFixture[str]) -> None:
    named = Counter(name for names in COMMANDS.values() for name in names)
    assert named == Counter(command_names())
    assert run(["--help"]) == 0
    help = capsys.readouterr().out
    for title, names in COMMANDS.items():
        assert re.findall(r"^  (\w+)", section(help, title), re.MULTILINE) == [*names]


def test_each_option_under_a_heading_is_one_of_several_commands() -> None:
    """An option of one command alone is the command's own, and comes first."""
    having = Counter(
        spelled
        for command in GROUP.commands.values()
        for option in command.params
        for spelled in option.opts
    )
    # These change a page of compute, and of others some day.
    alone = {"--static", "--help"}
    named = [name for names in OPTIONS.values() for name in names]
    assert [name for name in named if having[name] < 2 and name not in alone] == []


@pytest.mark.parametrize("name", command_names())
def test_no_option_is_left_out_of_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = GROUP.commands[name]
    assert run([name, "--help"]) == 0
    help = capsys.readouterr().out
    shown = "\n".join(section(help, title) for title in (OF_THE_COMMAND, *OPTIONS))
    options = [each for each in command.params if each.param_type_name == "option"]
    there = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", shown, re.MULTILINE)
    names = [next(name for name in each.opts if name.startswith("--")) for each in options]
    assert Counter(there) == Counter([*names, "--help"])


def test_few_options_stand_under_one_heading() -> None:
    command = GROUP.commands["schema"]
    context = command.make_context("schema", [], resilient_parsing=True)
    assert [*sections_of_options(command, context)] == [OF_THE_COMMAND]


EXAMPLES = [line for command in GROUP.commands.values() for line in command.examples]


@pytest.mark.parametrize("line", EXAMPLES)
def test_a_command_can_read_its_examples(line: str) -> None:
    program, name, *words = shlex.split(line.partition(" > ")[0])
    assert program == "attncli"
    command = GROUP.commands[name]
    context = command.make_context(name, words, parent=GROUP.make_context("attncli", [name]))
    assert context.params


def test_a_command_has_examples_of_its_own() -> None:
    for name, command in GROUP.commands.items():
        assert len(command.examples) >= 2
        assert all(line.split()[1] == name for line in command.examples)
        assert len({*command.examples}) == len(command.examples)


def test_what_an_example_cannot_be() -> None:
    """The test above is told by a word that no option takes."""
    with pytest.raises(AttncliError, match="--precision cannot be"):
        GROUP.commands["compute"].make_context("compute", ["mine.yaml", "--precision", "99"])
