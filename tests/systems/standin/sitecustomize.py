"""Makes attncli find the standard library as another system has it. Python runs this file when it
starts.

Only modules of attncli are shown a different library: Python itself and other packages keep theirs,
or nothing would run. The variable STANDIN names a file of JSON that says what is absent, what
modules lack, and what the system is called. What Windows does in another way is added here, as far
as it can be done elsewhere:

- A file that is open can be neither replaced nor renamed nor removed.
- Only a few signals can be answered. There is no SIGPIPE, so writing to a pipe without a reader is
  an error.
- Text that is written ends its lines with a carriage return and a line feed.
- There are at most 61 processes in a pool.
- Escape sequences mean nothing to a console that was not asked to heed them.
"""

from __future__ import annotations

import builtins
import json
import os
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

FACTS = json.loads(Path(os.environ["STANDIN"]).read_text(encoding="utf-8"))
ON_WINDOWS = FACTS["platform"] == "win32"
MOST_PROCESSES = 61


class StandIn(ModuleType):
    """A module as another system has it: without some names, and with others."""

    def __init__(self, real: ModuleType, lacks: list[str], instead: dict[str, Any]) -> None:
        own = {
            "__name__": real.__name__,
            "_real": real,
            "_lacks": frozenset(lacks),
            "_instead": instead,
        }
        ModuleType.__getattribute__(self, "__dict__").update(own)

    def __getattribute__(self, name: str) -> Any:
        own = ModuleType.__getattribute__(self, "__dict__")
        if name in own["_instead"]:
            return own["_instead"][name]
        if name in own["_lacks"]:
            raise AttributeError(f"module {own['__name__']!r} has no attribute {name!r}")
        return getattr(own["_real"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(ModuleType.__getattribute__(self, "_real"), name, value)


def refusing_open_files(change: Any) -> Any:
    """A function that changes files by their names, as Windows has it."""

    def changed(*paths: Any) -> Any:
        for path in paths:
            if is_open(path):
                raise PermissionError(
                    13, "The file is being used by another process", os.fspath(path)
                )
        return change(*paths)

    return changed


def is_open(path: Any) -> bool:
    """Whether this process has opened the file, as Linux lists it."""
    real, listed = os.path.realpath(path), "/proc/self/fd"
    for number in os.listdir(listed) if os.path.isdir(listed) else ():
        try:
            if os.readlink(f"{listed}/{number}") == real:
                return True
        except OSError:
            # the one of the list itself, which is closed by now
            continue
    return False


def answer(number: int, handler: Any) -> Any:
    """`signal.signal`, which on Windows takes few signals."""
    known = {
        getattr(signal, f"SIG{name}") for name in ("ABRT", "FPE", "ILL", "INT", "SEGV", "TERM")
    }
    if number not in known | {BREAK}:
        raise ValueError("invalid signal value")
    return signal.signal(number, handler)


def wake(descriptor: int, **settings: Any) -> int:
    """`signal.set_wakeup_fd`, which on Windows takes a pipe as it is."""
    os.set_blocking(descriptor, False)
    return signal.set_wakeup_fd(descriptor, **settings)


def run(*arguments: Any, creationflags: int = 0, **settings: Any) -> Any:
    """`subprocess.run`, which takes flags on Windows alone."""
    return subprocess.run(*arguments, **settings)


class Popen(subprocess.Popen[bytes]):
    """A process that is started with flags, which only Windows takes."""

    def __init__(self, *arguments: Any, creationflags: int = 0, **settings: Any) -> None:
        super().__init__(*arguments, **settings)


class Pool(ProcessPoolExecutor):
    """A pool that has no more processes than Windows can wait for."""

    def __init__(self, max_workers: int | None = None, *arguments: Any, **settings: Any) -> None:
        if max_workers is not None and max_workers > MOST_PROCESSES:
            raise ValueError(f"max_workers must be <= {MOST_PROCESSES}")
        super().__init__(max_workers, *arguments, **settings)


BREAK = 21  # SIGBREAK on Windows
WINDOWS: dict[str, dict[str, Any]] = {
    "os": {
        "name": "nt",
        "O_BINARY": 0,
        **{
            name: refusing_open_files(getattr(os, name))
            for name in ("replace", "rename", "unlink", "remove")
        },
    },
    "signal": {"SIGBREAK": BREAK, "signal": answer, "set_wakeup_fd": wake},
    "subprocess": {"run": run, "Popen": Popen, "CREATE_NEW_PROCESS_GROUP": 512},
    "concurrent.futures": {"ProcessPoolExecutor": Pool},
    # which knows no console
    "ctypes": {"WinDLL": lambda name: SimpleNamespace(GetConsoleMode=lambda *_: 0)},
}
INSTEAD: dict[str, dict[str, Any]] = {**(WINDOWS if ON_WINDOWS else {})}
INSTEAD["sys"] = {"platform": FACTS["platform"]}
STAND_INS: dict[str, StandIn] = {}
python_imports = builtins.__import__


def import_for(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> Any:
    """`import`, which gives modules of attncli what the other system has."""
    importer = (globals or {}).get("__name__") or ""
    if level or importer.partition(".")[0] != "attncli":
        return python_imports(name, globals, locals, fromlist, level)
    if name in FACTS["absent"]:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    module = python_imports(name, globals, locals, fromlist, level)
    known = name if fromlist else name.partition(".")[0]
    if known not in FACTS["lacks"] and known not in INSTEAD:
        return module
    if known not in STAND_INS:
        STAND_INS[known] = StandIn(module, FACTS["lacks"].get(known, []), INSTEAD.get(known, {}))
    return STAND_INS[known]


builtins.__import__ = import_for
if ON_WINDOWS:
    sys.modules["msvcrt"] = ModuleType("msvcrt")
    sys.modules["msvcrt"].get_osfhandle = lambda descriptor: descriptor  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(newline="\r\n")  # type: ignore[attr-defined]
# A file that is opened as text, without its encoding, would be read in another one there.
warnings.filterwarnings("error", category=EncodingWarning, module="attncli")
