"""What the person gave: bytes become a tree with positions, the tree a checked and frozen
Problem.
"""

from __future__ import annotations

import sys
from types import ModuleType


class _Callable(ModuleType):
    """This package, which is also the function `attncli.problem`: after an import, Python finds the
    package there.
    """

    def __call__(self, **keys: object) -> object:
        from attncli.problem.python_values import problem

        # attncli/__init__.py says to type checkers which keys there are, and of which types.
        return problem(**keys)  # type: ignore[arg-type]

    @property
    def __signature__(self) -> object:
        """The arguments of the function, which notebooks show when somebody types them."""
        from inspect import signature

        from attncli.problem.python_values import problem

        return signature(problem)


sys.modules[__name__].__class__ = _Callable
