"""The documentation is true: its commands print what it shows, its problems load, its links lead
somewhere.

Blocks of the language `console` are replayed: `$ ` begins a command, which may go on after `\\` or
a `<<` on lines that begin with `> `; what follows is its output, word for word, a line of only `…`
standing for any number of lines. `yaml problem` and `json problem` are whole problems, `pycon` is a
session with Python, `python` a program. `pytest tests/test_docs.py --update` writes what the
commands print into the files: read the difference. The examples in docstrings are such sessions,
too.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from attncli.cli.main import run
from attncli.problem.loader import loads
from attncli.tracing import run as work_out
from tests.cases import in_one_test

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(
    r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ANY = "…"
QUOTED = r"'[^']*'|\"[^\"$`]*\""
STAGE = re.compile(rf"(?:{QUOTED}|[^'\"|])+")  # of a pipe
ATTNCLI = re.compile(  # a call without anything that a shell would replace
    rf"\s*attncli (?P<words>(?:{QUOTED}|[^'\"<>;&$`*\\])+?)(?P<joined> 2>&1)?(?: >"
    r" (?P<file>[\w.]+))?\s*"
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    info: str
    body: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(slots=True)
class Command:
    """A command of a console block, as it is written there, and the output that is claimed."""

    source: str
    claimed: list[str]

    @property
    def text(self) -> str:
        first, *more = self.source.split("\n")
        return "\n".join([first[2:], *(line[2:] for line in more)])

    @property
    def unfinished(self) -> bool:
        return self.text.endswith("\\") or ("<<" in self.text and not self.text.endswith("\nEOF"))


@cache
def all_blocks() -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCED.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(page, line, match["info"], match["body"]))
    return found


def blocks(*infos: str) -> list[Block]:
    return [block for block in all_blocks() if block.info in infos]


def commands_in(body: str) -> list[Command]:
    commands: list[Command] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            commands.append(Command(line, []))
        elif (
            commands
            and commands[-1].unfinished
            and not commands[-1].claimed
            and (line == ">" or line.startswith("> "))
        ):
            commands[-1].source += f"\n{line}"
        else:
            commands[-1].claimed.append(line.rstrip())
    return commands


def play(commands: list[Command], folder: Path) -> list[list[str]]:
    """The lines each command prints, standard error included, run one after another in this
    folder.
    """
    code, printed = 0, []
    for command in commands:
        if command.text == "echo $?":
            output = str(code)
        else:
            code, output = play_here(command.text, folder) or play_in_bash(command.text, folder)
        printed.append([line.rstrip() for line in output.splitlines()])
    return printed


def play_here(text: str, folder: Path) -> tuple[int, str] | None:
    """The exit code and the output of a pipe of commands, where attncli runs without a start-up of
    its own.

    None where bash has to read it: where attncli is not called, or where a shell would replace
    something in its words.
    """
    stages = STAGE.findall(text.replace("\\\n", ""))
    calls = [ATTNCLI.fullmatch(stage) for stage in stages]
    others = [stage for stage, call in zip(stages, calls, strict=True) if not call]
    if "<<" in text or not any(calls) or any("attncli" in stage for stage in others):
        return None
    code, data, errors = 0, b"", b""
    for stage, call in zip(stages, calls, strict=True):
        if call:
            together = call["joined"] or (stage is stages[-1] and not call["file"])
            code, data, more = call_here(
                shlex.split(call["words"]), folder, data, together=bool(together)
            )
            if call["file"]:
                (folder / call["file"]).write_bytes(data)
                data = b""
        else:
            done = in_bash(stage, folder, data)
            code, data, more = done.returncode, done.stdout, done.stderr
        errors += more
    return code, (errors + data).decode()


def call_here(
    arguments: list[str], folder: Path, data: bytes, *, together: bool
) -> tuple[int, bytes, bytes]:
    """The exit code, standard output and standard error of attncli with this standard input, or
    both as one output.
    """
    given, output, other = (
        io.TextIOWrapper(io.BytesIO(start), encoding="utf-8", write_through=True)
        for start in (data, b"", b"")
    )
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output if together else other),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "stdin", given)
        code = run(arguments)
    return code, output.buffer.getvalue(), other.buffer.getvalue()  # type: ignore[attr-defined]


def play_in_bash(text: str, folder: Path) -> tuple[int, str]:
    done = in_bash(f"{{ {text}\n}} 2>&1", folder)
    return done.returncode, done.stdout.decode()


def in_bash(script: str, folder: Path, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        input=data,
        capture_output=True,
        timeout=60,
    )


def agrees(claimed: list[str], printed: list[str]) -> bool:
    """Whether the output is as claimed, `…` standing for any number of lines."""
    pattern = "".join("(?:.*\n)*?" if line == ANY else re.escape(f"{line}\n") for line in claimed)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the example problems, which no command may change."""
    copy = tmp_path_factory.mktemp("examples") / "inputs"
    shutil.copytree(ROOT / "inputs", copy)
    before = listed(copy)
    yield copy
    assert listed(copy) == before


