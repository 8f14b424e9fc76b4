"""Systems of equations worked out number by number, as docs/reference/equations.md says it: values,
and gradients by going back through every operation.

Nothing of the program is used, and no NumPy: a number knows what it was made of, and by how much it
moves with each of these.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

Place = tuple[int, ...]
# Entries, heads, and heads of keys and values: the axes that an equation need not name.
LEADING = "bhg"


class Unclear(Exception):
    """A place at which a slope jumps: the size of a number that is 0."""


@dataclass(eq=False, slots=True)
class Number:
    """A number, and of each one that it was made of, how fast it moves with it."""

    value: float
    made_of: tuple[tuple[Number, float], ...] = ()
    gradient: float = 0.0
    # Whether it moves with anything that is given.
    moves: bool = False

    def __post_init__(self) -> None:
        self.moves |= any(part.moves for part, _ in self.made_of)


@dataclass(frozen=True, slots=True)
class Given:
    """An array: its letters, those of heads and entries first, and the number at each place."""

    letters: tuple[str, ...]
    numbers: Mapping[Place, Number]


@dataclass(frozen=True, slots=True)
class Step:
    """An equation: the letters on its left side without those of heads and entries, and its right
    side.
    """

    letters: tuple[str, ...]
    right: ast.expr


def step(source: str) -> tuple[str, Step]:
    """The name of a step and its equation."""
    (statement,) = ast.parse(source).body
    assert isinstance(statement, ast.Assign)
    (left,) = statement.targets
    if isinstance(left, ast.Name):
        return left.id, Step((), statement.value)
    assert isinstance(left, ast.Subscript)
    assert isinstance(left.value, ast.Name)
    letters = [each.id for each in _parts(left.slice) if isinstance(each, ast.Name)]
    of_one_head = tuple(letter for letter in letters if letter not in LEADING)
    return left.value.id, Step(of_one_head, statement.value)


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


@dataclass
class Loops:
    """A system: what is given, its steps, how long each letter is, and numbers with a name."""

    given: Mapping[str, Given]
    steps: Mapping[str, Step]
    lengths: Mapping[str, int]
    names: Mapping[str, float]
    group: int = 1
    # Steps whose heads are put side by side: they have heads, whatever they read.
    joined: tuple[str, ...] = ()
    _found: dict[tuple[str, Place, Place], Number] = field(default_factory=dict)
    _leading: dict[str, str] = field(default_factory=dict)

    def leading(self, name: str) -> str:
        """The letters of heads and entries that a step or an array depends on."""
        if name not in self._leading:
            if name in self.given:
                found = {letter for letter in self.given[name].letters if letter in LEADING}
            else:
                found = self._of_right_side(self.steps[name])
                if name in self.joined:
                    found.add("h")
            if "h" in found:
                # The head of a query says which head of keys and values it is.
                found.discard("g")
            self._leading[name] = "".join(letter for letter in LEADING if letter in found)
        return self._leading[name]

    def _of_right_side(self, own: Step) -> set[str]:
        found = set()
        # Names of functions are no steps, and the name before a bracket is read with its indices.
        passed = set()
        for node in ast.walk(own.right):
            if isinstance(node, ast.Call):
                passed.add(id(node.func))
            if isinstance(node, ast.Subscript):
                passed.add(id(node.value))
        for node in ast.walk(own.right):
            if id(node) in passed:
                continue
            if isinstance(node, ast.Subscript):
                assert isinstance(node.value, ast.Name)
                name, axes = node.value.id, len(_parts(node.slice))
                found |= set(self._implied(name, axes))
            elif isinstance(node, ast.Name):
                found |= {node.id} & set(LEADING)
                if node.id in self.given or node.id in self.steps:
                    found |= set(self._implied(node.id, 0))
        return found

    def _implied(self, name: str, indices: int) -> str:
        """The leading letters of an array that its reader leaves out: perhaps only the first."""
        leading = self.leading(name)
        return leading[: len(leading) + len(self.letters(name)) - indices]

    def letters(self, name: str) -> tuple[str, ...]:
        """The letters of a step or an array, without those of heads and entries."""
        if name in self.steps:
            return self.steps[name].letters
        return tuple(letter for letter in self.given[name].letters if letter not in LEADING)

    def places(self, name: str) -> Iterator[Place]:
        """Every place of a step, those of heads and entries first."""
        letters = (*self.leading(name), *self.letters(name))
        return product(*(range(self.lengths[letter]) for letter in letters))

    def number(self, name: str, place: Place) -> Number:
        """The number at a place of a step, those of heads and entries first."""
        leading = self.leading(name)
        around = dict(zip(leading, place[: len(leading)], strict=True))
        if "h" in around:
            around["g"] = around["h"] // self.group
        elif "g" in around:
            around["h"] = around["g"] * self.group
        return self._cell(name, place[len(leading) :], around)

    def _cell(self, name: str, place: Place, around: Mapping[str, int]) -> Number:
        leading = tuple(around[letter] for letter in self.leading(name))
        if name in self.given:
            return self.given[name].numbers[(*leading, *place)]
        key = (name, leading, place)
        if key not in self._found:
            own = self.steps[name]
            inside = {**around, **dict(zip(own.letters, place, strict=True))}
            self._found[key] = self._worked(own.right, inside)
        return self._found[key]

    def _worked(self, node: ast.expr, at: Mapping[str, int]) -> Number:
        match node:
            case ast.Constant(value=int() | float() as number):
                return Number(float(number))
            case ast.Name(id="inf"):
                return Number(math.inf)
            case ast.Name(id="pi"):
                return Number(math.pi)
            case ast.Name(id=name):
                return self._named(name, at)
            case ast.Subscript(value=ast.Name(id=name), slice=inside):
                return self._read(name, _parts(inside), at)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                x = self._worked(operand, at)
                return Number(-x.value, ((x, -1.0),))
            case ast.BinOp(left=left, op=op, right=right):
                return BINARY[type(op)](self._worked(left, at), self._worked(right, at))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, arguments, at)
        raise NotImplementedError(ast.dump(node))

    def _named(self, name: str, at: Mapping[str, int]) -> Number:
        if name in at:
            return Number(float(at[name]))
        if name in self.names:
            return Number(self.names[name])
        if name.startswith("n_"):
            return Number(float(self.lengths[name[2:]]))
        return self._cell(name, (), at)

    def _read(self, name: str, inside: Sequence[ast.expr], at: Mapping[str, int]) -> Number:
        places = tuple(int(self._worked(each, at).value) for each in inside)
        axes = len(self.letters(name))
        named = self.leading(name)[len(self.leading(name)) + axes - len(places) :]
        around = {**at, **dict(zip(named, places, strict=False))}
        return self._cell(name, places[len(places) - axes :], around)

    def _call(self, name: str, arguments: Sequence[ast.expr], at: Mapping[str, int]) -> Number:
        first = arguments[0]
        if name in OVER and isinstance(first, ast.Name) and first.id in self.lengths:
            letter, body = first.id, arguments[1]
            every = [
                self._worked(body, {**at, letter: place}) for place in range(self.lengths[letter])
            ]
            if name == "softmax":
                return _share_of(every, at[letter])
            return OVER[name](every)
        if name == "where":
            chosen = arguments[1] if self._holds(first, at) else arguments[2]
            return self._worked(chosen, at)
        if name in ("max", "min"):
            return OVER[name]([self._worked(each, at) for each in arguments])
        x = self._worked(first, at)
        function, slope = FUNCTIONS[name]
        return Number(function(x.value), ((x, slope(x.value)),) if x.moves else ())

    def _holds(self, node: ast.expr, at: Mapping[str, int]) -> bool:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self._holds(each, at) for each in values)
            case ast.BoolOp(op=ast.Or(), values=values):
                return any(self._holds(each, at) for each in values)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                one, other = self._worked(left, at).value, self._worked(right, at).value
                return COMPARED[type(op)](one, other)
        raise NotImplementedError(ast.dump(node))


def go_back(begins: Sequence[tuple[Number, float]]) -> None:
    """Give every number its gradient, where these have these gradients."""
    order: list[Number] = []
    seen: set[int] = set()
    for number, _ in begins:
        _visit(number, seen, order)
    for number, gradient in begins:
        number.gradient += gradient
    for number in reversed(order):
        for part, slope in number.made_of:
            if number.gradient:
                part.gradient += number.gradient * slope


def _visit(number: Number, seen: set[int], order: list[Number]) -> None:
    if id(number) in seen:
        return
    seen.add(id(number))
    for part, _ in number.made_of:
        _visit(part, seen, order)
    order.append(number)


def _add(x: Number, y: Number) -> Number:
    return Number(x.value + y.value, ((x, 1.0), (y, 1.0)))


def _subtract(x: Number, y: Number) -> Number:
    return Number(x.value - y.value, ((x, 1.0), (y, -1.0)))


def _times(x: Number, y: Number) -> Number:
    return Number(x.value * y.value, ((x, y.value), (y, x.value)))


def _divided(x: Number, y: Number) -> Number:
    return Number(x.value / y.value, ((x, 1 / y.value), (y, -x.value / y.value**2)))


def _power(x: Number, y: Number) -> Number:
    value = x.value**y.value
    by_base = y.value * x.value ** (y.value - 1) if y.value else 0.0
    # A fixed exponent, as in x ** 2, may stand over a number below 0.
    by_exponent = value * math.log(x.value) if x.value > 0 else 0.0
    return Number(value, ((x, by_base), (y, by_exponent)))


def _rounded_down(x: Number, y: Number) -> Number:
    return Number(x.value // y.value)


def _left_over(x: Number, y: Number) -> Number:
    return Number(x.value % y.value)


def _total(every: Sequence[Number]) -> Number:
    return Number(math.fsum(each.value for each in every), tuple((each, 1.0) for each in every))


def _mean(every: Sequence[Number]) -> Number:
    share = 1 / len(every)
    return Number(
        math.fsum(each.value for each in every) * share, tuple((each, share) for each in every)
    )


def _extreme(choose: Callable[..., Any]) -> Callable[[Sequence[Number]], Number]:
    def of(every: Sequence[Number]) -> Number:
        value = choose(each.value for each in every)
        chosen = [each for each in every if each.value == value]
        return Number(value, tuple((each, 1 / len(chosen)) for each in chosen))

    return of


def _share_of(every: Sequence[Number], place: int) -> Number:
    """One share of a softmax; 0 where nothing is there to be shared."""
    largest = max(each.value for each in every)
    if largest == -math.inf:
        return Number(0.0)
    powers = [math.exp(each.value - largest) for each in every]
    shares = [power / math.fsum(powers) for power in powers]
    own = shares[place]
    slopes = [own * ((at == place) - share) for at, share in enumerate(shares)]
    return Number(own, tuple(zip(every, slopes, strict=True)))


def _share(part: Number, whole: Number) -> Number:
    """A part of a row; 0 of a row in which nothing is to be shared."""
    if whole.value == 0 and part.value != 0:
        raise Unclear
    return Number(0.0) if whole.value == 0 else _divided(part, whole)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def _normal(x: float) -> float:
    """The share of the normal distribution below x."""
    return (1 + math.erf(x / math.sqrt(2))) / 2


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _sign(x: float) -> float:
    if x == 0:
        raise Unclear
    return math.copysign(1.0, x)


def _step_at_0(x: float) -> float:
    if x == 0:
        raise Unclear
    return float(x > 0)


BINARY = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: _times,
    ast.Div: _divided,
    ast.Pow: _power,
    ast.FloorDiv: _rounded_down,
    ast.Mod: _left_over,
    # Of a built-in step: a share of a row that may be empty.
    ast.MatMult: _share,
}
COMPARED: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: lambda x, y: x < y,
    ast.LtE: lambda x, y: x <= y,
    ast.Gt: lambda x, y: x > y,
    ast.GtE: lambda x, y: x >= y,
    ast.Eq: lambda x, y: x == y,
}
OVER: dict[str, Callable[[Sequence[Number]], Number]] = {
    "sum": _total,
    "mean": _mean,
    "max": _extreme(max),
    "min": _extreme(min),
    # It also asks for the place.
    "softmax": _total,
}
FUNCTIONS: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "exp": (math.exp, math.exp),
    "log": (math.log, lambda x: 1 / x),
    "sqrt": (math.sqrt, lambda x: 1 / (2 * math.sqrt(x))),
    "abs": (abs, _sign),
    "tanh": (math.tanh, lambda x: 1 - math.tanh(x) ** 2),
    "sin": (math.sin, math.cos),
    "cos": (math.cos, lambda x: -math.sin(x)),
    "sigmoid": (_sigmoid, lambda x: _sigmoid(x) * (1 - _sigmoid(x))),
    "relu": (lambda x: max(x, 0.0), _step_at_0),
    "gelu": (lambda x: x * _normal(x), lambda x: _normal(x) + x * _density(x)),
    "silu": (
        lambda x: x * _sigmoid(x),
        lambda x: _sigmoid(x) * (1 + x * (1 - _sigmoid(x))),
    ),
    "softplus": (lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))), _sigmoid),
    "erf": (math.erf, lambda x: 2 / math.sqrt(math.pi) * math.exp(-x * x)),
}
