"""What stands behind a mask of other software, taken over: the same numbers in the forms of a
problem, with a word on what true and 1 mean where software does not agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from attncli.english import count
from attncli.problem.keys import CORNERS
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node, truth
from attncli.problem.text.number_forms import is_plain

# Longer masks are not written out in a line of help.
MOST_CELLS = 32
# Longer numbers are none that a mask is made of.
_MOST_DIGITS = 18
_LONGEST = 100
_HIDES_IN_TORCH = ": here 1 is a key that exists, and true hides in PyTorch's key_padding_mask"
_HIDES_OR_SHOWS = ", where 1 is a key that exists"
_BOTH_SIDES = ("local_window_size",)
_WITH_ITSELF = ("sliding_window", "sliding_window_size")


class Advice(NamedTuple):
    """What to write for a key of other software, and what has to be known of it."""

    written: str
    remark: str = ""

    def __str__(self) -> str:
        return f"write {self.written}{self.remark}"


def whole_numbers(node: Node) -> list[int] | None:
    """The whole numbers that stand there, in a list or alone; None where anything else does, or
    more than a line of help has.
    """
    leaves = _entries(node)
    if leaves is None:
        return None
    numbers = []
    for leaf in leaves:
        digits = leaf.text.removeprefix("-").removeprefix("+")
        if leaf.quoted or not digits.isdecimal() or len(digits) > _MOST_DIGITS:
            return None
        numbers.append(int(leaf.text))
    return numbers


def _entries(node: Node) -> list[Leaf] | None:
    """A single value, or those of a list of single ones."""
    if isinstance(node, Leaf):
        return [node]
    if not isinstance(node, ListNode) or not 0 < node.length <= MOST_CELLS:
        return None
    leaves = [item for item in node.items if isinstance(item, Leaf)]
    return leaves if len(leaves) == node.length else None


def _rows(node: Node) -> list[list[Leaf]] | None:
    """A list of single values as one row, or the rows of a list of such; None where there is
    anything else, or more than a line of help has.
    """
    if not isinstance(node, ListNode) or not 0 < node.length <= MOST_CELLS:
        return None
    flat = _entries(node)
    if flat is not None:
        return [flat]
    rows = []
    for item in node.items:
        row = _entries(item) if isinstance(item, ListNode) else None
        if row is None:
            return None
        rows.append(row)
    cells = sum(map(len, rows))
    return rows if cells <= MOST_CELLS else None


def _is_matrix(node: Node) -> bool:
    """Whether it is an array in a file, or a list of numbers or truths, however deep; a list of
    forms is none.
    """
    if isinstance(node, MappingNode):
        return "file" in node.keys
    if isinstance(node, Leaf):
        return False
    first: Node = node
    while isinstance(first, ListNode) and first.length:
        first = first.items[0]
    return isinstance(first, Leaf) and (truth(first) is not None or is_plain(first.text))


def _is_flat(node: Node) -> bool:
    return isinstance(node, ListNode) and _entries(node) is not None


def as_written(node: Node) -> str:
    """A list of one row or several as it stands in the file, or an ellipsis for anything else.

    Of `- [1, 0]` and `- [1, 1]`, "[[1, 0], [1, 1]]".
    """
    rows = _rows(node)
    if rows is None:
        return "…"
    texts = []
    for row in rows:
        cells = ", ".join(leaf.text for leaf in row)
        texts.append(f"[{cells}]")
    written = texts[0] if _is_flat(node) else f"[{', '.join(texts)}]"
    return written if len(written) <= _LONGEST else "…"


def _truths(node: Node) -> list[list[bool]] | None:
    """The truth values of a list or of a matrix: true and false, or 1 and 0."""
    rows = _rows(node)
    if rows is None:
        return None
    found: list[list[bool]] = []
    for row in rows:
        truths = [_truth(leaf) for leaf in row]
        if None in truths:
            return None
        found.append([bool(each) for each in truths])
    return found


def _truth(leaf: Leaf) -> bool | None:
    if leaf.quoted:
        return None
    if leaf.text in ("0", "1"):
        return leaf.text == "1"
    return truth(leaf)


def _padding_list(node: Node, *, exists: bool) -> str | None:
    """A list of ones and zeros for the keys that exist, where that is what `exists` means in
    these.
    """
    truths = _truths(node)
    if truths is None:
        return None
    rows = []
    for row in truths:
        numbers = [int(each is exists) for each in row]
        rows.append(str(numbers))
    return rows[0] if _is_flat(node) else f"[{', '.join(rows)}]"


# Each form takes the word of other software, and what stands behind it.


def _padding(word: str, node: Node) -> Advice:
    hides = word.endswith("key_padding_mask")
    found = _padding_list(node, exists=not hides)
    if hides:
        return Advice(f"mask: {{padding: {found or '[1, 1, 0]'}}}", _HIDES_IN_TORCH)
    if found is None or word == "padding":
        return Advice(f"mask: {{padding: {found or '[1, 1, 0]'}}}", _HIDES_OR_SHOWS)
    return Advice(f"mask: {{padding: {found}}}", _if_it_hides(node))


def _if_it_hides(node: Node) -> str:
    """What is written for the same list, if 1 means there what 0 means here."""
    one = _one(node)
    other = _padding_list(node, exists=False)
    return f" if {one} is a key that exists, {{padding: {other}}} if {one} is padding"


def _one(node: Node) -> str:
    """How the list says yes."""
    rows = _rows(node) or []
    says_truths = any(truth(leaf) is not None for row in rows for leaf in row)
    return "true" if says_truths else "1"


def padding_of(node: Node) -> str:
    """What to write for a single list in the place of a mask; empty where it holds no truths."""
    found = _padding_list(node, exists=True)
    return f"{{padding: {found}}}{_if_it_hides(node)}" if found else ""


def keep_or_hide(node: Node) -> str:
    """What to write for a matrix of truths that does not say what 1 means."""
    matrix = as_written(node)
    one = _one(node)
    return f"{{keep: {matrix}}} if {one} means may attend, {{hide: {matrix}}} if it means hidden"


def _mask(word: str, node: Node) -> Advice | None:
    """A mask whose name says neither what its rows are, nor what true means."""
    if not _is_matrix(node):
        return None
    is_list = isinstance(node, ListNode)
    truths = _truths(node)
    if is_list and truths is not None and _is_flat(node):
        found = _padding_list(node, exists=True)
        return Advice(f"mask: {{padding: {found}}}", _if_it_hides(node))
    matrix = as_written(node)
    one = _one(node) if truths is not None else "true"
    adds = "" if truths is not None else ", {additive: …} for numbers that are added"
    if is_list and truths is None and matrix != "…":
        return Advice(f"mask: {{additive: {matrix}}}")
    if word == "attention_mask":
        by_entry = f"{{padding: {matrix}}} if each row is an entry of the batch"
        return Advice(
            f"mask: {{keep: {matrix}}}", f" if each row is a query, {by_entry}: {one} shows{adds}"
        )
    return Advice(
        f"mask: {{keep: {matrix}}}",
        f" if {one} means may attend, as in scaled_dot_product_attention, {{hide: …}} if it means"
        f" hidden, as in nn.MultiheadAttention{adds}",
    )


def _window(word: str, node: Node) -> Advice | None:
    numbers = whole_numbers(node) or []
    if len(numbers) == 2 and min(numbers) >= -1:
        return Advice(f"mask: {{window: {numbers}}}")
    if len(numbers) != 1 or numbers[0] < 1:
        return None
    [width] = numbers
    if word in _BOTH_SIDES:
        return Advice(f"mask: {{window: {[width, width]}}}")
    before = width - 1
    written = f"mask: {{window: {[before, 0]}}}"
    if word in _WITH_ITSELF:
        beside = f"and the {count(before, 'key')} before it" if before else "alone"
        return Advice(written, f": a query sees itself {beside}")
    with_itself = f" for {count(width, 'key')} with the query's own"
    return Advice(written, f"{with_itself}, {{window: {[width, 0]}}} for {width} before it")


def window_of(node: Node) -> str:
    """What to write for a single number in the place of the two sides of a window; empty for
    anything else.
    """
    advice = _window("window", node) if isinstance(node, Leaf) else None
    return str(advice).replace("mask: ", "", 1) if advice else ""


def _lengths(_: str, node: Node) -> Advice | None:
    numbers = whole_numbers(node)
    if numbers is None or min(numbers) < 0:
        return None
    lengths = numbers if isinstance(node, ListNode) else numbers[0]
    return Advice(f"mask: {{lengths: {lengths}}}")


def _causal(_: str, node: Node) -> Advice | None:
    return Advice("mask: {causal: false}") if truth(node) is False else None


def _corner(_: str, node: Node) -> Advice | None:
    corner = node.text if isinstance(node, Leaf) else ""
    return Advice(f"mask: {{causal: true, corner: {corner}}}") if corner in CORNERS else None


def _documents(word: str, node: Node) -> Advice | None:
    numbers = whole_numbers(node)
    if numbers is None:
        return None
    if word.startswith(("cu_seqlens", "cu_seq_lens")):
        numbers = _documents_between(numbers)
    return Advice(f"mask: {{documents: {numbers}}}") if numbers else None


def _documents_between(bounds: list[int]) -> list[int]:
    """Where each document begins, and where the last one ends, as the number of its document for
    every key; none where these are no such places.
    """
    is_in_order = bounds == sorted(bounds)
    if not is_in_order or bounds[:1] != [0] or bounds[-1] > MOST_CELLS:
        return []
    numbers: list[int] = []
    for document, (begin, end) in enumerate(pairwise(bounds)):
        length = end - begin
        numbers += [document] * length
    return numbers


def _chunk(_: str, node: Node) -> Advice | None:
    numbers = whole_numbers(node)
    if numbers is None or numbers[0] < 1:
        return None
    return Advice(f"mask: {{causal: true, chunk: {numbers[0]}}}")


def _first(word: str, node: Node) -> Advice | None:
    if word.startswith("any"):
        return Advice("mask: {any: …}") if isinstance(node, ListNode) else None
    numbers = whole_numbers(node)
    if numbers is None or numbers[0] < 0:
        return None
    return Advice(f"mask: {{any: [causal, {{first: {numbers[0]}}}]}}")


def _matrix(form: str) -> TakeOver:
    return lambda _, node: Advice(f"mask: {{{form}: {as_written(node)}}}")


def _theta(_: str, node: Node) -> Advice | None:
    if not isinstance(node, Leaf) or not is_plain(node.text):
        return None
    return Advice(f"position: {{rope: {{theta: {node.text}}}}}")


def _pairing(word: str, node: Node) -> Advice | None:
    pairing = node.text if isinstance(node, Leaf) else ""
    if word == "interleaved":
        pairing = "half" if truth(node) is False else "interleaved"
    is_one = pairing in ("half", "interleaved")
    return Advice(f"position: {{rope: {{pairing: {pairing}}}}}") if is_one else None


def _slopes(_: str, node: Node) -> Advice | None:
    slopes = as_written(node)
    return Advice(f"position: {{alibi: {{slopes: {slopes}}}}}") if slopes != "…" else None


TakeOver: TypeAlias = Callable[[str, Node], Advice | None]

# By what is written without anything of what stands there.
TAKEN_OVER: Mapping[str, TakeOver] = {
    "mask": _mask,
    "mask: causal": _causal,
    "mask: {causal: true, corner: bottom-right}": _corner,
    "mask: {lengths: [2, 3]}": _lengths,
    "mask: {padding: [1, 1, 0]}": _padding,
    "mask: {window: [2, 0]}": _window,
    "mask: {documents: [0, 0, 1]}": _documents,
    "mask: {causal: true, chunk: 4}": _chunk,
    "mask: {any: [causal, {first: 1}]}": _first,
    "mask: {keep: …}": _matrix("keep"),
    "mask: {hide: …}": _matrix("hide"),
    "mask: {additive: …}": _matrix("additive"),
    "position: {rope: {theta: 10000}}": _theta,
    "position: {rope: {pairing: interleaved}}": _pairing,
    "position: {alibi: {slopes: [0.5, 0.25]}}": _slopes,
}
