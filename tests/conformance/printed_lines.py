r"""Reads the worked lines of a page in any format, and judges each by nothing but the numbers that
it prints.

A line is sides with `=` or `≈` between them: `tanh(100 / 50) = tanh(2) ≈ 0.964`. Two things make it
false:

- `=` between sides that differ, or that have no value, such as 0 / 0;
- `≈` between sides that are equal, have no value, or are farther apart than their printed digits
  allow: a number that ends in 0.964 may have been anything from 0.9635 to 0.9645.

Nothing here is the program's own: text is read by a small parser, and worked by mpmath, to 200
digits and in intervals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mpmath import MPContext, MPIntervalContext

# of its own: the precision of mpmath's is that of whoever set it last
mp, iv = MPContext(), MPIntervalContext()
mp.dps = iv.dps = 200
SAME = mp.mpf("1e-180")
NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
TOKEN = re.compile(rf"\s*({NUMBER}|∞|[A-Za-z]+|[⌊⌋√·^()|,+/=≈<>≤≥-])")
FACTOR, SUM, RELATION = 3, 2, 1
Tree = tuple[Any, ...]


class Unreadable(ValueError):
    """A line that is not made of numbers, operators and functions."""


# Formats: their lines, each as a label and the line in the signs of a terminal.


def lines_of(text: str, format: str) -> Iterator[tuple[str, str]]:
    """The label and the text of each worked line of a page, in order."""
    return {"table": _of_table, "markdown": _of_markdown, "latex": _of_latex}[format](text)


def _of_table(text: str) -> Iterator[tuple[str, str]]:
    for whole in text.splitlines():
        # A worked line may stand beside the row of its matrix.
        line = re.sub(r"^.*(?:[⎤⎥⎦]|(?<= )\]) {5,}(?=\S)", "    ", whole)
        found = re.fullmatch(r" {4}(\S+(?: \S+)*) {2,}(\S.*)", line)
        # Formulas of several steps may stand on one line, and a map has a legend.
        is_formula = found is not None and " = " in found[1]
        if found and not is_formula and not re.search(r"[⎡⎢⎣]|\[ |░▒▓█", line):
            yield found[1], re.sub(r"\s+", " ", found[2])


def _of_markdown(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        found = re.fullmatch(r"- \*\*(.*?)\*\*: (.*)", line)
        if found:
            yield found[1], from_latex(re.sub(r"\$`(.*?)`\$", r"\1", found[2]))


def _of_latex(text: str) -> Iterator[tuple[str, str]]:
    beside = False  # a matrix
    for line in text.splitlines():
        line = line.removeprefix(r"\nopagebreak")
        below = re.fullmatch(
            r"\\hangindent=.*?\\makebox\[[\d.]+em\]\[l\]\{(.*?)\}(?=[$\d])(.*?)\\par", line
        )
        beside = beside and not line.startswith(r"\end{tabular}")
        found = below or (beside and re.fullmatch(r"(.*?) & (?=[$\d])(.*?) \\\\", line))
        beside = beside or line.endswith(r"\begin{tabular}{@{}l@{\quad}l@{}}")
        if found:
            label = found[1].replace(r"$\rightarrow$", "→").replace("\\", "")
            yield label, from_latex(found[2].replace("$", ""))


SIGNS = {
    r"\allowbreak": "",
    r"\;": " ",
    r"\,": " ",
    r"\mathopen{}": "",
    r"\left\vert": "|",
    r"\right\vert": "|",
    r"\left|": "|",
    r"\right|": "|",
    r"\left(": "(",
    r"\right)": ")",
    r"\cdot": "·",
    r"\approx": "≈",
    r"\le": "≤",
    r"\ge": "≥",
    r"\infty": "∞",
    r"\tanh": "tanh",
    r"\cos": "cos",
    r"\sin": "sin",
    r"\exp": "exp",
    r"\ln": "ln",
    r"\max": "max",
    r"\lfloor": "⌊",
    r"\rfloor": "⌋",
    r"\bmod": "mod",
    r"\ldots": "…",
    r"\quad": " ",
}
SIGN = re.compile("|".join(re.escape(sign) for sign in sorted(SIGNS, key=len, reverse=True)))


def from_latex(text: str) -> str:
    r"""A line of LaTeX in the signs of a terminal: 2 · √(3) for 2 \cdot \sqrt{3}."""
    text = re.sub(rf"({NUMBER}) \\times 10\^\{{(-?\d+)\}}", r"\1e\2", text)
    text = re.sub(r"\\math(?:rm|it)\{([^{}]*)\}", r"\1", text)
    text = SIGN.sub(lambda found: SIGNS[found[0]], text)
    while r"\frac" in text or r"\sqrt" in text:
        start = max(text.rfind(r"\frac"), text.rfind(r"\sqrt"))
        if text.startswith(r"\sqrt", start):
            inside, rest = _braced(text[start + 5 :])
            text = f"{text[:start]}√({inside}){rest}"
        else:
            above, rest = _braced(text[start + 5 :])
            below, rest = _braced(rest)
            text = f"{text[:start]}(({above})/({below})){rest}"
    return text.replace("{", "(").replace("}", ")")


def _braced(text: str) -> tuple[str, str]:
    """What stands in the braces that a text begins with, and what follows them."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if not depth:
            return text[1:place], text[place + 1 :]
    raise Unreadable(text)


