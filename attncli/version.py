"""The version, apart from the package: whoever writes it down imports nothing else."""

__version__ = "0.1.0"
