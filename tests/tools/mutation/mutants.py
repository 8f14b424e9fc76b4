"""All mutants of a module: its source with one small thing wrong, a `<` for a `<=`, a 1 for a 2, a
case left out.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
# to return None instead would hardly ever be seen
EMPTY = ("None", "False", "0", "[]", "{}", "()", "''")
UNSEEN = ("annotation", "returns", "decorator_list")  # of no meaning when it runs


@dataclass(frozen=True, slots=True, order=True)
class Mutant:
    """One change: bytes from `start` to `end` of the source of `path`, which stand in `scope`,
    become `new`.

    `name` is what it is known by when lines have moved: its function, the line as it stands there,
    and as it would.
    """

    path: str
    line: int
    start: int
    end: int
    scope: str
    new: str
    last: int  # line
    name: str

    def of(self, source: bytes) -> bytes:
        return source[: self.start] + self.new.encode() + source[self.end :]


def mutants(path: str, source: bytes) -> list[Mutant]:
    """Every mutant of a module, in the order of the source."""
    made, times = sorted(set(_Maker(path, source).all())), Counter[str]()
    for place, mutant in enumerate(made):
        times[mutant.name] += 1
        if times[mutant.name] > 1:  # the same line twice in one function
            made[place] = replace(mutant, name=f"{mutant.name} #{times[mutant.name]}")
    return made


class _Maker:
    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        lengths = [len(line) for line in source.splitlines(keepends=True)]
        self.begins = [sum(lengths[:count]) for count in range(len(lengths) + 1)]

    def all(self) -> Iterator[Mutant]:
        tree = ast.parse(self.source)
        yield from self._inside(tree, "module")

    def _inside(self, node: ast.AST, scope: str) -> Iterator[Mutant]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            scope = node.name if scope == "module" else f"{scope}.{node.name}"
        for old, new, *name in self._changes(node):
            yield self._mutant(old, scope, new, *name)
        # Python 3.11 does not tell where parts of an f-string are
        if isinstance(node, ast.JoinedStr | ast.pattern):
            return
        for field, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if field not in UNSEEN and isinstance(child, ast.AST):
                    yield from self._inside(child, scope)

    def _mutant(self, old: ast.AST, scope: str, new: str, name: str = "") -> Mutant:
        first, last = old.lineno - 1, old.end_lineno - 1  # type: ignore[attr-defined]
        start, end = self.begins[first] + old.col_offset, self.begins[last] + old.end_col_offset  # type: ignore[attr-defined]
        before, after = (
            self.source[self.begins[first] : start],
            self.source[end : self.begins[last + 1]],
        )
        was, now = (
            _short((before + part + after).decode())
            for part in (self.source[start:end], new.encode())
        )
        name = f"{self.path} {scope}: {name or f'{was} → {now}'}"
        return Mutant(self.path, first + 1, start, end, scope, new, last + 1, name)

    def _text(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.source.decode(), node) or ""

    def _changes(self, node: ast.AST) -> Iterator[tuple[ast.AST, str] | tuple[ast.AST, str, str]]:
        """What may go wrong at a node: the part of the source, and what stands there instead, or
        what to call that.
        """
        match node:
            case ast.Compare(left, ops, rights):
                for place, op in enumerate(ops):
                    yield (
                        node,
                        _written(ast.Compare(left, _with(ops, place, SWAPS[type(op)]()), rights)),
                    )
            case ast.BinOp(left, op, right) if type(op) in SWAPS and not _is_type(node):
                yield node, _written(ast.BinOp(left, SWAPS[type(op)](), right))
            case ast.BoolOp(op, values):
                yield node, _written(ast.BoolOp(SWAPS[type(op)](), values))
                for place in range(len(values)):
                    rest = values[:place] + values[place + 1 :]
                    yield node, _written(ast.BoolOp(op, rest) if len(rest) > 1 else rest[0])
            case ast.UnaryOp(ast.Not() | ast.USub(), operand):
                yield node, _written(operand)
            case ast.Constant(bool() as value):
                yield node, str(not value)
            case ast.Constant(int() | float() as value):
                yield from (
                    (node, f"{value + change}" if value + change >= 0 else f"({value + change})")
                    for change in (1, -1)
                )
            case ast.Name(name, ast.Load()) if name in NAMES:
                yield node, NAMES[name]
            case ast.Return(value) if value and ast.unparse(value) not in EMPTY:
                yield node, "return None"
            case ast.If(test) | ast.IfExp(test):
                yield test, f"(not {_written(test)})"
            case ast.comprehension(ifs=ifs):
                yield from ((test, "True") for test in ifs)
            case ast.match_case(pattern, guard):
                yield guard or pattern, "False" if guard else f"{self._text(pattern)} if False"
            case ast.Dict(keys, values) if len(keys) > 1 and all(keys):
                for place in range(len(keys)):
                    left = ast.Dict(_without(keys, place), _without(values, place))
                    yield (
                        node,
                        ast.unparse(left),
                        (
                            f"{{{', '.join(map(ast.unparse, keys))}}} without"
                            f" {ast.unparse(keys[place])}"
                        ),
                    )
            case ast.AugAssign(target, op, value) if type(op) in SWAPS:
                yield node, ast.unparse(ast.AugAssign(target, SWAPS[type(op)](), value))
            case ast.Expr(ast.Call()) | ast.Continue() | ast.Break():
                yield node, "pass"
            case ast.Call(function, [first, *rest], keywords) if rest or keywords:
                yield from (
                    (
                        node,
                        ast.unparse(ast.Call(function, [first, *rest], _without(keywords, place))),
                    )
                    for place in range(len(keywords))
                    if keywords[place].arg
                )
            case _:
                return


def _is_type(node: ast.BinOp) -> bool:
    """Whether this is a union of classes, which is only looked at by what checks types, or by
    `match`.
    """
    return isinstance(node.op, ast.BitOr) and isinstance(
        node.right, ast.Name | ast.Constant | ast.Subscript | ast.BinOp
    )


def _with(parts: list[ast.cmpop], place: int, new: ast.AST) -> list[ast.cmpop]:
    return [*parts[:place], new, *parts[place + 1 :]]  # type: ignore[list-item]


def _without(parts: list, place: int) -> list:
    return parts[:place] + parts[place + 1 :]


def _written(tree: ast.expr) -> str:
    return f"({ast.unparse(tree)})"


def _short(text: str) -> str:
    return " ".join(text.split())
