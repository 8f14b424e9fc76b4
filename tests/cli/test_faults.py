"""Whatever fails, and at whichever of its calls to the system: an output file is complete, or as it
was before.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attncli.cli import files
from attncli.cli.main import run
from attncli.errors import AttncliError, Exit

LOVE = str(Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml")
OLD, PIECES = b"old", [b"a" * 20, b"b" * 5, b"", b"c" * 40, b"\n"]
NEW = b"".join(PIECES)
CALLS = ("open", "write", "flush", "fchown", "chmod", "fsync", "close", "replace")
FAULTS = [
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EIO, "I/O error"),
    KeyboardInterrupt(),
]


class Faulty:
    """Counts the calls to the system by which a file is written, and fails at one of them.

    A `write` may fail with nothing, or with a part of its bytes on the disk.
    """

    def __init__(self, fail_at: int | None = None, fault: BaseException | None = None) -> None:
        self.calls: list[str] = []
        self.fail_at = fail_at
        self.fault = fault

    def __call__(self, name: str) -> None:
        self.calls.append(name)
        if self.fault is not None and len(self.calls) - 1 == self.fail_at:
            raise self.fault

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        faulty = self

        class File(io.FileIO):
            def write(self, data: Any) -> int:
                half = bytes(data)[: len(data) // 2]
                if faulty.fail_at == len(faulty.calls):
                    super().write(half)
                faulty("write")
                return super().write(bytes(data)[:7])  # short writes are legal, too

            def close(self) -> None:
                if not self.closed:
                    super().close()  # as the system does: a file that fails to close is closed
                    faulty("close")

        class Buffered(io.BufferedWriter):
            def flush(self) -> None:
                if not self.closed and faulty.calls[-1] != "flush":
                    faulty("flush")
                super().flush()

        def opened(name: str, mode: str) -> io.BufferedWriter:
            faulty("open")
            return Buffered(File(name, mode), 8)

        monkeypatch.setattr(files, "open", opened, raising=False)
        for name in ("fchown", "chmod", "fsync", "replace"):
            monkeypatch.setattr(os, name, self._before(name, getattr(os, name)))

    def _before(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def first(*arguments: Any, **named: Any) -> Any:
            self(name)
            return call(*arguments, **named)

        return first


def all_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls of a run in which nothing fails."""
    (tmp_path / "a").write_bytes(OLD)
    counted = Faulty()
    with monkeypatch.context() as patch:
        counted.install(patch)
        files.write_bytes(PIECES, str(tmp_path / "a"))
    assert (tmp_path / "a").read_bytes() == NEW
    return counted.calls


def test_all_kinds_of_calls_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = all_calls(tmp_path, monkeypatch)
    assert set(calls) == set(CALLS)
    assert calls.count("write") >= 10
    assert calls[-1] == "replace"
    assert calls.index("fsync") > max(place for place, call in enumerate(calls) if call == "write")


# of files that could not be closed
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("fault", FAULTS, ids=["ENOSPC", "EIO", "Ctrl-C"])
@pytest.mark.parametrize("link", [False, True], ids=["file", "link"])
def test_a_fault_at_every_call(
    fault: BaseException, link: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = len(all_calls(tmp_path, monkeypatch))
    told = AttncliError if isinstance(fault, OSError) else KeyboardInterrupt
    for old in (OLD, None):
        for fail_at in range(number):
            folder = tmp_path / f"{old is None}{fail_at}"
            folder.mkdir()
            if old is not None:
                (folder / "a").write_bytes(old)
            if link:
                (folder / "link").symlink_to("a")
            before = sorted(os.listdir(folder))
            with monkeypatch.context() as patch:
                faulty = Faulty(fail_at, fault)
                faulty.install(patch)
                try:
                    files.write_bytes(iter(PIECES), str(folder / ("link" if link else "a")))
                except told:
                    assert sorted(os.listdir(folder)) == before, faulty.calls
                    assert old is None or (folder / "a").read_bytes() == old, faulty.calls
                else:
                    # only what may fail without harm: the owner of the old file, and calls that
                    # were not made
                    assert (folder / "a").read_bytes() == NEW
                    assert fail_at >= len(faulty.calls)


@pytest.mark.parametrize("what", ["the page", "the answers"])
@pytest.mark.parametrize(
    "fault", [PermissionError(13, "Permission denied"), OSError(30, "Read-only file system")]
)
def test_a_folder_that_nothing_can_be_written_to(
    what: str,
    fault: OSError,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(name: str, mode: str) -> Any:
        raise fault

    monkeypatch.setattr(files, "open", refuse, raising=False)
    option = "-o" if what == "the page" else "--answers"
    assert (
        run(
            [
                "worksheet",
                LOVE,
                option,
                str(tmp_path / "a.md" if option == "-o" else tmp_path / "a.yaml"),
            ]
        )
        == 4
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"attncli: error: cannot write {tmp_path}/a.")
    assert err.endswith(f"help: write to another place with {option} FILE\n")
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_made_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(OLD)

    def pieces() -> Iterator[bytes]:
        yield b"new"
        raise MemoryError

    with pytest.raises(MemoryError):
        files.write_bytes(pieces(), str(tmp_path / "a"))
    assert ((tmp_path / "a").read_bytes(), os.listdir(tmp_path)) == (OLD, ["a"])


@pytest.mark.parametrize("command", ["compute", "cost", "worksheet", "steps", "schema"])
def test_a_full_device_for_every_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    argument = {"steps": [], "schema": ["trace"]}.get(command, [LOVE])
    assert run([command, *argument, "-o", "/dev/full"]) == Exit.FILE
    assert capsys.readouterr().err.startswith(
        "attncli: error: cannot write /dev/full: no space left on device\n"
    )
