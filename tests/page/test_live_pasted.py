"""Matrices that are pasted into a live page: its script reads them as problem files are read."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from attncli.page.live.constants import shared_constants
from attncli.problem.arrays.matrix_reader import read_matrix
from attncli.problem.loader import loads
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf
from attncli.problem.text.numbers import canonical
from attncli.problem.text.reading import Reading
from attncli.problem.text.source import Source
from attncli.problem.text.values import Value
from attncli.render.html.script_text import MODEL_FILES, script_of
from tests.cases import in_one_test
from tests.corpus.test_read import FRAGMENTS
from tests.problem.text.test_pasted import SPELLINGS

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


class Found(NamedTuple):
    """A matrix, each number in its one spelling, and the names of its rows; or why not."""

    shape: list[int]
    numbers: list[str]
    names: list[str]
    refused: str = ""


def by_the_script(texts: list[tuple[str, int]]) -> list[Found]:
    """What the script of a page reads, where lists of this rank are wanted."""
    constants = f"const SHARED = {json.dumps(shared_constants())};"
    lines = [f"{constants}\n{script_of(MODEL_FILES)}", *texts]
    ran = subprocess.run(
        ["node", str(HERE / "pasted_texts.cjs")],
        input="".join(f"{json.dumps(line)}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return [as_found(json.loads(line)) for line in ran.stdout.splitlines()]


def as_found(answer: dict[str, Any]) -> Found:
    if "refused" in answer:
        return Found([], [], [], answer["refused"])
    # What a page saves is spelled as in files.
    assert [*map(canonical, answer["texts"])] == answer["canonical"]
    return Found(answer["shape"], answer["canonical"], answer["names"])


def by_attncli(text: str, rank: int) -> Found:
    """What attncli reads."""
    errors = ErrorCollector(Source("", text))
    value = Value(Leaf(text, True, 0), "Q", Reading(errors))
    matrix = read_matrix(value, rank=rank, deepest=4 if rank > 1 else None)
    if matrix is None:
        try:
            errors.stop()
        except Exception as error:
            return Found([], [], [], str(error))
    assert matrix is not None
    assert matrix.written is not None
    names = value.reading.row_names.get("Q", ())
    # A row number of R has become a word.
    named = [name for name in names if set(name) != {"n"}]
    numbers = [canonical(each) for each in matrix.written.ravel().tolist()]
    return Found(list(matrix.shape), numbers, named)


def is_same(one: Found, other: Found) -> bool:
    return bool(one.refused and other.refused) or one == other


CORPUS = [each.text for each in FRAGMENTS if not each.text.startswith("- [")]
KNOWN = [*CORPUS, *SPELLINGS.values()]


@in_one_test("rank", [1, 2])
def test_what_people_paste_is_read_as_in_files(rank: int) -> None:
    """The same matrix with the same names, or both refuse."""
    found = by_the_script([(text, rank) for text in KNOWN])
    for text, one in zip(KNOWN, found, strict=True):
        other = by_attncli(text, rank)
        assert is_same(one, other), (text, one, other)


# --- drawn matrices in every form

NUMBERS = ("3", "-0.5", "1e3", "1/3", "sqrt(2)", "-2*sqrt(3)/5", "½", "−7", "√3", "1.5×10³", "2^3")
LATEX = {
    "1/3": r"\frac13",
    "sqrt(2)": r"\sqrt{2}",
    "-2*sqrt(3)/5": r"-\frac{2\sqrt{3}}{5}",
    "½": r"\tfrac{1}{2}",
    "√3": r"\sqrt 3",
    "1.5×10³": r"1.5 \times 10^{3}",
    "2^3": "2^{3}",
}
Rows = list[list[str]]


def in_latex(environment: str) -> Callable[[Rows], str]:
    def write(rows: Rows) -> str:
        lines = [" & ".join(LATEX.get(cell, cell) for cell in row) for row in rows]
        columns = "{" + "c" * len(rows[0]) + "}" if environment == "array" else ""
        body = " \\\\\n".join(lines)
        return f"$$X = \\begin{{{environment}}}{columns}\n{body}\n\\end{{{environment}}}$$"

    return write


def apart(sign: str, *, names: bool = False) -> Callable[[Rows], str]:
    def write(rows: Rows) -> str:
        body = [sign.join(row) for row in rows]
        if not names:
            return "\n".join(body)
        head = sign.join(["", *(f"d{place + 1}" for place in range(len(rows[0])))])
        return "\n".join(
            [head, *(f"{word}{sign}{row}" for word, row in zip(WORDS, body, strict=False))]
        )

    return write


WORDS = ("love", "AI", "[SEP]", "größer", "🙂", "the")
NAMES_BEFORE_BRACKETS = ("I", "love", "größer", "the", "x_1")


def drawn_brackets(rows: Rows) -> str:
    if len(rows) == 1:
        return f"[ {' '.join(rows[0])} ]\n[ {' '.join(rows[0])} ]"
    signs = ["⎡⎤", *["⎢⎥"] * (len(rows) - 2), "⎣⎦"]
    pairs = zip(signs, rows, NAMES_BEFORE_BRACKETS, strict=False)
    return "\n".join(f"  {word} {sign[0]} {'  '.join(row)} {sign[1]}" for sign, row, word in pairs)


def markdown(rows: Rows) -> str:
    head = [f"d{place + 1}" for place in range(len(rows[0]))]
    lines = [["", *head], ["---"] * (len(head) + 1)]
    lines += [[f"**{word}**", *row] for word, row in zip(WORDS, rows, strict=False)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def in_brackets(rows: Rows, sign: str) -> list[str]:
    return [sign.join(row).join("[]") for row in rows]


FORMS: dict[str, Callable[[Rows], str]] = {
    **{each: in_latex(each) for each in ("pmatrix", "bmatrix", "array", "smallmatrix")},
    "NumPy": lambda rows: "\n ".join(in_brackets(rows, " ")).join("[]"),
    "lists": lambda rows: ", ".join(in_brackets(rows, ", ")).join("[]"),
    "PyTorch": lambda rows: f"tensor([{','.join(in_brackets(rows, ', '))}], device='cuda:0')",
    "MATLAB": lambda rows: f"W = [{'; '.join(' '.join(row) for row in rows)}];",
    "blanks": apart("  "),
    "blanks and names": apart("  ", names=True),
    "tabs": apart("\t"),
    "tabs and names": apart("\t", names=True),
    "CSV": apart(","),
    "CSV with names": apart(",", names=True),
    "semicolons": apart(";"),
    "drawn brackets": drawn_brackets,
    "Markdown": markdown,
}


def drawn_rows(chosen: random.Random) -> Rows:
    height, width = chosen.randint(2, 5), chosen.randint(2, 4)
    return [[chosen.choice(NUMBERS) for _ in range(width)] for _ in range(height)]


def test_drawn_matrices_are_read_in_every_form() -> None:
    chosen = random.Random(36)
    drawn = [(form, drawn_rows(chosen)) for form in FORMS for _ in range(25)]
    texts = [FORMS[form](rows) for form, rows in drawn]
    found = by_the_script([(text, 2) for text in texts])
    assert sum(not each.refused for each in found) > 0.95 * len(found)
    for (form, rows), text, one in zip(drawn, texts, found, strict=True):
        other = by_attncli(text, 2)
        assert is_same(one, other), (text, one, other)
        if one.refused:
            # Blanks stand between numbers, and in a mixed number.
            assert "can be read as" in one.refused, text
            continue
        assert one.shape == [len(rows), len(rows[0])], text
        assert one.numbers == [canonical(cell) for row in rows for cell in row], text
        words = NAMES_BEFORE_BRACKETS if form == "drawn brackets" else WORDS
        if "names" in form or form in ("drawn brackets", "Markdown"):
            assert one.names == [*words[: len(rows)]]


def test_decimal_commas_are_read_by_the_rules_of_files() -> None:
    chosen = random.Random(36)
    cells = ("0,5", "1,25", "-3,0", "2", "1,500", "0.5", "1.000,5")
    texts = []
    for _ in range(300):
        kinds = chosen.sample(cells, chosen.randint(1, 3))
        rows = [[chosen.choice(kinds) for _ in range(2)] for _ in range(chosen.randint(1, 3))]
        sign = chosen.choice(("\t", ";", " ", ", "))
        texts.append((apart(sign)(rows), chosen.choice((1, 2))))
    for (text, rank), one in zip(texts, by_the_script(texts), strict=True):
        other = by_attncli(text, rank)
        # In doubt the page may refuse what a file may have.
        assert is_same(one, other) or (one.refused and "," in text), (text, one, other)


SIGNS = (*" ,;\n\t01.5-/[]()|&½√x\"'#=ᵀ^", "")


def with_slips(text: str, chosen: random.Random) -> str:
    for _ in range(chosen.choice((1, 1, 2))):
        at = chosen.randint(0, len(text))
        end = at + chosen.choice((0, 1))
        text = text[:at] + chosen.choice(SIGNS) + text[end:]
    return text


def test_a_slip_makes_no_other_matrix() -> None:
    """Nearly all such texts are read as in files; of no text does the page have other numbers."""
    chosen = random.Random(36)
    texts = [
        (with_slips(chosen.choice(KNOWN), chosen), chosen.choice((1, 2, 2))) for _ in range(800)
    ]
    others = []
    for (text, rank), one in zip(texts, by_the_script(texts), strict=True):
        other = by_attncli(text, rank)
        if one.refused or other.refused:
            others += [] if is_same(one, other) else [text]
            continue
        assert one == other, text
    assert len(others) < 0.04 * len(texts), others


def test_messages_are_those_of_files() -> None:
    """As far as the help, which the page says behind a colon."""
    texts = [
        "[[1, 2], [3]]",
        "1 2\n3 x",
        "1 ... 2\n3 ... 4",
        "[1, 2, 3]",
        "1; 0",
        "1 2\n3 1/0",
        "1 2\n3 1e999",
        "[[1, nonsense], [2, 3]]",
    ]
    for text, one in zip(texts, by_the_script([(text, 2) for text in texts]), strict=True):
        _, _, said = by_attncli(text, 2).refused.partition(": ")
        assert f"{one.refused}: ".startswith(f"{said}: "), text


@in_one_test("text", ["X: [[1, 2], [3, 4]]", "X:\n  - [1, 2]\n  - [3, 4]", "X: [1 2; 3 4]"])
def test_lines_of_yaml_are_read(text: str) -> None:
    problem = loads(
        f"{text}\nW_Q: [[1], [1]]\nW_K: [[1], [1]]\nW_V: [[1], [1]]\n".encode(), "p.yaml"
    )
    (found,) = by_the_script([(text, 2)])
    assert found.shape == [2, 2]
    assert [*map(float, found.numbers)] == problem.given["X"].value.ravel().tolist()


def test_lists_in_lists_have_as_many_axes() -> None:
    (found,) = by_the_script([("[[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 0], [1, 2]]]", 2)])
    assert found.shape == [3, 2, 2]
    (found,) = by_the_script([("[[[1, 2], [3, 4]], [[5, 6]]]", 2)])
    assert "close each row" in found.refused


def test_a_hostile_text_is_refused_at_once() -> None:
    """In time that grows with its length: a square of it would take minutes."""
    signs = [*'[-|"½⎡(\t', "1 ", "1,", "a=", "\\frac"]
    texts = [(sign * 50_000, 1) for sign in signs]
    texts += [(f"\\begin{{pmatrix}} {text}", 2) for text, _ in texts]
    assert len(by_the_script(texts)) == len(texts)


def test_a_large_matrix_is_read() -> None:
    row = " ".join(["0.25"] * 100)
    (found,) = by_the_script([("\n".join([row] * 100), 2)])
    assert found.shape == [100, 100]
