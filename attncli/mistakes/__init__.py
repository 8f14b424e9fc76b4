"""What people are known to get wrong: what each mistake makes of the equations of attention."""

from __future__ import annotations

import sys
from types import ModuleType


class _Callable(ModuleType):
    """This package, which is also the function `attncli.mistakes`: after an import, Python finds
    the package there.
    """

    def __call__(self) -> object:
        from attncli.mistakes.catalogue import mistakes

        return mistakes()

    @property
    def __signature__(self) -> object:
        """The arguments of the function, which notebooks show when somebody types them: none."""
        from inspect import signature

        from attncli.mistakes.catalogue import mistakes

        return signature(mistakes)


sys.modules[__name__].__class__ = _Callable
