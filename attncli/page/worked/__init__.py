"""Worked lines: a cell of a step with its numbers put in, and what comes out."""
