"""A file is written whole or not at all; whatever goes wrong, the old one stays and nothing is left
beside it.
"""

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.cli import files
from attncli.cli.main import run
from attncli.errors import AttncliError, Exit

FAILURES = [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()]
AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def write(path: Path | str, text: str = "new\n") -> None:
    files.write(text, str(path), portable=True)


def test_a_new_file(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "é √2\r\n")
    assert (tmp_path / "a.md").read_bytes() == "é √2\r\n".encode()
    assert os.listdir(tmp_path) == ["a.md"]


def test_a_new_file_has_the_permissions_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    write(tmp_path / "a.md")
    assert (tmp_path / "a.md").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_an_old_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")
    path.chmod(0o640)
    write(path)
    assert path.read_text() == "new\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real/a.md")
    write(tmp_path / "link.md")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real" / "a.md").read_text() == "new\n"


@pytest.mark.skipif(not AS_ROOT, reason="only root may give a file to somebody else")
def test_an_old_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")
    os.chown(path, 1234, 5678)
    write(path)
    assert path.read_text() == "new\n"
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


def test_an_owner_that_cannot_be_kept_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")

    def refuse(*arguments: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    write(path)
    assert path.read_text() == "new\n"


def test_another_hard_link_keeps_the_old_page(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("old")
    os.link(tmp_path / "a.md", tmp_path / "b.md")
    write(tmp_path / "a.md")
    assert (tmp_path / "a.md").read_text() != "old"
    assert (tmp_path / "b.md").read_text() == "old"


def test_a_link_to_itself_is_refused_and_stays(tmp_path: Path) -> None:
    loop = tmp_path / "loop.md"
    loop.symlink_to("loop.md")
    for step in (lambda: files.require_writable(str(loop), "-"), lambda: write(loop)):
        with pytest.raises(AttncliError) as caught:
            step()
        assert caught.value.exit_code == Exit.FILE
        assert str(caught.value) == f"cannot write {loop}: too many levels of symbolic links"
    assert os.readlink(loop) == "loop.md"
    assert os.listdir(tmp_path) == ["loop.md"]


def test_a_link_into_a_missing_folder_names_that_folder(tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to("no/a.md")
    with pytest.raises(AttncliError) as caught:
        files.require_writable(str(tmp_path / "link.md"), "-")
    assert (
        str(caught.value)
        == f"cannot write {tmp_path}/link.md: there is no folder {os.path.realpath(tmp_path)}/no"
    )


def test_a_link_to_nothing_yet_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to("a.md")
    files.require_writable(str(tmp_path / "link.md"), "-")
    write(tmp_path / "link.md")
    assert (tmp_path / "a.md").read_text() == "new\n"
    assert (tmp_path / "link.md").is_symlink()


def test_a_name_of_the_greatest_length(tmp_path: Path) -> None:
    write(tmp_path / ("a" * 255))
    assert (tmp_path / ("a" * 255)).read_text() == "new\n"


def test_lone_surrogates_become_escapes(tmp_path: Path) -> None:
    write(tmp_path / "a.json", '"\ud800"')
    assert (tmp_path / "a.json").read_bytes() == b'"\\ud800"'


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize(
    ("function", "old"),
    [("fsync", True), ("fsync", False), ("replace", True), ("replace", False), ("chmod", True)],
)
def test_a_failure_changes_nothing(
    function: str,
    old: bool,
    failure: BaseException,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "a.md"
    if old:
        path.write_text("old")

    def fail(*arguments: Any, **named: Any) -> None:
        raise failure

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(AttncliError if isinstance(failure, OSError) else type(failure)) as caught:
        write(path)
    monkeypatch.undo()
    if isinstance(caught.value, AttncliError):
        assert caught.value.exit_code == Exit.FILE
        assert str(caught.value) == f"cannot write {path}: no space left on device"
    assert [name.name for name in tmp_path.iterdir()] == (["a.md"] if old else [])
    assert not old or path.read_text() == "old"


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_a_failure_while_writing_changes_nothing(
    failure: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(io.FileIO):
        def write(self, data: Any) -> int:
            super().write(data[:2])
            raise failure

    path = tmp_path / "a.md"
    path.write_text("old")
    monkeypatch.setattr(files, "open", lambda name, mode: Failing(name, mode), raising=False)
    with pytest.raises(AttncliError if isinstance(failure, OSError) else type(failure)):
        write(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.md"]


def test_a_fifo_is_written_to_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(["cat", tmp_path / "fifo"], stdout=subprocess.PIPE) as reader:
        write(tmp_path / "fifo")
        assert reader.communicate()[0] == b"new\n"
    assert (tmp_path / "fifo").is_fifo()


def test_standard_output_by_its_name_in_the_file_system(tmp_path: Path) -> None:
    program = "from attncli.cli.files import write; write('new\\n', '/dev/stdout', portable=True)"
    with (tmp_path / "log").open("wb") as log:
        log.write(b"before\n")
        log.flush()
        subprocess.run([sys.executable, "-c", program], stdout=log, check=True)
    assert (tmp_path / "log").read_text() == "before\nnew\n"


def test_a_full_device() -> None:
    with pytest.raises(
        AttncliError, match=r"(?m)^cannot write /dev/full: no space left on device$"
    ):
        write("/dev/full")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the folder that a process is in")
@pytest.mark.parametrize(
    "command", [["compute", "-o", "page.md"], ["worksheet", "-o", "page.md", "--answers", "a.yaml"]]
)
def test_in_a_folder_that_is_gone(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "p.yaml").write_text(
        "X: [[1, 2]]\nW_Q: [[1], [2]]\nW_K: [[1], [2]]\nW_V: [[1], [2]]\n"
    )
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run([command[0], str(tmp_path / "p.yaml"), *command[1:]]) == 4
    assert capsys.readouterr().err.startswith(
        "attncli: error: cannot write page.md: the folder that this runs in has been removed\n"
    )


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(
        AttncliError, match=r"(?m)^cannot write \S+/no/a.md: there is no folder \S+/no$"
    ):
        files.require_writable(str(tmp_path / "no" / "a.md"), "-")


def test_the_folder_has_to_be_there_as_the_name_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell finds no x/../problem.yaml without an x, so what it would replace is not seen."""
    monkeypatch.chdir(tmp_path)
    Path("problem.yaml").write_text("X: [[1]]")
    for name, meant in [("x/../problem.yaml", "problem.yaml"), ("x/y/../../a.md", "a.md")]:
        with pytest.raises(AttncliError) as caught:
            files.require_new(name)
        assert str(caught.value) == f"cannot write {name}: there is no folder x"
        assert caught.value.help.startswith(f"write -o {meant}, or ")
    Path("x").mkdir()
    with pytest.raises(AttncliError, match="would replace a file"):
        files.require_new("x/../problem.yaml")
    files.require_writable("x/../a.md", "-")


@pytest.mark.parametrize("name", ["new/", "new//", "file/", "no/new/"])
def test_a_name_that_ends_as_that_of_a_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    with pytest.raises(AttncliError) as caught:
        files.require_writable(name, "-")
    assert str(caught.value) == f"cannot write {name}: a name that ends in / is of a folder"
    assert caught.value.help.startswith(f"write -o {name.rstrip('/')}, or ")
    assert caught.value.exit_code == Exit.FILE


@pytest.mark.parametrize("name", ["", "/"])
def test_a_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(AttncliError, match=r"(?m)^cannot write \S+: it is a folder$") as caught:
        files.require_writable(f"{tmp_path}{name}", "-")
    assert caught.value.exit_code == Exit.FILE


@pytest.mark.skipif(AS_ROOT, reason="root may write everywhere")
def test_a_protected_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.md").touch(0o444)
    with pytest.raises(AttncliError, match=r"(?m)^cannot write \S+: permission denied$"):
        files.require_writable(str(tmp_path / "a.md"), "-")


@pytest.mark.parametrize("name", ["problem.yaml", "./problem.yaml", "link.yaml", "hard.yaml"])
def test_the_problem_itself_is_not_written_over(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("problem.yaml").write_text("X: [[1]]")
    Path("link.yaml").symlink_to("problem.yaml")
    Path("hard.yaml").hardlink_to("problem.yaml")
    with pytest.raises(AttncliError) as caught:
        files.require_writable(name, "problem.yaml")
    assert caught.value.exit_code == Exit.USAGE
    assert str(caught.value) == f"-o {name} would write over the problem itself"


def test_the_problem_on_standard_input_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "problem.yaml").write_text("X: [[1]]")
    with (tmp_path / "problem.yaml").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(AttncliError, match="would write over the problem itself"):
            files.require_writable(str(tmp_path / "problem.yaml"), "-")


@pytest.mark.parametrize("path", [None, "-", "new.md"])
def test_an_output_that_can_be_written_passes(
    path: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files.require_writable(path, "-")
    assert os.listdir(tmp_path) == []


def test_an_output_without_a_name() -> None:
    with pytest.raises(AttncliError, match=r"(?m)^-o needs the name of a file$"):
        files.require_writable("", "-")


@pytest.mark.each_choice
@pytest.mark.parametrize("name", ["q.npy", "link.npy"])
@pytest.mark.parametrize(
    "line",
    [
        ["compute", "p.yaml", "--steps", "scores", "-o"],
        ["gradient", "p.yaml", "--steps", "d_Q", "-o"],
        ["cost", "p.yaml", "--format", "json", "-o"],
        ["scaling", "p.yaml", "--draws", "1", "--format", "json", "-o"],
        ["worksheet", "p.yaml", "--format", "latex", "-o"],
        ["compare", "p.yaml", "--set", "scale=1", "--format", "json", "-o"],
    ],
    ids=" ".join,
)
def test_an_array_of_the_problem_is_not_written_over(
    line: list[str],
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("q.npy", np.ones((1, 2)))
    Path("link.npy").symlink_to("q.npy")
    Path("p.yaml").write_text("Q: {file: q.npy}\nK: [[1, 2]]\nV: [[3]]\n")
    before = Path("q.npy").read_bytes()
    assert run([*line, name]) == 2
    assert f"{line[-1]} {name} would write over a file that is read" in capsys.readouterr().err
    assert Path("q.npy").read_bytes() == before
    assert run(["compute", "p.yaml", "-o", "page.md"]) == 0
    assert run(["compute", "p.yaml", "-o", "page.md"]) == 0  # which was not read


def test_an_array_under_the_name_of_answers_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("q.npy", np.ones((1, 2)))
    Path("answers.yaml").symlink_to("q.npy")
    Path("p.yaml").write_text("Q: {file: q.npy}\nK: [[1, 2]]\nV: [[3]]\n")
    assert run(["worksheet", "p.yaml", "--answers", "answers.yaml"]) == 2
    assert "--answers answers.yaml would write over a file that is read" in capsys.readouterr().err


PROBLEM = b"title: \xc3\xa9\ntokens: [a]\nQ: [[1]]\nK: [[1]]\nV: [[1]]\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("encoding", "title", "rule"),
    [("utf-8", "é", "━"), ("latin-1", "é", ""), ("ascii", r"\xe9", "")],
)
def test_a_page_for_people_is_in_the_encoding_of_standard_output(
    encoding: str, title: str, rule: str
) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "attncli", "compute", "-"],
        input=PROBLEM,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    assert result.stdout.decode(encoding).splitlines()[:2] == [title, rule]


@pytest.mark.long
def test_in_the_locale_c_standard_output_is_ascii_and_a_file_is_not(tmp_path: Path) -> None:
    """Python writes UTF-8 there, which nobody asked for who sets this locale."""
    love = str(Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml")
    command = [sys.executable, "-m", "attncli", "compute", love]
    bare = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LC_", "PYTHONIO", "LANG"))
    }
    shown = subprocess.run(
        command, env=bare | {"LC_ALL": "C"}, capture_output=True, check=True
    ).stdout
    asked = subprocess.run([*command, "--ascii"], env=bare, capture_output=True, check=True).stdout
    assert shown.isascii()
    assert shown == asked
    target = tmp_path / "page.txt"
    subprocess.run([*command, "-o", str(target)], env=bare | {"LC_ALL": "C"}, check=True)
    assert "Kᵀ" in target.read_text(encoding="utf-8")


@pytest.mark.long
def test_a_file_is_always_utf_8(tmp_path: object) -> None:
    target = f"{tmp_path}/page.txt"
    subprocess.run(
        [sys.executable, "-m", "attncli", "compute", "-", "-o", target],
        input=PROBLEM,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        check=True,
    )
    with open(target, encoding="utf-8") as file:
        assert file.read().splitlines()[:2] == ["é", "━"]


def files_of(folder: Path) -> dict[str, str]:
    return {each.name: each.read_text() for each in folder.iterdir() if each.is_file()}


def write_set(folder: Path, *names: str) -> None:
    files.write_files((str(folder / name), ["new ", name]) for name in names)


def test_files_of_a_set_replace_old_ones_and_leave_others(tmp_path: Path) -> None:
    (tmp_path / "1.tex").write_text("old")
    (tmp_path / "9.tex").write_text("old")
    write_set(tmp_path, "0.tex", "1.tex")
    assert files_of(tmp_path) == {"0.tex": "new 0.tex", "1.tex": "new 1.tex", "9.tex": "old"}


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize(
    ("function", "calls"), [("fsync", 3), ("replace", 1), ("replace", 3), ("rename", 1)]
)
def test_of_a_set_that_fails_no_file_is_written(
    function: str,
    calls: int,
    failure: BaseException,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "1.tex").write_text("old")
    real, count = getattr(os, function), 0

    def fail(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        if count == calls:
            raise failure
        return real(*arguments)

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(AttncliError if isinstance(failure, OSError) else type(failure)):
        write_set(tmp_path, "0.tex", "1.tex", "2.tex")
    monkeypatch.undo()
    assert files_of(tmp_path) == {"1.tex": "old"}


def test_a_folder_in_the_place_of_one_file_leaves_the_others_unwritten(tmp_path: Path) -> None:
    (tmp_path / "2.tex").mkdir()
    with pytest.raises(AttncliError) as caught:
        write_set(tmp_path, "0.tex", "1.tex", "2.tex")
    assert str(caught.value) == f"cannot write {tmp_path}/2.tex: it is no regular file"
    assert files_of(tmp_path) == {}
