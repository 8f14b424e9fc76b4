"""The text of a problem file: decoded once, and able to say the line and column of any spot in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from attncli.errors import Place, input_error
from attncli.problem.files import STANDARD_INPUT, read_bytes

_LINE_END = re.compile(r"\r\n|\r|\n")
_OTHER_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_ENCODING_HELP = "save the file as UTF-8"


@dataclass(frozen=True)  # without slots: the table of lines is made only when an error needs it
class Source:
    """A file's name for messages, its text, and the folder that `{file: …}` references start from."""

    name: str
    text: str
    folder: Path = field(default_factory=Path)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @cached_property
    def _lines(self) -> dict[int, str]:
        return {}

    def place(self, at: int) -> Place:
        """The line and column of the character at this offset, with the whole line it stands in."""
        line = bisect_right(self._starts, at)
        start = self._starts[line - 1]
        if line not in self._lines:  # one copy for all errors on a line that may be as long as the file
            end = self._starts[line] if line < len(self._starts) else len(self.text)
            self._lines[line] = self.text[start:end].rstrip("\r\n")
        return Place(self.name, line, at - start + 1, self._lines[line])


def read_source(path: str) -> Source:
    """The text of a file, or of standard input for "-".

    Raises AttncliError: exit 4 where it cannot be read, exit 3 where it is not text.
    """
    data = read_bytes(path)
    return decode(data, STANDARD_INPUT) if path == "-" else decode(data, path, Path(path).parent)


def decode(data: bytes, name: str, folder: Path | None = None) -> Source:
    """Bytes as a Source; AttncliError where they are not UTF-8 (a byte order mark is let pass)."""
    for mark, encoding in _OTHER_ENCODINGS:
        if data.startswith(mark):
            raise input_error(f"the file is {encoding}, not UTF-8", place=Place(name, 1, 1), help=_ENCODING_HELP)
    try:
        data = data.removeprefix(b"\xef\xbb\xbf")
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        rest = data[error.start :].split(b"\n", 1)[0].decode("utf-8", "replace")
        raise input_error(
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            place=Place(name, line, column, before[before.rfind("\n") + 1 :] + rest.rstrip("\r")),
            help=_ENCODING_HELP,
        ) from None
    return Source(name, text, folder or Path())