def listed(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def workplace(tmp_path: Path, examples: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run commands in, where they find the example problems and may write files."""
    shutil.copytree(examples, tmp_path / "inputs", copy_function=os.link)
    for variable in ("NO_COLOR", "FORCE_COLOR", "ATTNCLI_TRACEBACK"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


# These start a program for each function or solution, draw, or look for what explains a number.
OF_SECONDS = re.compile(
    r"attncli (test|mask|generate|scaling|compare) |--(batch|verify|pictures)"
    r"|python3? |class/|inputs/printed_example"
)


def in_its_tier(block: Block) -> object:
    """The block, whose commands may take seconds; the README is tried whole each time."""
    is_long = block.page.name != "README.md" and OF_SECONDS.search(block.body)
    return pytest.param(block, marks=pytest.mark.long if is_long else ())


@pytest.mark.parametrize("block", [*map(in_its_tier, blocks("console"))], ids=str)
def test_commands_print_what_is_shown(
    block: Block, workplace: Path, pytestconfig: pytest.Config
) -> None:
    if re.search(r"\bjq\b", block.body) and not shutil.which("jq"):
        pytest.skip("needs jq")
    replay(block, workplace, update=pytestconfig.getoption("--update"))


def replay(block: Block, folder: Path, *, update: bool) -> None:
    """Run the commands of a block in a folder, and hold what they print against what is shown."""
    commands = commands_in(block.body)
    assert not [command.source for command in commands if command.unfinished]
    outputs = play(commands, folder)
    if update:
        _write_anew(block, commands, outputs)
        return
    for command, printed in zip(commands, outputs, strict=True):
        if not agrees(command.claimed, printed):
            pytest.fail(
                "\n".join([f"{block}: {command.source}", "prints", *printed]), pytrace=False
            )


def _write_anew(block: Block, commands: list[Command], outputs: list[list[str]]) -> None:
    lines: list[str] = []
    for command, printed in zip(commands, outputs, strict=True):
        lines += [command.source, *(command.claimed if ANY in command.claimed else printed)]
    body = "".join(f"{line}\n" for line in lines)
    if body != block.body:
        text = block.page.read_text(encoding="utf-8")
        changed = text.replace(f"{block.info}\n{block.body}`", f"{block.info}\n{body}`")
        block.page.write_text(changed, encoding="utf-8")


@in_one_test("block", blocks("yaml problem", "json problem"), ids=str)
def test_problems_can_be_worked_out(block: Block) -> None:
    assert "output" in work_out(loads(block.body.encode(), f"problem.{block.info.split()[0]}"))


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_programs_run(block: Block, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    exec(compile(block.body, str(block), "exec"), {})


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(block.page == page for block in blocks("pycon"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_sessions_with_python(page: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    session = "\n".join(block.body for block in blocks("pycon") if block.page == page)
    replay_session(doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0))


PACKAGE = ROOT / "attncli"
WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@in_one_test("name", WITH_EXAMPLES)
def test_examples_in_docstrings(name: str) -> None:
    found = doctest.DocTestFinder().find(importlib.import_module(name))
    sessions = [session for session in found if session.examples]
    assert sessions
    for session in sessions:
        replay_session(session)


def test_a_wrong_example_is_told() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    with pytest.raises(AssertionError, match=r"Expected:\s+3\s+Got:\s+2"):
        replay_session(wrong)


def replay_session(session: doctest.DocTest) -> None:
    """Run a session with Python, and hold what it prints against what is shown."""
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(session, out=report.write)
    assert not runner.failures, report.getvalue()


def test_the_man_page_is_that_of_the_program(pytestconfig: pytest.Config) -> None:
    page, make = (ROOT / "docs" / "man" / name for name in ("attncli.1", "make.py"))
    written = runpy.run_path(str(make))["man_page"]()
    if pytestconfig.getoption("--update"):
        page.write_text(written, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == written


PICTURES = ROOT / "docs" / "pictures"
DRAWN = {
    name: command
    for page in PAGES
    for command, name in re.findall(
        r"^\$ attncli (picture .* -o (\w+\.svg))$", page.read_text("utf-8"), re.MULTILINE
    )
    if (PICTURES / name).exists()
}


@pytest.mark.parametrize("name", [*DRAWN, "terminal.svg"])
def test_pictures_are_those_of_the_program(
    name: str, pytestconfig: pytest.Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in DRAWN:
        monkeypatch.chdir(ROOT)
        drawn = tmp_path / name
        assert run([*shlex.split(DRAWN[name])[:-1], str(drawn)]) == 0
        written = drawn.read_text(encoding="utf-8")
    else:
        written = runpy.run_path(str(PICTURES / "make.py"))["picture"]()
    if pytestconfig.getoption("--update"):
        (PICTURES / name).write_text(written, encoding="utf-8")
    there = (PICTURES / name).read_text(encoding="utf-8")
    if name in DRAWN:
        assert there == written
    else:
        # whose lines stand farther apart with some versions of Rich
        assert re.findall(r"<text.*?>(.*?)</text>", there) == re.findall(
            r"<text.*?>(.*?)</text>", written
        )


@cache
def slugs(page: Path) -> set[str]:
    """The anchors GitHub gives the headings of a page."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path, text: str) -> list[str]:
    """The links of this text, as it stands on this page, that lead nowhere inside the project."""
    prose = re.sub(r"`[^`\n]+`", "", FENCED.sub("", text))
    broken = []
    for link in LINK.findall(prose):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in slugs(target)):
            broken.append(link)
    return broken


def test_links_lead_somewhere() -> None:
    broken = {str(page): broken_links(page, page.read_text(encoding="utf-8")) for page in PAGES}
    assert {page: links for page, links in broken.items() if links} == {}


def test_every_page_can_be_found_from_the_index() -> None:
    found, waiting = set(), [ROOT / "docs" / "README.md"]
    while waiting:
        page = waiting.pop()
        found.add(page)
        links = {link.partition("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8"))}
        targets = {(page.parent / link).resolve() for link in links if link.endswith(".md")}
        waiting += [target for target in targets - found if target.exists()]
    assert set(PAGES) - {ROOT / "README.md"} <= found


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")  # of what Transformers imports
@pytest.mark.parametrize(
    "page", sorted({block.page for block in blocks("python torch")}), ids=lambda path: path.stem
)
def test_a_page_about_pytorch_is_played_from_top_to_bottom(
    page: Path,
    torch: object,
    workplace: Path,
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
) -> None:
    pytest.importorskip("transformers", reason="Transformers is not installed")
    monkeypatch.chdir(workplace)
    names: dict[str, object] = {}
    for block in blocks("python torch", "console torch"):
        if block.page == page and block.info == "python torch":
            exec(compile(block.body, str(block), "exec"), names)
        elif block.page == page:
            replay(block, workplace, update=pytestconfig.getoption("--update"))


