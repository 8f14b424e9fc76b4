"""A trace: every step of a problem worked out, in order; how it is run, and how it is written as data."""

from attncli.tracing.data import from_dict, to_dict
from attncli.tracing.model import Step, Trace
from attncli.tracing.run import run

__all__ = ["Step", "Trace", "from_dict", "run", "to_dict"]
