"""Recorded calls held against each other: two of them, and all of two recordings."""