# These tests can fail: what follows is wrong, and they say so.


@in_one_test(
    ("claimed", "printed", "expected"),
    [
        (["1", "2"], ["1", "2"], True),
        (["1"], ["1", "2"], False),
        (["1", "2"], ["1"], False),
        (["1.0"], ["1x0"], False),
        ([], ["1"], False),
        (["…", "3"], ["1", "2", "3"], True),
        (["1", "…"], ["1"], True),
        (["1", "…", "3"], ["1", "2", "4"], False),
    ],
)
def test_a_wrong_output_is_noticed(claimed: list[str], printed: list[str], expected: bool) -> None:
    assert agrees(claimed, printed) is expected


@pytest.mark.parametrize("call", ["attncli schema nonsense", "attncli schema nonsense;"])
def test_a_block_is_played_in_order_here_and_in_bash(call: str, workplace: Path) -> None:
    body = f"$ {call}\nwhat was claimed\n$ echo $?\n2\n$ attncli --version\n"
    commands = commands_in(body)
    assert [command.claimed for command in commands] == [["what was claimed"], ["2"], []]
    assert (play_here(call, workplace) is None) == call.endswith(";")
    error, code, version = play(commands, workplace)
    assert error[0] == "attncli: error: there is no schema nonsense"
    assert code == ["2"]
    assert version[0].startswith("attncli ")


