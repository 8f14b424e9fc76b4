"""Whatever is typed and whatever breaks, the command line answers in one shape and with the
contract's exit code.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from attncli import __version__
from attncli.cli import app
from attncli.cli.main import run
from attncli.errors import AttncliError, Exit
from attncli.system import quoted

ROOT = Path(__file__).parents[2]

USAGE = [
    ("compue", "there is no command compue", "did you mean compute?"),
    (
        "inputs/i_love_ai.yaml",
        "there is no command inputs/i_love_ai.yaml",
        "did you mean attncli compute inputs/i_love_ai.yaml?",
    ),
    ("a'b.YML", "there is no command a'b.YML", "did you mean attncli compute 'a'\"'\"'b.YML'?"),
    ("-- --x", "there is no command --x", "the commands are check, compare, "),
    ("--versoin", "there is no option --versoin", "did you mean --version?"),
    ("compute p.yaml --precison 3", "there is no option --precison", "did you mean --precision?"),
    ("compute p.yaml --zz", "there is no option --zz", "see attncli compute --help"),
    ("compute p.yaml -z", "there is no option -z", "see attncli compute --help"),
    ("compute p.yaml --causal", "there is no option --causal", "did you mean --mask causal?"),
    ("compute p.yaml --json", "there is no option --json", "did you mean --format json?"),
    ("compute p.yaml --tex", "there is no option --tex", "did you mean --format latex?"),
    ("compute p.yaml --exact", "there is no option --exact", "did you mean --rounding exact?"),
    ("compute p.yaml --cells", "there is no option --cells", "did you mean --detail cells?"),
    ("gradient p.yaml --gpu", "there is no option --gpu", "did you mean --device gpu?"),
    ("gradient p.yaml --fp16", "there is no option --fp16", "did you mean --dtype float16?"),
    ("compute p.yaml --digits 2", "there is no option --digits", "did you mean --precision?"),
    (
        "compute p.yaml --backward",
        "there is no option --backward",
        "did you mean attncli gradient?",
    ),
    ("compare p.yaml --causal", "there is no option --causal", "did you mean --set mask=causal?"),
    (
        "compare p.yaml --unscaled",
        "there is no option --unscaled",
        "did you mean --set scale=none?",
    ),
    ("cost p.yaml --causal", "there is no option --causal", "see attncli cost --help"),
    (
        "compute p.yaml --lenient",
        "there is no option --lenient",
        "check has it; see attncli compute --help",
    ),
    ("compute p.yaml --scal 2", "there is no option --scal", "did you mean --scale?"),
    ("compute", "FILE is missing", "see attncli compute --help"),
    ("compute a b", "there is too much on the line: b", "see attncli compute --help"),
    ("compute p.yaml --format", "--format needs a value", "see attncli compute --help"),
    ("compute p.yaml --heatmap=1", "--heatmap takes no value", "see attncli compute --help"),
    ("steps \x1b[31m --nope", "there is no option --nope", "see attncli steps --help"),
    ("\x1b[31m", "there is no command \\x1b[31m", "the commands are check, compare, "),
]


def test_a_name_of_a_file_with_blanks_needs_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my own homework.yaml").write_text("Q: [[1]]\nK: [[1]]\nV: [[1]]\n", encoding="utf-8")
    assert run(["compute", "-q", "my", "own", "homework.yaml"]) == 2
    help = f"help: a name with a blank needs quotes: {quoted('my own homework.yaml')}\n"
    assert capsys.readouterr().err.endswith(help)
    assert run(["compute", "-q", "my own homework.yaml"]) == 0


def test_the_quotes_of_cmd_exe_are_no_part_of_what_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.yaml").write_text("Q: [[1]]\nK: [[2]]\nV: [[1]]\n", encoding="utf-8")
    for options in (["--steps", "weights,output"], ["--cell", "scores[0,0]"]):
        printed = []
        for value in (options[1], f"'{options[1]}'"):
            assert run(["compute", "p.yaml", "-q", options[0], value]) == 0
            printed.append(capsys.readouterr().out)
        assert printed[0] == printed[1]
    assert run(["compare", "p.yaml", "--set", "'scale=2'", "-q"]) == 1


@pytest.mark.parametrize(("line", "message", "help"), USAGE)
def test_wrong_usage(
    line: str, message: str, help: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split(" ")) == 2
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert first == f"attncli: error: {message}"
    assert second.startswith(f"help: {help}")


def test_a_file_for_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my problem").touch()
    assert run(["my problem"]) == 2
    assert (
        capsys.readouterr().err
        == "attncli: error: there is no command my problem\nhelp: did you mean attncli compute 'my"
        " problem'?\n"
    )


def test_without_arguments_it_says_what_to_do_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "  attncli example i_love_ai | attncli compute - " in out
    assert out.splitlines()[-1].startswith("attncli --help lists all commands")
    assert max(map(len, out.splitlines())) <= 80
    # every line names a command that is there
    for words in re.findall(r"^  attncli (\w+)", out, re.MULTILINE):
        assert run([words, "--help"]) == 0


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], ["compute", "--help"], ["compute", "-h"]]
)
def test_help_is_data(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Usage: attncli ")
    assert err == ""


def test_help_keeps_what_stands_in_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    run(["compute", "--help"])
    assert "'scores[0,1]'" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"attncli {__version__}\n"


def test_every_command_has_its_first_sentence_in_the_list(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(["--help"])
    listed = capsys.readouterr().out.split("\nBegin:\n")[1]
    said = dict(re.findall(r"^  (\w+) +([A-Z](?:.|\n {10,})+)$", listed, re.MULTILINE))
    assert sorted(said) == sorted(
        file.parent.name for file in (ROOT / "attncli" / "features").glob("*/command.py")
    )
    for name, sentence in said.items():
        run([name, "--help"])
        whole = capsys.readouterr().out.split("\n\n")[1]
        assert sentence.split() == whole.split()
        assert re.search(r"[^.]\.$", sentence)


@pytest.mark.parametrize(
    ("failure", "code", "err"),
    [
        (
            AttncliError(Exit.MISSING, "no GPU", help="buy one"),
            5,
            "attncli: error: no GPU\nhelp: buy one\n",
        ),
        (KeyboardInterrupt(), 130, ""),
        (
            MemoryError(),
            3,
            (
                "attncli: error: there is not enough memory to do this\n"
                "help: allow more memory, or use --steps output --detail brief, which needs less\n"
            ),
        ),
        (
            OSError(28, "No space left on device"),
            4,
            (
                "attncli: error: cannot write standard output: no space left on device\n"
                "help: free some space, or write to another place\n"
            ),
        ),
        (
            OSError(5, "Input/output error"),
            4,
            (
                "attncli: error: cannot write standard output: input/output error\n"
                "help: write to another place\n"
            ),
        ),
        (
            ValueError("1\n2"),
            70,
            (
                "attncli: fault: ValueError: 1\\n2\nhelp: this is an error in attncli, not in your"
                " input; please report it with your command and with what the same command prints"
                " after ATTNCLI_TRACEBACK=1\n"
            ),
        ),
        (RecursionError(), 70, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_what_goes_wrong_inside(
    failure: BaseException,
    code: int,
    err: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(arguments: list[str]) -> int:
        raise failure

    monkeypatch.setattr(app, "call", fail)
    monkeypatch.delenv("ATTNCLI_TRACEBACK", raising=False)
    assert run(["compute"]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert err in (None, captured.err)


def test_a_traceback_is_shown_only_when_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: list[str]) -> int:
        raise ValueError("inside")

    monkeypatch.setattr(app, "call", fail)
    monkeypatch.setenv("ATTNCLI_TRACEBACK", "1")
    assert run([]) == 70
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last):\n")
    assert "ValueError: inside\nattncli: fault: ValueError: inside\n" in err


# What follows needs a process of its own: signals, closed and full streams, what is imported.


def attncli(
    *arguments: str, redirect: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """The command as a shell runs it, with a redirection such as >&-."""
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -m attncli "$@" {redirect}', sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("redirect", [">&-", "> /dev/full"])
@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_output_that_goes_nowhere_is_an_error(argument: str, redirect: str) -> None:
    done = attncli(argument, redirect=redirect)
    why = "it is closed" if redirect == ">&-" else "no space left on device"
    assert done.returncode == 4
    assert done.stderr.splitlines()[0] == f"attncli: error: cannot write standard output: {why}"
    assert "-o" not in done.stderr.splitlines()[1]  # which these do not have


@pytest.mark.sampled(1)
@pytest.mark.parametrize("redirect", ["2>&-", "2> /dev/full", ">&- 2>&-"])
def test_an_error_that_cannot_be_told_keeps_its_exit_code(redirect: str) -> None:
    done = attncli("nonsense", redirect=redirect)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_a_closed_pipe_ends_quietly() -> None:
    done = subprocess.run(
        ["sh", "-c", '( "$0" -m attncli schema trace; echo $? >&2 ) | true', sys.executable],
        capture_output=True,
        text=True,
    )
    # The reader may be gone before or after; then all was written, which is well, too.
    assert done.stderr in ("141\n", "0\n")


def test_a_pipe_without_a_reader_ends_by_its_signal() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(
        [sys.executable, "-m", "attncli", "--help"], stdout=writer, stderr=subprocess.PIPE
    ) as process:
        os.close(writer)
        assert process.communicate()[1] == b""
    assert process.returncode == -signal.SIGPIPE  # a shell says 141


def test_an_interruption() -> None:
    program = (
        "import os, signal, sys\n"
        "from attncli.cli import main as cli\n"
        "from attncli.cli import files\n"
        "files.require_writable = lambda *arguments: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.argv = ['attncli', 'compute', 'p.yaml']\n"
        "cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


INTERRUPTED = """
import os, signal, sys
from attncli.cli import main as cli

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
sys.argv = ["attncli", "compute", "inputs/padding.yaml"]
cli.main()
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name", ["attncli.cli.app", "typer", "attncli.errors", "yaml", "numpy", "attncli.tracing"]
)
def test_an_interruption_amid_an_import(name: str) -> None:
    program = INTERRUPTED.format(name=name)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.long