# The parser: sides to trees of ("number", text) and (function, arguments…).


@dataclass
class Parser:
    text: str
    tokens: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        place = 0
        while place < len(self.text.rstrip()):
            found = TOKEN.match(self.text, place)
            if not found:
                raise Unreadable(self.text)
            self.tokens.append(found[1])
            place = found.end()
        self.tokens.append("")

    def whole(self) -> Tree:
        tree = self.sum()
        if self.tokens[0] in {"<", ">", "≤", "≥", "="}:
            tree = (self.take(), tree, self.sum())
        if self.tokens[0]:
            raise Unreadable(self.text)
        return tree

    def take(self, expected: str = "") -> str:
        token = self.tokens.pop(0)
        if (expected and token != expected) or not token:
            raise Unreadable(self.text)
        return token

    def sum(self) -> Tree:
        tree = ("neg", self.product()) if self.tokens[0] == "-" and self.take() else self.product()
        while self.tokens[0] in {"+", "-"}:
            tree = (self.take(), tree, self.product())
        return tree

    def product(self) -> Tree:
        tree = self.power()
        while True:
            token = self.tokens[0]
            if token in {"·", "/", "mod"}:
                tree = (self.take(), tree, self.power())
            elif token in {"√", "("} or token[:1].isdigit() or (token.isalpha() and token != "mod"):
                tree = ("·", tree, self.power())  # 2 √(3), as LaTeX has it
            else:
                return tree

    def power(self) -> Tree:
        base = self.atom()
        if self.tokens[0] == "^":
            self.take()
            return (
                "^",
                base,
                ("neg", self.atom()) if self.tokens[0] == "-" and self.take() else self.atom(),
            )
        return base

    def atom(self) -> Tree:
        token = self.take()
        if token == "(":
            tree = self.sum()
            self.take(")")
            return tree
        if token == "|":
            tree = self.sum()
            self.take("|")
            return ("abs", tree)
        if token == "⌊":
            tree = self.sum()
            self.take("⌋")
            return ("floor", tree)
        if token == "√":
            return ("sqrt", self.atom())
        if token[0].isdigit() or token == "∞":
            return ("number", token)
        if token == "e":
            return ("e",)
        if token.isalpha() and self.tokens[0] == "(":
            self.take()
            arguments = [self.sum()]
            while self.tokens[0] == ",":
                self.take()
                arguments.append(self.sum())
            self.take(")")
            return (token, *arguments)
        raise Unreadable(self.text)


def sides(line: str) -> tuple[list[str], list[str]]:
    """The sides of a line, and the signs between them; an `=` inside a condition is none."""
    parts = re.split(r" (=|≈) ", line)
    return parts[::2], parts[1::2]


