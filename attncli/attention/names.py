"""What steps may be called, by people and in files: by their names, or by their letters."""

from __future__ import annotations

from collections.abc import Mapping

from attncli.attention.registry import RULES
from attncli.equation.symbols import plain_name, unicode_name

# A step by its name, or by its letter in any of the spellings that a page has: Z', Kᵀ or K^T.
NAMED: Mapping[str, str] = {
    spelled: name
    for spell in (str, plain_name, unicode_name)
    for name, written in RULES.written.items()
    for spelled in (spell(written.symbol), name)
}
