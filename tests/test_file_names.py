"""A file of which attncli makes the name can be written on every system, and none is written over
another.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attncli.cli.classes.feedback import Feedback
from attncli.cli.files import new_folders
from attncli.features.example.collection import data_files, problems, solutions, with_equations
from attncli.features.generate.roster import numbered, read_roster
from attncli.file_names import against_windows, file_names, is_device
from attncli.page.derivation import derivation
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.problem.text.source import Source
from attncli.render import Style
from attncli.render.markdown import picture_files
from attncli.render.sections import sections
from attncli.tracing import run
from tests.cases import in_one_test

ROOT = Path(__file__).parents[1]
# By "Naming Files, Paths, and Namespaces" of Microsoft.
FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]|[ .]$')
DIGITS = "123456789¹²³"
DEVICES = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
DEVICES += [f"{port}{digit}" for port in ("COM", "LPT") for digit in DIGITS]
PARTS = st.sampled_from(
    [
        *DEVICES,
        *map(str.lower, DEVICES),
        *'<>:"/\\|?*. -~',
        "\x00",
        "\x1f",
        "\x7f",
        "\n",
        "e\u0301",
        "é",
        "É",
        "ß",
        "ı",
        "İ",
        "ſ",
        "K",
        "李",
        "😀",
        "\u200d",
        "\u202e",
        "\ud800",
        "a",
        "A",
        "-2",
        ".txt",
        "x" * 300,
        "é" * 200,
    ]
)
NAMES = st.lists(PARTS, max_size=4).map("".join) | st.text(max_size=8)


def refused(name: str) -> bool:
    """Whether some system refuses a file of this name, or takes it for something else."""
    device = name.partition(".")[0].rstrip(" ").upper() in DEVICES
    long = max(len(name.encode()), len(name.encode("utf-16-le")) // 2) > 255
    return not name or bool(FORBIDDEN.search(name)) or device or long or name.startswith(("-", "."))


def alike(names: Sequence[str]) -> bool:
    """Whether two of them are one file where capitals, or the ways to write an accent, do not
    count.
    """
    plain = [unicodedata.normalize("NFC", name) for name in names]
    return any(
        len({fold(name) for name in plain}) < len(names)
        for fold in (str.lower, str.upper, str.casefold)
    )


@in_one_test(
    "name",
    [
        "CON",
        "nul.md",
        "com¹.tar.gz",
        "Aux .md",
        "a:b",
        "a.",
        "a ",
        "a/b",
        "a\x07",
        "x" * 256,
        "é" * 130,
        "",
    ],
)
def test_what_is_refused(name: str) -> None:
    assert refused(name)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python warns of is_reserved from 3.13 on")
@pytest.mark.parametrize(
    "name", [*DEVICES, "con.x", "nul .x", "com1.tar.gz", "console", "com10", "a", "lpt", "aux2"]
)
def test_devices_are_those_that_python_knows(name: str) -> None:
    assert is_device(name) == PureWindowsPath(name).is_reserved()


def test_names_of_files() -> None:
    wanted = [
        "a/b",
        "A_B",
        "..",
        "con",
        "con.x",
        "nul .x",
        "é" * 300,
        "李雷",
        "e\u0301",
        "É",
        "Ada.",
        "-rf",
    ]
    made = [
        "a_b",
        "A_B-2",
        "page",
        "_con",
        "_con.x",
        "_nul .x",
        "é" * 60,
        "李雷",
        "é",
        "É-2",
        "Ada",
        "rf",
    ]
    assert file_names(wanted, "page") == made


def test_apostrophes_stay() -> None:
    names = ["Siobhán O'Brien", "Siobhán O’Brien"]
    assert file_names(names) == names


@given(st.lists(NAMES, max_size=6))
@example(["COM¹", "con .x", "ß", "SS", "ss", "a", "A", "a-2"])
def test_any_text_makes_a_name(wanted: list[str]) -> None:
    names = file_names(wanted)
    assert len(names) == len(wanted)
    assert [name for name in names if refused(f"{name}.markdown")] == []
    assert not alike(names)


@given(
    st.lists(
        st.text("ab李-_9", min_size=1, max_size=9).filter(lambda name: name[0] not in "-_"),
        max_size=5,
    )
)
def test_a_name_that_every_system_takes_stays(wanted: list[str]) -> None:
    wanted = [*dict.fromkeys(wanted)]
    assert file_names(wanted) == wanted


@in_one_test(
    ("path", "better"),
    [
        ("w/CON", "w/_CON"),
        ("w/con.md", "w/_con.md"),
        ("nul .x", "_nul .x"),
        ("w/a:b", "w/a_b"),
        ("ab:c.md", "ab_c.md"),
        ("C:\\w\\a?.md", "C:\\w\\a_.md"),
        ("aux/con/a*.md", "_aux/_con/a_.md"),
        ("a.md.", "a.md"),
        ("b /a.md", "b/a.md"),
        ("...", "file"),
        ('a"b', "a_b"),
        ("a\tb", "a_b"),
    ],
)
def test_a_path_that_windows_takes_for_something_else(path: str, better: str) -> None:
    found = against_windows(path)
    assert found
    assert found[1] == better


@in_one_test(
    "path",
    [
        "w/a.md",
        "C:\\w\\a.md",
        "c:a.md",
        "\\\\server\\share\\a.md",
        "../a",
        "./w/.hidden",
        "w/",
        "NUL",
        "con",
        "-",
        "part-{n}.tex",
        "con10/console.md",
        "李雷 [1].md",
    ],
)
def test_a_path_that_windows_takes(path: str) -> None:
    assert against_windows(path) is None


@given(NAMES.filter(lambda name: not set("/\\") & {*name} and name not in (".", "..")))
def test_what_is_against_a_name_is_what_microsoft_says(name: str) -> None:
    forbidden = bool(FORBIDDEN.search(name))
    device = name.partition(".")[0].rstrip(" ").upper() in DEVICES
    found = against_windows(f"w/{name}")
    assert bool(found) == (bool(name) and (forbidden or device))
    if found:
        _, better = found
        assert against_windows(better) is None
        assert "/" not in better.removeprefix("w/")


@given(names=st.lists(NAMES, min_size=1, max_size=6))
def test_pages_of_feedback(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("pages")
    with new_folders() as make_folder:
        feedback = Feedback(str(folder), names, "html", make_folder)
    pages = [Path(path) for path in feedback.paths]
    assert {page.parent for page in pages} == {folder}
    assert not any(refused(page.name) for page in pages)
    assert not alike([page.name for page in pages])


@given(
    names=st.lists(
        NAMES.map(lambda name: " ".join(name.split())[:200]), min_size=1, max_size=6, unique=True
    )
)
def test_files_of_a_set(names: list[str]) -> None:
    lines = [
        unicodedata.normalize("NFC", name.replace('"', "'"))
        for name in names
        if "\ud800" not in name
    ]
    lines = [*dict.fromkeys(line for line in lines if line.isprintable() and line.strip())]
    if lines:
        quoted = "".join(f'"{line}"\n' for line in ("student", *lines))
        files = [student.file for student in read_roster(Source("names.csv", quoted))]
        assert not any(refused(f"{file}.yaml") for file in files)
        assert not alike(files)


def test_files_of_a_set_without_names() -> None:
    files = [student.file for student in numbered(101)]
    assert files == file_names(files)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["i_love_ai", "multi_head", "batch", "next_token"])
def test_pictures_and_sections(name: str) -> None:
    """What stands beside a page is named by attncli itself, and `file_names` has nothing to
    change.
    """
    trace = run(load(str(ROOT / "inputs" / f"{name}.yaml")), gradient=True)
    page = derivation(trace, View(pictures=True))
    style = Style(math="dollars", pictures="page")
    for files in (
        [file for file, _ in picture_files(page, style)],
        [each for each, _ in sections(page, "html", Style())],
    ):
        assert files
        assert [name.removesuffix(".svg") for name in files] == file_names(
            name.removesuffix(".svg") for name in files
        )


def test_examples() -> None:
    in_folders = [*with_equations(), *solutions()]
    names = [*problems(), *(name.rpartition("/")[2] for name in in_folders)]
    names += [name for file in problems().values() for name in data_files(file)]
    assert [*dict.fromkeys(names)] == file_names(dict.fromkeys(names))
