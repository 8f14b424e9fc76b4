"""What a shell offers when somebody presses Tab: commands, options, words of options, names, and
else files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attncli.attention.registry import RULES
from attncli.cli.main import run

PROGRAM = Path(sys.executable).parent
COMMANDS = sorted(
    path.parent.name
    for path in (Path(__file__).parents[2] / "attncli" / "features").glob("*/command.py")
)
MISSING = {
    name: pytest.mark.skipif(shutil.which(name) is None, reason=f"needs {name}")
    for name in ("bash", "zsh", "fish")
}


def offered(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """What bash would be told to offer at the end of this line."""
    monkeypatch.setenv("_ATTNCLI_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    assert run([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("attncli ", COMMANDS),
        ("attncli gr", ["gradient"]),
        ("attncli --sh", ["--show-completion"]),
        ("attncli compute --det", ["--detail"]),
        ("attncli compute --detail ", ["brief", "rows", "cells"]),
        ("attncli compute p.yaml --format m", ["markdown"]),
        ("attncli compute p.yaml --format bad --dtype b", ["bfloat16"]),
        ("attncli gradient p.yaml --as torch", ["torch", "torch-mha"]),
        ("attncli compute p.yaml --mask ", ["causal", "none"]),
        ("attncli compute p.yaml --steps row_m", ["row_max"]),
        ("attncli compute p.yaml --steps Q,K_T,scal", ["Q,K_T,scaled"]),
        ("attncli check p.yaml a.yaml --steps wei", ["weights"]),
        ("attncli worksheet p.yaml --blank wei", ["weights"]),
        ("attncli steps ", list(RULES)),
        ("attncli schema v", ["verdict"]),
        ("attncli example i_l", ["i_love_ai"]),
        ("attncli example answers/h", ["answers/homework"]),
        ("attncli new --mask c", ["causal"]),
        ("attncli compute p", []),  # a file
        ("attncli compute p.yaml -o ", []),
    ],
)
def test_what_is_offered(
    line: str,
    expected: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert offered(line, capsys, monkeypatch) == expected


def test_every_option_of_a_command_is_offered(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = offered("attncli compute --", capsys, monkeypatch)
    assert {"--output", "--steps", "--precision", "--as", "--help"} <= {*found}


def test_a_misspelt_command_is_no_error_while_a_line_is_typed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    offered("attncli cmpute --det", capsys, monkeypatch)


def script(shell: str, folder: Path) -> Path:
    path = folder / f"completion.{shell}"
    environment = {**os.environ, "_ATTNCLI_COMPLETE": f"source_{shell}"}
    path.write_bytes(
        subprocess.run(
            [PROGRAM / "attncli"], env=environment, check=True, capture_output=True, cwd=folder
        ).stdout
    )
    return path


def played(words: list[str], folder: Path) -> list[str]:
    environment = {
        **os.environ,
        "PATH": f"{PROGRAM}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
    }
    done = subprocess.run(
        words, env=environment, cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.long
@MISSING["bash"]
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["compute", "--detail", ""], ["brief", "rows", "cells"]),
        (["exam"], ["example"]),
        (["compute", "p"], []),
    ],
)
def test_in_bash(words: list[str], expected: list[str], tmp_path: Path) -> None:
    line = ["attncli", *words]
    typed = " ".join(f"'{word}'" for word in line)
    read = f"source {script('bash', tmp_path)}; COMP_WORDS=({typed}); COMP_CWORD={len(words)}"
    call = "_attncli_completion attncli; printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p attncli"
    *found, registered = played(["bash", "--norc", "-c", f"{read}; {call}"], tmp_path)
    assert [word for word in found if word] == expected
    # default: files, where nothing is offered
    assert registered == "complete -o default -F _attncli_completion attncli"


@pytest.mark.long
@MISSING["zsh"]
def test_in_zsh(tmp_path: Path) -> None:
    stubs = "compdef() { : }; _arguments() { print -r -- $@ }; _files() { print files }"
    read = f"{stubs}; source {script('zsh', tmp_path)}"
    details = 'words=(attncli compute --detail ""); CURRENT=4; _attncli_completion'
    commands = "words=(attncli co); CURRENT=2; _attncli_completion"
    files = "words=(attncli compute p); CURRENT=3; _attncli_completion"
    found = "\n".join(
        played(["zsh", "-f", "-c", f"{read}; {details}; {commands}; {files}"], tmp_path)
    )
    assert '*: :(("brief"\n"rows"\n"cells"))' in found or '*: :(("brief" "rows" "cells"))' in found
    assert '"compute":"Work out a problem, step by step."' in found
    assert found.endswith("\nfiles")


@pytest.mark.long
@MISSING["fish"]
def test_in_fish(tmp_path: Path) -> None:
    (tmp_path / "problem.yaml").touch()
    lines = ["attncli compute --detail ", "attncli co", "attncli compute pro"]
    asked = "; ".join(f"complete -C '{line}'" for line in lines)
    found = played(
        ["fish", "--no-config", "-c", f"source {script('fish', tmp_path)}; {asked}"], tmp_path
    )
    words = [line.split("\t")[0] for line in found]
    assert words == ["brief", "cells", "rows", "compare", "compute", "cost", "problem.yaml"]


@MISSING["bash"]
def test_it_is_installed_for_the_shell_that_runs(tmp_path: Path) -> None:
    said = played(["bash", "--norc", "-c", "attncli --install-completion; true"], tmp_path)
    assert said[0] == f"bash completion installed in {tmp_path}/.bash_completions/attncli.sh"
    registered = played(["bash", "--norc", "-c", "source ~/.bashrc; complete -p attncli"], tmp_path)
    assert registered == ["complete -o default -F _attncli_completion attncli"]


def test_an_unknown_shell_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("csh", "/bin/csh"))
    for option in ("--install-completion", "--show-completion"):
        assert run([option]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(
            "attncli: error: only bash, zsh, fish and PowerShell can complete; this is another"
            " shell\nhelp: "
        )
