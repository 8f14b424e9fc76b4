"""The stand-in for another system lacks what that system lacks, so a test with it can fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from elsewhere import python
from typeshed import differences


@pytest.mark.long
def test_what_windows_lacks() -> None:
    """As the pages of the standard library say: "Availability: Unix, not Windows"."""
    windows = differences("win32")
    assert {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"} <= {
        *windows.absent
    }
    assert {"fork", "getuid", "fchown", "O_NONBLOCK", "sched_getaffinity", "set_blocking"} <= {
        *windows.lacks["os"]
    }
    assert {"SIGPIPE", "SIGHUP", "SIG_BLOCK", "pthread_sigmask", "alarm"} <= {
        *windows.lacks["signal"]
    }
    assert "tzset" in windows.lacks["time"]
    assert {"replace", "getpid", "kill", "cpu_count"}.isdisjoint(windows.lacks["os"])
    assert {"O_BINARY", "startfile"} <= {*windows.adds["os"]}
    assert "SIGBREAK" in windows.adds["signal"]


@pytest.mark.long
def test_what_newer_pythons_have_there() -> None:
    assert "set_blocking" not in differences("win32", (3, 12)).lacks["os"]


@pytest.mark.long
def test_what_macos_lacks() -> None:
    macos = differences("darwin")
    assert {"sched_getaffinity", "O_DIRECT"} <= {*macos.lacks["os"]}
    assert {"fork", "set_blocking", "fchown"}.isdisjoint(macos.lacks["os"])
    assert "resource" not in macos.absent


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("program", "said"),
    [
        (
            "import os; os.set_blocking(1, True)",
            "AttributeError: module 'os' has no attribute 'set_blocking'",
        ),
        ("import os; assert not hasattr(os, 'fork')", ""),
        ("from signal import SIGPIPE", "ImportError: cannot import name 'SIGPIPE'"),
        ("import resource", "ModuleNotFoundError: "),  # each Python says the rest in its own words
        ("import signal; signal.signal(1, signal.SIG_IGN)", "ValueError: invalid signal value"),
        (
            "import os; out = open('a', 'w', encoding='utf-8'); os.replace('a', 'b')",
            "PermissionError: [Errno 13]",
        ),
        ("import os; open('a', 'w', encoding='utf-8').close(); os.replace('a', 'b')", ""),
        ("open('c', 'w').close()", "EncodingWarning: 'encoding' argument not specified"),
        ("import sys; assert sys.platform == 'win32'", ""),
        ("import os; assert len(os.listdir('.')) == 0", ""),  # what is not lacking is as it is
        (
            "from concurrent.futures import ProcessPoolExecutor; ProcessPoolExecutor(62)",
            "ValueError: max_workers must",
        ),
    ],
)
def test_a_module_of_ours_is_shown_another_system(program: str, said: str, tmp_path: Path) -> None:
    done = python(program, tmp_path)
    *_, last = done.stderr.decode().splitlines() or [""]
    assert last.startswith(said) if said else (done.returncode, last) == (0, "")
    assert bool(said) == bool(done.returncode)


def test_other_modules_are_not(tmp_path: Path) -> None:
    program = (
        "__name__ = 'other'\nimport os, resource, sys; os.set_blocking(1, True);"
        " print(sys.platform)"
    )
    done = python(program, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"linux\r\n", b"")
