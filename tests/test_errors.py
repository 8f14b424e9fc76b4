"""Errors in Python, and what the system says is wrong with a file, in our words."""

from __future__ import annotations

import io
from traceback import format_exception

from attncli.errors import reason, usage_error
from tests.cases import in_one_test


@in_one_test(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "no space left on device"),
        (OSError(5, "I/O error"), "I/O error"),
        (io.UnsupportedOperation("not writable"), "it is closed"),
        (OSError("it is a folder, not a file"), "it is a folder, not a file"),
        (ValueError("embedded null byte"), "a file's name cannot hold a NUL character"),
        (
            ValueError("stat: embedded null character in path"),
            "a file's name cannot hold a NUL character",
        ),
        (ValueError("I/O operation on closed file."), "it is closed"),
        (
            UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
            "its name has a character that no file's name can have here",
        ),
        (RuntimeError("Symlink loop from '/home/me/a'"), "too many levels of symbolic links"),
    ],
)
def test_the_reason_of_the_operating_system(error: Exception, words: str) -> None:
    assert reason(error) == words


def test_a_traceback_ends_with_the_help() -> None:
    error = usage_error("there is no head 4", help="the call has head 0 to 3")
    assert "".join(format_exception(error)).endswith(
        "there is no head 4\nhelp: the call has head 0 to 3\n"
    )
    assert str(error) == "there is no head 4"
    assert not hasattr(usage_error("there is no head 4"), "__notes__")
