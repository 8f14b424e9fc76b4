"""The text of a problem file, decoded once, and the line and column of any place in it."""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass, field

from attncli.errors import Place, input_error
from attncli.problem.files import STANDARD_INPUT, read_bytes
from attncli.problem.limits import BLANKS_LIMIT
from attncli.problem.suffixes import PICKLES, TEXT_SUFFIXES, array_suffixes

# as files begin
_NO_TEXT = {b"%PDF": "PDF", b"\x89PNG": "picture", b"\xff\xd8\xff": "picture", b"GIF8": "picture"}
_OTHER_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
# bytes, in which the other encodings are told by their NULs
_LOOKED_AT = 400
_ENCODING_HELP = "save the file as UTF-8"


@dataclass(frozen=True, slots=True)
class Source:
    """A file's name for messages, its text, and the folder that `{file: …}` references start from.

    `outside` says whether they may lead out of that folder, which only the person at the keyboard
    can allow. A problem made in Python has neither name nor text, and no places. Lines end in "\\n"
    alone. `place` looks for them anew each time: it is asked for few spots, and a table of all
    lines could be many times the size of the text.
    """

    name: str
    text: str
    folder: str = ""
    outside: bool = False
    _lines: dict[int, tuple[int, str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def place(self, at: int) -> Place:
        """The line and column of the character at this offset, with the whole line it stands in."""
        start = self.text.rfind("\n", 0, at) + 1
        # one copy for all errors on a line that may be as long as the file
        if start not in self._lines:
            end = self.text.find("\n", at)
            line = self.text[start : end if end >= 0 else None]
            self._lines[start] = self.text.count("\n", 0, start) + 1, line
        number, line = self._lines[start]
        return Place(self.name, number, at - start + 1, line)


def read_source(path: str, *, outside: bool = False) -> Source:
    """The text of a file, or of standard input for "-"; `outside` as in Source.

    Raises AttncliError: exit 4 where it cannot be read, exit 3 where it is not text.
    """
    data = read_bytes(path)
    name, folder = (STANDARD_INPUT, "") if path == "-" else (path, os.path.dirname(path))
    return decode(data, name, folder, outside=outside)


def decode(data: bytes, name: str, folder: str = "", *, outside: bool = False) -> Source:
    """Bytes as a Source, whatever its lines end in; AttncliError where they are not UTF-8.

    A byte order mark is let pass.
    """
    for mark, encoding in _OTHER_ENCODINGS:
        if data.startswith(mark):
            raise input_error(
                f"the file is {encoding}, not UTF-8", place=Place(name, 1, 1), help=_ENCODING_HELP
            )
    if encoding := _unmarked(data[:_LOOKED_AT]):
        raise input_error(
            f"the file is {encoding}, not UTF-8", place=Place(name, 1, 1), help=_ENCODING_HELP
        )
    if what := next((what for mark, what in _NO_TEXT.items() if data.startswith(mark)), None):
        raise input_error(
            f"{name} is a {what}, not text", help="write the numbers into a file of YAML or JSON"
        )
    data = data.removeprefix(b"\xef\xbb\xbf")
    # the search takes a tenth of the time that replacing nothing does
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        source = Source(name, data.decode(), folder, outside)
    except UnicodeDecodeError as error:
        if os.path.splitext(name)[1].lower() in (
            {*array_suffixes()} - {*TEXT_SUFFIXES, ".xlsx"}
        ) | {*PICKLES}:
            help = (
                "name the arrays in a problem, as in X: {file: arrays.npz, name: X}; write answers"
                " as numbers"
            )
            raise input_error(f"{name} holds arrays, not text", help=help) from None
        if data.startswith(b"PK\x03\x04"):
            message = f"{name} is a spreadsheet or another zip archive, not text"
            help = (
                "write answers and problems as YAML or JSON, in which X: {file: x.xlsx, range:"
                " Sheet1!A1:C3} reads cells, and a list of students as CSV"
            )
            raise input_error(message, help=help) from None
        before = data[: error.start].decode()
        codecs.register_error("windows-1252", _as_windows)
        place = Source(name, data.decode(errors="windows-1252")).place(len(before))
        meant = place.source[place.column - 1]
        as_windows = (
            f"; in Windows-1252 it is {meant}" if meant.isprintable() and meant != "\ufffd" else ""
        )
        raise input_error(
            f"byte 0x{data[error.start]:02x} is not UTF-8{as_windows}",
            place=place,
            help=_ENCODING_HELP,
        ) from None
    # such as no editor writes, and every parser crawls through
    for blank in (" ", "\n"):
        if (at := source.text.find(blank * BLANKS_LIMIT)) >= 0:
            message = (
                f"{BLANKS_LIMIT:,} {'blanks' if blank == ' ' else 'empty lines'} or more in a row"
            )
            raise input_error(message, place=source.place(at), help="remove them")
    return source


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no UTF-8 as older programs on Windows mean them, a character for each."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("windows-1252", "replace"), error.end


def _unmarked(data: bytes) -> str:
    """UTF-16 or UTF-32 where the file does not begin by saying so: most of its bytes at certain
    places are NUL.
    """
    empty = [data[place::4].count(0) > len(data) // 8 for place in range(4)]
    if empty in ([False, True, True, True], [True, True, True, False]):
        return "UTF-32"
    return "UTF-16" if empty in ([False, True, False, True], [True, False, True, False]) else ""
