"""attncli: scaled dot-product attention, worked out step by step.

import attncli
trace = attncli.trace(attncli.load("inputs/i_love_ai.yaml"))
trace["weights"]
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, without the time its import takes
if TYPE_CHECKING:
    from attncli.api import Trace as Trace
    from attncli.api import load as load
    from attncli.api import trace as trace
    from attncli.errors import AttncliError as AttncliError
    from attncli.problem.model import Problem as Problem

__version__ = "0.1.0"
__all__ = ["AttncliError", "Problem", "Trace", "load", "trace"]


def __getattr__(name: str) -> object:
    """Import the Python interface when it is first used, so that the command line starts without NumPy."""
    if name in __all__:
        from importlib import import_module

        home = {"AttncliError": "attncli.errors", "Problem": "attncli.problem.model"}.get(name, "attncli.api")
        return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
