"""What the numbers of a problem say of mistakes: a page, and a note for the teacher in the key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.english import count, either, listed
from attncli.mistakes.audit import UNITS_APART, Audit
from attncli.page.document import Block, Document, Heading, Listing, Paragraph, with_symbols
from attncli.tracing.model import Trace
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__


def audit_page(trace: Trace, audit: Audit) -> Document:
    """The page of `attncli generate --audit`."""
    return Document(
        trace.title or "Mistakes", tuple(audit_blocks(audit)), lambda: _data(trace, audit)
    )


def audit_blocks(audit: Audit) -> Iterator[Block]:
    """Which mistakes the numbers show, which they cannot show, and which they cannot tell apart."""
    numbers = f"{audit.step} with {count(audit.decimals, 'decimal')}"
    made = len(audit.shown) + len(audit.same) + len(audit.hidden)
    yield Heading("What the numbers say about mistakes")
    yield Paragraph(
        (
            (
                f"attncli knows {count(made, 'mistake')} that {either(made, 'fits', 'fit')} this"
                f" problem, on the way to {audit.step}. If a student writes only {numbers}, attncli"
                f" check can name {len(audit.shown)} of them."
            ),
        )
    )
    if audit.alike:
        yield Paragraph(
            (
                (
                    "The mistakes in a line give the same numbers. attncli check names all of them"
                    " together:"
                ),
            )
        )
        yield _names([" · ".join(names) for names in audit.alike])
    if audit.same:
        yield Paragraph(
            (f"{either(len(audit.same), 'This gives', 'These give')} the right numbers here:",)
        )
        yield _names(audit.same)
    if audit.equal_sizes:
        yield Paragraph(
            (f"Sizes that are equal hide some divisions: {listed(audit.equal_sizes)}.",)
        )
    if audit.hidden:
        what = either(len(audit.hidden), "This changes", "These change")
        yield Paragraph(
            (f"{what} every number by less than {UNITS_APART} units of its last digit:",)
        )
        yield _names(audit.hidden)


def _names(mistakes: Sequence[str]) -> Listing:
    return Listing(tuple(map(with_symbols, mistakes)))


def _data(trace: Trace, audit: Audit) -> dict[str, object]:
    return {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "title": trace.title,
        **audit._asdict(),
    }
