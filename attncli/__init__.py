"""attncli: scaled dot-product attention, worked out step by step.

import attncli
trace = attncli.trace(attncli.load("inputs/i_love_ai.yaml"))
trace["weights"]
"""

from __future__ import annotations

from attncli.version import __version__ as __version__

# As typing has it, without the time that its import takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from attncli.api import Checked as Checked
    from attncli.api import check as check
    from attncli.api import check_many as check_many
    from attncli.api import compare as compare
    from attncli.api import load as load
    from attncli.api import problems as problems
    from attncli.api import trace as trace
    from attncli.cli.saving import save as save
    from attncli.comparison.compared import Compared as Compared
    from attncli.errors import AttncliError as AttncliError
    from attncli.mistakes.catalogue import mistakes as mistakes
    from attncli.notebook import Trace as Trace
    from attncli.problem.model import Problem as Problem
    from attncli.problem.python_values import problem as problem

__all__ = [
    "AttncliError",
    "Checked",
    "Compared",
    "Problem",
    "Trace",
    "check",
    "check_many",
    "compare",
    "load",
    "mistakes",
    "problem",
    "problems",
    "save",
    "trace",
]
_HOMES = {
    "AttncliError": "attncli.errors",
    "Checked": "attncli.api",
    "Compared": "attncli.comparison.compared",
    "Problem": "attncli.problem.model",
    "Trace": "attncli.notebook",
    "check": "attncli.api",
    "check_many": "attncli.api",
    "compare": "attncli.api",
    "load": "attncli.api",
    "mistakes": "attncli.mistakes.catalogue",
    "problem": "attncli.problem.python_values",
    "problems": "attncli.api",
    "save": "attncli.cli.saving",
    "trace": "attncli.api",
}


def __getattr__(name: str) -> object:
    """Import the Python interface when it is first used, so that the command line starts without
    NumPy.
    """
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
