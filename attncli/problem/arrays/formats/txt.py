"""Rows of numbers as text, as numpy.savetxt writes them; the same as .csv."""

from attncli.problem.arrays.formats.csv import dtype, names, read

__all__ = ["dtype", "names", "read"]
