"""Read an equation that a person wrote, in the language of the rules: with limits, and with errors
that say where something is wrong and what to write.

An equation is data. It becomes a tree of nodes, and nothing in it is ever executed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fractions import Fraction

from attncli.english import listed, shorten
from attncli.equation.functions import FUNCTIONS, OVER_A_LETTER
from attncli.equation.indices import is_letter
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref
from attncli.equation.other_notations import trees
from attncli.equation.other_notations.texts import misread
from attncli.equation.other_notations.words import OTHER_FORMS, OTHER_NAMES, OTHER_SIGNS
from attncli.equation.parser import OPERATORS, PI, EquationError, binary
from attncli.errors import did_you_mean

# Characters of an equation, nodes of its tree, and how deep it is nested.
MOST_CHARACTERS, MOST_NODES, DEEPEST = 2_000, 500, 100
# How many levels its tree has where the terms of a sum, one level each, count as well.
MOST_LEVELS = 130
# Digits of a number that stands in an equation.
MOST_DIGITS = 40
LARGEST_EXPONENT = 300
# The length of the axis t in an equation.
LENGTH = re.compile(r"n_[a-z]")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
FORM = "write it as name[letters] = expression, such as scores[i, j] = sum(k, Q[i, k] * K[j, k])"
# The functions that an equation may use, by the number of their arguments.
FUNCTIONS_OF_ONE = tuple(
    name for name, function in FUNCTIONS.items() if function.form == f"{name}(x)"
)
OF_SEVERAL = ("where", "max", "min")
KNOWN = (*FUNCTIONS_OF_ONE, *dict.fromkeys((*OVER_A_LETTER, *OF_SEVERAL)))
# Functions whose name a built-in step has, too: exp[i, j] is a cell, and exp(x) a call.
ALSO_STEPS = ("exp",)
UNREADABLE: dict[type[ast.AST], tuple[str, str]] = {
    ast.BitXor: ("^ is no power here", "write ** for a power: x ** 2"),
    ast.MatMult: (
        "@ stands between whole matrices, and an equation is about one cell",
        "write the product with indices: sum(k, Q[i, k] * K[j, k])",
    ),
    ast.BitAnd: ("& joins no conditions here", "write and: 0 <= i and i < j"),
    ast.BitOr: ("| joins no conditions here", "write or: i < 1 or i < j"),
    ast.LShift: ("<< cannot be read", "write 2 ** n for it"),
    ast.RShift: (">> cannot be read", "write // 2 ** n for it"),
}
_OF_SUMS = (ast.Add, ast.Sub)
COMPARISONS = {ast.LtE: "le", ast.Lt: "lt", ast.GtE: "ge", ast.Gt: "gt", ast.Eq: "eq"}


def read_equation(source: str) -> Equation:
    """`target[i, j] = expression` as a tree; EquationError says where it cannot be read, and why.

    >>> read_equation("gated[i, c] = output[i, c] * sigmoid(gate[i])").target
    Ref(name='gated', indices=('i', 'c'))
    """
    if len(source) > MOST_CHARACTERS:
        raise EquationError(
            f"has {len(source):,} characters",
            at=MOST_CHARACTERS,
            help=f"an equation has at most {MOST_CHARACTERS:,}: write steps of their own",
        )
    # An equation may be broken into lines, as YAML allows it.
    spaced = re.sub(r"\s", " ", source)
    text = spaced.strip()
    begin = len(spaced) - len(spaced.lstrip())
    _check_signs(source)
    statement = _parsed(text, begin)
    reader = _Reader(text, begin)
    target = reader.target(statement.targets[0])
    expression = reader.expression(statement.value, 0)
    return Equation(target, expression)


def _check_signs(source: str) -> None:
    """Raises EquationError for a sign of another notation, and for letters that only look like
    ours.
    """
    for at, sign in enumerate(source):
        if sign in OTHER_SIGNS:
            meant = OTHER_SIGNS[sign]
            letter = re.match(r"_\{?([a-z])\b", source[at + 1 :])
            if "letter" in meant and letter:
                meant = meant.replace("letter", letter[1])
            raise EquationError(
                f"{sign} cannot be read in an equation", at=at, help=f"write {meant}"
            )
        is_known = sign.isascii() and (sign.isprintable() or sign in "\t\r\n")
        if not is_known:
            raise EquationError(
                f"{sign!r} cannot be read in an equation",
                at=at,
                help="names have the letters A to Z, digits and _",
            )


def _parsed(text: str, begin: int) -> ast.Assign:
    """The statement that Python's parser reads; its places are those in the text."""
    try:
        found = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _syntax_error(text, error, begin) from error
    if len(found) != 1 or not isinstance(found[0], ast.Assign):
        raise _no_equation(text, found, begin)
    statement = found[0]
    if len(statement.targets) > 1:
        second = statement.targets[1]
        raise EquationError(
            "has two signs =", at=begin + second.col_offset, help="write two equations"
        )
    return statement


