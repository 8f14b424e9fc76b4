"""The problems and solutions that come with the package: their names, what each is about, and their
text.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from attncli.errors import did_you_mean, usage_error

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

FIRST = "i_love_ai"
_SOLUTIONS = "answers"
_EQUATIONS = "equations"
_MODELINE = re.compile(r"(?m)^(# yaml-language-server: \$schema=)\S*/")
# A title in YAML, in JSON, and for what has no title its first comment.
_TITLES = (
    re.compile(r"(?m)^title: (.*)$"),
    re.compile(r'(?m)^ *"title": "(.*)",?$'),
    re.compile(r"(?m)^# (?!yaml-language-server)(.*?)[.:;](?: |$)"),
)
_REFERENCE = re.compile(r"\{file: ([\w.-]+)")


def problems() -> dict[str, Traversable]:
    """The problems by name, the simplest one first, then in the order of the alphabet."""
    return _texts(_folder(), "")


def with_equations() -> dict[str, Traversable]:
    """The problems with equations of their own, by name: equations/qk_norm."""
    return _texts(_folder() / _EQUATIONS, f"{_EQUATIONS}/")


def solutions() -> dict[str, Traversable]:
    """The solutions of some of the problems, by name: answers/homework."""
    return _texts(_folder() / _SOLUTIONS, f"{_SOLUTIONS}/")


def find(name: str) -> Traversable:
    """The problem or the solution of this name, which may end in .yaml; AttncliError (exit 2) where
    there is none.
    """
    known = problems() | with_equations() | solutions()
    found = known.get(name) or known.get(name.removeprefix("inputs/").removesuffix(".yaml"))
    if found is None:
        same = [each for each in known if each.rpartition("/")[2] == name]
        help = did_you_mean(name, list(known), "attncli example lists the names")
        if same:
            help = f"did you mean {same[0]}?"
        raise usage_error(f"there is no example {name}", help=help)
    return found


def text(file: Traversable) -> str:
    """What the file says; its first line names the schema as a file in the same folder."""
    return _MODELINE.sub(r"\1", file.read_text(encoding="utf-8"))


def about(file: Traversable) -> str:
    """One line on a problem or a solution: its title, or what its first comment says."""
    written = file.read_text(encoding="utf-8")
    return next((found[1] for pattern in _TITLES if (found := pattern.search(written))), "")


def data_files(file: Traversable) -> dict[str, bytes]:
    """The files of arrays that a problem refers to, by name."""
    names = dict.fromkeys(_REFERENCE.findall(file.read_text(encoding="utf-8")))
    return {name: (_folder() / name).read_bytes() for name in names}


def _folder() -> Traversable:
    """Where a wheel has them; without one, as in a clone, they are the inputs of the repository."""
    packed = files("attncli.features.example") / "problems"
    return packed if packed.is_dir() else Path(__file__).parents[3] / "inputs"


def _texts(folder: Traversable, prefix: str) -> dict[str, Traversable]:
    listed = (file for file in folder.iterdir() if file.name.endswith((".yaml", ".json")))
    found = {file.name.removesuffix(".yaml"): file for file in listed}
    return {
        f"{prefix}{name}": found[name]
        for name in sorted(found, key=lambda name: (name != FIRST, name))
    }
