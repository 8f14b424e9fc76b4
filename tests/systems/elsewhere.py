"""Runs attncli in a process that takes this machine for another system: with the standard library
that system has.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from typeshed import differences

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GIVEN_BY_SHELLS = ("LANG", "LC_ALL", "LC_CTYPE", "PYTHONIOENCODING", "NO_COLOR", "FORCE_COLOR")


@cache
def facts(platform: str) -> Path:
    """The file in which the stand-in finds what this system lacks."""
    path = Path(mkdtemp(prefix="attncli-")) / f"{platform}.json"
    found = differences(platform)
    path.write_text(
        json.dumps({"platform": platform, "absent": found.absent, "lacks": found.lacks}),
        encoding="utf-8",
    )
    return path


def environment(platform: str, encoding: str) -> dict[str, str]:
    """The variables with which a Python takes this machine for another one; its streams are strict,
    as there.
    """
    kept = {name: value for name, value in os.environ.items() if name not in GIVEN_BY_SHELLS}
    return kept | {
        "STANDIN": str(facts(platform)),
        "PYTHONPATH": os.pathsep.join((str(HERE / "standin"), str(ROOT))),
        "PYTHONIOENCODING": f"{encoding}:strict",
        "PYTHONWARNDEFAULTENCODING": "1",
        "COLUMNS": "80",
    }


def attncli(
    arguments: list[str],
    folder: Path,
    *,
    platform: str = "win32",
    encoding: str = "cp65001",
    **settings: Any,
) -> subprocess.CompletedProcess[bytes]:
    """What `attncli ARGUMENTS` answers in this folder, there."""
    settings = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    } | settings
    if "input" in settings:
        del settings["stdin"]
    command = [sys.executable, "-m", "attncli", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment(platform, encoding), check=False, **settings
    )


def python(
    program: str, folder: Path, *, platform: str = "win32"
) -> subprocess.CompletedProcess[bytes]:
    """What a program that calls itself a module of attncli does there."""
    as_ours = f"__name__ = 'attncli.tried'\n{program}"
    command = [sys.executable, "-c", as_ours]
    return subprocess.run(
        command, cwd=folder, env=environment(platform, "cp65001"), check=False, capture_output=True
    )
