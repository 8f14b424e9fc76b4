"""Pasted matrices of the corpus and of the notations that people have, with slips in them; and a
second, simple reader to hold the first against.

    python tests/tools/fuzz/pasted_texts.py --seconds 60 --seed 1

The simple reader takes all numbers of a text in their order, whatever stands between them. Where
it cannot say which words are numbers, it says nothing. Each text that is read in two ways, takes
too long or raises anything but an error of ours is printed, and the exit code is 1 then. Of several
thousand texts with slips, one or two may be a fault of the simple reader.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from math import isclose, sqrt
from pathlib import Path
from random import Random

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3]))

import attncli
from attncli.answers.reader import read_answers
from attncli.errors import AttncliError
from attncli.problem.text.pasted.spellings import read_pasted
from attncli.problem.text.pasted.text import PastedText, PasteError
from attncli.problem.text.source import Source
from tests.tools.rewriting.notations import drawn_matrix

# Seconds of the processor that one text of at most 4,096 characters may take.
EACH = 1.0
_SIGNS = (
    *"⎡⎢⎣⎤⎥⎦⎛⎞│|[](){},;&_?…=:√½¼²^*/·×−–-+.'\"ᵀ",
    *(" ", "  ", "\t", "\n", "\n\n", "\r\n", "\\\\", "\\cr", "\\hline", "...", "[[", "]]", "], ["),
)
_WORDS = (
    *(
        "0",
        "-1",
        "0.5",
        "0,5",
        "1,25",
        "1 1/2",
        "1/3",
        "O.5",
        "l",
        "1e3",
        "1.5e-3",
        "1 000",
        "1.2.3",
    ),
    *("nan", "inf", "NA", "t1", "d1", "I", "love", "Q =", "S:", "T", "sqrt(2)", "2√3", "−1", "- 1"),
    *(r"\frac{1}{2}", r"\frac12", r"\sqrt2", r"\cdot", r"\text{a}", r"^T", r"\vdots", r"\,", "{,}"),
    *(r"\begin{pmatrix}", r"\end{pmatrix}", r"\left[", "array(", ")", "tensor(", "dtype=int"),
    *("|---|", "---", "[1,]", "[,1]", "2×2 Matrix{Float64}:", "1.0e+03 *", "**1**", "$1$", "1;2"),
    *(
        "0.(3)",
        "1⁄3",
        "½1",
        "10^3",
        "1.5×10^2",
        "(1)",
        "+2",
        "1.",
        ".5",
        "1_000",
        "1'000",
        "%",
        "#",
    ),
)
_WORD = re.compile(r"[^\s&|\[\](){},;⎡⎢⎣⎤⎥⎦]+")


def drawn_text(chance: Random, kept: list[str]) -> str:
    """A fragment of the corpus, or a matrix of drawn numbers, with up to four slips."""
    text = chance.choice(kept) if chance.random() < 0.6 else drawn_matrix(chance)[1]
    for _ in range(chance.choice((0, 1, 1, 1, 2, 2, 4))):
        text = _slip(text, chance, kept)
    return text


def _slip(text: str, chance: Random, kept: list[str]) -> str:
    at = chance.randint(0, len(text))
    words = [*_WORD.finditer(text)]
    lines = text.split("\n")
    match chance.randrange(9):
        case 0 | 1 if words:
            word = chance.choice(words)
            return text[: word.start()] + chance.choice(_WORDS) + text[word.end() :]
        case 2:
            return text[:at] + chance.choice(_WORDS) + text[at:]
        case 3 | 4:
            return text[:at] + chance.choice(_SIGNS) + text[at + chance.randrange(2) :]
        case 5:
            return text[:at] + text[at + chance.choice((1, 1, 2, 5)) :]
        case 6:
            place = chance.randrange(len(lines))
            lines[place] = chance.choice(("", chance.choice(lines), f"{lines[place]} 1"))
            return "\n".join(lines)
        case 7:
            return text + chance.choice(("\n", " ", "\n\n", ", ")) + chance.choice(kept)
        case _:
            return text.replace(*chance.choice(((".", ","), (" ", "  "), (",", ";"), ("-", "−"))))


def play_pasted_twice(data: bytes) -> None:
    """Read a text as a problem and as answers: numbers or an error, the same ones everywhere, in no
    more than a second.
    """
    text = data.decode("utf-8", "replace")
    begun = time.process_time()
    found = read_as_problem(text)
    assert time.process_time() - begun < EACH, "this took more than a second"
    if found is None:
        return
    # Several matrices of heads stand below each other, which answers have one by one.
    if found.ndim != 2:
        return
    begun = time.process_time()
    answered = _read_as_answers(text, found.shape)
    assert time.process_time() - begun < 2 * EACH, "as answers, this took more than two seconds"
    if answered is not None:
        assert np.array_equal(answered, found), f"{found.tolist()}, but {answered.tolist()}"
    simple = [*simple_readings(text)]
    flat = found.flatten().tolist()
    if simple:
        assert any(_are_alike(flat, each) for each in simple), f"{flat}, but {simple}"


def read_as_problem(text: str) -> np.ndarray | None:
    """The numbers of a matrix; None for what is refused, or no matrix."""
    try:
        pasted = read_pasted(PastedText(text, 0, 0), 2, may_be_one=True)
    except PasteError:
        return None
    if pasted is None or not pasted.length:
        return None
    first = pasted.items[0]
    columns = getattr(first, "length", 1)
    try:
        problem = attncli.problem(Q=text, K=[[0] * columns], V=[[0]])
    except AttncliError as error:
        for each in (error, *error.more):
            assert each.message, each
            assert each.help, each
        return None
    return problem.given["Q"].value


def _read_as_answers(text: str, shape: tuple[int, ...]) -> np.ndarray | None:
    """The same behind a name, in a text of answers; None for what is refused, or left blank."""
    rows, columns = shape
    trace = attncli.trace(Q=[[0] * columns] * rows, K=[[0] * columns], V=[[0]])
    try:
        answers = read_answers(Source("a.txt", f"Q =\n{text}\n"), trace)
    except AttncliError as error:
        for each in (error, *error.more):
            assert each.message, each
            assert each.help, each
        return None
    answer = answers.steps.get("Q")
    if answer is None or any(claim is None for claim in answer.cells.flat):
        return None
    return np.array([[float(claim.value) for claim in row] for row in answer.cells])


def _are_alike(found: list[float], simple: list[float]) -> bool:
    return len(found) == len(simple) and all(
        isclose(one, other, rel_tol=1e-9, abs_tol=1e-300)
        for one, other in zip(found, simple, strict=True)
    )


# Signs of which only a real reader knows what they mean here.
_UNCLEAR = re.compile(
    r"""[#%"'<>^_?…~$'²³¹⁰⁴-⁹∞]|\*\*|nan|inf|numpy=|(?:Out|In) ?\[|\\\\[a-z]"""
    r"|\\(?:text|label|tag|times|cdot|hspace|over|phantom|nice|sfrac|num|color|cell|row)"
    r"|[×·*]\s*10|\d_\d|\d\s*\.\.\.|\d\(|\)\w|[^\W\d]\(\d|, *\([\d,]*\)",
    re.IGNORECASE,
)
# Names that have numbers in them: of a row before its bracket, or in a cell of a table.
_NUMBER_IN_NAME = re.compile(
    r"^[^\n⎡⎢⎣⎛⎜⎝\[(|]*(?<![\w.])[-+]?[\d.]+\s*[⎡⎢⎣⎛⎜⎝\[(]|\|[^|\n]*[^\W\d]\S*\s[^|\n]*\d[^|\n]*\|"
    r"|[\w\]]\s?[½¼¾⅓-⅞]|[½¼¾⅓-⅞]\w|,\s*[\d./]+\)\s*$",
    re.MULTILINE,
)
_WORD_OF_DIGITS = re.compile(r"(?<!\w)\d+(?!\w)")
_HEAD = re.compile(r"[^\[\]&\\⎡⎛]*[^\W\d][^\[\]&\\⎡⎛]*")
_NOT_NUMBERS = (
    # Columns and places of an environment, and what R and Julia count.
    re.compile(r"\\begin\s*\{\w+\*?\}(?:\s*\[[^\]]*\])?(?:\s*\{[^{}-]*\})?"),
    re.compile(r"\\end\s*\{[^{}]*\}"),
    re.compile(r"\[\d+,\]|\[,\d+\]"),
    re.compile(r"^\s*\d+[×x]\d+ \w[^\n]*:"),
    re.compile(r"^[-+=|:─═┼├┤╞╡╪ ]+$", re.MULTILINE),
    re.compile(r"\b(?:dtype|device)=[\w.]+"),
    re.compile(r"\\(?:cline|cmidrule)\s*(?:\(\w*\))?\s*\{[^{}]*\}"),
)
_SIGNS_OF_FRACTIONS = dict(zip("½¼¾⅓⅔⅛⅜⅝⅞⅕⅖⅗⅘⅙⅚", (
    *("1/2", "1/4", "3/4", "1/3", "2/3", "1/8", "3/8", "5/8", "7/8"),
    *("1/5", "2/5", "3/5", "4/5", "1/6", "5/6"),
), strict=True))  # fmt: skip
_IN_LATEX = (
    # Room below a row is none of its numbers.
    (re.compile(r"\\\\(?:\s*\[[^\]\n]*\])?"), " & "),
    (re.compile(r"\{([-.,])\}"), r"\1"),
    (re.compile(r"\\sqrt\s*\{(\d+)\}|\\sqrt\s*(\d)(?!\d)"), r"√\1\2"),
    (re.compile(r"\\[dt]?frac\s*(\d)\s*(\d)(?!\d)"), r"\1/\2"),
    (re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"\1/\2"),
    (re.compile(r"(?<=[-+\d])\s+(?=√?\d[^\n]*&)"), ""),
    (re.compile(r"\\[A-Za-z]+|[{}](?![\d.])"), " "),
    (re.compile(r"sqrt\((\d+)\)"), r"√\1"),
)
_BETWEEN = re.compile(r"[\s&|│┃\[\]();⎡⎢⎣⎤⎥⎦⎛⎜⎝⎞⎟⎠┌┐└┘╭╮╰╯,]+")
_WORD_OF_NAME = re.compile(r"[^\W\d][\w.]*[:=]?|:?=")
_FACTOR = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_NUMBER = re.compile(
    rf"(?P<sign>[-+]?)(?P<above>{_FACTOR})?(?:[*·]?√(?P<root>\d+))?"
    rf"(?:[/⁄](?P<below>{_FACTOR})?(?:√(?P<root_below>\d+))?)?"
)


