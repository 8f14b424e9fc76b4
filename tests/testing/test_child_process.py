"""What a function does to harm whoever tests it: each ends within its time in one clear line, and
leaves nothing behind.

The few that are quick are in the fast tier. The slow tier tries each in the process alone, and one
of each kind in the whole command.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from textwrap import indent
from typing import Any

import numpy as np
import pytest

from attncli.testing.running import process as process_module
from attncli.testing.running.answer import NoAnswerError, read_answer
from attncli.testing.running.process import FunctionError, FunctionProcess, Limits
from tests.cases import in_one_test

ROOT = Path(__file__).parents[2]
HAS_PROC = Path("/proc/self/environ").exists()
# Where a test looks for processes that were left behind.
MARK = "ATTNCLI_TEST_MARK"
# The whole command on a busy machine, without what a function may take of it.
SECONDS = 60
RIGHT = """
import numpy as np

def right(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v
"""
HANGS = "it did not come to an end within 1 second"
CLOSED = "it closed the line to attncli"
WROTE = "it wrote into the line to attncli"
LOST = "it ended Python, with exit code"
# What it does, and how the error is called; "" where it does no harm.
ACTS = {
    "endless": ("while True: pass", HANGS),
    "sleeps": ("import time; time.sleep(10**6)", HANGS),
    "forks": ("import os\nwhile True: os.fork()", "PermissionError: a function that is tested"),
    "forks in C": (
        "import ctypes\nfor _ in range(4): ctypes.CDLL(None).fork()\nwhile True: pass",
        HANGS,
    ),
    "a daemon": (
        (
            "import subprocess, sys\n"
            "program = 'import time; time.sleep(10**6)'\n"
            "subprocess.Popen([sys.executable, '-c', program], start_new_session=True)"
        ),
        "",
    ),
    "8 GiB": ("x = bytearray(8 * 2**30)", "MemoryError"),
    "8 GiB bit by bit": (
        "import numpy as np\nx = []\nwhile True: x.append(np.empty(2**28))",
        "MemoryError: Unable to allocate 2.00 GiB",
    ),
    "prints": ("while True: print('x' * 10000)", HANGS),
    "prints errors": ("import sys\nwhile True: sys.stderr.write('x' * 10000)", HANGS),
    "a large file": (
        "with open(__file__ + '.large', 'wb') as file: file.write(bytes(2**21))",
        "OSError: [Errno 27] File too large",
    ),
    "os._exit": ("import os; os._exit(3)", f"{LOST} 3"),
    "sys.exit": ("import sys; sys.exit(7)", "SystemExit: 7"),
    "Ctrl-C": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "a crash": ("import ctypes; ctypes.string_at(0)", "Python crashed (SIGSEGV)"),
    "abort": ("import os; os.abort()", "Python was ended by SIGABRT"),
    "kills itself": (
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "it was killed: it took too much time or memory",
    ),
    "stops itself": ("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", HANGS),
    "kills its group": (
        "import os, signal; os.killpg(0, signal.SIGTERM)",
        "Python was ended by SIGTERM",
    ),
    "ignores signals": (
        (
            "import signal\n"
            "for number in (signal.SIGTERM, signal.SIGXCPU, signal.SIGALRM):\n"
            "    signal.signal(number, signal.SIG_IGN)\n"
            "while True: pass"
        ),
        HANGS,
    ),
    "deletes its folder": (
        "import os, shutil; shutil.rmtree(os.path.dirname(__file__), ignore_errors=True)",
        "",
    ),
    "no folder": (
        (
            "import os, tempfile\nfolder = tempfile.mkdtemp()\n"
            "os.chdir(folder)\nos.rmdir(folder)\nraise ValueError('lost')"
        ),
        "ValueError: lost",
    ),
    "reads stdin": ("input()", "EOFError: EOF when reading a line"),
    "reads the line": ("import os; os.read(3, 100)", HANGS),
    "closes all": ("import os; os.closerange(0, 100)", CLOSED),
    "garbage": (
        (
            "import os\nfor at in range(3, 9):\n"
            "    try: os.write(at, b'garbage\\n' * 100)\n    except OSError: pass"
        ),
        WROTE,
    ),
    "an endless answer": (
        (
            "import os\nfor at in range(3, 9):\n    try:\n"
            "        while True: os.write(at, b'x' * 10000)\n    except OSError: pass"
        ),
        WROTE,
    ),
    "endless threads": (
        (
            "import threading, time\nfor _ in range(4):\n"
            "    threading.Thread(target=time.sleep, args=(10**6,)).start()"
        ),
        "",
    ),
    "hangs at exit": ("import atexit, time; atexit.register(time.sleep, 10**6)", ""),
    "hangs as it goes": (
        (
            "import time\nclass Slow:\n    def __del__(self): time.sleep(10**6)\n"
            "slow = Slow()\ndel slow"
        ),
        HANGS,
    ),
    "an error without words": (
        "class Odd(Exception):\n    def __str__(self): raise SystemExit\nraise Odd",
        "Odd",
    ),
    "an endless error": (
        "class Odd(Exception):\n    def __str__(self):\n        while True: pass\nraise Odd",
        HANGS,
    ),
    "an error without a name": (
        (
            "class Kind(type):\n    @property\n    def __name__(self): raise ValueError\n"
            "class Odd(Exception, metaclass=Kind): pass\nraise Odd"
        ),
        "an error that cannot be shown",
    ),
    "a long error": ("raise ValueError('x' * 10**7)", "ValueError: xxxxxxxx"),
    "a steering error": (
        r"raise ValueError('\x1b[2J\u202e\ud800\r\nlost')",
        r"ValueError: \x1b[2J\u202e\ud800 lost",
    ),
    "recursion": ("def f(n): return f(n)\nf(0)", "RecursionError: maximum recursion depth"),
    "deep recursion": (
        ("import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return sorted([1, 2], key=f)\nf(0)"),
        "Python crashed (SIGSEGV)",
    ),
    "patches json and os": (
        "import json, os\njson.dumps = json.loads = os.getpid = os._exit = None",
        "",
    ),
    "watches everything": (
        "import sys\ndef hook(*_): raise ValueError\nsys.addaudithook(hook)",
        "",
    ),
    "ends the program": ("import __main__\n__main__.said = None\nraise ValueError", f"{LOST} 1"),
    "moves": ("import os; os.chdir('/')", ""),
}
# How the error is called while the file is loaded, where it is another: what watches everything
# raises errors when attncli asks for the parameters of the function.
AT_IMPORT = {"watches everything": "an error that cannot be shown"}
QUICK = ["forks", "os._exit", "sys.exit", "a crash", "reads stdin", "closes all", "garbage"]
# One of each way to end.
IN_THE_COMMAND = [
    "endless", "forks", "a daemon", "8 GiB bit by bit", "prints", "a large file", "os._exit",
    "Ctrl-C", "a crash", "kills its group", "ignores signals", "deletes its folder", "no folder",
    "reads stdin", "closes all", "garbage", "hangs at exit", "an endless error",
    "an error without a name", "recursion", "patches json and os", "ends the program",
]  # fmt: skip
NUMBERS = "not an array of numbers"
# What it returns, and how the error is called; "" where it is the output.
RESULTS = {
    "(x for x in [1])": f"it returns a value of type generator, {NUMBERS}",
    "None": "it returns nothing",
    "()": "it returns an empty tuple",
    "[[1, 2], [3]]": "it returns no array: setting an array element with a sequence",
    "right(q, k, v) + 0j": f"it returns an array of complex128, {NUMBERS}",
    "right(q, k, v).astype(object)": f"it returns an array of object, {NUMBERS}",
    "np.zeros(10**9, np.float16)": "it returns 1,000,000,000 numbers",
    "np.broadcast_to(np.float32(0), (10**6, 10**6))": "it returns 1,000,000,000,000 numbers",
    "type('A', (), {'__array__': lambda *_, **__: exec('while True: pass')})()": HANGS,
    "type('x' * 10**7, (), {})()": "it returns a value of type xxxxxxxx",
    "right(q, k, v).tolist()": "",
    "(right(q, k, v), 'more')": "",
    "right(q, k, v).astype(np.longdouble)": "",
}
ARRAYS = [np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3) / 4, np.eye(2)]
# By hand: softmax([[1.25, 3.5], [3.5, 12.5]] / sqrt(3)); times the unit matrix it is the output.
OUTPUT = np.array([[0.214327, 0.785673], [0.005507, 0.994493]])


def at_import(act: str) -> str:
    return f"{act}\n{RIGHT}\nattention = right\n"


def in_the_call(act: str) -> str:
    return f"{RIGHT}\ndef attention(q, k, v):\n{indent(act, '    ')}\n    return right(q, k, v)\n"


def returning(result: str) -> str:
    return f"{RIGHT}\ndef attention(q, k, v):\n    return {result}\n"


@contextlib.contextmanager
def process_of(
    folder: Path, text: str | bytes, name: str = "mine.py", seconds: float = 20
) -> Iterator[FunctionProcess]:
    """A process with `attention` of a file with this text."""
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    target = {"file": str(file), "module": "", "name": "attention"}
    with FunctionProcess(target, Limits(seconds=seconds)) as process:
        yield process


def message(*, twice: bool = False) -> dict[str, Any]:
    """A call with ARRAYS."""
    names = ["q", "k", "v"]
    described = [
        {"name": name, "shape": array.shape, "type": "float64"}
        for name, array in zip(names, ARRAYS, strict=True)
    ]
    return {
        "values": {name: {"array": number} for number, name in enumerate(names)},
        "arrays": described,
        "dtype": "float64",
        "positional": names,
        "named": {},
        "expression": "",
        "twice": twice,
    }


def assert_right(process: FunctionProcess) -> None:
    """That its function gives what is right for ARRAYS."""
    numbers = process.answer(message(), ARRAYS).numbers
    np.testing.assert_allclose(numbers, OUTPUT, atol=5e-7)


def wait_for(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + SECONDS
    while not happened() and time.monotonic() < until:
        time.sleep(0.02)
    assert happened()


def processes_with(mark: str) -> list[str]:
    """The processes that have a mark in their environment."""
    found = []
    for folder in Path("/proc").iterdir() if HAS_PROC else ():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text().replace("\0", " "))
    return found


def command_of(arguments: list[str], folder: Path, mark: str) -> subprocess.Popen[str]:
    variables = {"PYTHONPATH": str(ROOT), "COLUMNS": "1000", MARK: mark}
    return subprocess.Popen(
        [sys.executable, "-m", "attncli", "test", *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )


def time_for(said: str) -> int:
    """Seconds that an act may take: what does come to an end may take its time on a busy
    machine.
    """
    return 1 if said == HANGS else 20


def outcome(folder: Path, text: str, said: str, *options: str) -> tuple[int, str, str]:
    """How `attncli test` ends for a file, and what it writes and says; nothing is left."""
    inner = folder / "inner"
    inner.mkdir()
    (inner / "mine.py").write_text(text, encoding="utf-8")
    mark = token_hex(16)
    arguments = ["inner/mine.py:attention", "--seconds", f"{time_for(said)}", *options]
    with command_of(arguments, folder, mark) as process:
        out, err = process.communicate(timeout=SECONDS)
    assert "Traceback" not in out + err
    assert processes_with(mark) == []
    return process.returncode, out, err


def assert_said(said: str, folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That a function ends with this error, or gives what is right where that is empty, and leaves
    no process behind.
    """
    mark = token_hex(16)
    monkeypatch.setenv(MARK, mark)
    inner = folder / "inner"
    inner.mkdir()
    words = ""
    with process_of(inner, text, seconds=time_for(said)) as process:
        try:
            process.start()
            assert_right(process)
        except FunctionError as error:
            words = str(error).encode("unicode_escape").decode()
    assert said in words
    assert bool(said) == bool(words)
    assert processes_with(mark) == []


def assert_said_of_calls(said: str, folder: Path, text: str) -> None:
    """That calls of a function end with this error, or that it is attention where that is empty."""
    code, out, err = outcome(folder, text, said, "--format", "json")
    data = json.loads(out)
    results = {case["result"] for case in data["cases"]}
    errors = [case.get("error", "").encode("unicode_escape").decode() for case in data["cases"]]
    assert any(said in error for error in errors), errors
    assert ("same" in results) != bool(said)
    assert data["agrees"] != bool(said)
    assert (code, err) == (1 if said else 0, "")


# In the process alone


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize("act", QUICK)
def test_what_ends_badly_at_once(act: str, tmp_path: Path) -> None:
    text, said = ACTS[act]
    with process_of(tmp_path, at_import(text)) as process, pytest.raises(FunctionError) as loading:
        process.start()
    with process_of(tmp_path, in_the_call(text)) as process:
        process.start()
        with pytest.raises(FunctionError) as calling:
            process.answer(message(), ARRAYS)
    assert said in str(loading.value)
    assert said in str(calling.value)


@pytest.mark.long
def test_after_a_crash_it_is_started_again(tmp_path: Path) -> None:
    once = (
        "import os\nif not os.path.exists('DIR/once'):\n    open('DIR/once', 'w')\n    os._exit(1)"
    )
    with process_of(tmp_path, in_the_call(once.replace("DIR", str(tmp_path)))) as process:
        process.start()
        with pytest.raises(FunctionError, match="exit code 1"):
            process.answer(message(), ARRAYS)
        assert_right(process)


@pytest.mark.long
def test_what_takes_too_long(tmp_path: Path) -> None:
    with process_of(tmp_path, in_the_call("while True: pass")) as process:
        process.start()
        process._limits = Limits(seconds=0.2)
        began = time.monotonic()
        with pytest.raises(FunctionError, match=r"not come to an end within 0\.2 seconds") as error:
            process.answer(message(), ARRAYS)
        assert time.monotonic() - began < 10
    assert error.value.hangs


@pytest.mark.long
def test_slow_calls_may_not_take_any_number_of_seconds_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them alone is quick enough."""
    monkeypatch.setattr(process_module, "CALLS_OF_FULL_LENGTH", 2)
    with process_of(tmp_path, in_the_call("import time; time.sleep(0.25)")) as process:
        process.start()
        process._limits = Limits(seconds=1)
        # The second call still ends within 2 seconds, and the tenth does not.
        for _ in range(2):
            process.answer(message(), ARRAYS)
        with pytest.raises(FunctionError, match="calls together took more than 2 seco") as error:
            [process.answer(message(), ARRAYS) for _ in range(8)]
    assert error.value.hangs


def test_what_changes_its_arguments_gets_others_the_second_time(tmp_path: Path) -> None:
    act = "q += 1; k[...] = 0"
    with process_of(tmp_path, in_the_call(act)) as process:
        answer = process.answer(message(twice=True), ARRAYS) if process.start() else None
    assert answer is not None
    assert answer.message["changed"] == ["q", "k"]
    assert answer.message["repeats"]


@pytest.mark.sampled(2, "long")
@pytest.mark.parametrize("name", ["random", "numpy", "json", "torch", "typing", "my attention"])
def test_a_file_hides_no_module_that_has_its_name(name: str, tmp_path: Path) -> None:
    act = "import numpy.random, json, typing\njson.dumps(numpy.random.default_rng(0).random())"
    with process_of(tmp_path, at_import(act), f"{name}.py") as process:
        process.start()
        assert_right(process)


def test_a_file_beside_it_is_imported_and_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("ONE = 1")
    (tmp_path / "random.py").write_text("raise ValueError('hidden')")
    (tmp_path / "numpy.py").write_text("raise ValueError('hidden')")
    act = "import helper, numpy.random\nassert helper.ONE == 1"
    with process_of(tmp_path, at_import(act)) as process:
        process.start()
        assert_right(process)
    assert {each.name for each in tmp_path.iterdir()} == {
        "helper.py", "mine.py", "numpy.py", "random.py",
    }  # fmt: skip


@pytest.mark.sampled(3, "long")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"def attention(q k):\n    pass\n", "line 1: SyntaxError: "),
        (b"x = 1\nfrom . import other\n", "line 2: ImportError: attempted relative import"),
        (bytes(1000), "SyntaxError: source code string cannot contain null bytes"),
        (b"\xff\xfe\x00", "SyntaxError: "),
        (b"", "there is no attention in it"),
        (b"def atention(): pass", "there is no attention in it; it has atention"),
        (b"attention = 3", "attention is a value of type int, not a function"),
        (b"(" * 10**6, "SyntaxError: too many nested parentheses"),
        (b"import helper_that_is_not_there", "line 1: ModuleNotFoundError: No module named"),
    ],
)
def test_files_that_hold_no_function(text: bytes, said: str, tmp_path: Path) -> None:
    with process_of(tmp_path, text) as process, pytest.raises(FunctionError) as error:
        process.start()
    assert said in str(error.value)


def test_a_file_that_begins_with_a_mark_of_its_encoding(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf" + at_import("print('a line')").encode()
    with process_of(tmp_path, text) as process:
        process.start()
        assert_right(process)


@pytest.mark.skipif(not HAS_PROC, reason="the system does not say which processes there are")
def test_what_left_the_group_is_ended_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = token_hex(16)
    monkeypatch.setenv(MARK, mark)
    text, _ = ACTS["a daemon"]
    with process_of(tmp_path, in_the_call(text)) as process:
        process.start()
        process.answer(message(), ARRAYS)
        # What has just been started has no environment yet.
        wait_for(lambda: len(processes_with(mark)) == 2)
    assert processes_with(mark) == []


def test_where_no_process_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    with process_of(tmp_path, RIGHT) as process, pytest.raises(FunctionError) as error:
        process.start()
    assert str(error.value) == "no process can be started for it: no such file or directory"


# Answers

CALLED = {"shape": [1], "dtype": "float64", "changed": [], "size": 8}
LOADED = {"kind": "numpy", "parameters": None, "size": 0}


def line(answer: object) -> bytes:
    return json.dumps(answer).encode() + b"\n" + bytes(8)


def test_an_answer_with_gradients_of_which_one_is_missing() -> None:
    head = {**CALLED, "shape": None, "gradients": [[2], None, [1, 1]], "size": 24}
    numbers = np.arange(3.0)
    data = json.dumps(head).encode() + b"\n" + numbers.tobytes()
    answer = read_answer(io.BytesIO(data), "call")
    assert answer is not None
    first, missing, last = answer.shaped().gradients
    assert first is not None
    assert last is not None
    assert first.tolist() == [0, 1]
    assert missing is None
    assert last.tolist() == [[2]]


def test_answers() -> None:
    answer = read_answer(io.BytesIO(line(CALLED)), "call")
    assert answer is not None
    assert answer.numbers.tolist() == [0]
    described = read_answer(io.BytesIO(line(LOADED)), "load")
    assert described is not None
    assert described.message == {"kind": "numpy", "parameters": None}
    assert read_answer(io.BytesIO(b""), "call") is None


@in_one_test(
    "forged",
    [
        3, "text", None, [], {}, {"size": 0}, {**CALLED, "size": "8"}, {**CALLED, "size": -8},
        {**CALLED, "size": 2**40}, {**CALLED, "size": 7}, {**CALLED, "size": True},
        {**CALLED, "shape": [-1]}, {**CALLED, "shape": [2]}, {**CALLED, "shape": [1.0]},
        {**CALLED, "shape": 1}, {**CALLED, "shape": [1] * 65}, {**CALLED, "changed": [[]]},
        {**CALLED, "changed": None}, {**CALLED, "dtype": 3}, {**CALLED, "repeats": "no"},
        {"size": 0, "error": 3}, {**CALLED, "shape": None}, {**CALLED, "gradients": 3},
        {**CALLED, "gradients": [[2]]}, {**CALLED, "gradients": [None] * 2000},
        {**CALLED, "gradients": ["text"]}, {**CALLED, "without": 3},
    ],
)  # fmt: skip
def test_what_is_no_answer_to_a_call(forged: object) -> None:
    with pytest.raises(NoAnswerError):
        read_answer(io.BytesIO(line(forged)), "call")


@pytest.mark.parametrize(
    "forged",
    [
        CALLED, {**LOADED, "kind": 3}, {**LOADED, "parameters": "q"},
        {**LOADED, "parameters": [3]}, {**LOADED, "parameters": [{"name": "q"}]},
    ],
)  # fmt: skip
def test_what_is_no_answer_to_loading(forged: object) -> None:
    with pytest.raises(NoAnswerError):
        read_answer(io.BytesIO(line(forged)), "load")


SAMPLED = {"size": 8, "shape": [1, 1]}


@in_one_test(
    "forged",
    [
        {"size": 0}, {**SAMPLED, "shape": None}, {**SAMPLED, "shape": [2]},
        {**SAMPLED, "shape": [-1, -1]}, {**SAMPLED, "shape": [1] * 65}, {**SAMPLED, "shape": ["1"]},
    ],
)  # fmt: skip
def test_what_is_no_answer_of_a_mask_mod(forged: object) -> None:
    assert read_answer(io.BytesIO(line(SAMPLED)), "sample") is not None
    with pytest.raises(NoAnswerError):
        read_answer(io.BytesIO(line(forged)), "sample")


@pytest.mark.parametrize("text", [b"[" * 10**5 + b"\n", b"x" * 2**21, b"\xff\n", b"\n", b"{"])
def test_what_is_no_message(text: bytes) -> None:
    with pytest.raises(NoAnswerError):
        read_answer(io.BytesIO(text), "call")


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
def test_acts_at_import(act: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, said = ACTS[act]
    said = AT_IMPORT.get(act, said)
    assert_said(said, tmp_path, at_import(text), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
def test_acts_in_the_call(act: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, said = ACTS[act]
    assert_said(said, tmp_path, in_the_call(text), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("result", RESULTS)
def test_results(result: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_said(RESULTS[result], tmp_path, returning(result), monkeypatch)


# The whole command


@pytest.mark.slow
@pytest.mark.parametrize("act", ["endless", "a crash", "sys.exit", "a steering error"])
def test_what_cannot_be_loaded(act: str, tmp_path: Path) -> None:
    text, said = ACTS[act]
    code, _, err = outcome(tmp_path, at_import(text), said)
    words = " ".join(err.split())
    assert words.startswith("attncli: error: inner/mine.py:attention cannot be loaded: ")
    assert said in words
    assert ("help: if it needs more time, give it some: --seconds 60" in words) == (said == HANGS)
    assert code == 3


@pytest.mark.slow
@pytest.mark.parametrize("act", IN_THE_COMMAND)
def test_acts_in_the_whole_command(act: str, tmp_path: Path) -> None:
    text, said = ACTS[act]
    assert_said_of_calls(said, tmp_path, in_the_call(text))


@pytest.mark.slow
@pytest.mark.parametrize("result", ["None", "np.zeros(10**9, np.float16)", "right(q, k, v) + 0j"])
def test_results_in_the_whole_command(result: str, tmp_path: Path) -> None:
    assert_said_of_calls(RESULTS[result], tmp_path, returning(result))


@pytest.mark.slow
@pytest.mark.parametrize("act", ["a steering error", "a long error"])
def test_a_page_of_errors(act: str, tmp_path: Path) -> None:
    text, said = ACTS[act]
    code, out, err = outcome(tmp_path, in_the_call(text), said)
    assert "It could not be tested: every call of it failed." in out
    assert said.split()[0] in out
    assert len(out) < 5000
    assert (code, err) == (1, "")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_ends_attncli_ends_the_function(number: int, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    act = f"open({str(begun)!r}, 'w').close()\nwhile True: pass"
    (tmp_path / "mine.py").write_text(in_the_call(act), encoding="utf-8")
    mark = token_hex(16)
    with command_of(["mine.py:attention", "--seconds", "60"], tmp_path, mark) as process:
        wait_for(begun.exists)
        process.send_signal(number)
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert (out, err) == ("", "")
    wait_for(lambda: not processes_with(mark))


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "nothing"])
def test_what_is_no_file(kind: str, tmp_path: Path) -> None:
    from attncli.errors import AttncliError, Exit
    from attncli.testing.targets import target_of

    path = tmp_path / "mine.py"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    with pytest.raises(AttncliError, match="cannot be read") as error:
        target_of(f"{path}:attention")
    assert error.value.exit_code == Exit.FILE
