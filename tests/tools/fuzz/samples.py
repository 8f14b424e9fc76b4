"""Good files of every kind, made of `inputs/`, and the bad ones of the corpus: what fuzzing begins
with.
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from contextlib import chdir
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

import attncli
from attncli.cli.main import run
from attncli.page.derivation import derivation
from attncli.page.view import View
from attncli.render import Style, render
from tests.corpus.cases import Case, cases
from tests.hostile.archives import PARTS, workbook

INPUTS = Path(__file__).parents[3] / "inputs"
PROBLEM = (INPUTS / "i_love_ai.yaml").read_text(encoding="utf-8")
ANSWERED = (INPUTS / "answers" / "i_love_ai.yaml").read_text(encoding="utf-8")
MOST = 4096  # bytes of a seed


def inputs(suffix: str) -> list[Path]:
    """The examples."""
    return sorted(INPUTS.glob(f"*.{suffix}"))


@cache
def _bad(command: str) -> tuple[Case, ...]:
    return tuple(
        case
        for case in cases()
        if case.command.startswith(f"{command} ") and len(case.data) <= MOST
    )


def bad(command: str, suffix: str) -> list[bytes]:
    """The files of the corpus that are given to this command."""
    return [case.data for case in _bad(command) if case.name.endswith(f".{suffix}")]


def problems(suffix: str) -> list[bytes]:
    """Problems; an example in YAML is one in JSON, too."""
    good = [path.read_bytes() for path in inputs(suffix)]
    if suffix == "json":
        import yaml

        good += [json.dumps(yaml.safe_load(path.read_bytes())).encode() for path in inputs("yaml")]
    return good + bad("compute", suffix)


def page(suffix: str) -> bytes:
    """The answers to PROBLEM as a page of ours, as lists in YAML or as JSON."""
    if suffix == "yaml":
        return ANSWERED.encode()
    trace = attncli.trace(attncli.load(INPUTS / "i_love_ai.yaml"))
    if suffix == "json":
        steps = ("scores", "scaled", "weights", "output")
        return json.dumps({name: trace[name].round(3).tolist() for name in steps}).encode()
    if suffix == "txt":
        return render(derivation(trace, View(detail="brief")), "table", Style()).encode()
    text = trace.to_latex(detail="brief") if suffix == "tex" else trace.to_markdown(detail="brief")
    return text.encode()


def pages(suffix: str) -> list[bytes]:
    """Answers."""
    return [page(suffix), *bad("check", suffix)]


def array(suffix: str) -> bytes:
    """A matrix of 2 × 3 as NumPy, safetensors or a spreadsheet writes it."""
    if suffix == "xlsx":
        return workbook()
    value, file = np.array([[1.0, -2, 3], [4, 5, 0.5]]), io.BytesIO()
    if suffix == "csv":
        return b"1,-2,3\n4,5,0.5\n"
    if suffix == "npy":
        np.save(file, value)
    elif suffix == "npz":
        np.savez(file, q=value)
    else:
        import struct

        about = {"q": {"dtype": "F64", "shape": [2, 3], "data_offsets": [0, 48]}}
        header = json.dumps(about).encode()
        file.write(struct.pack("<Q", len(header)) + header + value.tobytes())
    return file.getvalue()


def parts() -> list[bytes]:
    """The XML of workbooks, for `packed`."""
    good = [text for _, text in PARTS.values()]
    dated = '<c r="A1" s="1"><v>46000</v></c>'
    formats = '<numFmts><numFmt numFmtId="170" formatCode="[$-407]d/m/yy"/></numFmts>'
    styles = f'<s>{formats}<cellXfs><xf/><xf numFmtId="170"/></cellXfs></s>'
    return ["\0".join(each).encode() for each in (good, good[:1], [dated, good[1], styles])]


def packed(data: bytes) -> bytes:
    """A workbook of these parts, apart by NUL, with the good ones for those that are left out."""
    return workbook(**dict(zip(PARTS, data.split(b"\0"), strict=False)))


def arrays(suffix: str) -> list[bytes]:
    """Arrays: in other formats and orders, too."""
    found = [array(suffix)]
    if suffix == "xlsx":
        return [*found, workbook(strings="<sst/>")]
    if suffix == "csv":
        return [
            *found,
            b"\xef\xbb\xbf;q;k;v\nI;1,5;2;-3\nAI;1/3;sqrt(2);0\n",
            b'"1"\t"2"\t"3"\r\n1 \t2\t.5\r\n',
        ]
    if suffix == "safetensors":
        return [*found, (INPUTS / "tiny_gpt2.safetensors").read_bytes()]
    for value in (
        np.eye(3, dtype="f2"),
        np.asfortranarray(np.eye(3, dtype=">i4")),
        np.zeros((1, 3), bool),
    ):
        file = io.BytesIO()
        if suffix == "npy":
            np.save(file, value)
        else:
            np.savez_compressed(file, q=value)
        found.append(file.getvalue())
    return found


def dump(suffix: str) -> bytes:
    """The steps of PROBLEM as a trace in JSON, as lists in YAML, or as arrays."""
    trace = attncli.trace(attncli.load(INPUTS / "i_love_ai.yaml"))
    if suffix == "npz":
        file = io.BytesIO()
        np.savez_compressed(
            file, scores=trace["scores"], weights=trace["weights"], out=trace["output"]
        )
        return file.getvalue()
    if suffix == "yaml":
        return f"scores: {trace['scores'].tolist()}\nA: {trace['weights'].tolist()}\n".encode()
    return json.dumps(trace.to_dict()).encode()


def dumps(suffix: str) -> list[bytes]:
    """What other programs worked out."""
    return [dump(suffix), *bad("compare", suffix)]


STUDENTS = {"ada": ANSWERED, "bob": "scores: [[1, 2, 3]]\n", "eve": "weights: [[0.5, null]]\n"}
# parts of a workbook that hold its cells
_TYPED = ("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml")


@cache
def _results(suffix: str) -> bytes:
    """What `check` writes of the STUDENTS: right answers, blanks, and some that do not fit."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("love.yaml").write_text(PROBLEM, encoding="utf-8")
        for name, text in STUDENTS.items():
            Path(f"{name}.yaml").write_text(text, encoding="utf-8")
        run(["check", "love.yaml", *(f"{name}.yaml" for name in STUDENTS), "-o", f"r.{suffix}"])
        return Path(f"r.{suffix}").read_bytes()


