"""What the system says is wrong with a file, in our words."""

from __future__ import annotations

import io

import pytest

from attncli.errors import reason


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "no space left on device"),
        (OSError(5, "I/O error"), "I/O error"),
        (io.UnsupportedOperation("not writable"), "it is closed"),
        (OSError("it is a folder, not a file"), "it is a folder, not a file"),
        (ValueError("Embedded null byte"), "embedded null byte"),
        (RuntimeError("Symlink loop from '/home/me/a'"), "too many levels of symbolic links"),
    ],
)
def test_the_reason_of_the_operating_system(error: Exception, words: str) -> None:
    assert reason(error) == words
