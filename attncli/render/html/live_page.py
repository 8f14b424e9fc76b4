"""The script of a page that works itself out, its data, and the sections that other settings
have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from attncli.page import document as page
from attncli.page.colors import HUES, MOST_TOLD_APART, foreground, hexadecimal, rgb
from attncli.page.document import Block, Document, Live
from attncli.page.drawing import TINT_OPACITY
from attncli.render.cells import AROUND_MATRIX, COLUMN_GAP, HIDDEN_SIGN
from attncli.render.html import (
    entries,
    heading,
    rendered,
    section_tag,
)
from attncli.render.html.how import Beside, How, Pair, folded, paired
from attncli.render.html.matrix import POINT_WIDTH, WIDEST_PRODUCT, fits_beside
from attncli.render.html.script_text import script

MASKS = {
    "given": "as given",
    "none": "none",
    "causal": "causal",
    "own": "of my own: click its cells",
    "over": "as given, but for cells I click",
}
SHEETS = (
    "live_page.css",
    "words.css",
    "pasting.css",
    "how.css",
    "columns.css",
    "strip.css",
    "tour.css",
    "shades.css",
    "sharpness.css",
    "softmax_row.css",
    "dragging.css",
    "present.css",
    "moving.css",
    "forced_colors.css",
)
# A query or key of the second half: an edge with a tint inside, as pictures have it.
_HOLLOW = (
    f"--tint: color-mix(in srgb, var(--hue) {TINT_OPACITY:.0%}, var(--paper, Canvas));"
    " --outline: var(--hue); --line-style: double; --on-hue: var(--ink, CanvasText);"
)
# Summaries of other settings have the same rows, after other numbers.
_ROWS = re.compile("(?=<tr>)|(?<=</td>)(?=<th )")
# Its id, its level, and its HTML in pieces without the end.
Section: TypeAlias = tuple[str, int, tuple[str, ...]]


def scripts(document: Document) -> Iterator[str]:
    """The data and the script, for the end of a page.

    No label in the data ends a script or begins an element: `<` is escaped. In pieces of HTML
    labels have none.
    """
    assert document.live is not None
    data = _data(document, document.live())
    pieces = _as_json(data.pop("pieces")).replace("</", r"<\/")
    safe = _as_json(data).replace("<", r"\u003c").removesuffix("}") + f',"pieces":{pieces}}}'
    yield f'<script type="application/json" id="attncli-live">{safe}</script>\n'
    yield f"<script>{script()}</script>\n"


def hue_rules() -> str:
    """The style sheet of the classes hue-0, hue-1, …: the colours that pictures have."""
    rules: list[str] = []
    for place, color in enumerate(HUES):
        hollow = place + len(HUES)
        ink = hexadecimal(foreground(rgb(color)))
        rules.append(
            f".attncli :is(.hue-{place}, .hue-{hollow}) {{ --hue: {color}; --on-hue: {ink}; }}"
        )
    hollow_ones = ", ".join(f".hue-{place}" for place in range(len(HUES), MOST_TOLD_APART))
    rules.append(f".attncli :is({hollow_ones}) {{ {_HOLLOW} }}")
    return "\n".join(rules) + "\n"


def _as_json(data: object) -> str:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")


def _data(document: Document, live: Live) -> dict[str, object]:
    """What the script reads: a layout is a list of sections, these are lists of pieces, and each is
    there once.

    A section without pieces is the one that the page has. Where a product there is too wide to
    stand beside its factors, there are pieces with all of them: other numbers may be narrower.
    """
    layouts = {name: _sections(blocks) for name, blocks in live.layouts.items()}
    first, *others = layouts
    alone = _too_wide(document.blocks)
    own = {id: html for id, _, html in layouts[first]}
    kept = {id: html for id, html in own.items() if id not in alone}
    pieces: dict[str, int] = {}
    sections: dict[tuple[object, ...], int] = {}

    def place(id: str, level: int, html: tuple[str, ...] | None) -> int:
        written = None
        if html is not None:
            written = tuple(pieces.setdefault(piece, len(pieces)) for piece in html)
        return sections.setdefault((id, level, written), len(sections))

    there = [("", 1), *((each.id, each.level) for each in entries(document.blocks, 2))]
    shown = [place(id, level, own[id] if id in alone else None) for id, level in there]
    known: dict[str, list[int]] = {}
    for name in others:
        known[name] = []
        for id, level, html in layouts[name]:
            is_kept = kept.get(id) == html
            known[name].append(place(id, level, None if is_kept else html))
    return {
        "data": live.data,
        "layouts": {first: shown, **known},
        "sections": list(sections),
        "pieces": list(pieces),
        "masks": MASKS,
        "hidden": HIDDEN_SIGN,
        "point": POINT_WIDTH,
        "product": {"gap": COLUMN_GAP, "around": AROUND_MATRIX, "widest": WIDEST_PRODUCT},
    }


def _too_wide(blocks: Iterable[Block]) -> set[str]:
    """The sections with a product that stands alone."""
    headings = entries(blocks, 2)
    found: set[str] = set()
    id = ""
    for block in blocks:
        match block:
            case page.Heading():
                id = next(headings).id
            case page.Product():
                if not fits_beside(block):
                    found.add(id)
            case (
                page.Paragraph()
                | page.Formula()
                | page.Worked()
                | page.Grid()
                | page.Table()
                | page.Listing()
                | page.Verbatim()
                | page.Room()
                | page.Picture()
            ):
                pass
    return found


def _sections(blocks: Sequence[Block]) -> list[Section]:
    """Each section with what stands in it before the next one begins; first what stands before
    all.
    """
    headings = entries(blocks, 2)
    found: list[tuple[str, int, list[str]]] = [("", 1, [])]
    topic = ""
    for block in folded(paired(blocks)):
        _, _, pieces = found[-1]
        # As on the page, only what stands first of all is larger.
        is_lead = len(found) == 1 and not pieces
        match block:
            case page.Heading(text=topic):
                entry = next(headings)
                begin = [section_tag(entry), heading(block, entry.level)]
                found.append((entry.id, entry.level, begin))
            case page.Table():
                html = "".join(rendered(block, topic, lead=is_lead))
                pieces.extend(_ROWS.split(html))
            case (
                page.Paragraph()
                | page.Formula()
                | page.Worked()
                | page.Grid()
                | page.Product()
                | page.Listing()
                | page.Verbatim()
                | page.Room()
                | page.Picture()
                | Pair()
            ):
                html = "".join(rendered(block, topic, lead=is_lead))
                pieces.append(html)
            case Beside() | How():
                # What other settings say, too, stands in the data once.
                pieces.extend(rendered(block, topic))
    return [(id, level, tuple(html)) for id, level, html in found]
