"""Amounts for people say when they are rounded, and round half up."""

from __future__ import annotations

from attncli.english import byte_size, grouped, rounded_count
from tests.cases import in_one_test


@in_one_test(
    ("number", "said"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (1025, "≈ 1 KiB"),
        (2**20 - 1, "≈ 1 MiB"),
        (2**20, "1 MiB"),
        (144 * 2**20, "144 MiB"),
        (2**30 + 2**29, "1.5 GiB"),
        (1024 + 51, "≈ 1 KiB"),
        (1024 + 52, "≈ 1.1 KiB"),
        (2**80, "1,048,576 EiB"),
    ],
)
def test_bytes(number: int, said: str) -> None:
    assert byte_size(number) == said


@in_one_test(
    ("number", "said"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10 thousand"),
        (12_345, "≈ 12.3 thousand"),
        (12_350, "≈ 12.4 thousand"),
        (999_999, "≈ 1 million"),
        (1_347_416_072, "≈ 1.3 billion"),
        (10**24, "1,000,000 quintillion"),
    ],
)
def test_counts(number: int, said: str) -> None:
    assert rounded_count(number) == said


def test_every_digit() -> None:
    assert grouped(1347416072) == "1,347,416,072"