def results(suffix: str) -> list[bytes]:
    """Results of a class, whole and cut off; of a workbook its XML, for `results_book`; or the rows
    of a killed run.
    """
    if suffix == "partial":
        rows = json.loads(_results("json"))["students"]
        whole = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    elif suffix == "xlsx":
        with zipfile.ZipFile(io.BytesIO(_results("xlsx"))) as book:
            whole = b"\0".join(map(book.read, _TYPED))
    else:
        whole = _results(suffix)
    return [whole, whole[: len(whole) // 2]]


def results_book(data: bytes) -> bytes:
    """A workbook of results with these parts, apart by NUL."""
    changed = dict(zip(_TYPED, data.split(b"\0"), strict=False))
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_results("xlsx"))) as good, zipfile.ZipFile(file, "w") as book:
        for name in good.namelist():
            book.writestr(name, changed.get(name, good.read(name)))
    return file.getvalue()


def options() -> list[bytes]:
    """Options as `targets.py` reads them: those of the corpus's command lines, and some good
    ones.
    """
    good = [
        "--mask={causal: true, corner: bottom-right}",
        "--cell=scores[0,1]",
        "--cell=weights[I, love]\n--precision=5",
        "--steps=weights,output\n--scale=1/3",
        "--set=mask=causal\n--set=scale=none",
        "--marks=20",
        (
            "--mask=[{window: [1, 0]}, {padding: [1, 1, 0]}, {keep: [[1, 0, 1], [1, 1, 1], [1, 1,"
            " 1]]}]"
        ),
        "--set=position={rope: {theta: 10}}\n--set=sink=[1]",
        "--set=X={random: [3, 4], seed: 3}",
    ]
    lines = []
    for case in cases():
        words = case.arguments
        pairs = [f"{name}={value}" for name, value in pairwise(words) if name.startswith("--")]
        lines += ["\n".join(pairs)] * bool(pairs)
    return [line.encode("utf-8", "surrogateescape") for line in [*good, *dict.fromkeys(lines)]]