# Values: to 200 digits, and as the range that printed digits leave.

EXACT: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "·": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "neg": lambda a: -a,
    "mod": lambda a, b: a - b * mp.floor(a / b),
    "sqrt": mp.sqrt,
    "exp": mp.exp,
    "ln": mp.log,
    "tanh": mp.tanh,
    "cos": mp.cos,
    "sin": mp.sin,
    "abs": abs,
    "floor": mp.floor,
    "max": lambda *values: max(values),
    "e": lambda: mp.e,
    "sigmoid": lambda a: 1 / (1 + mp.exp(-a)),
}


def exact_value(tree: Tree) -> Any:
    """The value of a side to 200 digits; ZeroDivisionError or ValueError where it has none."""
    function, *arguments = tree
    if function == "number":
        return mp.inf if arguments[0] == "∞" else mp.mpf(arguments[0])
    values = [exact_value(argument) for argument in arguments]
    if function == "^":
        base, exponent = values
        if exponent in (mp.inf, -mp.inf):
            return mp.mpf(0) if (exponent < 0) == (base > 1) else mp.inf
        return base**exponent
    if function == "·" and 0 in values:
        return mp.mpf(0)  # hidden keys: 0·∞ is not printed otherwise
    found = EXACT[function](*values)
    if mp.isnan(found) or isinstance(found, mp.mpc):
        raise ValueError(tree)
    return found


def half_unit(text: str) -> Any:
    """Half of what the last digit of a printed number counts."""
    digits, _, power = text.partition("e")
    return mp.mpf(10) ** (int(power or 0) - len(digits.partition(".")[2])) / 2


class Unbounded(ArithmeticError):
    """A range without an end: a division by what may be 0."""


def value_range(tree: Tree) -> Any:
    """Where the value of a side may lie when each number of it was rounded to its printed
    digits.
    """
    function, *arguments = tree
    if function == "number":
        if arguments[0] == "∞":
            return iv.mpf([mp.inf, mp.inf])
        value = mp.mpf(arguments[0])
        slack = half_unit(arguments[0]) * mp.mpf("1.000001") + abs(value) * mp.mpf("4e-16")
        return iv.mpf([value - slack, value + slack])
    if function == "e":
        return iv.e
    values = [value_range(argument) for argument in arguments]
    match function:
        case "+":
            return values[0] + values[1]
        case "-":
            return values[0] - values[1]
        case "·":
            return values[0] * values[1]
        case "/":
            if 0 in values[1]:
                raise Unbounded
            return values[0] / values[1]
        case "neg":
            return -values[0]
        case "^":
            return _power(tree, *values)
        case "sqrt":
            return iv.sqrt(iv.mpf([max(values[0].a, 0), max(values[0].b, 0)]))
        case "exp":
            return iv.exp(values[0])
        case "ln":
            if values[0].a <= 0:
                raise Unbounded
            return iv.log(values[0])
        case "tanh":
            return 1 - 2 / (iv.exp(2 * values[0]) + 1)
        case "sigmoid":
            return 1 / (iv.exp(-values[0]) + 1)
        case "cos":
            return iv.cos(values[0])
        case "sin":
            return iv.sin(values[0])
        case "abs":
            return abs(values[0])
        case "max":
            return iv.mpf([max(value.a for value in values), max(value.b for value in values)])
    raise Unbounded  # of what jumps, as ⌊x⌋ does


def _power(tree: Tree, base: Any, exponent: Any) -> Any:
    if tree[1] == ("e",):
        return iv.exp(exponent)
    if base.a > 0:
        return iv.exp(exponent * iv.log(base))
    if tree[2] != ("number", "2"):
        raise Unbounded
    return base * base if 0 not in base else iv.mpf([0, max(abs(base.a), abs(base.b)) ** 2])


# Judgement.