def _syntax_error(text: str, error: Exception, begin: int) -> EquationError:
    """What Python's parser could not read, in words about equations."""
    at = 0
    if isinstance(error, SyntaxError) and error.offset:
        at = max(0, min(error.offset, len(text)) - 1)
    opened = text.count("(") - text.count(")")
    if opened > 0:
        return EquationError(
            "a ( is never closed", at=begin + _last_open(text, "()"), help="write )"
        )
    if opened < 0:
        return EquationError("a ) closes nothing", at=begin + text.rfind(")"), help="take it out")
    opened = text.count("[") - text.count("]")
    if opened > 0:
        return EquationError(
            "a [ is never closed", at=begin + _last_open(text, "[]"), help="write ]"
        )
    if opened < 0:
        return EquationError("a ] closes nothing", at=begin + text.rfind("]"), help="take it out")
    if known := misread(text):
        return EquationError(known.message, at=begin + known.at, help=known.help)
    if "=" not in text:
        return EquationError("is no equation", at=begin, help=FORM)
    return EquationError("cannot be read from here on", at=begin + at, help=FORM)


def _no_equation(text: str, found: list[ast.stmt], begin: int) -> EquationError:
    """What is wrong with statements of Python that define no cell."""
    about = trees.statement(found) if found else None
    if about is not None:
        sign, message, help = about
        return EquationError(message, at=begin + max(0, text.find(sign)), help=help)
    if known := misread(text):
        return EquationError(known.message, at=begin + known.at, help=known.help)
    return EquationError("is no equation", at=begin, help=FORM)


def _last_open(text: str, pair: str) -> int:
    """Where the last bracket stands that is not closed."""
    opened = []
    for at, sign in enumerate(text):
        if sign == pair[0]:
            opened.append(at)
        elif sign == pair[1] and opened:
            opened.pop()
    return opened[-1]


