"""Expressions of Python that no equation has, and what is written for them, with the parts that
their author wrote.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from attncli.english import shorten
from attncli.equation.indices import is_letter

# The letters of people's own that are offered for a sum.
_OFFERED = "tuspqrwxyz"


def statement(found: Sequence[ast.stmt]) -> tuple[str, str, str] | None:
    """A sign in what defines no cell, what is said of it, and what to write; None for others."""
    if len(found) > 1:
        return ";", "two equations stand in one text", "write each as an equation of its own"
    match found[0]:
        case ast.Expr(value=ast.Compare(ops=[ast.Eq(), *_])):
            return "==", "== compares, and defines nothing", "write = between cell and expression"
        case ast.AugAssign():
            return "=", "a step is worked out once, and not changed", "write one = and all of it"
        case _:
            return None


def choice(text: str, node: ast.IfExp) -> str:
    """a if c else b as where(c, a, b)."""
    condition, yes, no = (_said(text, each) for each in (node.test, node.body, node.orelse))
    return f"where({condition}, {yes}, {no})"


def opposite(text: str, node: ast.expr) -> str:
    """not c as where(c, 0, 1)."""
    return f"where({_said(text, node)}, 0, 1)"


def unlike(text: str, node: ast.Compare) -> str:
    """a != b as where(a == b, 0, 1)."""
    return f"where({_said(text, node.left)} == {_said(text, node.comparators[0])}, 0, 1)"


def comparisons(text: str, node: ast.Compare) -> str:
    """0 <= i < j as 0 <= i and i < j; what stands with & or | between them, with and or
    or.
    """
    said = _said(text, node)
    if "&" in said or "|" in said:
        return joined(said)
    parts = [_said(text, each) for each in (node.left, *node.comparators)]
    signs = re.findall(r"[<>=!]=?", said)
    if len(signs) != len(parts) - 1:
        return "0 <= i and i < j"
    pairs = zip(parts, signs, parts[1:], strict=False)
    return " and ".join(f"{left} {sign} {right}" for left, sign, right in pairs)


def joined(said: str) -> str:
    """a & b as a and b, a | b as a or b."""
    both = re.sub(r" *& *", " and ", said)
    return re.sub(r" *\| *", " or ", both)


def cell_of_many_brackets(text: str, node: ast.expr) -> str | None:
    """scores[i][j] as scores[i, j]; None for anything else."""
    indices: list[str] = []
    while isinstance(node, ast.Subscript):
        indices.insert(0, _said(text, node.slice))
        node = node.value
    if len(indices) < 2 or not isinstance(node, ast.Name):
        return None
    return f"{node.id}[{', '.join(indices)}]"


def transposed_cell(text: str, node: ast.expr) -> str | None:
    """K.T[k, j] as K[j, k]; None for anything else."""
    match node:
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="T"), slice=ast.Tuple(elts=indices)
        ):
            return f"{name}[{', '.join(_said(text, each) for each in reversed(indices))}]"
        case _:
            return None


def cell_of_a_call(text: str, node: ast.Call) -> str | None:
    """scores(i, j) as scores[i, j]; None where not every argument is a letter."""
    if not node.args or not all(_is_letter(each) for each in node.args):
        return None
    assert isinstance(node.func, ast.Name)
    return f"{node.func.id}[{', '.join(_said(text, each) for each in node.args)}]"


def over_a_letter(text: str, name: str, arguments: Sequence[ast.expr], taken: Sequence[str]) -> str:
    """What is written for a sum, mean, max, min or softmax with other arguments.

    `taken` are the letters of the left side, and of the sums around it.
    """
    match list(arguments):
        case [ast.GeneratorExp() as loop]:
            return _of_a_loop(text, name, loop, taken)
        case [inside]:
            return _of_one(text, name, inside, taken)
        case [ast.Compare(left=ast.Name(id=letter), ops=[ast.In()]), inside] if is_letter(letter):
            return _whole(name, letter, _said(text, inside), taken)
        case [ast.Compare(left=left) as condition, inside]:
            said = f"where({_said(text, condition)}, {_said(text, inside)}, 0)"
            return _whole(name, _letter_in(left, taken), said, taken)
        case [inside, letter] if _is_letter(letter):
            return _whole(name, _said(text, letter), _said(text, inside), taken)
        case [*letters, inside] if letters and all(_is_letter(each) for each in letters):
            said = _said(text, inside)
            for letter in reversed(letters[1:]):
                said = f"{name}({_said(text, letter)}, {said})"
            return f"{name}({_said(text, letters[0])}, {said})"
        case [letter, *_] if _is_letter(letter):
            return f"{name}({_said(text, letter)}, …)"
        case _:
            return f"{name}(k, …)"


def _of_one(text: str, name: str, inside: ast.expr, taken: Sequence[str]) -> str:
    """What is written for sum(x): the letter that its author likely means, before x."""
    said = _said(text, inside)
    letter = _letter_in(inside, taken)
    is_whole_matrix = isinstance(inside, ast.Name) and not is_letter(inside.id)
    if is_whole_matrix and taken:
        said = f"{said}[{', '.join(taken)}]"
        letter = taken[-1]
    return _whole(name, letter, said, taken)


def _of_a_loop(text: str, name: str, loop: ast.GeneratorExp, taken: Sequence[str]) -> str:
    """sum(x[t] for t in range(3) if t < 2) as sum(t, where(t < 2, x[t], 0))."""
    said = _said(text, loop.elt)
    first = loop.generators[0]
    if first.ifs:
        condition = " and ".join(_said(text, each) for each in first.ifs)
        said = f"where({condition}, {said}, 0)"
    letter = _said(text, first.target)
    return _whole(name, letter if is_letter(letter) else "t", said, taken)


def _whole(name: str, letter: str, inside: str, taken: Sequence[str]) -> str:
    """sum(t, inside); with another letter in place of one that has a place already."""
    if letter in taken and name != "softmax":
        free = _free_letter(inside, taken)
        inside = re.sub(rf"(?<!\w){letter}(?!\w)", free, inside)
        letter = free
    return f"{name}({letter}, {inside})"


def _free_letter(said: str, taken: Sequence[str]) -> str:
    """A letter that has no place yet."""
    for letter in _OFFERED:
        if letter not in taken and not re.search(rf"(?<!\w){letter}(?!\w)", said):
            return letter
    return "t"


def _letter_in(node: ast.expr, taken: Sequence[str]) -> str:
    """The letter in the cells of an expression over which its author likely means to sum: one that
    has no place yet, or the last.
    """
    found = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    letters = [each for each in found if is_letter(each)]
    free = [letter for letter in letters if letter not in taken]
    if free:
        return free[0]
    return letters[-1] if letters else "k"


def _is_letter(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and is_letter(node.id)


def _said(text: str, node: ast.expr) -> str:
    return shorten(ast.get_source_segment(text, node) or "…")
