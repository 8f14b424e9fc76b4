"""Draws texts of problems whose matrices are written in any way, with something odd put into some
of them.

They are short, and each is about the readers of long lists: where brackets, commas, blanks and
dashes stand, and words that one reader may take for a number and another for a text.
"""

from __future__ import annotations

import re
from random import Random

WORDS = (
    '"1"',
    "1/3",
    "sqrt(2)",
    '"1/3"',
    "x",
    "no",
    "true",
    "null",
    "~",
    "",
    "010",
    "1_000",
    "0x10",
    "+1",
    "+.5",
    ".5",
    "5.",
    "-",
    "--1",
    "-.5",
    "1e400",
    "1e-400",
    "1.5.2",
    "1:30",
    "a: b",
    "a:b",
    "{a: 1}",
    "&a 1",
    "*a",
    "!!int 1",
    "[1]",
    "[]",
    "[[]]",
    "[1,2]",
    '"a b"',
    "'x'",
    "'1/3'",
    '"a\\n"',
    '"\\ud800"',
    '"',
    "'",
    "#c",
    " #c",
    "# c\n",
    "\t",
    "1 2",
    "1\t",
    "inf",
    "-inf",
    "nan",
    ".nan",
    "-.inf",
    "é",
    '"é"',
    "\u22123",
    "\u00a0",
    "\u2028",
    "1E5",
    "1e+5",
    "1.e5",
    "-0",
    "-0.0",
    "00",
    "0e5",
    "1,",
    "[",
    "]",
    "- 1",
    "? 1",
    "@a",
    "`",
    "%a",
    "5%",
    "|",
    ">",
    "1-2",
    "1e",
    ".",
    "..",
    "...",
    "---",
    "-a",
    "a-",
    "(",
    "1/0",
    "-1/3",
    "sqrt(4)",
    "2*sqrt(3)",
    "sqrt(-1)",
    "Infinity",
    "NaN",
    "FALSE",
    "1" * 401,
    '"' + "b" * 500 + '"',
    "\x00",
    "\x07",
    "\x7f",
    "\x85",
    "\u0661",
    "1 ",
    " 1",
    "1\n",
    "\n1",
    "\r",
    "\\",
    "/",
    "//",
    "1#",
    "1 #",
    "a#b",
    '"]"',
    '"["',
    '"1, 2"',
    "'a,b'",
    "<<",
    "=",
    "1;2",
    "0b1",
    "0o7",
    "+",
    "+-1",
    "1+1",
    '""',
    "''",
    "[1,2],",
    "9" * 400,
    "1." + "0" * 20,
    "0.1e-5",
    "123456789012345678",
    "12345678.12345678",
    "yes",
    "1, ",
    "1,5",
)
_SIGNS = ("[", "]", ",", "\n", " ", "\t", "  - ", "-", "#", " #", ":", ": ", '"', "{", "}", "- ")
_WORD = re.compile(r'[^\s,\[\]{}:"]+')
_SIGN = re.compile(r"[\[\],\n ]")


def text(chance: Random, suffix: str) -> bytes:
    """A problem in "yaml" or "json", right or with up to three things that are odd."""
    is_json = suffix == "json"
    length, width = chance.choice((2, 5, 20)), chance.choice((1, 2, 3, 8))
    keys = ["Q", "K", "V", *(key for key in ("mask", "tokens") if chance.random() < 0.3)]
    keys += ["foo"] * (chance.random() < 0.05)
    chance.shuffle(keys)
    if is_json:
        values = [f'"{key}": {_value(key, length, width, chance)}' for key in keys]
        written = chance.choice((",", ", ", ",\n")).join(values)
        written = f"{{{written}}}"
    else:
        written = "\n".join(_in_yaml(key, length, width, chance) for key in keys)
        written = written.join(("{", "}")) if chance.random() < 0.03 else written
        written += chance.choice(("\n", "", "\n\n", "\n# end\n"))
    for _ in range(chance.choice((0, 0, 0, 1, 1, 1, 2, 3))):
        written = _odd(written, chance)
    return written.encode()


def _in_yaml(key: str, length: int, width: int, chance: Random) -> str:
    if key != "tokens" and chance.random() < 0.4:
        before = "\n" + chance.choice(("", " ", "  ", "    ")) + "- "
        return f"{key}:{before}" + before.join(_rows(key, length, width, chance))
    return f"{key}:" + chance.choice((" ", "  ", "\n  ")) + _value(key, length, width, chance)


def _value(key: str, length: int, width: int, chance: Random) -> str:
    if key == "tokens":
        return _list(
            [chance.choice(('"a"', '"b c"', '"2024"', '"w.1"')) for _ in range(length)], chance
        )
    whole = _list(_rows(key, length, width, chance), chance)
    match chance.choice((2, 2, 2, 2, 2, 2, 3, 4, 1)):
        case 1 if chance.random() < 0.3:
            return _list([_number(chance) for _ in range(length)], chance)
        case 3:
            return f"[{whole},{whole}]"
        case 4:
            return f"[[{whole}],[{whole}]]"
    return whole


def _rows(key: str, length: int, width: int, chance: Random) -> list[str]:
    words = chance.choice(
        (("true", "false"), ("0", "1"), ("0.5", "2", '"-inf"'), ("0", "2", "true"))
    )
    uneven = chance.random() < 0.07  # each row of its own length, or deeper than others
    rows = []
    for _ in range(length):
        cells = length if key == "mask" else width
        cells = chance.choice((cells, cells, 1, 2)) if uneven else cells
        row = _list(
            [chance.choice(words) if key == "mask" else _number(chance) for _ in range(cells)],
            chance,
        )
        rows.append(f"[{row}]" if uneven and chance.random() < 0.1 else row)
    return rows


def _list(entries: list[str], chance: Random) -> str:
    if len(entries) > 2 and chance.random() < 0.1:  # as decimal commas make them
        entries = [",".join(entries[at : at + 2]) for at in range(0, len(entries), 2)]
    return "[" + chance.choice((", ", ",", " , ", ",  ", ",\n  ")).join(entries) + "]"


def _number(chance: Random) -> str:
    match chance.choice((0, 0, 0, 0, 1, 1, 1, 2, 3)):
        case 0:
            return str(chance.randint(-9, 9))
        case 1:
            return repr(round(chance.uniform(-5, 5), chance.randint(0, 6)))
        case 2:
            return f"{chance.uniform(-5, 5):.17g}"
    return f"{chance.uniform(-5, 5):e}"


def _odd(written: str, chance: Random) -> str:
    """The text with a word replaced, put in or lost, or a sign of its lists changed."""
    way, word = chance.random(), chance.choice(WORDS)
    at = chance.randint(0, len(written))
    if way < 0.5 and (found := list(_WORD.finditer(written))):
        one = chance.choice(found)
        return written[: one.start()] + word + written[one.end() :]
    if way < 0.65:
        return written[:at] + word + written[at:]
    if way < 0.75:
        return written[:at] + written[at + chance.choice((1, 1, 2, 5)) :]
    if way < 0.95 and (found := list(_SIGN.finditer(written))):
        at = chance.choice(found).start()
        return written[:at] + chance.choice(_SIGNS) + written[at + chance.choice((0, 1)) :]
    return written.replace("\n", "\r\n")
