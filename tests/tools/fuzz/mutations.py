"""Slips of hand and disk: what becomes of a good file by flipped bits, lost and doubled lines, and
odd numbers.
"""

from __future__ import annotations

import re
from random import Random

ODD = (
    "0",
    "-0",
    "-1",
    "1e999",
    "1e308",
    "-1e308",
    "5e-324",
    "nan",
    ".nan",
    "-inf",
    "-.inf",
    ".inf",
    "Infinity",
    "null",
    "~",
    "true",
    "no",
    "010",
    "1_000",
    "1:30",
    "0x1f",
    "1e",
    "1.",
    ".5",
    "1/0",
    "1/3",
    "sqrt(2)",
    "-sqrt(-2)",
    "9" * 30,
    "9" * 401,
    "1" + "0" * 15 + "1",
    '"1"',
    "''",
    "[]",
    "{}",
    "[[1]]",
    "{file: a.npy}",
    "{random: [3, 3]}",
    "2024-01-01",
)
PIECES = (
    "[",
    "]",
    "{",
    "}",
    ",",
    ": ",
    "- ",
    "\n",
    "  ",
    '"',
    "'",
    "&a ",
    "*a",
    "!!x ",
    "<<: ",
    "? ",
    "| ",
    "\t",
    "\r",
    "---\n",
    "# ",
    "\\",
    "$$",
    "&",
    "|",
    "\0",
    "\x1b",
    "\u202e",
    "\ufeff",
    "\u0085",
    "é",
    "\\begin{array}{r}",
    "```",
    "%",
    "?",
    "_",
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")


def mutated(data: bytes, random: Random) -> bytes:
    """The bytes after one to four slips."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        data = random.choice(_SLIPS)(data, random)
    return data


def _flipped(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes((data[at] ^ 1 << random.randrange(8),)) + data[at + 1 :]


def _byte(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + bytes((random.randrange(256),)) + data[at + random.randrange(2) :]


def _lost(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + data[at + random.choice((1, 2, 8, 40)) :]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randint(0, len(data))]


def _doubled(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return (
        data[:at] + data[at : at + random.choice((1, 5, 30))] * random.choice((2, 2, 9)) + data[at:]
    )


def _inserted(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.choice(PIECES).encode() + data[at:]


def _odd(data: bytes, random: Random) -> bytes:
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return _inserted(data, random)
    found = random.choice(numbers)
    return data[: found.start()] + random.choice(ODD).encode() + data[found.end() :]


def _lines(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            lines[first], lines[second] = lines[second], lines[first]
        case 1:
            del lines[first]
        case 2:
            lines.insert(second, lines[first])
        case _:
            lines[first] = b" " * random.randrange(1, 5) + lines[first].lstrip()
    return b"\n".join(lines)


_SLIPS = (_flipped, _byte, _lost, _cut, _doubled, _inserted, _odd, _odd, _lines)
