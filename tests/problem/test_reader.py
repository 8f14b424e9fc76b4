"""Problems that read well, in every form; and files and streams that cannot be read."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from attncli.errors import AttncliError
from attncli.problem import files
from attncli.problem.loader import load, loads
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.masks import Mask
from attncli.problem.parts.masks.causal import Causal
from tests.cases import in_one_test

LOVE = """\
title: I love AI
tokens: ["I", "love", "AI"]          # row labels; default t1, t2, …
X:   [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]]
W_Q: [[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]]
W_K: [[0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]]
W_V: [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]
mask: causal
"""
QKV = '{"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}'


def texts(matrix: Matrix) -> list[object]:
    assert matrix.written is not None
    assert not matrix.written.flags.writeable
    found: list[object] = matrix.written.tolist()
    return found


def test_the_contract_s_example() -> None:
    problem = loads(LOVE.encode(), "love.yaml")
    assert problem.title == "I love AI"
    assert problem.tokens == problem.context_tokens == ("I", "love", "AI")
    assert list(problem.given) == ["X", "W_Q", "W_K", "W_V"]
    assert problem.given["X"].value.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]]
    assert texts(problem.given["X"]) == [
        ["1", "0", "1", "0"],
        ["0", "1", "0", "1"],
        ["1", "1", "0", "0"],
    ]
    assert problem.mask == Mask((Causal(),))
    assert (problem.score, problem.scale, problem.softcap, problem.exp_base) == (
        "scaled_dot",
        "default",
        None,
        None,
    )
    assert not problem.given["X"].value.flags.writeable


def test_numbers_stay_as_written() -> None:
    problem = loads(b'Q: [["1/3", 0.50], [1e3, -.5]]\nK: [[sqrt(2), 1]]\nV: [[1]]', "p.yaml")
    assert texts(problem.given["Q"]) == [["1/3", "0.50"], ["1e3", "-.5"]]
    assert problem.given["Q"].value.tolist() == [[1 / 3, 0.5], [1000, -0.5]]
    assert problem.given["K"].value[0, 0] == np.sqrt(2)


def test_every_setting() -> None:
    text = (
        "{Q: [[1]], K: [[1, 2]], V: [[3]], score: additive, W_1: [[1, 2]], W_2: [[1, 2], [3, 4]],"
        " v: [1, 2], scale: 1/2, softcap: 50, exp_base: 2, heads: 1, kv_heads: 1}"
    )
    problem = loads(text.encode(), "p.yaml")
    assert problem.score == "additive"
    assert (problem.scale, problem.softcap, problem.exp_base) == (
        Scalar(0.5, "1/2"),
        Scalar(50, "50"),
        Scalar(2, "2"),
    )
    assert problem.given["v"].value.tolist() == [1, 2]
    assert texts(problem.given["v"]) == ["1", "2"]
    assert list(problem.given) == ["Q", "K", "V", "W_1", "W_2", "v"]


@pytest.mark.parametrize(
    ("text", "scale", "base"),
    [
        ("scale: none\nexp_base: e", "none", None),
        ("scale: default", "default", None),
        ("scale: -2", Scalar(-2, "-2"), None),
    ],
)
def test_words_for_settings(text: str, scale: object, base: object) -> None:
    problem = loads(f"Q: [[1]]\nK: [[1]]\nV: [[1]]\n{text}".encode(), "p.yaml")
    assert (problem.scale, problem.exp_base) == (scale, base)


def test_multiplicative_and_biases_and_context() -> None:
    text = (
        "X: [[1, 2]]\ncontext: [[1], [2], [3]]\nW_Q: [[1], [2]]\nW_K: [[1, 2]]\nW_V: [[1, 2, 3]]\n"
        "b_Q: [1]\nb_K: [1, 2]\nb_V: [1, 2, 3]\nscore: multiplicative\nW_a: [[1, 2]]"
    )
    problem = loads(text.encode(), "p.yaml")
    assert problem.tokens == ("t1",)
    assert problem.context_tokens == ("c1", "c2", "c3")


@in_one_test(
    ("text", "tokens", "context_tokens"),
    [
        ("Q: [[1], [2]]\nK: [[1], [2]]\nV: [[1], [2]]", ("t1", "t2"), ("t1", "t2")),
        ("Q: [[1], [2]]\nK: [[1]]\nV: [[1]]", ("t1", "t2"), ("c1",)),
        ("Q: [[1]]\nK: [[1]]\nV: [[1]]\ntokens: [a]\ncontext_tokens: [b]", ("a",), ("b",)),
        (
            "X: [[1]]\ncontext: [[2]]\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[1]]\ntokens: [a]",
            ("a",),
            ("c1",),
        ),
        (
            "Q: [[1], [2]]\nK: [[1], [2]]\nV: [[1], [2]]\ntokens: [2024, null]",
            ("2024", "null"),
            ("2024", "null"),
        ),
        (
            "Q: [[1], [2]]\nK: [[1], [2]]\nV: [[1], [2]]\ntokens: [no, no]",
            ("no", "no"),
            ("no", "no"),
        ),
        (
            'Q: [[1], [2]]\nK: [[1], [2]]\nV: [[1], [2]]\ntokens: [" ", "\\n"]',
            (" ", "\n"),
            (" ", "\n"),
        ),
    ],
)
def test_labels(text: str, tokens: tuple[str, ...], context_tokens: tuple[str, ...]) -> None:
    problem = loads(text.encode(), "p.yaml")
    assert (problem.tokens, problem.context_tokens) == (tokens, context_tokens)


def test_json_and_yaml_read_alike(tmp_path: Path) -> None:
    for name in ("p.json", "p.yaml", "p.txt", "P.JSON"):
        (tmp_path / name).write_text(QKV)
        problem = load(str(tmp_path / name))
        assert (problem.tokens, problem.context_tokens) == (("t1",), ("c1", "c2"))


def refusal(path: str) -> tuple[int, str, str]:
    with pytest.raises(AttncliError) as caught:
        load(path)
    return int(caught.value.exit_code), str(caught.value), caught.value.help


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("love.yaml").write_text(LOVE)
    Path("loop").symlink_to("loop")
    os.mkfifo("pipe")
    help = "name a file, or - for standard input"
    assert refusal("lvoe.yaml") == (
        4,
        "cannot read lvoe.yaml: this file does not exist",
        "did you mean love.yaml?",
    )
    Path("lobe.py").touch()
    assert refusal("lobe.ya") == (
        4,
        "cannot read lobe.ya: this file does not exist",
        "did you mean love.yaml?",
    )
    assert refusal("lobe.npy") == (
        4,
        "cannot read lobe.npy: this file does not exist",
        "check the spelling and the folder",
    )
    Path("lovely.md").touch()
    assert refusal("lovly.md") == (
        4,
        "cannot read lovly.md: this file does not exist",
        "did you mean lovely.md?",
    )
    assert refusal("lovly.tex") == (
        4,
        "cannot read lovly.tex: this file does not exist",
        "did you mean lovely.md?",
    )
    assert refusal("lovly.yaml") == (
        4,
        "cannot read lovly.yaml: this file does not exist",
        "did you mean love.yaml?",
    )
    Path("lovely.md").rename("lovely.yaml")
    assert refusal("lovly.md") == (
        4,
        "cannot read lovly.md: this file does not exist",
        "did you mean lovely.yaml?",
    )
    Path("lovely.yaml").unlink()
    assert refusal("") == (4, "the name of the file is empty", help)
    assert refusal("no/love.yaml") == (
        4, "cannot read no/love.yaml: this file does not exist", "check the spelling and the folder"
    )  # fmt: skip
    assert refusal(".") == (4, "cannot read .: it is a folder, not a file", help)
    assert refusal("pipe") == (4, "cannot read pipe: it is a named pipe, not a file", help)
    assert refusal("/dev/null") == (4, "cannot read /dev/null: it is a device, not a file", help)
    assert refusal("loop") == (4, "cannot read loop: too many levels of symbolic links", help)
    assert refusal("a\0b") == (
        4,
        "cannot read a\0b: a file's name cannot hold a NUL character",
        help,
    )
    assert refusal("love.yaml/x") == (4, "cannot read love.yaml/x: not a directory", help)
    assert refusal("x" * 300)[:2] == (
        4,
        f"cannot read {'x' * 100}…{'x' * 50} (300 characters): file name too long",
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(LOVE)
    path.chmod(0)
    assert refusal(str(path))[:2] == (4, f"cannot read {path}: permission denied")


def test_files_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "SIZE_LIMIT", 2**20)
    path = tmp_path / "p.yaml"
    path.write_bytes(b"#" * (2**20 + 1))
    assert refusal(str(path)) == (
        4, f"cannot read {path}: it is larger than 1 MiB",
        "put large matrices in a .npz file and refer to it: W_Q: {file: weights.npz, name: W_Q}",
    )  # fmt: skip


def standard_input(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))


@pytest.mark.parametrize("text", [LOVE, QKV, "{Q: [[1, 0]], K: [[1, 0]], V: [[1]]}"])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    standard_input(monkeypatch, text)
    assert load("-").given["V" if "V" in text and "W_V" not in text else "X"].value[0, 0] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"Q" [[1]]}', 'found [ instead of ":"'),
        ("{Q: [[1]}", 'found "}" instead of "]"'),
        ('{"Q": [[x]]}', "the keys are missing"),
    ],
)
def test_faults_on_standard_input(monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    standard_input(monkeypatch, text)
    with pytest.raises(AttncliError) as caught:
        load("-")
    assert str(caught.value) == message
    assert caught.value.place
    assert caught.value.place.file == "standard input"


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert refusal("-") == (4, "standard input is closed", "name a file instead of -")


def test_streams_the_shell_has_opened(tmp_path: Path) -> None:
    """`/dev/stdin` and bash's `<(…)` are pipes, but ones with a writer."""
    code = "import sys; from attncli.problem.loader import load; print(load(sys.argv[1]).tokens)"
    run = subprocess.run(
        [sys.executable, "-c", code, "/dev/stdin"],
        input=QKV,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "('t1',)\n"


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(("now", "later"), [(LOVE[:40], LOVE[40:]), ("", LOVE)])
def test_standard_input_that_is_set_not_to_wait(now: str, later: str) -> None:
    """A pipe's other end may have left O_NONBLOCK on it: reading then would end at what is there so
    far.
    """
    code = (
        "from attncli.problem.loader import load; print('ready', flush=True);"
        " print(load('-').mask.parts)"
    )
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.write(writing, now.encode())
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=reading, stdout=subprocess.PIPE, text=True
    ) as run:
        os.close(reading)
        assert run.stdout
        assert run.stdout.readline() == "ready\n"
        time.sleep(0.2)  # it comes to the end of what is there
        os.write(writing, later.encode())
        os.close(writing)
        assert run.stdout.read() == "(Causal(),)\n"


def test_a_file_with_nothing_to_read_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As /proc/kmsg, a regular file that never ends and is opened so that reading it does not
    wait.
    """
    path = tmp_path / "p.yaml"
    path.write_text(LOVE)
    nothing_now = SimpleNamespace(read=lambda size: None)
    monkeypatch.setattr(files, "open_regular", lambda path: contextlib.nullcontext(nothing_now))
    assert refusal(str(path))[:2] == (4, f"cannot read {path}: there is nothing to read in it now")
