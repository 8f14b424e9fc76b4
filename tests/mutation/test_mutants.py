"""The mutants of a few lines, by hand; each is Python."""

from __future__ import annotations

import ast

from tests.cases import in_one_test
from tests.tools.mutation.mutants import mutants


def made(source: str) -> list[str]:
    """What becomes of each mutant of a source."""
    changed = [mutant.of(source.encode()).decode() for mutant in mutants("a.py", source.encode())]
    for text in changed:
        ast.parse(text)
    return changed


@in_one_test(
    ("source", "mutants"),
    [
        ("a < b", ["(a <= b)"]),
        ("a == b", ["(a != b)"]),
        ("é + b", ["(é - b)"]),
        ("x = 1", ["x = 0", "x = 2"]),
        ("x = not y", ["x = (y)"]),
        ("x = True", ["x = False"]),
        ("a and b", ["(a or b)", "(a)", "(b)"]),
        ("{a: b, c: d}", ["{a: b}", "{c: d}"]),
        ("x = max(a)", ["x = min(a)"]),
        ("[a for a in b if c]", ["[a for a in b if True]"]),
        ("if a:\n    f()", ["if (not (a)):\n    f()", "if a:\n    pass"]),
        ("def f() -> 'a | b':\n    return a", ["def f() -> 'a | b':\n    return None"]),
        ("def f():\n    return False", ["def f():\n    return True"]),
        ("match a:\n    case b:\n        c", ["match a:\n    case b if False:\n        c"]),
        ("f'{a + b}'", []),
        ("a: int | str = b", []),
    ],
)
def test_what_may_go_wrong_in_a_line(source: str, mutants: list[str]) -> None:
    assert sorted(made(source)) == sorted(mutants)
