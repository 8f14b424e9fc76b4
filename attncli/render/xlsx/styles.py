"""How cells of a workbook look: fonts, colours, borders and decimals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xlsxwriter
    from xlsxwriter.format import Format

_INK, _MUTED, _BLUE, _LINES = "#1F2937", "#6B7280", "#1D4ED8", "#D1D5DB"
_BASE = {"font_name": "Calibri", "font_size": 11, "font_color": _INK, "valign": "vcenter"}
# It stays text if somebody edits it.
_TEXT = {"quote_prefix": True}
_GIVEN = {"font_color": _BLUE, "align": "right", "bg_color": "#F3F7FF"}

_STYLES: Mapping[str, Mapping[str, Any]] = {
    "title": {**_TEXT, "bold": True, "font_size": 18},
    "heading": {**_TEXT, "bold": True, "font_size": 13, "top": 1, "top_color": _LINES},
    "rule": {"top": 1, "top_color": _LINES},
    "text": _TEXT,
    "note": {**_TEXT, "font_color": _BLUE},
    "warning": {**_TEXT, "font_color": "#B45309"},
    "formula": {**_TEXT, "font_name": "Cambria", "italic": True, "font_color": _MUTED},
    "row": {**_TEXT, "bold": True, "indent": 1, "text_wrap": True},
    "column": {
        **_TEXT,
        "bold": True,
        "align": "right",
        "valign": "bottom",
        "bottom": 1,
        "bottom_color": _LINES,
        "text_wrap": True,
    },
    "given": _GIVEN,
    # A given number with many digits, of which a page shows as many as of any other.
    "rounded": _GIVEN,
    "number": {"align": "right"},
    "blank": {"align": "right", "border": 1, "border_color": _LINES, "bg_color": "#FFFDF3"},
}

# What a cell looks like in addition, as its number is.
_WHOLE = {"num_format": "0"}
_HIDDEN = {"font_color": _MUTED}
_RIGHT = {"font_color": "#14532D", "bg_color": "#BBF7D0"}
_WRONG = {"font_color": "#7F1D1D", "bg_color": "#FECACA"}


class Styles:
    """The formats of a file, which belong to this one file: styles["heading"]."""

    def __init__(self, file: xlsxwriter.Workbook, precision: int) -> None:
        self._formats: dict[str, Format] = {}
        for name, style in _STYLES.items():
            self._formats[name] = file.add_format({**_BASE, **style})
        decimals = f"0.{'0' * precision}" if precision else "0"
        for name in ("number", "rounded"):
            self._formats[name].set_num_format(decimals)
        self.whole = file.add_format(_WHOLE)
        self.right = file.add_format(_RIGHT)
        self.wrong = file.add_format(_WRONG)
        self.hidden = file.add_format(_HIDDEN)

    def __getitem__(self, name: str) -> Format:
        return self._formats[name]