class _Reader:
    """Turns the tree of Python's parser into nodes of the language."""

    def __init__(self, text: str, begin: int) -> None:
        self._text = text
        self._begin = begin
        self._nodes = 0
        self._levels = 0
        # The letters on the left side, and of the sums around what is read.
        self._taken: list[str] = []

    def target(self, node: ast.expr) -> Ref:
        """The cell that is defined: a name with letters as indices."""
        match node:
            case ast.Name(id=name):
                indices: tuple[str, ...] = ()
            case ast.Subscript(value=ast.Name(id=name), slice=inside):
                indices = tuple(self._letters(inside))
            case _:
                cell = trees.cell_of_many_brackets(self._text, node)
                help = f"write {cell} = …" if cell else FORM
                raise self._error("the left side must be a name with letters", node, help)
        self._require_name(name, node)
        twice = [letter for letter in indices if indices.count(letter) > 1]
        if twice:
            raise self._error(
                f"{twice[0]} stands twice on the left side",
                node,
                "every axis of a step has a letter of its own",
            )
        self._taken += indices
        return Ref(name, indices)

    def expression(self, node: ast.expr, depth: int) -> Expression:
        """The tree of an expression that stands inside of so many others."""
        self._levels += 1
        if self._levels > MOST_LEVELS:
            raise self._error(
                "is a sum of too many terms",
                node,
                "write a part of the sum as a step of its own, or sum(letter, …)",
            )
        found = self._expression(node, depth)
        self._levels -= 1
        return found

    def _expression(self, node: ast.expr, depth: int) -> Expression:
        self._count(node, depth)
        deeper = depth + 1
        match node:
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                return self._number(node)
            case ast.Name(id="inf"):
                return Number(float("inf"), "inf")
            case ast.Name(id="pi"):
                return PI
            case ast.Name(id=name):
                return Name(name)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
                return Number(float("-inf"), "-inf")
            case ast.Subscript(value=ast.Name(id=name), slice=inside):
                indices = tuple(self._index(each, deeper) for each in _elements(inside))
                return Ref(name, indices)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS and (
                type(op) not in UNREADABLE
            ):
                # A sum of many terms is long, and not deep.
                first = self.expression(left, depth if _goes_on(node) else deeper)
                return binary(OPERATORS[type(op)], first, self.expression(right, deeper))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Call("neg", (self.expression(operand, deeper),))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.expression(operand, deeper)
            case ast.BoolOp() | ast.Compare(ops=[_]) if _can_be_read(node):
                said = ast.get_source_segment(self._text, node) or "a condition"
                raise self._error(
                    "a condition is no number",
                    node,
                    f"it stands first in a choice: write where({shorten(said)}, 1, 0)",
                )
            case ast.Call(func=ast.Name(id=name)):
                return self._call(name, node, deeper)
            case _:
                raise self._unreadable(node)

    def condition(self, node: ast.expr, depth: int) -> Expression:
        """What a choice depends on: comparisons, or a number that is 0 where it does not hold."""
        self._count(node, depth)
        deeper = depth + 1
        match node:
            case ast.BoolOp(op=op, values=values):
                joined = tuple(self._joined(each, op, deeper) for each in values)
                return Call(OPERATORS[type(op)], joined)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                pair = (self.expression(left, deeper), self.expression(right, deeper))
                return Call(COMPARISONS[type(op)], pair)
            case _:
                return self.expression(node, depth)

    def _joined(self, node: ast.expr, op: ast.boolop, depth: int) -> Expression:
        """A part of a condition with `and` or `or`."""
        if isinstance(node, ast.Compare | ast.BoolOp):
            return self.condition(node, depth)
        said = ast.get_source_segment(self._text, node) or "…"
        raise self._error(
            f"{type(op).__name__.lower()} joins comparisons, and this is a number",
            node,
            f"write 0 < {shorten(said)}",
        )

    def _call(self, name: str, node: ast.Call, depth: int) -> Expression:
        if name not in KNOWN:
            raise self._unknown_function(name, node)
        if node.keywords:
            raise self._error(
                f"{name} takes no arguments by name",
                node.keywords[0].value,
                f"write {_form_of(name)}",
            )
        arguments = node.args
        if name in OVER_A_LETTER and arguments and _is_letter(arguments[0]):
            if len(arguments) != 2:
                form = trees.over_a_letter(self._text, name, arguments, self._taken)
                raise self._error(
                    f"{name} over a letter takes the letter and one expression",
                    node,
                    f"write {form}",
                )
            return self._over(name, arguments[0], arguments[1], depth)
        if name in FUNCTIONS_OF_ONE and len(arguments) == 1:
            return Call(name, (self.expression(arguments[0], depth),))
        if name == "where" and len(arguments) == 3:
            condition, *choices = arguments
            chosen = [self.expression(each, depth) for each in choices]
            return Call("where", (self.condition(condition, depth), *chosen))
        if name in ("max", "min") and len(arguments) > 1:
            found = self.expression(arguments[0], depth)
            for each in arguments[1:]:
                found = Call(name, (found, self.expression(each, depth)))
            return found
        help = f"write {_form_of(name)}"
        if name in OVER_A_LETTER and arguments:
            form = trees.over_a_letter(self._text, name, arguments, self._taken)
            help = f"name the letter that it runs over: {form}"
        raise self._error(f"{name} takes other arguments", node, help)

    def _over(self, name: str, first: ast.expr, body: ast.expr, depth: int) -> Expression:
        assert isinstance(first, ast.Name)
        letter = first.id
        if letter in self._taken and name != "softmax":
            help = "use a letter that is neither on the left side nor of a sum around this one"
            if name in ("max", "min"):
                other = ast.get_source_segment(self._text, body) or "…"
                help = f"of two numbers, a position stands last: {name}({shorten(other)}, {letter})"
            raise self._error(
                f"{letter} has a place already where {name} runs over it", first, help
            )
        self._taken.append(letter)
        inside = self.expression(body, depth)
        self._taken.pop()
        if name == "min":
            # The smallest is the largest of the opposites.
            return Call("neg", (Reduce("max", letter, Call("neg", (inside,))),))
        if name == "mean":
            return Call("div", (Reduce("add", letter, inside), Name(f"n_{letter}")))
        if name == "softmax":
            return Call("softmax", (Name(letter), inside))
        return Reduce({"sum": "add", "max": "max"}[name], letter, inside)

    def _number(self, node: ast.Constant) -> Number:
        text = ast.get_source_segment(self._text, node) or str(node.value)
        text = text.replace("_", "")
        if len(text) > MOST_DIGITS:
            raise self._error(
                "is too long a number", node, f"a number has at most {MOST_DIGITS} digits"
            )
        if not re.fullmatch(r"[0-9.]+(e[-+]?[0-9]+)?", text.lower()):
            raise self._error(f"{shorten(text)} is no number", node, "write digits, such as 0.5")
        _, _, exponent = text.lower().partition("e")
        if exponent and abs(int(exponent)) > LARGEST_EXPONENT:
            raise self._error(
                f"{shorten(text)} does not fit a number",
                node,
                f"exponents go from -{LARGEST_EXPONENT} to {LARGEST_EXPONENT}",
            )
        return Number(Fraction(text), text)

    def _index(self, node: ast.expr, depth: int) -> str | Expression:
        if isinstance(node, ast.Slice):
            raise self._error(
                "an index is one place, not a part of an axis",
                node,
                "write a letter, as in Q[i, k]",
            )
        found = self.expression(node, depth)
        if isinstance(found, Name) and is_letter(found.name):
            return found.name
        return found

    def _letters(self, inside: ast.expr) -> Iterator[str]:
        for each in _elements(inside):
            if not _is_letter(each):
                raise self._error(
                    "the left side takes letters only", each, "write one lower-case letter an axis"
                )
            assert isinstance(each, ast.Name)
            yield each.id

    def _require_name(self, name: str, node: ast.expr) -> None:
        if is_letter(name):
            raise self._error(
                f"{name} is a letter, which is always an index",
                node,
                f"a step has a longer or a capital name, such as {name.upper()} or my_{name}",
            )
        if name in KNOWN and name not in ALSO_STEPS:
            raise self._error(f"{name} is a function", node, "give the step another name")
        if not NAME.fullmatch(name):
            raise self._error(
                f"{name} cannot be the name of a step", node, "begin the name with a letter A to Z"
            )
        if LENGTH.fullmatch(name):
            raise self._error(
                f"{name} is the length of an axis", node, "give the step another name"
            )

    def _count(self, node: ast.expr, depth: int) -> None:
        self._nodes += 1
        if depth > DEEPEST:
            raise self._error(
                "is nested too deep here", node, f"at most {DEEPEST} deep: write steps of their own"
            )
        if self._nodes > MOST_NODES:
            raise self._error(
                "is too long from here on", node, "write steps of their own for parts of it"
            )

    def _unknown_function(self, name: str, node: ast.Call) -> EquationError:
        help = f"the functions are {listed(KNOWN)}"
        if name in OTHER_FORMS:
            help = f"write {OTHER_FORMS[name]}"
        elif name in OTHER_NAMES:
            help = f"write {_form_of(OTHER_NAMES[name])}"
        elif cell := trees.cell_of_a_call(self._text, node):
            help = f"a cell has square brackets: write {cell}"
        else:
            help = did_you_mean(name, list(KNOWN), help)
        return self._error(f"there is no function {shorten(name)}", node, help)

    def _unreadable(self, node: ast.expr) -> EquationError:
        match node:
            case ast.BinOp(op=op) if type(op) in UNREADABLE:
                message, help = UNREADABLE[type(op)]
                said = ast.get_source_segment(self._text, node) or ""
                if isinstance(op, ast.BitAnd | ast.BitOr) and said:
                    help = f"write {trees.joined(said)}"
                return EquationError(message, at=self._sign_after(node.left), help=help)
            case ast.Compare(ops=[_, _, *_]):
                form = trees.comparisons(self._text, node)
                return self._error("two comparisons in one cannot be read", node, f"write {form}")
            case ast.Compare(ops=[ast.NotEq()]):
                return self._error(
                    "this comparison cannot be read",
                    node,
                    f"write {trees.unlike(self._text, node)}",
                )
            case ast.Compare():
                return self._error(
                    "this comparison cannot be read", node, "the comparisons are < <= > >= =="
                )
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                form = trees.opposite(self._text, operand)
                return self._error("not cannot be read", node, f"write {form}")
            case ast.UnaryOp():
                return self._error(
                    "this sign cannot be read", node, "write where(condition, a, b) for a choice"
                )
            case ast.Attribute(attr="T"):
                return self._error(
                    ".T stands for a whole matrix, and an equation is about one cell",
                    node,
                    "write it with indices: K[j, k] is a cell of K, K[j, k] of its transpose, too",
                )
            case ast.Call(func=ast.Attribute(value=of, attr=function), args=given) if (
                function in OVER_A_LETTER
            ):
                inside = given or [of]
                form = trees.over_a_letter(self._text, function, inside[:1], self._taken)
                return self._error(
                    "a dot cannot be read: names here have none", node, f"write {form}"
                )
            case ast.Attribute() | ast.Call(func=ast.Attribute(value=ast.Name())):
                called = node.func if isinstance(node, ast.Call) else node
                assert isinstance(called, ast.Attribute)
                return self._error(
                    "a dot cannot be read: names here have none",
                    node,
                    f"write {_form_of(called.attr)}" if called.attr in KNOWN else FORM,
                )
            case ast.Subscript() if cell := trees.cell_of_many_brackets(self._text, node):
                return self._error(
                    "all indices stand in one pair of brackets", node, f"write {cell}"
                )
            case ast.Subscript() if cell := trees.transposed_cell(self._text, node):
                return self._error(
                    ".T stands for a whole matrix, and an equation is about one cell",
                    node,
                    f"write {cell}",
                )
            case ast.Call(func=ast.Constant()):
                return self._error(
                    "a number before a bracket is no product here", node, "write *: 2 * (…)"
                )
            case ast.IfExp():
                form = trees.choice(self._text, node)
                return self._error("if … else cannot be read", node, f"write {form}")
            case ast.Constant():
                return self._error("is no number", node, "write digits, such as 0.5")
            case _:
                segment = ast.get_source_segment(self._text, node)
                return self._error(f"{shorten(segment or 'this')} cannot be read", node, FORM)

    def _sign_after(self, left: ast.expr) -> int:
        """Where the sign stands that follows an operand."""
        at = left.end_col_offset or 0
        while self._text[at] in " )":
            at += 1
        return self._begin + at

    def _error(self, message: str, node: ast.expr, help: str) -> EquationError:
        return EquationError(message, at=self._begin + node.col_offset, help=help)


def _can_be_read(node: ast.expr) -> bool:
    """Whether a condition is one that stands in a choice."""
    return not isinstance(node, ast.Compare) or type(node.ops[0]) in COMPARISONS


def _goes_on(node: ast.BinOp) -> bool:
    """Whether the left side of a sum is the beginning of the same sum: a + b of a + b - c."""
    return isinstance(node.op, _OF_SUMS) and (
        isinstance(node.left, ast.BinOp) and isinstance(node.left.op, _OF_SUMS)
    )


def _elements(inside: ast.expr) -> list[ast.expr]:
    return inside.elts if isinstance(inside, ast.Tuple) else [inside]


def _is_letter(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and is_letter(node.id)


def _form_of(name: str) -> str:
    if name == "where":
        return "where(condition, a, b)"
    if name in OVER_A_LETTER:
        return f"{name}(k, …), with the letter that it runs over"
    return f"{name}(x)"
