"""The numbers of a matrix on a sheet: typed ones, formulas with their results, and colours."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

from attncli.equation.nodes import Call, Expression, Number, Ref, walk
from attncli.equation.notation import Notation
from attncli.equation.printer import write
from attncli.equation.spreadsheet_notation import HIDDEN
from attncli.page.document import CellKey, SheetMatrix
from attncli.render.xlsx.limits import require_short
from attncli.render.xlsx.places import Places, Spot, address
from attncli.render.xlsx.styles import Styles

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

# What follows from numbers that are not filled in yet.
_NOTHING_YET = "–"
# From 0 to the largest weight, as in all heat maps.
_SHADES = {
    "type": "2_color_scale",
    "min_type": "num",
    "max_type": "max",
    "min_value": 0,
    "min_color": "#FFFFFF",
    "max_color": "#6FB1E8",
}


class Area(NamedTuple):
    """The cells of a matrix on its sheet, its labels not among them."""

    top: int
    left: int
    bottom: int
    right: int


class MatrixWriter:
    """Writes the numbers of matrices on one sheet."""

    def __init__(self, page: Worksheet, sheet: int, places: Places, styles: Styles) -> None:
        self.page = page
        self.sheet = sheet
        self.places = places
        self.styles = styles
        self.book = places.book
        self.notation = places.notation(sheet)

    def write(self, matrix: SheetMatrix, top: int, style: str) -> None:
        """Write a matrix whose first numbers stand in this row."""
        is_to_fill_in = bool(self.places.blank)
        for down, keys in enumerate(matrix.keys, top):
            for across, key in enumerate(keys, 1):
                if matrix.blank:
                    self.page.write_blank(down, across, None, self.styles["blank"])
                elif matrix.given or not is_to_fill_in:
                    self._cell(down, across, key, self.styles[style], self.notation)
                else:
                    self._copy_of_key(down, across, key)
        area = Area(top, 1, top + len(matrix.rows) - 1, len(matrix.keys[0]))
        if matrix.blank or (is_to_fill_in and not matrix.given):
            self._hidden_copies(matrix, top)
        if matrix.blank:
            self._colour_what_is_filled_in(area)
        else:
            self._colour_numbers(area, matrix)

    def _cell(self, row: int, column: int, key: CellKey, style: Format, notation: Notation) -> None:
        value, work = self.book.entry(key)
        shown = _shown(value)
        if work is not None:
            formula = _formula(write(work, notation), key)
            self.page.write_formula(row, column, formula, style, shown)
        elif isinstance(shown, str):
            self.page.write_string(row, column, shown, style)
        else:
            self.page.write_number(row, column, shown, style)

    def _copy_of_key(self, row: int, column: int, key: CellKey) -> None:
        """What is worked out for the reader: that of the key, whatever the reader filled in."""
        formula = f"={address(self.places.spot(key, of_key=True))}"
        shown = _shown(self.book.entry(key).value)
        self.page.write_formula(row, column, formula, self.styles["number"], shown)

    # A sheet to fill in

    def _hidden_copies(self, matrix: SheetMatrix, top: int) -> None:
        """The key beside a matrix, and beside that what follows from the reader's own numbers."""
        shift = self.places.shift(self.sheet)
        notation_of_key = self.places.notation(self.sheet, of_key=True)
        style = self.styles["number"]
        for down, keys in enumerate(matrix.keys, top):
            for across, key in enumerate(keys, 1):
                self._cell(down, across + shift, key, style, notation_of_key)
                if matrix.blank:
                    self._following(down, across + 2 * shift, key)

    def _following(self, row: int, column: int, key: CellKey) -> None:
        """What follows from the reader's numbers, if all that it needs are numbers."""
        value, work = self.book.entry(key)
        if work is None:
            return
        found = write(work, self.notation)
        shown = _shown(value)
        lacks = self._lacks_numbers(work)
        if lacks:
            shown = _NOTHING_YET
            found = f'IF({lacks},"{shown}",IFERROR({found},"{shown}"))'
        self.page.write_formula(row, column, _formula(found, key), self.styles["number"], shown)

    def _lacks_numbers(self, work: Expression) -> str:
        """The condition that a cell to fill in is still empty: COUNT(B2:D2)<3; empty if none is."""
        counts: list[str] = []
        cells = 0
        read = [node for node in walk(work) if isinstance(node, Ref)]
        for node in dict.fromkeys(read):
            if node.name in self.places.blank:
                # Text that means −∞ is no number, and is filled in all the same.
                count = "COUNTA" if node.name in self.places.hidable else "COUNT"
                counts.append(f"{count}({write(node, self.notation)})")
                cells += _size(node)
        if not counts:
            return ""
        return f"{'+'.join(counts)}<{cells}"

    def _colour_what_is_filled_in(self, area: Area) -> None:
        """Green where a number is that of the key or follows from others, red where it is not."""
        shift = self.places.shift(self.sheet)
        first, key, follows = (
            address(Spot(0, area.top, area.left + copy * shift)) for copy in range(3)
        )
        half_a_unit = 0.5 * 10**-self.book.precision
        near = f"<={half_a_unit * (1 + 1e-6)!r}"
        near_key = f"IF(ISNUMBER({key}),ABS({first}-{key}){near})"
        near_following = f"IF(ISNUMBER({follows}),ABS({first}-{follows}){near})"
        is_text = f'OR(ISTEXT({key}),{follows}="{HIDDEN}")'
        is_right = f"IF(ISNUMBER({first}),OR({near_key},{near_following}),{is_text})"
        is_judged = f"NOT(OR(ISBLANK({first}),ISERROR({key})))"
        self._colour_if(f"=AND({is_judged},{is_right})", area, self.styles.right)
        self._colour_if(f"=AND({is_judged},NOT({is_right}))", area, self.styles.wrong)

    # How numbers look

    def _colour_numbers(self, area: Area, matrix: SheetMatrix) -> None:
        """Whole numbers are shown whole, what is hidden is pale, and weights have shades."""
        first = address(Spot(0, area.top, area.left))
        if not matrix.given:
            nearest = f"ABS({first}-ROUND({first},0))"
            is_whole = f"=AND(ISNUMBER({first}),{nearest}<1E-12*(1+ABS({first})))"
            self._colour_if(is_whole, area, self.styles.whole)
        if matrix.may_hide:
            self._colour_if(f"=ISTEXT({first})", area, self.styles.hidden)
        if matrix.shares:
            self.page.conditional_format(*area, _SHADES)

    def _colour_if(self, condition: str, area: Area, style: Format) -> None:
        self.page.conditional_format(
            *area, {"type": "formula", "criteria": condition, "format": style}
        )


def _shown(value: float) -> str | float:
    """A number as a spreadsheet has it."""
    if value == -inf:
        return HIDDEN
    return value if isfinite(value) else "#NUM!"


def _size(cells: Ref) -> int:
    """How many cells an address means: 3 of B2:D2."""
    size = 1
    for index in cells.indices:
        match index:
            case Call("range", (Number(text=first), Number(text=last))):
                size *= int(last) - int(first) + 1
            case _:
                pass
    return size


def _formula(written: str, key: CellKey) -> str:
    """What stands in a cell, = before it, if it is not too long."""
    name, index = key
    require_short(written, f"{name}[{', '.join(map(str, index))}]")
    return f"={written}"
