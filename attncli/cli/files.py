"""Writes texts and data: a file is at every moment either the old one or the new one."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import NamedTuple, TextIO

from attncli.cli.progress import progress
from attncli.cli.signals import CleanupBeforeExit
from attncli.errors import AttncliError, reason, unwritable, usage_error
from attncli.file_names import against_windows
from attncli.problem.files import OPENED_FILES
from attncli.system import (
    command_to_make,
    has_windows_names,
    is_reader_gone,
    is_same,
    keep_owner,
    quoted,
    set_blocking,
    without_last_separator,
)


class _Ready(NamedTuple):
    """A file that is written, the one it takes the place of, and what the person called that."""

    temporary: str
    path: str
    name: str
    option: str


# What is written in `together` and waits for its end; None outside of it. A program may have
# several threads that write.
_waiting: ContextVar[list[_Ready] | None] = ContextVar("_waiting", default=None)
_OTHER_NAME = "give the output another name"
_EXAMPLES = {"-o": "solution.md", "--answers": "answers.yaml", "--key": "key.md"}


def require_writable(
    path: str | None, source: str, option: str = "-o", what: str = "the problem itself"
) -> None:
    """Refuse, before any work is done, to write over the problem itself or where nothing can be
    written.

    `path` is what the option said, `source` the file that is read or "-", `what` that file is.
    Raises AttncliError (exit 2 or 4).
    """
    # These were read before, in the same process.
    OPENED_FILES.clear()
    if path is None or path == "-":
        return
    if path == "":
        help = f"write {option} {_EXAMPLES[option]}, or {option} - for standard output"
        raise usage_error(f"{option} needs the name of a file", help=help)
    require_usable_name(path, option)
    _require_no_folder(path, option)
    try:
        target = _status(path)
    except (OSError, ValueError) as error:
        # A NUL in the name is a ValueError.
        raise unwritable(path, reason(error), option) from None
    given = _status_of_stream(sys.stdin) if source == "-" else None
    # An error is reported when the file is read.
    with contextlib.suppress(OSError, ValueError):
        given = given or _status(source)
    if target and stat.S_ISREG(target.st_mode) and is_same(target, given):
        raise usage_error(f"{option} {path} would write over {what}", help=_OTHER_NAME)
    # Replacing the file would go round its protection.
    if target and not os.access(path, os.W_OK):
        raise unwritable(path, "permission denied", option)
    _require_its_folder(path, option)


def _require_no_folder(path: str, option: str) -> None:
    """Refuse a folder, and what can only be the name of one, for an AttncliError (exit 4)."""
    if os.path.isdir(path):
        raise unwritable(path, "it is a folder", option)
    name = without_last_separator(path)
    if name != path:
        mend = f"write {option} {quoted(name)}"
        raise unwritable(path, f"a name that ends in {path[-1]} is of a folder", option, mend=mend)


def _require_its_folder(path: str, option: str) -> None:
    """Refuse a file whose folder is not there, for an AttncliError (exit 4)."""
    real = path
    try:
        # As it is written, it may lead through a folder that is not there: x/../y.md.
        os.stat(os.path.dirname(path) or os.curdir)
        # This fails where the folder that attncli runs in is gone.
        real = os.path.realpath(path)
        os.stat(os.path.dirname(real))
    except FileNotFoundError:
        folder = os.path.dirname(real if os.path.islink(path) else path)
        if not folder:
            why = "the folder that this runs in has been removed"
            raise unwritable(path, why, option) from None
        missing, mend = _missing_folder(path, folder, option)
        raise unwritable(path, f"there is no folder {missing}", option, mend=mend) from None
    except OSError as error:
        raise unwritable(path, reason(error), option) from None


def _missing_folder(path: str, folder: str, option: str) -> tuple[str, str]:
    """The folder that is not there on the way to a file, and what helps."""
    missing = folder
    above = os.path.dirname(missing)
    while above and not os.path.isdir(above):
        missing, above = above, os.path.dirname(above)
    behind = folder[len(missing) :]
    # Whoever goes in and out again has no need of it.
    if os.pardir in behind.split(os.sep):
        return missing, f"write {option} {quoted(os.path.normpath(path))}"
    return folder, f"make the folder with {command_to_make(folder)}"


def require_usable_name(path: str, option: str) -> None:
    """On Windows, refuse a name that it takes for something else than this file or folder.

    Elsewhere, people may name their files as they like. Raises AttncliError (exit 2).
    """
    against = against_windows(path) if has_windows_names() else None
    if against:
        why, better = against
        raise usage_error(f"cannot write {path}: {why}", help=f"write {option} {quoted(better)}")


def require_new(path: str, data: bytes | None = None, option: str = "-o") -> None:
    """Refuse a file that is there already, for what people go on to change by hand; the same `data`
    may be there.

    Raises AttncliError (exit 2), or as `require_writable` does.
    """
    require_writable(path, "-", option)
    if os.path.isfile(path) and (data is None or _content(path) != data):
        raise usage_error(
            f"{option} {path} would replace a file that is there already", help=_OTHER_NAME
        )


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None


def is_same_file(one: str, other: str) -> bool:
    """Whether two names, "-" among them, are of the same file, be it there or not."""
    if "-" not in (one, other):
        # It fails where the folder that attncli runs in is gone.
        with contextlib.suppress(OSError):
            return os.path.realpath(one) == os.path.realpath(other)
    return one == other


def write(
    text: str | Iterable[str], path: str | None, *, portable: bool, option: str = "-o"
) -> None:
    """Write the text, or the pieces of one, to the file, or to standard output where path is None
    or "-".

    Files are UTF-8, and so is standard output where `portable` says that programs will read it; a
    page for people is put in the terminal's own encoding. Raises AttncliError (exit 4) if it cannot
    be written.
    """
    encoding = "utf-8" if portable or path not in (None, "-") else sys.stdout.encoding or "utf-8"
    pieces = [text] if isinstance(text, str) else text
    write_bytes(
        (piece.encode(encoding, "backslashreplace") for piece in pieces), path, option=option
    )


def write_bytes(
    data: Iterable[bytes | memoryview], path: str | None, *, option: str = "-o"
) -> None:
    """Write these bytes, one after the other, as `write` does its text.

    Raises AttncliError, with exit code 2 for a file that was read since `require_writable`, as an
    array of a problem.
    """
    if path is None or path == "-":
        _write_standard(data)
        return
    try:
        target = _status(path)
        # It may be /dev/stdout, and whatever that is redirected to.
        if target and is_same(target, _status_of_stream(sys.stdout)):
            _write_standard(data)
        elif target and _is_read(target):
            raise _over_what_is_read(path, option)
        elif target and not stat.S_ISREG(target.st_mode):
            # A FIFO or a device is no file to be replaced.
            with open(path, "wb") as stream:
                stream.writelines(data)
        else:
            _write_beside(path, data, target, option)
    except OSError as error:
        raise unwritable(path, reason(error), option) from error


def write_files(
    files: Iterable[tuple[str, Iterable[str | bytes | memoryview]]], *, option: str = "-o"
) -> None:
    """Write texts or data to files, all of them or none. Raises as `write_bytes` does."""
    with together():
        for path, data in files:
            encoded = (piece.encode() if isinstance(piece, str) else piece for piece in data)
            try:
                target = _status(path)
                _require_replaceable(path, target, option)
                _write_beside(path, encoded, target, option)
            except OSError as error:
                raise unwritable(path, reason(error), option) from error


@contextlib.contextmanager
def together() -> Iterator[None]:
    """A context in which files are written all or none: they take their places at its end.

    Raises AttncliError (exit 4) if one of them cannot.
    """
    if _waiting.get() is not None:
        # The outer context puts all in place.
        yield
        return
    ready: list[_Ready] = []
    outside = _waiting.set(ready)
    with CleanupBeforeExit():
        try:
            yield
            _put_in_place(ready)
        finally:
            _waiting.reset(outside)
            for each in ready:
                with contextlib.suppress(OSError):
                    os.unlink(each.temporary)


def require_new_folder(path: str, option: str = "-d") -> None:
    """Refuse a folder that has something in it, and a file in its place. Raises AttncliError (exit
    2 or 4).
    """
    if not path:
        raise usage_error(
            f"{option} needs the name of a folder", help=f"write {option} set, for a new folder"
        )
    require_usable_name(path, option)
    try:
        if os.path.lexists(path) and os.listdir(path):
            raise usage_error(
                f"{option} {path}: this folder is not empty", help="name a new folder"
            )
    except (OSError, ValueError) as error:
        # A NUL in the name is a ValueError.
        raise unwritable(path, reason(error), option) from None


def write_folder(
    folder: str,
    files: Iterable[tuple[str, Iterable[str | bytes | memoryview]]],
    *,
    option: str = "-d",
) -> None:
    """Write new files to a folder, by their paths in it with "/" between, all of them or none.

    The folder is made if it is not there, and so are those inside it. Raises as `write_files` does.
    """
    with new_folders() as make:

        def placed() -> Iterator[tuple[str, Iterable[str | bytes | memoryview]]]:
            for name, data in files:
                path = os.path.join(folder, *name.split("/"))
                try:
                    make(os.path.dirname(path))
                except OSError as error:
                    raise unwritable(path, reason(error), option) from error
                yield path, data

        write_files(placed(), option=option)


@contextlib.contextmanager
def new_folders() -> Iterator[Callable[[str], None]]:
    """A context with what makes a folder and those that it is in, as far as they are not there, or
    raises OSError.

    However the context ends, by a signal too, none of these is left in which nothing is.
    """
    made: list[str] = []
    with CleanupBeforeExit():
        try:
            yield partial(_make_folder, made)
        finally:
            for each in reversed(made):
                with contextlib.suppress(OSError):
                    os.rmdir(each)


def _make_folder(made: list[str], path: str) -> None:
    """Make a folder and those that it is in, as far as they are not there, and add them to
    `made`.
    """
    if not path or os.path.isdir(path):
        return
    _make_folder(made, os.path.dirname(without_last_separator(path)))
    # A signal may come as soon as the folder is there, so it is known before.
    made.append(path)
    try:
        os.mkdir(path)
    except FileExistsError:
        made.remove(path)
        # Another process may have made it meanwhile.
        if not os.path.isdir(path):
            raise


def _require_replaceable(path: str, target: os.stat_result | None, option: str) -> None:
    """Refuse to put a new file in the place of this one, for an AttncliError (exit 2 or 4)."""
    if target is None:
        return
    if _is_read(target):
        raise _over_what_is_read(path, option)
    if not stat.S_ISREG(target.st_mode):
        raise unwritable(path, "it is no regular file", option)
    if not os.access(path, os.W_OK):
        raise unwritable(path, "permission denied", option)


def _over_what_is_read(path: str, option: str) -> AttncliError:
    return usage_error(f"{option} {path} would write over a file that is read", help=_OTHER_NAME)


def _write_beside(
    path: str, data: Iterable[bytes | memoryview], old: os.stat_result | None, option: str
) -> None:
    """Write a new file beside the one that it is to take the place of, which it does at the end of
    the context.
    """
    with together():
        real = os.path.realpath(path)
        temporary = _temporary_file(real, data, old)
        waiting = _waiting.get()
        assert waiting is not None
        waiting.append(_Ready(temporary, real, path, option))


def _put_in_place(ready: list[_Ready]) -> None:
    """Put each of these files where it belongs; if one of them cannot be put there, the old ones
    come back.
    """
    if len(ready) == 1:
        # So a single file is at every moment either the old one or the new one.
        _replace(ready[0])
        return
    # Each is a file, and the old one that it took the place of.
    done: list[tuple[str, str | None]] = []
    try:
        for each in ready:
            old = _set_aside(each)
            done.append((each.path, old))
            _replace(each)
    # Ctrl-C is one of these.
    except BaseException:
        for path, old in reversed(done):
            with contextlib.suppress(OSError):
                os.replace(old, path) if old else os.unlink(path)
        raise
    for _, old in done:
        if old:
            os.unlink(old)


def _set_aside(new: _Ready) -> str | None:
    """Give the old file another name, which is returned; None where there is none."""
    if not os.path.exists(new.path):
        return None
    old = _name_beside(new.path)
    try:
        os.rename(new.path, old)
    except OSError as error:
        raise unwritable(new.name, reason(error), new.option) from error
    return old


def _replace(new: _Ready) -> None:
    try:
        os.replace(new.temporary, new.path)
    except OSError as error:
        raise unwritable(new.name, reason(error), new.option) from error


def _temporary_file(
    path: str, data: Iterable[bytes | memoryview], old: os.stat_result | None
) -> str:
    """A new file with this data beside another one, with the owner and the rights of that; none
    where it fails.
    """
    temporary = _name_beside(path)
    try:
        with open(temporary, "xb") as stream:
            stream.writelines(data)
            stream.flush()
            if old is not None:
                keep_owner(old, stream.fileno())
                os.chmod(temporary, stat.S_IMODE(old.st_mode))
            os.fsync(stream.fileno())
    # Ctrl-C is one of these, too.
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return temporary


def _name_beside(path: str) -> str:
    return os.path.join(os.path.dirname(path), f".attncli-{os.urandom(8).hex()}.tmp")


def _write_standard(data: Iterable[bytes | memoryview]) -> None:
    if sys.stdout is not None and sys.stdout.isatty():
        progress.end()
    ready = False
    # What makes the first piece may fail, before anything is written.
    for piece in data:
        try:
            if not ready:
                if _is_pipe(sys.stdout):
                    # What reads it may show it on the terminal that has the bar.
                    progress.end()
                sys.stdout.flush()
                # A stream of a test has no descriptor.
                with contextlib.suppress(OSError, ValueError):
                    set_blocking(sys.stdout.fileno(), True)
                ready = True
            rest = memoryview(piece)
            # An unbuffered stream takes what it can, and says how much that was.
            while rest:
                rest = rest[sys.stdout.buffer.write(rest) :]
        except OSError as error:
            raise _unwritten(error) from error
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _unwritten(error) from error


def _is_pipe(stream: TextIO) -> bool:
    # A stream of a test has no descriptor.
    with contextlib.suppress(OSError, ValueError):
        return stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)
    return False


def _unwritten(error: OSError) -> Exception:
    """What to raise for an error of standard output. One that nobody reads any more is the error as
    it is.
    """
    return error if is_reader_gone(error) else unwritable("standard output", reason(error))


def is_file(path: str) -> bool:
    """Whether the path is of a file, be it there or not, and of no stream or device."""
    with contextlib.suppress(OSError):
        target = _status(path)
        return path != "-" and (target is None or stat.S_ISREG(target.st_mode))
    return False


def _status(path: str) -> os.stat_result | None:
    """What is there, or None for nothing; OSError where that is not known, as of a link to
    itself.
    """
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _status_of_stream(stream: object) -> os.stat_result | None:
    try:
        # What stands in for a stream may have no number: an AttributeError, as below.
        return os.fstat(stream.fileno())  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return None


def _is_read(target: os.stat_result) -> bool:
    return any(is_same(target, read) for read in OPENED_FILES.values())
