"""Reads the equations of a problem: steps in the place of the built-in ones or beside them, and the
arrays that they read besides.

How they become part of a plan is in `attention/system.py`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from attncli.english import count, shorten
from attncli.equation.indices import is_letter
from attncli.equation.nodes import Equation, names_used
from attncli.equation.own_parser import KNOWN, LENGTH, read_equation
from attncli.equation.parser import EquationError
from attncli.errors import AttncliError, Place, input_error
from attncli.problem.arrays.matrix_reader import MOST_AXES, read_matrix
from attncli.problem.keys import ARRAYS, KEYS
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.text.nodes import HeldArray, Leaf, ListNode, MappingNode, describe
from attncli.problem.text.values import Value, read_scalar, read_text, read_title, require_keys

MOST_EQUATIONS = 200
MOST_WORDS = 1_000
EXAMPLE = 'write equations: ["Q[i, k] = 2 * X[i, k]"]'
ARRAYS_EXAMPLE = "write arrays: {gain[k]: [1, 2, 1], eps: 0.001}"
_CELL = re.compile(r"([A-Za-z][A-Za-z0-9_]*)\s*(?:\[([a-z](?:\s*,\s*[a-z])*)\])?")
# What a formula is set with in every format, such as Z' and W_Q.
SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9_]*'*")
SYMBOL_FORM = "a symbol has letters A to Z, digits and _, and primes at its end: H, W_in, Z'"
_WORDS = ("title", "symbol", "meaning", "why")


@dataclass(frozen=True, slots=True)
class OwnEquation:
    """A step that a person wrote: its equation, the text of it, and what is said about it.

    `place` is where the text begins, None for a problem of Python; `path` is the value's name in
    messages.
    """

    equation: Equation
    source: str
    path: str
    place: Place | None = None
    # The offset of the text in its file.
    at: int = 0
    title: str = ""
    symbol: str = ""
    meaning: str = ""
    why: str = ""

    @property
    def name(self) -> str:
        """The step that it defines."""
        return self.equation.target.name

    def error(self, message: str, help: str, word: str = "") -> AttncliError:
        """An error in this equation, where a word of it stands first."""
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.source) if word else None
        return self.error_at(message, help, found.start() if found else 0)

    def error_at(self, message: str, help: str, at: int) -> AttncliError:
        """An error at a character of this equation."""
        return input_error(message, path=self.path, place=self._place_of(at), help=help)

    def _place_of(self, at: int) -> Place | None:
        if self.place is None:
            return None
        behind = self.place.source[self.place.column - 1 :]
        is_as_written = behind.startswith(self.source[:at])
        return replace(self.place, column=self.place.column + at) if is_as_written else self.place


@dataclass(frozen=True, slots=True, eq=False)
class OwnArray:
    """An array that equations read besides: gain[k], whose letters say what its axes run over."""

    name: str
    letters: tuple[str, ...]
    matrix: Matrix
    path: str
    place: Place | None = None

    @property
    def cell(self) -> str:
        """What stands before its numbers in a file: gain[k]."""
        return f"{self.name}[{', '.join(self.letters)}]" if self.letters else self.name

    @property
    def given(self) -> Matrix | Scalar:
        """Its numbers as they were given."""
        return self.matrix if self.letters else self.matrix.only_number

    def error(self, message: str, help: str) -> AttncliError:
        """An error about this array, where it stands."""
        return input_error(message, path=self.path, place=self.place, help=help)


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """The equations of a problem, the arrays they read, and the step that the page ends with."""

    equations: tuple[OwnEquation, ...] = ()
    arrays: tuple[OwnArray, ...] = ()
    result: str = "output"
    # Where the file names it.
    result_place: Place | None = None
    # Where the problem begins, for what is missing in it.
    start: Place | None = None

    @property
    def replaced(self) -> Mapping[str, OwnEquation]:
        """The equations by the names of their steps."""
        return {own.name: own for own in self.equations}

    @property
    def read(self) -> frozenset[str]:
        """The names of all that the equations read."""
        found: set[str] = set()
        for own in self.equations:
            found.update(names_used(own.equation.expression))
        return frozenset(found)


def read_arrays(value: Value) -> tuple[OwnArray, ...] | None:
    """The arrays by their cells; None after reporting what is wrong."""
    # An array of Python is a mapping, too: that of an array in a file.
    if not isinstance(value.node, MappingNode) or isinstance(value.node, HeldArray):
        value.wrong(f"must be {{name[letters]: …}}, not {describe(value.node)}", ARRAYS_EXAMPLE)
        return None
    found: dict[str, OwnArray] = {}
    for key, at in value.keys.items():
        cell = _CELL.fullmatch(key.strip())
        name = cell[1] if cell else ""
        if wrong := _wrong_name(name, key):
            value.wrong(*wrong, at=at)
            continue
        if name in found:
            value.wrong(f"{name} is given twice", "keep one of the two", at=at)
            continue
        assert cell is not None
        letters = tuple(re.findall(r"[a-z]", cell[2] or ""))
        matrix = _read_array(value.key(key), letters)
        if matrix is not None:
            place = _place(value, at)
            found[name] = OwnArray(name, letters, matrix, f"{value.path}.{key}", place)
    return tuple(found.values())


def _wrong_name(name: str, key: str) -> tuple[str, str] | None:
    """What is wrong with the cell of an array, and what to write."""
    if not name:
        return f"{shorten(key)} is no cell of an array", ARRAYS_EXAMPLE
    if is_letter(name):
        return (
            f"{name} is a letter, which is always an index",
            f"an array has a longer or a capital name, such as {name.upper()} or {free_name(name)}",
        )
    if keyword.iskeyword(name):
        return (
            f"{name} cannot be a name: it is a word of Python",
            f"give the array another name, such as {free_name(name)}",
        )
    if LENGTH.fullmatch(name):
        return f"{name} is the length of an axis", "give the array another name"
    if name in KNOWN or name == "inf":
        return f"{name} is a function", "give the array another name"
    if name in KEYS or name in ARRAYS:
        free = free_name(name)
        return (
            f"{name} is a key of problems",
            f"write {name}: … at the top, or another name here, such as {free}",
        )
    if name.startswith("d_"):
        free = free_name(name.removeprefix("d_"))
        return f"{name} is the name of a gradient", f"give the array a name without d_: {free}"
    return None


def free_name(name: str) -> str:
    """A name that no key and no step of a problem has, for one that is taken."""
    return f"my_{name}"


def _read_array(value: Value, letters: tuple[str, ...]) -> Matrix | None:
    if not letters:
        number = read_scalar(value)
        if number is None:
            return None
        return Matrix([number.value], [number.written], ())
    matrix = read_matrix(value, rank=min(2, len(letters)), deepest=max(len(letters), 1))
    if matrix is not None and matrix.ndim != len(letters):
        value.wrong(
            f"has {count(matrix.ndim, 'axis', 'axes')}, and {count(len(letters), 'letter')}",
            "write one letter for each axis",
        )
        return None
    if len(letters) > MOST_AXES:
        value.wrong(f"has {len(letters)} letters", f"an array has at most {MOST_AXES} axes")
        return None
    return matrix


def read_equations(value: Value) -> tuple[OwnEquation, ...] | None:
    """The equations in the order of the file; None after reporting what is wrong."""
    if not isinstance(value.node, ListNode):
        value.wrong(f"must be a list of equations, not {describe(value.node)}", EXAMPLE)
        return None
    if value.node.length > MOST_EQUATIONS:
        value.wrong(
            f"has {value.node.length:,} equations", f"a problem has at most {MOST_EQUATIONS}"
        )
        return None
    before = value.errors.count
    found: dict[str, OwnEquation] = {}
    for item in value.items:
        own = _read_equation(item)
        if own is None:
            continue
        if own.name in found:
            item.wrong(f"{own.name} is defined twice", "keep one of the two equations")
        found[own.name] = own
    return tuple(found.values()) if value.errors.count == before else None


def _read_equation(value: Value) -> OwnEquation | None:
    words: dict[str, str] = {}
    text = value
    if isinstance(value.node, MappingNode):
        if not require_keys(value, ("equation", *_WORDS)):
            return None
        if "equation" not in value.keys:
            value.wrong("has no equation", f"write {{equation: …, title: …}}: {EXAMPLE}")
            return None
        text = value.key("equation")
        words = {key: _read_words(value.key(key)) for key in _WORDS if key in value.keys}
    elif not isinstance(value.node, Leaf):
        value.wrong(f"must be an equation in quotes, not {describe(value.node)}", EXAMPLE)
        return None
    source = read_text(text)
    if source is None:
        return None
    node = text.node
    assert isinstance(node, Leaf)
    start = node.at + (1 if node.quoted else 0)
    try:
        equation = read_equation(source)
    except EquationError as error:
        text.wrong(str(error), error.help, at=_inside(text, start, source, error.at))
        return None
    if equation.target.name.startswith("d_"):
        text.wrong(
            f"{equation.target.name} is the name of a gradient",
            "give the step a name without d_: "
            + free_name(equation.target.name.removeprefix("d_")),
        )
        return None
    return OwnEquation(equation, source, text.path, _place(text, start), start, **words)


def _read_words(value: Value) -> str:
    if value.name == "title":
        return read_title(value) or ""
    if value.name == "symbol":
        symbol = read_title(value) or ""
        if symbol and not SYMBOL.fullmatch(symbol):
            value.wrong(f"{shorten(symbol)} cannot stand in a formula", SYMBOL_FORM)
        return symbol
    text = read_text(value) or ""
    if len(text) > MOST_WORDS:
        value.wrong(f"has {len(text):,} characters", f"at most {MOST_WORDS:,} are possible")
    return text


def _inside(value: Value, start: int, source: str, at: int) -> int:
    """The place of a character of a text, where the file has it as it reads; else its beginning."""
    written = value.errors.source.text[start : start + at]
    return start + at if written == source[:at] else start


def _place(value: Value, at: int) -> Place | None:
    source = value.errors.source
    return source.place(at) if source.name else None


def read_result(value: Value) -> tuple[str, Place | None] | None:
    """The name of a step, and where it stands; None after reporting anything else."""
    if isinstance(value.node, Leaf) and re.fullmatch(r"[A-Za-z]\w*", value.text):
        return value.text, _place(value, value.node.at)
    value.wrong(f"must be the name of a step, not {describe(value.node)}", "write result: output")
    return None
