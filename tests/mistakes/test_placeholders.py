"""What may stand in braces in the equation of a mistake is told where mistakes are described."""

import re

from attncli.mistakes import model
from attncli.problem.loader import loads
from attncli.tracing import run

PROBLEM = b"""
{X: [[1]], W_Q: [[1, 1]], W_K: [[1, 1]], W_V: [[1, 1]], W_O: [[1], [1]], heads: 2,
 past: {K: [[[1]], [[1]]], V: [[[1]], [[1]]]}}
"""


def test_every_placeholder_is_told() -> None:
    known = model._placeholders(run(loads(PROBLEM, "problem.yaml")))
    assert set(re.findall(r"^[{](\w+)[}]|, [{](\w+)[}]", model.__doc__ or "", re.M)) == {
        ("", name) if name == "m" else (name, "") for name in known
    }
