"""The text of a problem file, decoded once, and the line and column of any place in it."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from attncli.errors import AttncliError, Place, input_error
from attncli.problem.files import STANDARD_INPUT, read_bytes
from attncli.problem.limits import BLANKS_LIMIT
from attncli.problem.suffixes import PICKLES, TEXT_SUFFIXES, array_suffixes

# Files that hold no text begin so.
_NO_TEXT = {b"%PDF": "PDF", b"\x89PNG": "picture", b"\xff\xd8\xff": "picture", b"GIF8": "picture"}
# Word processors write these, and can write plain text.
_ZIP = b"PK\x03\x04"
_DOCUMENTS = {b"{\\rtf": "an RTF file", b"\xd0\xcf\x11\xe0": "a file of an older Word or Excel"}
_PARTS_OF_DOCUMENTS = {b"word/": "a Word file", b"opendocument.text": "an OpenDocument text"}
# What is damaged has only its name, and how it begins.
_DOCUMENTS_BY_SUFFIX = {".docx": "a Word file", ".odt": "an OpenDocument text"}
_ARCHIVES = (".xlsx", ".ods", ".zip")
_NOTEBOOK = (b'"cells"', b'"nbformat"')
_NOTEBOOK_HELP = (
    "copy its cells into a text file, or save it as Markdown, as jupyter nbconvert --to markdown"
    " does, and name that file"
)
_DOCUMENT_HELP = "save it as plain text, .txt, and name that file"
_OTHER_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
# Other encodings are told by the NULs in so many bytes.
_BYTES_LOOKED_AT = 400
_ENCODING_HELP = "save the file as UTF-8"


@dataclass(frozen=True, slots=True)
class Source:
    """A file's name for messages, its text, and the folder that `{file: …}` references start from.

    `outside` says whether they may lead out of that folder, which only the person at the keyboard
    can allow. A problem made in Python has neither name nor text, and no places. Lines end in "\\n"
    alone. `place` looks for them anew each time: it is asked for few spots, and a table of all
    lines could be many times the size of the text.

    Where the text is not quite as it was `written`, each line is still the same one, and `moved`
    says how far to the right what stands in a line has moved.
    """

    name: str
    text: str
    folder: str = ""
    outside: bool = False
    written: str = ""
    moved: Mapping[int, int] = field(default_factory=dict)
    _lines: dict[int, tuple[int, str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def place(self, at: int) -> Place:
        """The line and column of the character at this offset, with the whole line it stands in.

        In "Q: 1\\nK: x", the x at 8 is at line 2, column 4.
        """
        start = self.text.rfind("\n", 0, at) + 1
        # All errors on a line share one copy of it: it may be as long as the file.
        if start not in self._lines:
            end = self.text.find("\n", at)
            line = self.text[start : end if end >= 0 else None]
            self._lines[start] = self.text.count("\n", 0, start) + 1, line
        number, line = self._lines[start]
        column = at - start + 1
        if self.written:
            line = self.written.split("\n")[number - 1]
            column = max(column - self.moved.get(number, 0), 1)
        return Place(self.name, number, column, line)


def read_source(path: str, *, outside: bool = False) -> Source:
    """The text of a file, or of standard input for "-"; `outside` as in Source.

    Raises AttncliError: exit 4 where it cannot be read, exit 3 where it is not text.
    """
    data = read_bytes(path)
    if path == "-":
        return decode(data, STANDARD_INPUT, outside=outside)
    return decode(data, path, os.path.dirname(path), outside=outside)


def decode(data: bytes, name: str, folder: str = "", *, outside: bool = False) -> Source:
    """Bytes as a Source, whatever its lines end in; AttncliError where they are not UTF-8.

    A byte order mark is let pass.
    """
    _require_text(data, name)
    data = data.removeprefix(b"\xef\xbb\xbf")
    # To search takes a tenth of the time that replacing nothing does.
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        source = Source(name, data.decode(), folder, outside)
    except UnicodeDecodeError as error:
        raise _not_utf8(data, name, error.start) from None
    # No editor writes so many blanks, and every parser crawls through them.
    for blank, word in ((" ", "blanks"), ("\n", "empty lines")):
        at = source.text.find(blank * BLANKS_LIMIT)
        if at >= 0:
            message = f"{BLANKS_LIMIT:,} {word} or more in a row"
            raise input_error(message, place=source.place(at), help="remove them")
    return source


def _require_text(data: bytes, name: str) -> None:
    """Raises AttncliError for bytes that begin as those of a picture or of another encoding."""
    if document := _document(data, name):
        raise input_error(f"{name} is {document}, not text", help=_DOCUMENT_HELP)
    if _is_notebook(data):
        raise input_error(f"{name} is a Jupyter notebook", help=_NOTEBOOK_HELP)
    if data.startswith(b"PK") and _suffix(name) in _ARCHIVES:
        raise _archive(name)
    for mark, encoding in _OTHER_ENCODINGS:
        if data.startswith(mark):
            raise _other_encoding(encoding, name)
    if encoding := _unmarked(data[:_BYTES_LOOKED_AT]):
        raise _other_encoding(encoding, name)
    for mark, what in _NO_TEXT.items():
        if data.startswith(mark):
            help = "write the numbers into a file of YAML or JSON"
            raise input_error(f"{name} is a {what}, not text", help=help)


def _is_notebook(data: bytes) -> bool:
    """Whether it is JSON with the keys that every notebook has."""
    return re.match(rb"\s*\{", data) is not None and all(key in data for key in _NOTEBOOK)


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _document(data: bytes, name: str) -> str:
    """What a file of a word processor is, also a damaged one; empty for any other."""
    for mark, what in _DOCUMENTS.items():
        if data.startswith(mark):
            return what
    if not data.startswith(b"PK"):
        return ""
    if data.startswith(_ZIP):
        for part, what in _PARTS_OF_DOCUMENTS.items():
            if part in data:
                return what
    return _DOCUMENTS_BY_SUFFIX.get(_suffix(name), "")


def _archive(name: str) -> AttncliError:
    message = f"{name} is a spreadsheet or another zip archive, not text"
    help = (
        "write answers and problems as YAML or JSON, in which X: {file: x.xlsx, range:"
        " Sheet1!A1:C3} reads cells, and a list of students as CSV"
    )
    return input_error(message, help=help)


def _other_encoding(encoding: str, name: str) -> AttncliError:
    message = f"the file is {encoding}, not UTF-8"
    return input_error(message, place=Place(name, 1, 1), help=_ENCODING_HELP)


def _not_utf8(data: bytes, name: str, at: int) -> AttncliError:
    """What is wrong with bytes that are no UTF-8 from this one on."""
    of_arrays = {*array_suffixes(), *PICKLES} - {*TEXT_SUFFIXES, ".xlsx"}
    if _suffix(name) in of_arrays:
        help = (
            "name the arrays in a problem, as in X: {file: arrays.npz, name: X}; write answers"
            " as numbers"
        )
        return input_error(f"{name} holds arrays, not text", help=help)
    if data.startswith(_ZIP):
        return _archive(name)
    before = data[:at].decode()
    codecs.register_error("windows-1252", _as_windows)
    place = Source(name, data.decode(errors="windows-1252")).place(len(before))
    meant = place.source[place.column - 1]
    message = f"byte 0x{data[at]:02x} is not UTF-8"
    if meant.isprintable() and meant != "\ufffd":
        message += f"; in Windows-1252 it is {meant}"
    return input_error(message, place=place, help=_ENCODING_HELP)


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no UTF-8 as older programs on Windows mean them, a character for each."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("windows-1252", "replace"), error.end


def _unmarked(data: bytes) -> str:
    """UTF-16 or UTF-32 where the file does not begin by saying so: most of its bytes at certain
    places are NUL.
    """
    most = len(data) // 8
    empty = [data[place::4].count(0) > most for place in range(4)]
    if empty in ([False, True, True, True], [True, True, True, False]):
        return "UTF-32"
    if empty in ([False, True, False, True], [True, False, True, False]):
        return "UTF-16"
    return ""
