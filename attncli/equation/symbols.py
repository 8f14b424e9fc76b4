"""What a name is made of, and how it is spelled: W_Q is a W marked Q, K_T a K transposed, row_max a
word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

GREEK = {"δ": r"\delta"}
# The mark of a length is an index, since lengths are never indexed themselves.
LETTERS_OF_LENGTHS = ("d", "n")


# These are dQ, dW_Q, dv, db_Q and d concat, but neither d_k nor a word.
DIFFERENTIAL = re.compile(r"d(?=[A-Zδ]|[a-z](?![a-z])| )")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A letter with its mark, or a word; primes belong to the letter. `gradients` counts how often
    the gradient of what it names is taken: once in dQ, and twice in ddQ.
    """

    base: str
    mark: str = ""
    transposed: bool = False
    gradients: int = 0

    @property
    def is_word(self) -> bool:
        return len(self.base.rstrip("'")) > 1

    @property
    def is_length(self) -> bool:
        return self.base in LETTERS_OF_LENGTHS and self.mark != ""


# Each time that a name is printed it is asked for.
@lru_cache(maxsize=1024)
def symbol(name: str) -> Symbol:
    """K_rot_T is K, marked rot, transposed; what begins with more than one letter, as row_max, is a
    word, which one sign at its end marks, as in gain_q.
    """
    stem = name.removesuffix("_T")
    transposed = stem != name
    differential = DIFFERENTIAL.match(stem)
    if differential:
        of = symbol(stem[differential.end() :].lstrip())
        return replace(of, transposed=transposed, gradients=of.gradients + 1)
    base, _, mark = stem.partition("_")
    parts = Symbol(base, mark, transposed)
    if not parts.is_word:
        return parts
    word, _, last = stem.rpartition("_")
    if word and len(last) == 1 and last.isalnum():
        return Symbol(word, last, transposed)
    return Symbol(stem, "", transposed)


def differential(name: str) -> str:
    """What the gradient of what a symbol names is called: dQ of Q, d concat of a word."""
    return f"d {name}" if symbol(name).is_word else f"d{name}"


def primed(name: str) -> str:
    """What is called as a symbol says, once more: W'_Q after W_Q."""
    base, mark, rest = name.partition("_")
    return f"{base}'{mark}{rest}"


def plain_name(name: str) -> str:
    """The name K_rot_T in ASCII: K_rot^T."""
    name = name.replace("δ", "delta")
    return name[:-2] + "^T" if symbol(name).transposed else name


def unicode_name(name: str) -> str:
    """The name K_rot_T in Unicode: K_rotᵀ."""
    return name[:-2] + "ᵀ" if symbol(name).transposed else name


def bracketed(name: str, indices: Sequence[str]) -> str:
    """Q[i, k]; `name` is spelled already."""
    return f"{name}[{', '.join(indices)}]"


def latex_name(name: str) -> str:
    """W_Q is W^Q, so that it can still take indices; d_k keeps its subscript; words stand
    upright.
    """
    parts = symbol(name)
    if parts.is_word:
        base = rf"\mathrm{{{parts.base.replace('_', '~')}}}"
    else:
        base = GREEK.get(parts.base, parts.base)
    mark = parts.mark if len(parts.mark) < 2 else rf"\mathrm{{{parts.mark}}}"
    # W^2 would look like a square.
    if mark.isdigit():
        mark = f"({mark})"
    top = r"\top" if parts.transposed else ""
    if parts.is_length:
        return f"{base}_{{{mark}}}" + (f"^{{{top}}}" if top else "")
    before = r"\mathrm{d}" * parts.gradients
    if before and parts.is_word:
        before += r"\,"
    return before + (f"{base}^{{{mark}{top}}}" if mark or top else base)


def latex_cell(name: str, indices: Sequence[str]) -> str:
    """W^{Q}_{d,k}; a length in braces, since a second subscript on the same letter is an error."""
    base = f"{{{latex_name(name)}}}" if symbol(name).is_length else latex_name(name)
    return f"{base}_{{{','.join(indices)}}}"