def simple_readings(text: str) -> Iterator[list[float]]:
    """The numbers of a text in their order, with a comma as what separates them and as a point of
    decimals; none where a word of it is neither a number nor a name.
    """
    if _UNCLEAR.search(text) or _NUMBER_IN_NAME.search(text) or text.count("=") > 1:
        return
    for dash in "−–‐‑":
        text = text.replace(dash, "-")
    yield from _readings_of(text)
    # Names of columns may have a number among them, which is a row's in no table.
    head, _, below = text.strip("\n").partition("\n")
    if below and _HEAD.fullmatch(head) and len(_WORD_OF_DIGITS.findall(head)) < 2:
        yield from _readings_of(below)


def _readings_of(text: str) -> Iterator[list[float]]:
    for sign, fraction in _SIGNS_OF_FRACTIONS.items():
        text = text.replace(sign, f"{fraction}")
    for form in _NOT_NUMBERS:
        text = form.sub(" ", text)
    for form, meant in _IN_LATEX:
        text = form.sub(meant, text)
    for point in (",", ".") if re.search(r"\d,\d", text) else (",",):
        words = _BETWEEN.split(re.sub(r"(?<=\d),(?=\d)", point, text))
        numbers = [_number(word) for word in words if word and not _WORD_OF_NAME.fullmatch(word)]
        if numbers and None not in numbers:
            yield [each for each in numbers if each is not None]


