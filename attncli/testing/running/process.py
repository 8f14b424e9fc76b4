"""The process in which somebody else's function runs, seen from outside: it is started, asked, and
ended.

It has limits of time, memory and output. They are no sandbox: a function can do to files what its
user can.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from queue import Empty, SimpleQueue
from secrets import token_hex
from threading import Thread
from time import monotonic
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli import system
from attncli.cli.signals import CleanupBeforeExit
from attncli.english import either
from attncli.errors import reason
from attncli.testing.running.answer import Answer as Answer
from attncli.testing.running.answer import Message, read_answer
from attncli.testing.running.child import CLOSED

CHILD = os.path.join(os.path.dirname(__file__), "child.py")
# Python and a framework may lie on a slow disk, and take their time where they are read first.
SECONDS_TO_PREPARE = 120
BYTES_IN_A_FILE = 2**20
# A framework may start four threads for each core, and the stack of each counts as memory.
BYTES_FOR_A_CORE = 2**25
# A function whose every call is slow is not waited for in every case.
CALLS_OF_FULL_LENGTH = 12
# What is killed is gone before, unless the system hangs.
SECONDS_TO_END = 5
# Exit codes of Windows from here on say that a program crashed.
CRASHES_OF_WINDOWS = 0xC0000000
# In the environment of the process and of those that it starts.
MARK = "ATTNCLI_FUNCTION_PROCESS"
Outcome: TypeAlias = Answer | Exception | None


@dataclass(frozen=True, slots=True)
class Limits:
    """What one function may take: seconds to load, and for each call; bytes of memory."""

    seconds: float = 5.0
    memory: int = 4 * 2**30

    @property
    def together(self) -> float:
        """The seconds that all calls of a function may take."""
        return CALLS_OF_FULL_LENGTH * self.seconds


USUAL_LIMITS = Limits()


class FunctionError(Exception):
    """A function could not be loaded, or a call of it failed. The message says how, in one line.

    `ended` says that the process is gone; `hangs` that it took too long.
    """

    def __init__(self, message: str, *, ended: bool = False, hangs: bool = False) -> None:
        super().__init__(message)
        self.ended = ended
        self.hangs = hangs


class FunctionProcess:
    """A process with one function, which it calls when it is asked; as a context it ends with it.

    Raises FunctionError where the function cannot be loaded.
    """

    def __init__(self, target: Mapping[str, Any], limits: Limits) -> None:
        self._target = dict(target)
        self._limits = limits
        self._running: _Running | None = None
        self._weights: tuple[list[str], list[NDArray[Any]]] | None = None
        # What its calls have taken so far.
        self._seconds = 0.0
        # Ctrl-C ends the process of the function, too.
        self._cleanup = CleanupBeforeExit()

    def __enter__(self) -> FunctionProcess:
        self._cleanup.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self.end()
        finally:
            self._cleanup.__exit__(*error)

    def start(self) -> Message:
        """Start the process, or another one, and load the function: what is known of it."""
        self.end()
        try:
            self._running = _Running()
        except OSError as error:
            what = f"no process can be started for it: {reason(error)}"
            raise FunctionError(what, ended=True) from None
        # Work in several threads counts several times.
        work = max(60, int(self._limits.seconds * 60)) + SECONDS_TO_PREPARE
        memory = self._limits.memory + system.processor_count() * BYTES_FOR_A_CORE
        surroundings = {
            "file": self._target["file"],
            "paths": [path for path in sys.path if os.path.isabs(path)],
            "limits": system.process_limits(memory, work, BYTES_IN_A_FILE),
        }
        self._ask("begin", surroundings, SECONDS_TO_PREPARE)
        self._ask("read", self._target, self._limits.seconds)
        self._ask("prepare", {}, SECONDS_TO_PREPARE)
        described = self._ask("load", self._target, self._limits.seconds).message
        if self._weights is not None:
            self._put_weights(*self._weights)
        return described

    def set_weights(self, names: Sequence[str], numbers: Sequence[NDArray[Any]]) -> None:
        """Put these numbers into the weights of a layer, now and whenever it is loaded again."""
        self._weights = list(names), list(numbers)
        self._put_weights(*self._weights)

    def _put_weights(self, names: Sequence[str], numbers: Sequence[NDArray[Any]]) -> None:
        specs = [
            {"name": name, "shape": array.shape, "type": "float64"}
            for name, array in zip(names, numbers, strict=True)
        ]
        self._ask("weights", {"arrays": specs}, self._limits.seconds, numbers)

    def answer(self, message: Message, arrays: Sequence[NDArray[Any]]) -> Answer:
        """What comes of one call, its numbers in their shapes.

        Raises FunctionError where it raises, hangs, or ends the process.
        """
        return self._call("call", message, arrays).shaped()

    def samples(self, message: Message) -> NDArray[np.float64]:
        """What a function of FlexAttention gives at many places, as `child.sampled` is asked.

        Raises FunctionError where it raises, hangs, or ends the process.
        """
        return self._call("sample", message, ()).shaped().numbers

    def begin_flex_attention(self) -> None:
        """Let PyTorch import what it calls such a function with, which may take long.

        Raises FunctionError where this PyTorch has none.
        """
        if self._running is None:
            self.start()
        self._ask("flex", {}, SECONDS_TO_PREPARE)

    def _call(self, what: str, message: Message, arrays: Sequence[NDArray[Any]]) -> Answer:
        """The answer to one call, which may take what is left of the time for all of them."""
        if self._running is None:
            self.start()
        left = self._limits.together - self._seconds
        allowed = max(0.0, min(self._limits.seconds, left))
        begun = monotonic()
        try:
            return self._ask(what, message, allowed, arrays)
        except FunctionError as error:
            if not error.hangs or left > self._limits.seconds:
                raise
            said = f"its calls together took more than {_seconds(self._limits.together)}"
            raise FunctionError(said, ended=True, hangs=True) from None
        finally:
            self._seconds += monotonic() - begun

    def end(self) -> None:
        """End the process and all that it has started."""
        running, self._running = self._running, None
        if running is not None:
            running.end()

    def _ask(
        self,
        what: str,
        message: Mapping[str, Any],
        seconds: float,
        arrays: Sequence[NDArray[Any]] = (),
    ) -> Answer:
        """The answer of the process; FunctionError where there is none, or it is an error."""
        assert self._running is not None
        pieces = [array.tobytes() for array in arrays]
        sizes = [len(piece) for piece in pieces]
        head = json.dumps({**message, "do": what, "sizes": sizes})
        whole = b"".join([head.encode(), b"\n", *pieces])
        outcome: Outcome = None
        try:
            outcome = self._running.exchange(what, whole, seconds)
        except Empty:
            self.end()
            said = f"it did not come to an end within {_seconds(seconds)}"
            raise FunctionError(said, ended=True, hangs=True) from None
        except RuntimeError as error:
            self.end()
            raise FunctionError(f"no thread can be started for it: {error}", ended=True) from None
        if isinstance(outcome, Exception):
            self.end()
            raise FunctionError("it wrote into the line to attncli", ended=True)
        if outcome is None:
            code = self._running.exit_code()
            self.end()
            raise FunctionError(_how_it_ended(code), ended=True)
        if "error" in outcome.message:
            raise FunctionError(outcome.message["error"])
        return outcome


class _Running:
    """A process that has been started, and the line to it. Raises OSError where none can be."""

    def __init__(self) -> None:
        self._mark = token_hex(16)
        self._process = subprocess.Popen(
            [sys.executable, "-I", CHILD],
            # What is written is not held back: it could only be lost.
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(self._mark),
            **system.in_own_group(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._outbox: IO[bytes] = self._process.stdin
        self._pipe: IO[bytes] = self._process.stdout
        # Without a buffer, the pipe of Popen is a raw stream, which its type does not say.
        self._inbox = BufferedReader(self._pipe)  # type: ignore[type-var]
        self._exchanging: Thread | None = None

    def exchange(self, asked: str, message: bytes, seconds: float) -> Outcome:
        """What comes back for a message: an answer, None at the end, or an error where it is none.

        Raises Empty where nothing comes in so many seconds, and RuntimeError where no thread can be
        started.
        """
        outcomes: SimpleQueue[Outcome] = SimpleQueue()

        def exchange() -> None:
            system.hold_closed_pipe()
            # Where nobody reads, there is no answer either.
            with suppress(OSError):
                _write(self._outbox, message)
            try:
                outcomes.put(read_answer(self._inbox, asked))
            # It may be anything, and too much of it.
            except Exception as error:
                outcomes.put(error)

        # A process that hangs neither reads nor writes.
        self._exchanging = Thread(target=exchange, daemon=True)
        self._exchanging.start()
        return outcomes.get(timeout=seconds)

    def exit_code(self) -> int | None:
        """How the process has ended; None where it has only closed the line."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout=1)
        return None

    def end(self) -> None:
        """End the process and all that it has started."""
        system.end_group(self._process)
        system.end_marked(f"{MARK}={self._mark}")
        if self._exchanging is not None and self._exchanging.ident is not None:
            self._exchanging.join(SECONDS_TO_END)
            # A process that could not be ended holds the line.
            if self._exchanging.is_alive():
                return
        self._outbox.close()
        self._inbox.close()


def _seconds(number: float) -> str:
    """1 second, 2.5 seconds."""
    return f"{number:g} {either(int(number), 'second', 'seconds')}"


def _how_it_ended(code: int | None) -> str:
    if code is None or code == CLOSED:
        return "it closed the line to attncli"
    if code >= CRASHES_OF_WINDOWS:
        return f"Python crashed ({code:#x})"
    if code >= 0:
        return f"it ended Python, with exit code {code}"
    name = system.signal_name(-code)
    reasons = {
        "SIGSEGV": "Python crashed (SIGSEGV)",
        "SIGXCPU": "it took too much time of the processor",
        "SIGKILL": "it was killed: it took too much time or memory",
    }
    return reasons.get(name, f"Python was ended by {name}")


def _environment(mark: str) -> dict[str, str]:
    """That of this process, with a mark; a small problem needs one thread alone."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**threads, **os.environ, MARK: mark}


def _write(stream: IO[bytes], data: bytes) -> None:
    """Write all of it, piece by piece as the system takes it."""
    left = memoryview(data)
    while left:
        left = left[stream.write(left) :]
