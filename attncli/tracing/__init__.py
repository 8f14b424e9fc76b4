"""A trace: every step of a problem worked out, in order; how it is run, and `serialization.py`
writes it as data.
"""

from attncli.tracing.model import Step, Trace
from attncli.tracing.run import run

__all__ = ["Step", "Trace", "run"]