def _number(word: str) -> float | None:
    found = _NUMBER.fullmatch(word)
    if found is None or not (found["above"] or found["root"]):
        return None
    if "/" in word and not (found["below"] or found["root_below"]):
        return None
    over = float(found["above"] or 1) * sqrt(int(found["root"] or 1))
    under = float(found["below"] or 1) * sqrt(int(found["root_below"] or 1))
    if not under:
        return None
    return (-over if found["sign"] == "-" else over) / under


def fragments() -> list[str]:
    """Matrices as people have them, from the corpus."""
    folder = Path(__file__).parents[2] / "corpus" / "read"
    return [
        part.partition("\n")[2].partition("\n=>")[0]
        for path in sorted(folder.glob("*.txt"))
        for part in path.read_text(encoding="utf-8").split("=== ")[1:]
    ]


def main() -> int:
    """Play drawn texts for as long as it is asked for; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    chance, kept = Random(asked.seed), fragments()
    end = time.monotonic() + asked.seconds
    played = found = 0
    while time.monotonic() < end:
        text = drawn_text(chance, kept)
        played += 1
        try:
            play_pasted_twice(text.encode())
        except Exception as error:
            found += 1
            print(f"=== {type(error).__name__}: {error}\n{text}", flush=True)
    print(f"{played:,} texts, {found} of them read in two ways, too slowly or not at all")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