def test_a_pipe_hands_on_what_is_printed(workplace: Path) -> None:
    pipe = "printf 'Q: [[1, x]]' | attncli compute - 2>&1 | head -1 | cut -c1-14"
    assert play_here(pipe, workplace) == play_in_bash(pipe, workplace) == (0, "attncli: error\n")
    pipe = "printf 'Q: [[1]]\nK: [[1]]\nV: [[3]]\n' | attncli compute - --format json > trace.json"
    assert play_here(pipe, workplace) == (0, "")
    first = (workplace / "trace.json").read_bytes()
    assert play_in_bash(pipe, workplace) == (0, "")
    assert (workplace / "trace.json").read_bytes() == first != b""


def test_a_command_may_be_written_on_several_lines(workplace: Path) -> None:
    commands = commands_in(
        "$ cat > p.yaml <<'EOF'\n> Q: [[1]]\n> EOF\n$ cat \\\n> p.yaml\nQ: [[1]]\n> not a command\n"
    )
    assert [command.claimed for command in commands] == [[], ["Q: [[1]]", "> not a command"]]
    assert play(commands, workplace) == [[], ["Q: [[1]]"]]


def test_a_broken_link_is_noticed() -> None:
    text = (
        "[a](nowhere.md) [b](README.md#no-such-heading) [c](https://example.org) [d](README.md)"
        " `[e](f)`"
    )
    assert broken_links(ROOT / "README.md", text) == ["nowhere.md", "README.md#no-such-heading"]


MODULE = re.compile(r"`([\w./*-]+\.py)`")
KEEPS_OLD_NAMES = (ROOT / "docs" / "changelog.md", *(ROOT / "docs" / "decisions").glob("*.md"))


def missing_modules(text: str, files: list[Path]) -> list[str]:
    """The modules that a text names, by a whole path or the end of one, and none of these files
    is.
    """
    return [
        name
        for name in dict.fromkeys(MODULE.findall(text))
        if not any(file.match(name) for file in files)
    ]


def test_modules_that_are_named_are_there() -> None:
    files = [
        path for folder in ("attncli", "docs", "tests") for path in (ROOT / folder).rglob("*.py")
    ]
    pages = [page for page in PAGES if page not in KEEPS_OLD_NAMES]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    missing = {str(page): missing_modules(text, files) for page, text in texts.items()}
    assert {page: names for page, names in missing.items() if names} == {}


def test_a_module_that_is_gone_is_noticed() -> None:
    files = [Path("attncli/cli/main.py"), Path("tests/test_docs.py")]
    text = (
        "See `cli/main.py`, `main.py`, `tests/test_*.py`, `cli/old.py`, `ain.py` and `i/main.py`."
    )
    assert missing_modules(text, files) == ["cli/old.py", "ain.py", "i/main.py"]
