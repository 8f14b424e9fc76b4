"""One target's own process: led by coverage with atheris, or without it by chance."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.tools.fuzz.targets import Target

HERE = Path(__file__).parent
LONGEST = 4096  # bytes of an input
MEMORY = 3072  # MiB that a process may hold
EACH = 10  # seconds that one input may take


def fuzz(name: str, seconds: float, seed: int, work: Path, *, merge: bool) -> int:
    """Fuzz until the time is over or a promise is broken; with `merge`, put those that go new ways
    to `begin`.
    """
    try:
        import atheris
    except ImportError:
        return _draw(name, seconds, seed)
    tempfile.tempdir = str(work)
    target = _watched(atheris, name)
    begin, found = work / "begin", work / "found"
    for folder in (begin, found):
        folder.mkdir(exist_ok=True)
    for data in target.begin():
        (begin / named(data)).write_bytes(data)
    folders = [str(found), str(begin)]
    options = [
        f"-max_len={LONGEST}",
        f"-timeout={EACH}",
        f"-rss_limit_mb={MEMORY}",
        f"-seed={seed}",
    ]
    if merge:  # only what finds a way that no seed finds
        options, folders = [*options, "-merge=1"], [str(begin), str(found)]
    else:
        options += [
            f"-max_total_time={max(1, round(seconds))}",
            f"-artifact_prefix={_crashes(name)}/",
        ]
        options += [f"-dict={_dictionary(work)}"]
    # which libFuzzer starts once more for each part of a merge
    itself = f"{sys.executable} {__file__} {name}"
    atheris.Setup([itself, *options, *folders], target.play)
    atheris.Fuzz()
    return 0


def _watched(atheris: Any, name: str) -> Target:
    """The target, with every module of the program watched for the ways that inputs take through
    it.
    """
    with atheris.instrument_imports(include=["attncli"]):
        import attncli

        for module in pkgutil.walk_packages(attncli.__path__, "attncli.", onerror=lambda _: None):
            # it needs PyTorch
            if module.name != "attncli.__main__" and not module.name.startswith("attncli.torch"):
                importlib.import_module(module.name)
        from tests.tools.fuzz.targets import TARGETS
    return TARGETS[name]


def _draw(name: str, seconds: float, seed: int) -> int:
    """Without coverage: good and bad files with slips in them."""
    from tests.tools.fuzz.mutations import mutated
    from tests.tools.fuzz.targets import TARGETS

    target, chance = TARGETS[name], random.Random(seed)
    seeds = target.begin()
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data = mutated(chance.choice(seeds), chance)[:LONGEST]
        count += 1
        try:
            target.play(data)
        except BaseException:
            (_crashes(name) / f"crash-{named(data)}").write_bytes(data)
            raise
    print(f"drawn {count} inputs without coverage (pip install '.[fuzz]' for atheris)")
    return 0


def _dictionary(work: Path) -> Path:
    """The words of the formats, for libFuzzer to put in."""
    from attncli.attention.registry import RULES
    from attncli.problem.keys import KEYS
    from tests.tools.fuzz.mutations import ODD, PIECES

    words = {
        *ODD,
        *PIECES,
        *RULES,
        *(f"{key}: " for key in KEYS),
        "causal",
        "padding",
        "lengths",
        "window",
        "additive",
    }
    lines = ["".join(f"\\x{byte:02x}" for byte in word.encode()) for word in sorted(words)]
    path = work / "words"
    path.write_text("".join(f'"{line}"\n' for line in lines if line))
    return path


def _crashes(name: str) -> Path:
    folder = HERE / "crashes" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def named(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()[:12]


if __name__ == "__main__":
    import atheris

    sys.path.insert(0, str(HERE.parents[2]))
    atheris.Setup([sys.argv[0], *sys.argv[2:]], _watched(atheris, sys.argv[1]).play)
    atheris.Fuzz()
