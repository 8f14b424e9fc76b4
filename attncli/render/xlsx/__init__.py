"""A page as an .xlsx file, by XlsxWriter: a workbook of live formulas, or of tables.

Formulas are written with their results, so that previews show them. Text is always written as
text, and a label that begins with = stays one when somebody edits it.
"""

from __future__ import annotations

from importlib.util import find_spec

from attncli.errors import missing_error
from attncli.page.document import Document, Workbook
from attncli.render.xlsx.sheets import formula_workbook
from attncli.render.xlsx.tables import table_workbook


def require_writer() -> None:
    """Raises AttncliError (exit 5) where XlsxWriter is not installed."""
    if find_spec("xlsxwriter") is None:
        raise missing_error(
            "an .xlsx file needs XlsxWriter, which is not installed",
            help="pip install 'attncli[xlsx]'",
        )


def xlsx(document: Document) -> bytes:
    """The workbook of a page as a file.

    Raises AttncliError (exit 2) where a formula is longer than Excel can read.
    """
    require_writer()
    assert document.workbook is not None
    book = document.workbook()
    if isinstance(book, Workbook):
        return formula_workbook(document.title, book)
    return table_workbook(document.title, book)