def fault_of(line: str, *, of_doubles: bool = False) -> str | None:
    """What is false about a worked line, if anything; a side with terms left out is not judged.

    With `of_doubles` the result comes from a float64, and may have no digits that a float64 has
    not.
    """
    condition = re.match(r"(?:.*?: )?(.*?) (is true|is false),", line)
    if condition:
        return _fault_of_condition(line)
    if re.search(r", so (hidden|visible|-?[\d.∞])", line):
        return None  # a cell of a mask, which is given
    line = re.split(
        r",? so (?:hidden|visible)|(?: —)? +(?:by def|its closed|it has no|(?:its|the) divisor)",
        line,
    )[0]
    parts, signs = sides(line)
    trees = [None if "…" in part else Parser(part).whole() for part in parts]
    for one, sign, other in zip(trees, signs, trees[1:], strict=False):
        if one is not None and other is not None:
            fault = _fault_between(one, sign, other)
            if fault:
                return fault
    for number in re.findall(NUMBER, parts[-1]) if of_doubles else ():
        if _beyond_a_double(number):
            return f"{number} has digits that no float64 has"
    return None


def _fault_between(one: Tree, sign: str, other: Tree) -> str | None:
    try:
        left, right = exact_value(one), exact_value(other)
    except (ZeroDivisionError, ValueError):
        return f"a side of {sign} has no value"
    same = left == right or (
        mp.isfinite(left - right) and abs(left - right) <= SAME * max(1, abs(left))
    )
    if sign == "=":
        return None if same else f"= between {mp.nstr(left, 20)} and {mp.nstr(right, 20)}"
    if same and not (_is_beyond_digits(one) or _is_beyond_digits(other)):
        return "≈ between equals"
    try:
        ours, theirs = value_range(one), value_range(other)
    except Unbounded:
        return None
    apart = ours.b < theirs.a or theirs.b < ours.a
    return f"≈ between {mp.nstr(left, 20)} and {mp.nstr(right, 20)}" if apart else None


def _is_beyond_digits(tree: Tree) -> bool:
    """Whether 200 digits cannot tell a value from a short number: tanh(267) is not quite 1,
    2^-28134 not quite 0.
    """
    function, *arguments = tree
    below = [argument for argument in arguments if isinstance(argument, tuple)]
    if function in "·/" and any(
        exact_value(each) == 0 and not _is_beyond_digits(each) for each in below
    ):
        return False
    if function in {"exp", "tanh", "cos", "sin", "sigmoid"} or tree[:2] == ("^", ("e",)):
        return bool(exact_value(below[-1]) != 0)
    if function == "^" and abs(exact_value(below[1])) > 100:
        return True
    return any(map(_is_beyond_digits, below))


def _outside_parentheses(condition: str, word: str) -> list[str]:
    """The parts between a word, where it stands in no parentheses."""
    parts: list[str] = []
    for piece in condition.split(word):
        if parts and parts[-1].count("(") > parts[-1].count(")"):
            parts[-1] += word + piece
        else:
            parts.append(piece)
    return parts


def _holds(condition: str) -> bool:
    """Whether a condition is true: one of those between or, all between and."""
    for word, joined in ((" or ", any), (" and ", all)):
        parts = _outside_parentheses(condition, word)
        if len(parts) > 1:
            return joined(map(_holds, parts))
    if " or " in condition or " and " in condition:
        return _holds(condition.removeprefix("(").removesuffix(")"))
    sign, left, right = Parser(condition).whole()
    one, other = exact_value(left), exact_value(right)
    return {
        "≤": one <= other,
        "<": one < other,
        ">": one > other,
        "≥": one >= other,
        "=": one == other,
    }[sign]


def _fault_of_condition(line: str) -> str | None:
    for condition, verdict in re.findall(r": ([^:]*?) (is true|is false)(?=,)", line):
        true = _holds(condition)
        if true != (verdict == "is true"):
            return f"{condition} {verdict}"
    return None


def _beyond_a_double(number: str) -> bool:
    """Whether a decimal of more than 16 digits has more of them than it takes to tell it from all
    other float64.
    """
    if "e" in number or len(number.replace(".", "").lstrip("0")) <= 16:
        return False
    return len(number.partition(".")[2]) > len(repr(float(number)).partition(".")[2])
