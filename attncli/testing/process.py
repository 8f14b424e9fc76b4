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
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.english import either
from attncli.system import end_group, in_own_group, signal_name

CHILD = os.path.join(os.path.dirname(__file__), "child.py")
# A framework may lie on a slow disk, and takes its time where it is imported first.
SECONDS_TO_PREPARE = 120
BYTES_IN_A_FILE = 2**20
# A longer answer is none of the child program.
LONGEST_ANSWER = 2**26
Message: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one function may take: seconds to load, and for each call; bytes of memory."""

    seconds: float = 5.0
    memory: int = 4 * 2**30


USUAL_LIMITS = Limits()


class Answer(NamedTuple):
    """What the process answers: a message, and the numbers of an array in one row, if it has
    any.
    """

    message: Message
    numbers: NDArray[np.float64]


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
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: Queue[Answer | None] = Queue()

    def __enter__(self) -> FunctionProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self) -> Message:
        """Start the process, if there is none, and load the function: what is known of it."""
        self.end()
        self._process = subprocess.Popen(
            [sys.executable, "-I", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            **in_own_group(),
        )
        assert self._process.stdout is not None
        self._answers = Queue()
        reader = Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True)
        reader.start()
        # Work in several threads counts several times.
        work = int(self._limits.seconds * 60)
        prepare = {
            **self._target,
            "do": "prepare",
            "paths": [os.path.abspath(path) for path in sys.path if path],
            "memory": self._limits.memory,
            "seconds": max(work, 60),
            "file_size": BYTES_IN_A_FILE,
        }
        self._ask(prepare, (), SECONDS_TO_PREPARE)
        loaded = self._ask({**self._target, "do": "load"}, (), self._limits.seconds)
        return loaded.message

    def call(self, message: Message, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """The output of one call, and what `message["shape"]` says of it is its shape.

        Raises FunctionError where it raises, hangs, or ends the process.
        """
        return self.answer(message, arrays).numbers

    def answer(self, message: Message, arrays: Sequence[NDArray[Any]]) -> Answer:
        """The same with all that is known of the call."""
        if self._process is None:
            self.start()
        found = self._ask({**message, "do": "call"}, arrays, self._limits.seconds)
        shape = found.message["shape"]
        return found._replace(numbers=found.numbers.reshape(shape))

    def end(self) -> None:
        """End the process and all that it has started."""
        if self._process is None:
            return
        process = self._process
        self._process = None
        end_group(process)
        assert process.stdin is not None
        # What was not yet written has no reader any more.
        with suppress(OSError, ValueError):
            process.stdin.close()

    def _ask(self, message: Message, arrays: Sequence[NDArray[Any]], seconds: float) -> Answer:
        assert self._process is not None
        assert self._process.stdin is not None
        pieces = [array.tobytes() for array in arrays]
        head = json.dumps({**message, "sizes": [len(piece) for piece in pieces]})
        whole = b"".join([head.encode(), b"\n", *pieces])
        # A process that hangs may not read it.
        writer = Thread(target=_write, args=(self._process.stdin, whole), daemon=True)
        writer.start()
        try:
            answer = self._answers.get(timeout=seconds)
        except Empty:
            self.end()
            what = f"it did not come to an end within {_seconds(seconds)}"
            raise FunctionError(what, ended=True, hangs=True) from None
        if answer is None:
            raise self._ended()
        if "error" in answer.message:
            raise FunctionError(str(answer.message["error"]))
        return answer

    def _ended(self) -> FunctionError:
        """That the process is gone, and how."""
        assert self._process is not None
        try:
            code: int | None = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            code = None
        self.end()
        return FunctionError(_how_it_ended(code), ended=True)


def _seconds(number: float) -> str:
    """1 second, 2.5 seconds."""
    return f"{number:g} {either(int(number), 'second', 'seconds')}"


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return "it closed the line to attncli"
    if code >= 0:
        return f"it ended Python, with exit code {code}"
    name = signal_name(-code)
    reasons = {
        "SIGSEGV": "Python crashed (SIGSEGV)",
        "SIGXCPU": "it took too much time of the processor",
        "SIGKILL": "it was killed: it took too much time or memory",
    }
    return reasons.get(name, f"Python was ended by {name}")


def _environment() -> dict[str, str]:
    """That of this process; a small problem needs one thread alone."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**threads, **os.environ}


def _write(stream: IO[bytes], data: bytes) -> None:
    """Write all of it; where nobody reads it, there is no answer either."""
    with suppress(OSError, ValueError):
        stream.write(data)
        stream.flush()


def _read(stream: IO[bytes], answers: Queue[Answer | None]) -> None:
    """Put each answer into a queue, and None when there are no more, or what comes is no answer."""
    with stream, suppress(OSError, ValueError, KeyError, TypeError):
        while (answer := _next_answer(stream)) is not None:
            answers.put(answer)
    answers.put(None)


def _next_answer(stream: IO[bytes]) -> Answer | None:
    """The next answer; None at the end. ValueError, KeyError or TypeError for what is none.

    A function may write to this stream, so nothing in it is trusted.
    """
    head = stream.readline(LONGEST_ANSWER)
    if not head:
        return None
    message = json.loads(head)
    size = message.pop("size")
    if type(size) is not int or not 0 <= size <= LONGEST_ANSWER:
        raise ValueError
    data = stream.read(size)
    numbers = np.frombuffer(data, np.float64)
    if "shape" in message:
        numbers.reshape(message["shape"])
    return Answer(message, numbers)
