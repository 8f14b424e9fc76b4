"""Tests of functions that work attention out: the cases, how a function is called with them, and
what explains that it differs.

    @pytest.mark.parametrize("case", attncli.testing.cases(attention), ids=str)
    def test_attention(case):
        case.judge(attention(case.q, case.k, case.v, **case.kwargs))
"""

from __future__ import annotations

# As typing has it, without the time that its import takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from attncli.testing.in_python import AttentionCase as AttentionCase
    from attncli.testing.in_python import cases as cases

__all__ = ["AttentionCase", "cases"]


def __getattr__(name: str) -> object:
    """Import what tests use when it is first used, so that no command waits for it."""
    if name in __all__:
        from importlib import import_module

        return getattr(import_module("attncli.testing.in_python"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
