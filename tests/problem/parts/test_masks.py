"""Every form of a mask, alone and combined, for one head and for many, and every way to get it
wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.cli.input import change
from attncli.cli.overrides import Overrides
from attncli.errors import AttncliError, Exit
from attncli.problem.loader import loads
from attncli.problem.matrix import Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.masks import Mask, MaskPart, forms, in_order
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.any_of import AnyOf
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.chunk import Chunk
from attncli.problem.parts.masks.keep_and_hide import Hide, Keep
from attncli.problem.parts.masks.lengths import First, Lengths
from attncli.problem.parts.masks.padding import Padding
from attncli.problem.parts.masks.window import Window
from tests.cases import in_one_test

# two queries, three keys
QKV = "Q: [[1, 0], [0, 1]]\nK: [[1, 0], [0, 1], [1, 1]]\nV: [[1], [3], [4]]\n"
KEEP = np.array([[True, False, True], [True, True, False]])

GOOD: list[tuple[str, tuple[Any, ...], str]] = [
    ("none", (), "top-left"),
    ("causal", (Causal(),), "top-left"),
    ("[none, causal]", (Causal(),), "top-left"),
    ("[none]", (), "top-left"),
    ("{causal: true}", (Causal(),), "top-left"),
    ("{causal: false}", (), "top-left"),
    ("{causal: true, corner: bottom-right}", (Causal(),), "bottom-right"),
    ("{window: [1, -1], corner: bottom-right}", (Window(1, -1),), "bottom-right"),
    ("{padding: [1, 1, 0]}", (Padding(((True, True, False),)),), "top-left"),
    ("{padding: [true, true, false]}", (Padding(((True, True, False),)),), "top-left"),
    ("{padding: [[1, 1, 0]]}", (Padding(((True, True, False),)),), "top-left"),
    ("{lengths: [2]}", (Lengths((2,)),), "top-left"),
    ("{lengths: 0}", (Lengths((0,)),), "top-left"),
    ("{keep: [[1, 0, 1], [1, 1, 0]]}", (Keep(KEEP),), "top-left"),
    ("{keep: [[[[1, 0, 1], [1, 1, 0]]]]}", (Keep(KEEP[None, None]),), "top-left"),
    ("{hide: [[true, false, true], [true, true, false]]}", (Hide(KEEP),), "top-left"),
    ("[[true, false, true], [true, true, false]]", (Keep(KEEP),), "top-left"),
    ("[[[true, false, true], [true, true, false]]]", (Keep(KEEP[None]),), "top-left"),
    ("[causal, {padding: [1, 1, 0]}]", (Causal(), Padding(((True, True, False),))), "top-left"),
    ("[causal, [[true, false, true], [true, true, false]]]", (Causal(), Keep(KEEP)), "top-left"),
    (
        "{causal: true, padding: [1, 1, 0], window: [0, 0], lengths: [3]}",
        (Causal(), Padding(((True, True, False),)), Window(0, 0), Lengths((3,))),
        "top-left",
    ),
    ("{chunk: 2}", (Chunk(2),), "top-left"),
    ("[causal, {chunk: 2, corner: bottom-right}]", (Causal(), Chunk(2)), "bottom-right"),
    ("{first: 1}", (First((1,)),), "top-left"),
    ("{first: [2]}", (First((2,)),), "top-left"),
    (
        "{any: [causal, {first: 1}]}",
        (AnyOf((Mask((Causal(),)), Mask((First((1,)),)))),),
        "top-left",
    ),
    (
        "{any: [[causal, {window: [1, 0], corner: bottom-right}], none], lengths: 2}",
        (AnyOf((Mask((Causal(), Window(1, 0)), "bottom-right"), Mask())), Lengths((2,))),
        "bottom-right",
    ),
    (
        "[{any: [causal, {first: 1}]}, {chunk: 2, corner: bottom-right}]",
        (AnyOf((Mask((Causal(),), "bottom-right"), Mask((First((1,)),)))), Chunk(2)),
        "bottom-right",
    ),
    (
        "{any: [{any: [causal]}, {first: 1}]}",
        (AnyOf((Mask((AnyOf((Mask((Causal(),)),)),)), Mask((First((1,)),)))),),
        "top-left",
    ),
    (
        "[{causal: true, corner: bottom-right}, {window: [1, 0]}]",
        (Causal(), Window(1, 0)),
        "bottom-right",
    ),
    ("[causal, {window: [1, 0], corner: bottom-right}]", (Causal(), Window(1, 0)), "bottom-right"),
    ("[causal, {causal: true, lengths: 2}, {lengths: [2]}]", (Causal(), Lengths((2,))), "top-left"),
    (
        (
            "[{causal: true, corner: bottom-right}, {lengths: 2}, {window: [1, 1], corner:"
            " bottom-right}]"
        ),
        (Causal(), Lengths((2,)), Window(1, 1)),
        "bottom-right",
    ),
]

ONE_EACH = "give one for each entry of the batch, or one for all"
LEADING = (
    "a mask can also be heads × n × m or batch × heads × n × m; heads and batch can be 1, for all"
)
AMBIGUOUS = "a mask of only 0 and 1 is ambiguous: 1 can mean visible or hidden"
ONE_ROW = "for padding, with one row for all queries, write {padding: …}"
WINDOW = "write how many keys a query sees to its left and right; -1 means no limit"
ROWS = "write causal, or rows such as [[true, false], [true, true]]"
FORM = "(a form looks like mask: {padding: [1, 1, 0]})"
BAD = [
    (
        "causl",
        "4:7: mask: must be none, causal, a matrix or a form, not causl (did you mean causal?)",
    ),
    ("", f"4:6: mask: must be none, causal, a matrix or a form, not an empty value {FORM}"),
    ("true", f"4:7: mask: must be none, causal, a matrix or a form, not true {FORM}"),
    ("1", f"4:7: mask: must be none, causal, a matrix or a form, not 1 {FORM}"),
    (
        "[causal, cusal]",
        "4:16: mask[1]: must be none, causal, a matrix or a form, not cusal (did you mean causal?)",
    ),
    ("[]", f"4:7: mask: is empty ({ROWS})"),
    ("[[]]", f"4:7: mask: is empty ({ROWS})"),
    ("[[], [true]]", "4:8: mask[0]: is empty (write [[true, false], [true, true]])"),
    ("{padding: []}", "4:17: mask.padding: is empty (write [1, 1, 0])"),
    ("{keep: []}", "4:14: mask.keep: is empty (write [[1, 0], [1, 1]])"),
    ("{}", "4:7: mask: is empty (write a form such as {padding: [1, 1, 0]}, or mask: none)"),
    (
        "[1, 1, 0]",
        (
            "4:7: mask: must be a list of rows, not a single list "
            "(write {padding: [1, 1, 0]} if 1 is a key that exists, {padding: [0, 0, 1]} if 1 is"
            " padding; or one row per query)"
        ),
    ),
    (
        "[[1, 0, 1], [1, 1, 0]]",
        f"4:7: mask: {AMBIGUOUS} (write {{keep: [[1, 0, 1], [1, 1, 0]]}} if 1 means may attend,"
        " {hide: [[1, 0, 1], [1, 1, 0]]} if it means hidden)",
    ),
    (
        "[[1.0, 0.0, 1], [1, 1, 0]]",
        f"4:7: mask: {AMBIGUOUS} (write {{keep: [[1.0, 0.0, 1], [1, 1, 0]]}} if 1 means may attend,"
        " {hide: [[1.0, 0.0, 1], [1, 1, 0]]} if it means hidden)",
    ),
    (
        "[[1, true, 1], [1, 1, 0]]",
        (
            "4:12: mask: mixes truth values and numbers "
            "(write true and false only, or numbers to add only)"
        ),
    ),
    (
        "[[true, true], [true, true]]",
        (
            "4:7: mask: is 2×2, but 2 queries and 3 keys need 2×3 "
            "(give one row per query and one column per key)"
        ),
    ),
    (
        "[[0, -1], [0, 0], [0, 0]]",
        (
            "4:7: mask: is 3×2, but 2 queries and 3 keys need 2×3 "
            "(give one row per query and one column per key; perhaps it is transposed)"
        ),
    ),
    (
        "{keep: [[1, 0, 1]]}",
        (
            "4:14: mask.keep: is 1×3, but 2 queries and 3 keys need 2×3 (give one row per query"
            f" and one column per key; {ONE_ROW} with the same values)"
        ),
    ),
    (
        "{hide: [[[[1, 0, 1]]], [[[1, 0, 0]]]]}",
        (
            "4:14: mask.hide: is 2×1×1×3, but 2 queries and 3 keys need 2×3 (give one row per"
            f" query and one column per key; {ONE_ROW} with 1 for 0 and 0 for 1)"
        ),
    ),
    (
        "{additive: [[[[0, -1e9, 0]]]]}",
        (
            "4:18: mask.additive: is 1×1×1×3, but 2 queries and 3 keys need 2×3 (give one row per"
            f" query and one column per key; {ONE_ROW} with 1 where 0 is added)"
        ),
    ),
    (
        "{keep: [1, 0, 1]}",
        (
            "4:14: mask.keep: must be a list of rows, not a single list (one row per query, one"
            " column per key)"
        ),
    ),
    (
        "{keep: true}",
        (
            "4:14: mask.keep: must be a list of true and false, or 1 and 0, not true (write [[1,"
            " 0], [1, 1]])"
        ),
    ),
    (
        "{keep: [[1, 0, 2], [1, 1, 0]]}",
        "4:22: mask.keep[0][2]: must be true or false, 1 or 0, not 2 (write true or false)",
    ),
    (
        "{hide: [[1, 0, yes], [1, 1, 0]]}",
        "4:22: mask.hide[0][2]: must be true or false, 1 or 0, not yes (write true or false)",
    ),
    (
        "[[[true], [true]], [[true], [true]]]",
        (
            "4:7: mask: is 2×2×1, but 2 queries and 3 keys need 2×3 "
            "(give one row per query and one column per key)"
        ),
    ),
    (
        "[[[true, true, true], [true, true, true]], [[true, true, true], [true, true, true]]]",
        f"4:7: mask: is 2×2×3, but 1×2×3 is needed ({LEADING})",
    ),
    (
        "{additive: [[[[0, 1, 2], [3, 4, 5]]], [[[0, 1, 2], [3, 4, 5]]]]}",
        f"4:18: mask.additive: is 2×1×2×3, but 1×1×2×3 is needed ({LEADING})",
    ),
    (
        "{additive: [[0, true, 0], [0, 0, 0]]}",
        "4:23: mask.additive[0][1]: true is a truth value, not a number (write 1 or 0)",
    ),
    (
        "{additive: [[0, .inf, 0], [0, 0, 0]]}",
        (
            "4:23: mask.additive[0][1]: .inf is not allowed here "
            "(only a mask can hold an infinity: -inf, which hides a key)"
        ),
    ),
    (
        "{additive: [[0, .nan, 0], [0, 0, 0]]}",
        "4:23: mask.additive[0][1]: .nan is not a number (a matrix can hold only finite numbers)",
    ),
    (
        "{keep: {random: [2, 3]}}",
        "4:14: mask.keep: must be a list or {file: …} (write {file: masks.npz, name: keep})",
    ),
    ("{padding: [1, 1]}", "4:17: mask.padding: 2 entries for 3 keys (give 1 or 0 for every key)"),
    (
        "{padding: 1}",
        "4:17: mask.padding: must be a list of true and false, or 1 and 0, not 1 (write [1, 1, 0])",
    ),
    (
        "{padding: [[1, 1, 0], [1, 1, 1]]}",
        f"4:17: mask.padding: there are 2 for 1 entry of the batch ({ONE_EACH})",
    ),
    ("{padding: [[[1, 1, 0]]]}", "4:17: mask.padding: is 3 lists deep (write [1, 1, 0])"),
    ("{keep: [[[[[1, 0, 1]]]]]}", "4:14: mask.keep: is 5 lists deep (write [[1, 0], [1, 1]])"),
    (
        "[[[[[0.5, 0, 1]]]]]",
        (
            "4:7: mask: must be a list of rows, not 5 lists deep (1×1×1×1×3) "
            "(write mask: [[1, 0], [0, 1]])"
        ),
    ),
    (
        "{lengths: [4]}",
        "4:17: mask.lengths: 4 keys cannot exist: there are 3 (write a number from 0 to 3)",
    ),
    ("{lengths: [1, 2]}", f"4:17: mask.lengths: there are 2 for 1 entry of the batch ({ONE_EACH})"),
    (
        "{lengths: [-1]}",
        (
            "4:18: mask.lengths[0]: must be a whole number of at least 0, not -1 "
            "(write how many keys exist, counted from the left)"
        ),
    ),
    (
        "{window: [1]}",
        (
            "4:16: mask.window: must be two numbers, not a list of 1 "
            "(write {window: [left, right]}, where -1 means no limit)"
        ),
    ),
    (
        "{window: 1}",
        (
            "4:16: mask.window: must be two numbers, not 1 (write {window: [0, 0]} for 1 key with"
            " the query's own, {window: [1, 0]} for 1 before it)"
        ),
    ),
    (
        "{window: [1, -2]}",
        f"4:20: mask.window[1]: must be a whole number of at least -1, not -2 ({WINDOW})",
    ),
    (
        "{window: [1.5, 0]}",
        f"4:17: mask.window[0]: must be a whole number of at least -1, not 1.5 ({WINDOW})",
    ),
    ("{causal: yes}", "4:16: mask.causal: must be true or false, not yes (write true or false)"),
    (
        "{corner: top-left}",
        (
            "4:8: mask.corner: a corner belongs to causal, window, documents or chunk (write"
            " {causal: true, corner: bottom-right})"
        ),
    ),
    (
        "{causal: true, corner: left}",
        (
            "4:30: mask.corner: must be one of top-left, bottom-right, not left (did you mean"
            " top-left?)"
        ),
    ),
    ("{hid: [[1]]}", "4:8: mask: there is no key hid (did you mean hide?)"),
    (
        "[{causal: true, corner: bottom-right}, {window: [1, 0], corner: top-left}]",
        (
            "4:71: mask[1].corner: the corner is top-left here, but bottom-right before "
            "(causal, window, documents and chunk share one corner: keep one of the two)"
        ),
    ),
    (
        "[[true, false, true], [true, yes, true]]",
        "4:36: mask[1][1]: must be true or false, 1 or 0, not yes (write true or false)",
    ),
    (
        "[[yes, true, true], [true, true, true]]",
        "4:9: mask[0][0]: must be true or false, 1 or 0, not yes (write true or false)",
    ),
    (
        "[[no, -1, 0], [0, 0, 0]]",
        (
            "4:9: mask: mixes truth values and numbers "
            "(write true and false only, or numbers to add only)"
        ),
    ),
]


def read(mask: str) -> Problem:
    return loads(f"{QKV}mask: {mask}".encode(), "problem.yaml")


def same(one: Mask, parts: tuple[Any, ...], corner: str) -> bool:
    """Equality of masks, whose arrays do not compare with ==."""
    fields = [
        [getattr(part, "matrix" if name == "truths" else name) for name in part.__slots__]
        for part in (*one.parts, *parts)
    ]
    half = len(one.parts)
    return (
        one.corner == corner
        and [type(part) for part in one.parts] == [type(part) for part in parts]
        and all(
            np.array_equal(a, b)
            for left, right in zip(fields[:half], fields[half:], strict=True)
            for a, b in zip(left, right, strict=True)
        )
    )


@in_one_test(("text", "parts", "corner"), GOOD)
def test_good_masks(text: str, parts: tuple[Any, ...], corner: str) -> None:
    assert same(read(text).mask, parts, corner)


BAD += [
    (
        "{chunk: 0}",
        "4:15: mask.chunk: must be a whole number of at least 1, not 0 (write how many"
        " positions a chunk has, such as {chunk: 4})",
    ),
    (
        "{first: 4}",
        "4:15: mask.first: 4 keys cannot be the first: there are 3 (write a number from 0 to 3)",
    ),
    (
        "{first: []}",
        "4:15: mask.first: is empty (write {first: 2}, one number for each entry of the batch)",
    ),
    (
        "{documents: [0, 1]}",
        "4:19: mask.documents: 2 numbers for 3 keys (give the number of its"
        " document for every key)",
    ),
    (
        "{documents: [0, 1, 1/2]}",
        "4:19: mask.documents: the number of a document is whole, not 0.5"
        " (write {documents: [0, 0, 1]}, the number of its document for every key)",
    ),
    (
        "{documents: [0, b, 1]}",
        (
            "4:23: mask.documents[1]: b is not a number (write a number such as 3, -0.5, 1e3, 1/3"
            " or sqrt(2))"
        ),
    ),
    (
        "{any: causal}",
        "4:13: mask.any: must be a list of masks, not causal (write {any: [causal, {first: 1}]})",
    ),
    ("{any: []}", "4:13: mask.any: is empty (write {any: [causal, {first: 1}]})"),
    (
        "{any: [causal, casual]}",
        "4:22: mask.any[1]: must be none, causal, a matrix or a form, not"
        " casual (did you mean causal?)",
    ),
    (
        "{any: [causal, {first: 4}]}",
        "4:30: mask.any[1].first: 4 keys cannot be the first: there are 3"
        " (write a number from 0 to 3)",
    ),
    (
        "{any: [causal, [[0, -1, 0], [0, 0, 1]]]}",
        "4:22: mask.any[1]: numbers that are added show no"
        " key (write {keep: …} for the keys that are seen, and numbers beside any, where they are"
        " added to every score)",
    ),
    (
        "{any: [{causal: true, corner: top-left}, {chunk: 2, corner: bottom-right}]}",
        "4:67: mask.any[1].corner: the corner is bottom-right here, but top-left before (causal,"
        " window, documents and chunk share one corner: keep one of the two)",
    ),
    (
        "{any: [{first: 1, corner: bottom-right}]}",
        "4:25: mask.any[0].corner: a corner belongs to"
        " causal, window, documents or chunk (write {causal: true, corner: bottom-right})",
    ),
    (
        "{cu_seqlens: [0, 2, 3]}",
        "4:8: mask: there is no key cu_seqlens (write mask: {documents: [0, 0, 1]})",
    ),
    (
        "{attention_chunk_size: 8192}",
        "4:8: mask: there is no key attention_chunk_size (write mask: {causal: true, chunk: 8192})",
    ),
]


@in_one_test(("text", "message"), BAD)
def test_bad_masks(text: str, message: str, problems: Callable[[str], list[str]]) -> None:
    assert problems(f"{QKV}mask: {text}") == [message]


# two entries, three heads
BATCH = "Q: {random: [2, 3, 2, 1]}\nK: {random: [2, 3, 3, 1]}\nV: {random: [2, 3, 3, 1]}\n"


@pytest.mark.parametrize(
    "mask",
    [
        "[[true, true, true], [true, true, true]]",
        "{{keep: {{file: mask.npy}}}}",
        "{{hide: [[[1, 0, 0], [0, 1, 0]]]}}",
        "{{lengths: 2}}",
        "{{lengths: [2]}}",
        "{{lengths: [2, 0]}}",
        "{{padding: [1, 1, 0]}}",
        "{{padding: [[1, 1, 0], [1, 0, 1]]}}",
    ],
)
@pytest.mark.parametrize("leading", [(), (1,), (3,), (1, 1), (1, 3), (2, 1), (2, 3)])
def test_masks_of_heads_and_batches(mask: str, leading: tuple[int, ...], tmp_path: Path) -> None:
    np.save(tmp_path / "mask.npy", np.ones((*leading, 2, 3), dtype=bool))
    (part,) = loads(f"{BATCH}mask: {mask.format()}".encode(), "p.yaml", folder=tmp_path).mask.parts
    if "file" in mask:
        assert isinstance(part, Keep)
        assert part.matrix.shape == (*leading, 2, 3)


PADDED = np.array([[1, 1, 0], [0, 1, 1]])


@pytest.mark.parametrize("middle", [(), (1,), (1, 1)])
@pytest.mark.parametrize("dtype", [bool, float])
def test_padding_in_a_file_as_frameworks_have_it(
    middle: tuple[int, ...], dtype: type, tmp_path: Path
) -> None:
    array = PADDED.astype(dtype).reshape(2, *middle, 3)
    np.save(tmp_path / "mask.npy", array)
    text = f"{BATCH}mask: {{padding: {{file: mask.npy}}}}"
    (part,) = loads(text.encode(), "p.yaml", folder=tmp_path).mask.parts
    assert part == Padding(((True, True, False), (False, True, True)))


@pytest.mark.parametrize("shape", [(2, 3, 1, 3), (2, 1, 3, 3), (2, 1, 1, 1, 3)])
def test_padding_in_a_file_is_the_same_for_heads_and_queries(
    shape: tuple[int, ...], tmp_path: Path
) -> None:
    np.save(tmp_path / "mask.npy", np.ones(shape, dtype=bool))
    with pytest.raises(AttncliError, match=r"deep|axes"):
        loads(f"{BATCH}mask: {{padding: {{file: mask.npy}}}}".encode(), "p.yaml", folder=tmp_path)


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (2, 1, 3), (2, 1, 1, 3), (1, 1, 1, 3)])
def test_one_row_for_all_queries_is_padding(shape: tuple[int, ...], tmp_path: Path) -> None:
    np.save(tmp_path / "mask.npy", np.ones(shape, dtype=bool))
    # There are three queries, so that no two rows are those of queries.
    of_three = BATCH.replace("[2, 3, 2, 1]", "[2, 3, 3, 1]")
    with pytest.raises(AttncliError) as caught:
        loads(f"{of_three}mask: {{file: mask.npy}}".encode(), "p.yaml", folder=tmp_path)
    assert caught.value.help.endswith(f"{ONE_ROW} with the same values")


@pytest.mark.parametrize("leading", [(2,), (3, 1), (2, 2), (1, 2), (3, 2)])
def test_heads_and_entries_that_do_not_fit(leading: tuple[int, ...], tmp_path: Path) -> None:
    np.save(tmp_path / "mask.npy", np.ones((*leading, 2, 3), dtype=bool))
    with pytest.raises(AttncliError) as caught:
        loads(f"{BATCH}mask: {{keep: {{file: mask.npy}}}}".encode(), "p.yaml", folder=tmp_path)
    needed = "3×2×3" if len(leading) == 1 else "2×3×2×3"
    found = "×".join(map(str, (*leading, 2, 3)))
    assert str(caught.value) == f"mask.keep: is {found}, but {needed} is needed"
    assert caught.value.help == LEADING


@in_one_test(
    ("mask", "message"),
    [
        (
            "{lengths: [1, 2, 3]}",
            f"4:17: mask.lengths: there are 3 for 2 entries of the batch ({ONE_EACH})",
        ),
        (
            "{lengths: [1, 4]}",
            "4:17: mask.lengths: 4 keys cannot exist: there are 3 (write a number from 0 to 3)",
        ),
        (
            "{lengths: []}",
            (
                "4:17: mask.lengths: is empty (write {lengths: [2]}, one number for each entry of"
                " the batch)"
            ),
        ),
        (
            "{padding: [[1, 1, 1], [1, 1, 1], [1, 1, 0]]}",
            f"4:17: mask.padding: there are 3 for 2 entries of the batch ({ONE_EACH})",
        ),
        (
            "{padding: [[1, 1], [1, 1]]}",
            "4:17: mask.padding: 2 entries for 3 keys (give 1 or 0 for every key)",
        ),
        (
            "{padding: [[1, 1, 0], [1, 1]]}",
            (
                "4:29: mask.padding[1]: has 2 entries, but the first row has 3 (all rows of a"
                " matrix must be equally long)"
            ),
        ),
    ],
)
def test_bad_masks_of_a_batch(
    mask: str, message: str, problems: Callable[[str], list[str]]
) -> None:
    assert problems(f"{BATCH}mask: {mask}") == [message]


@pytest.mark.parametrize("text", ["{matrix}", "{{additive: {matrix}}}", "[causal, {matrix}]"])
def test_numbers_are_added(text: str) -> None:
    part = read(text.format(matrix='[[0, -.inf, -1e9], [1/2, -inf, "-Infinity"]]')).mask.parts[-1]
    assert isinstance(part, Additive)
    inf = float("inf")
    assert part.matrix.value.tolist() == [[0, -inf, -1e9], [0.5, -inf, -inf]]
    assert part.matrix.written is not None
    assert part.matrix.written.tolist() == [["0", "-.inf", "-1e9"], ["1/2", "-inf", "-Infinity"]]
    assert not part.matrix.value.flags.writeable


@pytest.mark.parametrize("infinity", ["-inf", "-.inf", "-.Inf", "-.INF"])
def test_any_spelling_of_yaml_hides(infinity: str) -> None:
    part = read(f"[[0, {infinity}, 1], [1, 2, 3]]").mask.parts[-1]
    assert isinstance(part, Additive)
    assert part.matrix.value.tolist() == [[0, -float("inf"), 1], [1, 2, 3]]


def test_json_masks() -> None:
    text = '{"Q": [[1]], "K": [[1], [2]], "V": [[1], [2]], "mask": {"additive": [["-inf", -0.5]]}}'
    part = loads(text.encode(), "problem.json").mask.parts[0]
    assert isinstance(part, Additive)
    assert part.matrix.value.tolist() == [[float("-inf"), -0.5]]


def test_change_mask() -> None:
    problem = read("causal")
    assert same(
        change(problem, Overrides(mask="{padding: [1, 0, 1]}")).mask,
        (Padding(((True, False, True),)),),
        "top-left",
    )
    assert change(problem, Overrides(mask="none")).mask == Mask()
    assert change(problem, Overrides()).mask is problem.mask
    assert problem.mask.parts == (Causal(),)


@in_one_test(
    ("option", "value", "message"),
    [
        ("mask", "causl", "mask: must be none, causal, a matrix or a form, not causl"),
        ("mask", "{padding: [1]}", "mask.padding: 1 entry for 3 keys"),
        ("mask", "{padding: [1", '"]" is missing'),
        ("mask", " ", "--mask is empty"),
        ("scale", "big", "scale: must be a number or none, not big"),
        ("scale", "1e400", "scale: 1e400 is too large"),
        ("scale", "", "scale: must be a number or none, not an empty value"),
    ],
)
def test_a_bad_change_is_wrong_usage(option: str, value: str, message: str) -> None:
    with pytest.raises(AttncliError) as caught:
        change(read("none"), Overrides(**{option: value}))
    assert (str(caught.value), caught.value.exit_code) == (message, Exit.USAGE)
    if caught.value.place:
        assert caught.value.place.file == f"--{option}"


def test_change_scale() -> None:
    problem = read("none")
    assert change(problem, Overrides(scale="1/4")).scale == Scalar(0.25, "1/4")
    assert change(problem, Overrides(scale="none")).scale == "none"
    assert change(problem, Overrides(scale=" 0.5 ")).scale == Scalar(0.5, "0.5")
    assert (
        change(change(problem, Overrides(scale="2")), Overrides(scale="default")).scale == "default"
    )


def test_a_missing_file_in_a_changed_mask_is_a_missing_file() -> None:
    with pytest.raises(AttncliError) as caught:
        change(read("none"), Overrides(mask="{keep: {file: no.npy}}"))
    assert (caught.value.path, caught.value.exit_code) == ("mask.keep.file", Exit.FILE)
    assert caught.value.message == "cannot read no.npy: this file does not exist"


def test_two_forms_may_not_have_the_same_place_in_lists() -> None:
    class Late(Causal):
        name = "late"
        order = 3

    with pytest.raises(
        ValueError,
        match="padding and late have the same order 3: give one of them another; these are taken: 1"
        " causal, 2 window, 3 late, 3 padding, 4 lengths",
    ):
        in_order([*forms().values(), Late])


def test_a_form_without_a_place_in_lists_is_told_which_are_free() -> None:
    class Early(MaskPart):
        name = "early"

    with pytest.raises(ValueError, match=r"early has no order.* taken: 1 causal, 2 window"):
        in_order([*forms().values(), Early])


def test_a_second_corner_is_told_with_every_form_that_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forms()["lengths"], "has_corner", True)
    with pytest.raises(AttncliError) as caught:
        read("[{causal: true, corner: top-left}, {window: [0, 0], corner: bottom-right}]")
    assert caught.value.help == (
        "causal, window, lengths, documents and chunk share one corner: keep one of the two"
    )


THREE = "Q: [[1], [2], [3]]\nK: [[1], [2]]\nV: [[1], [2]]\n"


def test_more_queries_than_keys_are_in_no_known_documents(
    problems: Callable[[str], list[str]],
) -> None:
    assert problems(f"{THREE}mask: {{documents: [0, 1]}}") == [
        "4:19: mask.documents: 3 queries for 2 keys: a query is in the document of the key at its"
        " own position (write {keep: …}, which says for every query what it sees)"
    ]


def test_documents_for_each_entry(problems: Callable[[str], list[str]]) -> None:
    mask = loads(f"{BATCH}mask: {{documents: [[0, 0, 1], [0, 1, 1]]}}".encode(), "p.yaml").mask
    assert mask.names == ["documents"]
    assert problems(f"{BATCH}mask: {{documents: [[0, 0, 1], [0, 1, 1], [0, 1, 2]]}}") == [
        f"4:19: mask.documents: there are 3 for 2 entries of the batch ({ONE_EACH})"
    ]
