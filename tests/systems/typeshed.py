"""What the standard library of another system lacks and adds, as typeshed says it.

typeshed has the types of the standard library, for mypy, which brings it along. Its stubs say `if
sys.platform != "win32":` before whatever Windows lacks. This reads the stubs as a system with
another name and another Python would.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

OURS = "linux"
OLDEST = (3, 11)  # the oldest Python that attncli runs with, which has least


class Differences(NamedTuple):
    """Of another system: whole modules that it lacks, and the names that a module lacks or has
    besides.
    """

    absent: list[str]
    lacks: dict[str, list[str]]
    adds: dict[str, list[str]]


@cache
def differences(platform: str, version: tuple[int, int] = OLDEST) -> Differences:
    """What tells this system, "win32" or "darwin", from Linux with the same Python."""
    found = Differences([], {}, {})
    for module, tree in _stubs():
        here, there = (set(_names(tree.body, system, version)) for system in (OURS, platform))
        if any(map(_is_public, here)) and not any(map(_is_public, there)):
            found.absent.append(module)
            continue
        if here - there:
            found.lacks[module] = sorted(here - there)
        if there - here:
            found.adds[module] = sorted(there - here)
    return found


def _stubs() -> Iterator[tuple[str, ast.Module]]:
    """The stubs in which a system makes a difference, by the names of their modules."""
    spec = find_spec("mypy")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "typeshed" / "stdlib"
    for path in sorted(folder.rglob("*.pyi")):
        text = path.read_text(encoding="utf-8")
        if "sys.platform" in text:
            parts = path.relative_to(folder).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__init__"), ast.parse(text)


def _is_public(name: str) -> bool:
    return not name.startswith("_")


def _names(body: list[ast.stmt], platform: str, version: tuple[int, int]) -> Iterator[str]:
    """The names that these statements define on this system, without what they import for
    themselves.
    """
    for statement in body:
        match statement:
            case ast.If():
                chosen = (
                    statement.body
                    if _holds(statement.test, platform, version)
                    else statement.orelse
                )
                yield from _names(chosen, platform, version)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign():
                yield from (each.id for each in statement.targets if isinstance(each, ast.Name))
            case ast.ImportFrom():
                yield from (each.name for each in statement.names if each.asname == each.name)


def _holds(test: ast.expr, platform: str, version: tuple[int, int]) -> bool:
    """Whether a condition of a stub is true on this system."""
    system = SimpleNamespace(platform=platform, version_info=(*version, 0))
    return bool(
        eval(
            compile(ast.Expression(test), "<stub>", "eval"), {"sys": system, "TYPE_CHECKING": True}
        )
    )
