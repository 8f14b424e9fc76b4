"""What a page is to look like and where it goes: the options of output, as one object.

@grouped
def scaling(file: options.ProblemFile, look: PageLook) -> None:
    …
    write_page(page, look)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeAlias

from attncli.cli import options
from attncli.cli.groups import Group, Options
from attncli.cli.options import Conflict, reject_conflicts
from attncli.english import listed
from attncli.render import OF_LATEX, OF_ONE_STEP, PAGES, SECTION, WORKBOOK, format_of

# What holds the numbers of one step, or of a whole trace.
OF_ONE_STEP_OR_TRACE = ("npy", *OF_ONE_STEP, *WORKBOOK)
# A command has some of these.
_STYLE_OPTIONS: Options = {
    "color": (options.Color, "auto"),
    "ascii": (options.Ascii, False),
    "math": (options.Math, None),
    "fragment": (options.Fragment, False),
    "no_title": (options.NoTitle, False),
    "heading_level": (options.HeadingLevel, None),
    "static": (options.Static, False),
}


class Look(NamedTuple):
    """The format of a page, the file it goes to, and its style.

    `-o solution.tex --fragment` is Look("latex", "solution.tex", fragment=True). `output` is None
    or "-" for standard output, and `option` what it was given to.
    """

    format: str
    output: str | None = None
    option: str = "-o"
    color: str = "auto"
    ascii: bool = False
    math: str | None = None
    fragment: bool = False
    no_title: bool = False
    heading_level: int | None = None
    static: bool = False

    def is_workbook(self) -> bool:
        """Whether it is a workbook of formulas."""
        return self.format in WORKBOOK

    def is_live(self) -> bool:
        """Whether it is a page whose numbers can be changed."""
        return self.format == "html" and not (self.static or self.fragment)

    def is_short(self) -> bool:
        """Whether it is a page with what is given where it is used, and queries, keys and values in
        one section. A whole page in HTML and a workbook have all of it in one place, where it can
        be changed; and each file of a section, such as a slide, has room for one step.
        """
        is_whole_html = self.format == "html" and not self.fragment
        has_file_for_each_section = self.output is not None and "{n}" in self.output
        return not (is_whole_html or has_file_for_each_section or self.is_workbook())

    def holds_numbers(self) -> bool:
        """Whether it holds numbers for programs, and no page."""
        return holds_numbers(self.format)


def checked_look(
    format: str | None,
    output: str | None,
    *,
    formats: Collection[str] = PAGES,
    data: Collection[str] = (),
    checked_later: Collection[str] = (),
    **style: Any,
) -> Look:
    """What the options of output say; AttncliError (exit 2) for those that do not go together.

    `formats` and `data` are as for `page_format`; what is `checked_later` goes with any format.
    """
    format = page_format(format, output, formats=formats, data=data)
    look = Look(format, output, **style)
    given = {
        "--math": look.math is not None and "--math" not in checked_later,
        "--fragment": look.fragment,
        "--no-title": look.no_title,
        "--heading-level": look.heading_level is not None,
        "--ascii": look.ascii,
        "--static": look.static,
    }
    reject_conflicts(*conflicts_with_format(format, given))
    if format in OF_LATEX:
        _require_tex(look)
    if "fragment" in style:
        reject_conflicts(
            Conflict(
                look.heading_level is not None and format != "markdown" and not look.fragment,
                "--heading-level",
                "a whole page",
                f"a page of {format} that is put into another one needs --fragment, too",
            ),
            Conflict(
                SECTION in (output or "") and not look.fragment,
                f"-o {output}",
                "a page in one file",
                f"--fragment writes each section to a file of its own: -o step-{SECTION}.tex",
            ),
        )
    return look


def _require_tex(look: Look) -> None:
    """Raises AttncliError (exit 2 or 5) where nothing makes a PDF, or a terminal would show it."""
    from attncli.cli.terminal import require_no_terminal
    from attncli.render.pdf import engine

    engine()
    require_no_terminal(look.output, look.format, "solution")


def look_options(
    *style: str,
    option: Any = options.PageFormat,
    formats: Collection[str] = PAGES,
    data: Collection[str] = (),
    checked_later: Collection[str] = (),
) -> Group:
    """The group of `--format`, `-o` and these options of style, such as "color", for a command.

    `option` is `--format` with the words it takes; the rest is as for `checked_look`.
    """
    return Group(
        partial(checked_look, formats=formats, data=data, checked_later=checked_later),
        here={"format": (option, None), "output": (options.Output, None)},
        at_the_end={name: _STYLE_OPTIONS[name] for name in style},
    )


PageLook: TypeAlias = Annotated[Look, look_options("color", "ascii")]


def page_format(
    given: str | None,
    output: str | None,
    *,
    formats: Collection[str] = PAGES,
    data: Collection[str] = (),
    option: str = "-o",
) -> str:
    """The format asked for, or the one that the output's suffix names; without one, table.

    It is one of `formats`, or one of `data`, whose names are their suffixes: "xlsx" for a.xlsx.
    Raises AttncliError (exit 2) for any other suffix.
    """
    suffix = options.suffix_of(output)
    if given is not None or not suffix:
        return given or "table"
    if suffix.removeprefix(".") in data:
        return suffix.removeprefix(".")
    found = format_of(output or "")
    if found is not None and found in formats:
        return found
    suffixes = [PAGES[name].suffixes[0] for name in formats]
    suffixes += [f".{name}" for name in WORKBOOK if name in data]
    known = listed(suffixes, last="or")
    if option == "-o":
        known += ", or choose a format with --format"
    if "npy" in data:
        known += "; .npy, .csv and .tsv hold the numbers of one step"
    raise options.unknown_suffix(option, output or "", known)


def holds_numbers(format: str) -> bool:
    """Whether a format holds numbers for programs, and no page."""
    return format not in PAGES or PAGES[format].is_data


def conflicts_with_format(format: str, given: Mapping[str, bool]) -> list[Conflict]:
    """The options that are given, such as {"--heatmap": True}, and a format that lacks them."""
    return [_conflict_with_format(format, option) for option, there in given.items() if there]


def _conflict_with_format(format: str, option: str) -> Conflict:
    having = [name for name, row in PAGES.items() if option in row.options]
    help = f"{option} is for --format {listed(having, last='or')}"
    # Of an option that most formats have, it is shorter to say why this one lacks it.
    if len(having) > 2 and holds_numbers(format):
        help = f"{format.upper()} holds the numbers themselves; leave out {option}"
    other = "a .npy file" if format == "npy" else f"--format {format}"
    return Conflict(format not in having, option, other, help)
