"""What Excel can hold, and the errors where a workbook would hold more."""

from __future__ import annotations

from datetime import datetime

from attncli.english import grouped
from attncli.errors import usage_error

# Excel's own limits.
LONGEST_FORMULA = 8_192
MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
LONGEST_SHEET_NAME = 31
LONGEST_TEXT = 32_767

# The date on which every file is made, so that the same problem is the same file.
MADE = datetime(2000, 1, 1)


def require_room(rows: int, columns: int) -> None:
    """Raises AttncliError (exit 2) for more rows or columns than Excel has."""
    _require(rows, MOST_ROWS, "rows")
    _require(columns, MOST_COLUMNS, "columns")


def _require(count: int, most: int, what: str) -> None:
    if count > most:
        raise usage_error(
            f"the workbook would have {grouped(count)} {what}, and Excel has {most:,}",
            help="write .html or .json, or make the problem smaller",
        )


def require_short(formula: str, name: str) -> None:
    """Raises AttncliError (exit 2) where the formula of this name is longer than Excel reads."""
    if len(formula) >= LONGEST_FORMULA:
        characters = grouped(len(formula) + 1)
        raise usage_error(
            f"the formula of {name} has {characters} characters, and Excel reads"
            f" {LONGEST_FORMULA:,}",
            help="write .html or .json, or make the problem smaller",
        )
