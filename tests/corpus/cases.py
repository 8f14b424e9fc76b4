"""Reads the corpus: bad inputs as a person can read them, each with its exit code and the first
lines of its errors.

A case begins with `=== CODE NAME: TITLE`, goes on with the file of that name (`-` is standard
input), and ends with `=>` and one line for each error, followed by its help where that knows what
was meant. `‸` in the file stands before the place of an error, and in an error for that place.
After `escaped`, \\xNN is that byte, \\r and \\n are line breaks; `missing` is a file that is not
there. A line that begins with `$` is the command, of one case or, above the first, of all; `{}` in
it is the file.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
MARK = "‸"
_HEAD = re.compile(r"=== (\d+)(?: +(\S+?))?(?: +(escaped|missing))?: (.*)")
_ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|[rn])")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_DIGITS = "9" * 5000
_WORDS = {"{empty}": "", "{nul}": "\0", "{digits}": _DIGITS}
_ERROR = "attncli: error: "


@dataclass(frozen=True, slots=True)
class Case:
    """A bad input: `marked` is its file with the marks, `errors` are the expected ones with marks
    in them.
    """

    path: Path
    head: str
    code: int
    name: str
    missing: bool
    title: str
    marked: bytes
    command: str
    errors: tuple[str, ...]

    @property
    def group(self) -> str:
        """What is bad about it, and about others beside it."""
        return self.path.stem

    @property
    def data(self) -> bytes:
        """The file itself."""
        return self.marked.replace(MARK.encode(), b"")

    @property
    def called(self) -> str:
        """The file, as errors name it."""
        return "standard input" if self.name == "-" else self.name

    @property
    def places(self) -> list[str]:
        """LINE:COLUMN of every mark, counted in the bytes, independently of the program."""
        places = []
        pieces = self.marked.removeprefix(b"\xef\xbb\xbf").split(MARK.encode())
        for number in range(1, len(pieces)):
            before = _LINE_END.split(b"".join(pieces[:number]))
            places.append(f"{len(before)}:{len(before[-1].decode()) + 1}")
        return places

    @property
    def arguments(self) -> list[str]:
        """The command line."""
        words = self.command.replace("{}", self.name).split()
        for word, meaning in _WORDS.items():
            words = [each.replace(word, meaning) for each in words]
        return words

    def expected(self) -> list[str]:
        """The first line of every error, and some help."""
        places, lines = iter(self.places), []
        for line in self.errors:
            if line.startswith("help: "):
                lines.append(line)
                continue
            if line.startswith(MARK):
                line = f"{self.called}:{next(places)}: {line.removeprefix(MARK)}"
            lines.append(_ERROR + line)
        return lines


def cases() -> list[Case]:
    """All of the corpus."""
    return [case for path in sorted(FOLDER.glob("*.txt")) for case in _read(path)]


def lay_files(folder: Path) -> None:
    """Make the folder, with the files that the corpus refers to; the target of a link lies beside
    the folder.
    """
    folder.mkdir()
    shutil.copy(FOLDER.parents[1] / "inputs" / "i_love_ai.yaml", folder / "love.yaml")
    arrays = {
        "eye": np.eye(2), "objects": np.array([[{}]], dtype=object), "text": np.array([["a"]]),
        "complex": np.array([[1j]]), "truth": np.array([[True]]), "nan": np.array([[1, np.nan]]),
        "large": np.array([[2**53 + 1]]), "empty": np.zeros((0, 2)),
    }  # fmt: skip
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    np.savez(folder / "arrays.npz", wq=np.eye(2), wk=np.eye(2))
    (folder / "short.npy").write_bytes((folder / "eye.npy").read_bytes()[:-1])
    for name in ("words.npy", "words.npz", "words.safetensors", "model.pt"):
        (folder / name).write_bytes(b"some words, no array")
    for name, rows in (
        ("words.csv", b"d1,d2\n1,0\n0,one\n"),
        ("ragged.txt", b"1 0\n1\n"),
        ("latin.csv", b"1,\xe9\n"),
        ("doubt.csv", b"0,7, 0,2\n0,1, 0,5\n"),
    ):
        (folder / name).write_bytes(rows)
    (folder / "folder.npy").mkdir()
    os.mkfifo(folder / "pipe.npy")
    np.save(folder.parent / "secret.npy", np.eye(1))
    (folder / "link.npy").symlink_to("../secret.npy")
    (folder / "loop.npy").symlink_to("loop.npy")


def written(case: Case, lines: list[str]) -> str:
    """The file of a case with these lines in place of the expected ones; a mark for every place
    that is marked.
    """
    places, errors = case.places, []
    for line in lines:
        line = line.removeprefix(_ERROR)
        start = f"{case.called}:{places[0]}: " if places else "\0"
        if line.startswith(start):
            line = MARK + line.removeprefix(start)
            del places[0]
        errors.append(f"{line}\n")
    text = case.path.read_text(encoding="utf-8")
    begin = text.index(f"{case.head}\n") + len(case.head) + 1
    end = text.find("\n=== ", begin - 1) + 1 or len(text)
    body = text[begin:end].partition("=>\n")[0]
    return f"{text[:begin]}{body}=>\n{''.join(errors)}{text[end:]}"


def _read(path: Path) -> list[Case]:
    above, *parts = re.split(r"(?m)^(?==== )", path.read_text(encoding="utf-8"))
    command = above.strip().removeprefix("$").strip()
    return [_case(path, part, command) for part in parts]


def _case(path: Path, part: str, command: str) -> Case:
    head, _, rest = part.partition("\n")
    found = _HEAD.fullmatch(head)
    assert found, head
    code, name, how, title = found.groups()
    rest, _, errors = rest.partition("=>\n")
    if rest.startswith("$"):
        line, _, rest = rest.partition("\n")
        command = line.removeprefix("$").strip()
    marked = rest.removesuffix("\n").encode()
    if how == "escaped":
        marked = _ESCAPE.sub(_byte, marked)
    expected = tuple(line for line in errors.splitlines() if line)
    return Case(
        path, head, int(code), name or "", how == "missing", title, marked, command, expected
    )


def _byte(found: re.Match[bytes]) -> bytes:
    return {b"r": b"\r", b"n": b"\n"}.get(found[1]) or bytes.fromhex(found[1][1:].decode())