def test_an_interruption_while_a_file_is_written_cleans_up(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("old")
    program = (
        "import os, signal, sys\n"
        "from attncli.cli import main as cli\n"
        "os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGINT)\n"
        f"sys.argv = ['attncli', 'steps', '-o', {str(tmp_path / 'a.md')!r}]\n"
        "cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert os.listdir(tmp_path) == ["a.md"]
    assert (tmp_path / "a.md").read_text() == "old"


@pytest.mark.long
def test_an_interruption_that_is_ignored_stays_so() -> None:
    program = INTERRUPTED.format(name="yaml")
    done = subprocess.run(
        ["sh", "-c", 'trap "" INT; exec "$0" -c "$1"', sys.executable, program],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_an_ascii_terminal_gets_escapes() -> None:
    done = attncli("é", PYTHONIOENCODING="ascii")
    assert done.stderr.splitlines()[0] == "attncli: error: there is no command \\xe9"


HEAVY = ("numpy", "yaml", "rich")


def imported(
    arguments: list[str], preparation: str = "", names: tuple[str, ...] = HEAVY
) -> list[str]:
    """Which of these packages and modules a command line imports."""
    program = (
        f"{preparation}\nimport sys\nfrom attncli.cli.main import run\nrun({arguments!r})\n"
        + f"print(*(name for name in {names!r} if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return done.stderr.splitlines()[-1].split()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["--version"],
        ["compute", "--help"],
        ["nonsense"],
        ["compute", "x", "--precision", "many"],
    ],
)
def test_start_up_imports_nothing_heavy(arguments: list[str]) -> None:
    assert imported(arguments) == []


BAD = {
    "a text": "Q: [[1, 2], [3, x]]\nK: [[1, 2]]\nV: [[1]]\n",
    "no such key": "X: [[1, 2]]\nW_Q: [[1], [2]]\nW_k: [[1], [2]]\nW_V: [[1], [2]]\n",
    "rows of two lengths": "Q: [[1, 2], [3]]\nK: [[1, 2]]\nV: [[1]]\n",
    "a product that does not fit": (
        "X: [[1, 2, 3]]\nW_Q: [[1], [2]]\nW_K: [[1], [2]]\nW_V: [[1], [2]]\n"
    ),
    "heads": "heads: 2\nQ: [[1, 2, 3]]\nK: [[1, 2, 3]]\nV: [[1, 2]]\n",
    "heads side by side": "heads: 2\nQ: [[1, 2]]\nK: [[1, 2]]\nV: [[1, 2]]\nW_O: [[1]]\n",
    "one row too few of values": "Q: [[1, 2]]\nK: [[1, 2], [3, 4]]\nV: [[1, 2]]\n",
    "a mask": "Q: [[1, 2]]\nK: [[1, 2], [3, 4]]\nV: [[1, 2], [3, 4]]\nmask: [[true]]\n",
    "padding": (
        "Q: [[1, 2]]\nK: [[1, 2], [3, 4]]\nV: [[1, 2], [3, 4]]\nmask: {padding: [1, 0, 0]}\n"
    ),
    "labels": "Q: [[1, 2]]\nK: [[1, 2]]\nV: [[1, 2]]\ntokens: [a, b]\n",
}


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_what_is_wrong_with_typed_numbers_is_told_without_numpy(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    assert {*imported(["compute", str(tmp_path / "bad.yaml")])} <= {"yaml"}


FOR_SOME = {  # what few runs need, each with a command line that does
    "rich": ["compute", "inputs/i_love_ai.yaml", "--color", "always"],
    "attncli.tracing.backward": ["gradient", "inputs/i_love_ai.yaml"],
    "attncli.attention.backward": ["gradient", "inputs/i_love_ai.yaml"],
    "attncli.equation.differentiation": ["gradient", "inputs/i_love_ai.yaml"],
    "attncli.equation.exact": ["compute", "inputs/i_love_ai.yaml", "--rounding", "exact"],
    "attncli.tracing.serialization": ["compute", "inputs/i_love_ai.yaml", "--format", "json"],
    "attncli.tracing.chunked": [
        "compute",
        "inputs/i_love_ai.yaml",
        "--steps",
        "weights",
        "--detail",
        "brief",
    ],
}


@pytest.mark.long
def test_a_plain_run_imports_neither_the_way_back_nor_closed_forms() -> None:
    assert imported(["compute", "inputs/i_love_ai.yaml"], names=tuple(FOR_SOME)) == []


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FOR_SOME)
def test_what_few_runs_need_is_imported_by_these(name: str) -> None:
    assert imported(FOR_SOME[name], names=(name,)) == [name]


@pytest.mark.long
def test_problems_are_read_without_numpy(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom attncli.problem.loader import load\nload('inputs/{}')\nassert 'numpy' not"
        " in sys.modules"
    )
    for name in (
        "i_love_ai.yaml",
        "multi_head.yaml",
        "head_masks.yaml",
        "qkv_given.json",
        "exact_fractions.yaml",
    ):
        subprocess.run([sys.executable, "-c", program.format(name)], cwd=ROOT, check=True)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", HEAVY)
def test_the_start_up_test_can_fail(name: str) -> None:
    assert imported(["--help"], f"import {name}") == [name]


@pytest.mark.long
def test_an_unbuffered_standard_output_gets_all_or_an_error(tmp_path: Path) -> None:
    """With PYTHONUNBUFFERED a write may be short and say so only in its result."""
    script = f"ulimit -f 20; exec {sys.executable} -m attncli compute inputs/twelve_tokens.yaml"
    target = tmp_path / "page.txt"
    with target.open("wb") as stream:
        done = subprocess.run(
            ["bash", "-c", script],
            stdout=stream,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            cwd=ROOT,
            check=False,
        )
    assert done.returncode == 4
    assert b"attncli: error: cannot write standard output: " in done.stderr
