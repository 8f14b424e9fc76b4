"""A page inside a notebook: a frame with a page of its own, and the same as text where frames are
not allowed.

A notebook that nobody has trusted, and sites that show notebooks, take frames and styles away. The
text is hidden only behind a frame, so it is there wherever the frame is not, and on paper, where a
frame would be cut off.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from attncli.english import byte_size, entitled
from attncli.escaping import visible
from attncli.render.html import UNTITLED

# Scripts run, but as those of a stranger: they see neither the notebook nor its cookies.
SANDBOX = "allow-scripts allow-downloads"
TEXT_BEHIND = (
    ".attncli-page{width:100%;border:1px solid #8886;border-radius:4px;resize:vertical}"
    "@media screen{.attncli-page+pre{display:none}}@media print{.attncli-page{display:none}}"
)


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """A page that a notebook shows: `html` is the whole page, as a file would have it, and `text`
    says the same.

    `height` is that of its frame in pixels; the lower edge can be pulled.
    """

    title: str
    html: str
    text: str
    height: int

    def __repr__(self) -> str:
        return (
            f"<{entitled('page', self.title)}: {byte_size(len(self.html.encode()))} of HTML, which"
            " a notebook shows>"
        )

    def _repr_html_(self) -> str:
        # In a frame, #step-scores is a place of the notebook's address, unless the page says that
        # it is its own.
        page = self.html.replace("<head>\n", '<head>\n<base href="about:srcdoc"/>\n', 1)
        title = escape(visible(self.title or UNTITLED))
        return (
            f"<style>{TEXT_BEHIND}</style>\n"
            f'<iframe class="attncli-page" title="{title}" height="{self.height}"'
            f' sandbox="{SANDBOX}" '
            f'srcdoc="{escape(page)}"></iframe><pre>{escape(self.text, quote=False)}</pre>\n'
        )
