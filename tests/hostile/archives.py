"""Files of arrays as nobody should hand them over: headers that lie, archives that burst, lists
without end.

`workbook` makes good ones, too, which only XML of one's own makes hostile.
"""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import numpy as np

# of a workbook of one sheet, by the name that these tests give each: where it is, and what it says
PARTS = {
    "sheet": (
        "xl/worksheets/s.xml",
        (
            '<worksheet><row><c r="A1"><v>1</v></c><c r="B1" s="1"><v>-2.5</v></c><c r="C1"'
            ' t="s"><v>0</v></c></row><row><c r="A2"><v>5E-1</v></c><c'
            ' r="B2"><f>2+2</f><v>4</v></c><c r="C2"'
            ' t="inlineStr"><is><t>1/3</t></is></c></row></worksheet>'
        ),
    ),
    "strings": ("xl/sharedStrings.xml", "<sst><si><t>3</t></si></sst>"),
    "styles": (
        "xl/styles.xml",
        '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="2"/></cellXfs></styleSheet>',
    ),
    "book": (
        "xl/workbook.xml",
        (
            '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
            ' xmlns:r="r"><sheets><sheet name="S" r:id="1"/></sheets></workbook>'
        ),
    ),
    "relations": (
        "xl/_rels/workbook.xml.rels",
        '<Relationships><Relationship Id="1" Target="worksheets/s.xml"/></Relationships>',
    ),
}


def workbook(**changed: str | bytes) -> bytes:
    """An .xlsx file of one sheet, S, of 2 × 3 cells; any of its PARTS may be another."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, (name, text) in PARTS.items():
            archive.writestr(name, changed.get(part, text))
    return file.getvalue()


def header(shape: str, descr: str = "'<f8'") -> bytes:
    """A .npy file that claims this shape, and holds 16 bytes."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(16)


def bomb(path: Path, *names: str) -> None:
    """An archive of 80 MB of zeros for each name, in 80 KB."""
    start = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        start, {"descr": "<f8", "fortran_order": False, "shape": (5000, 2000)}
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(start.getvalue())
                for _ in range(20):
                    member.write(bytes(4_000_000))


def crowd(path: Path, number: int) -> None:
    """An archive whose list names so many arrays, all of them the same empty one."""
    local = b"PK\x03\x04" + struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0, 0, 0, 0, 5, 0) + b"a.npy"
    entry = b"PK\x01\x02" + struct.pack(
        "<HHHHHHIIIHHHHHII", 20, 20, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0
    )
    listed = b"".join(entry + b"%05x" % place for place in range(number))
    end64 = b"PK\x06\x06" + struct.pack(
        "<QHHIIQQQQ", 44, 45, 45, 0, 0, number, number, len(listed), len(local)
    )
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, len(local) + len(listed), 1)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    path.write_bytes(local + listed + end64 + locator + end)


def safetensors(text: bytes) -> bytes:
    """A .safetensors file with this header, and no tensors."""
    return len(text).to_bytes(8, "little") + text
