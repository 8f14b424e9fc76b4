"""Keys as other software calls them are answered with what says the same here, which can be read as
it stands.
"""

from __future__ import annotations

import numpy as np
import pytest

import attncli
from attncli.errors import AttncliError
from attncli.problem.keys import KEYS
from attncli.problem.loader import loads
from attncli.problem.synonyms import SYNONYMS
from tests.cases import in_one_test

HEADS = (
    "heads: 2\nQ: {random: [2, 2, 3, 4]}\nK: {random: [2, 2, 3, 4]}\nV: {random: [2, 2, 3, 4]}\n"
)
PROJECTED = "X: [[1, 0]]\nW_Q: [[1], [0]]\nW_K: [[1], [0]]\nW_V: [[1], [0]]\n"


@in_one_test(
    ("key", "help"),
    [
        ("cache", "did you mean past?"),
        ("past_key_values", "did you mean past?"),
        ("causal", "write mask: causal"),
        ("is_causal", "write mask: causal"),
        ("lengths", "write mask: {lengths: 1}"),
        ("padding", "write mask: {padding: [1, 1, 0]}, where 1 is a key that exists"),
        ("document_ids", "write mask: {documents: [1]}"),
        ("chunk", "write mask: {causal: true, chunk: 1}"),
        ("first", "write mask: {any: [causal, {first: 1}]}"),
        ("rope", "write position: {rope: true}"),
        ("alibi", "write position: {alibi: true}"),
        ("theta", "write position: {rope: {theta: 1}}"),
        ("dtype", "this is an option, not a key: --dtype"),
        ("device", "this is an option, not a key: --device"),
        ("precision", "this is an option, not a key: --precision"),
        ("d_model", "remove d_model: sizes are those of the arrays"),
        ("num_heads", "did you mean heads?"),
        ("Num-Heads", "did you mean heads?"),
        ("num_kv_heads", "did you mean kv_heads?"),
        ("attn_mask", "did you mean mask?"),
        # spelt almost right
        ("maks", "did you mean mask?"),
        ("wq", "did you mean W_Q?"),
        ("x", "did you mean X?"),
        ("D_output", "did you mean d_output?"),
        ("zzz", "attncli schema problem lists the keys"),
    ],
)
def test_a_key_of_other_software(key: str, help: str) -> None:
    with pytest.raises(AttncliError) as caught:
        loads(f"{HEADS}{key}: 1".encode(), "p.yaml")
    assert (str(caught.value), caught.value.help) == (f"there is no key {key}", help)


def test_no_key_is_taken_for_another() -> None:
    elsewhere = [name for names in SYNONYMS.values() for name in names]
    assert len(set(elsewhere)) == len(elsewhere)
    assert not {name.lower() for name in KEYS} & set(elsewhere)
    assert all(name == name.lower().replace("-", "_") for name in elsewhere)


@in_one_test("written", [written for written in SYNONYMS if written not in KEYS])
def test_what_is_advised_can_be_read(written: str) -> None:
    whole = written.replace("…", "[[1, 0, 1], [1, 1, 1], [0, 1, 0]]")
    # Sines are added to X.
    given = PROJECTED if "sinusoidal" in whole else HEADS
    assert loads(f"{given}{whole}".encode(), "p.yaml")


IN_TORCH = ": here 1 is a key that exists, and true hides in PyTorch's key_padding_mask"


@in_one_test(
    ("written", "help"),
    [
        ("cu_seqlens: [0, 2, 5]", "mask: {documents: [0, 0, 1, 1, 1]}"),
        ("cu_seq_lens_k: [0, 1, 1, 3]", "mask: {documents: [0, 2, 2]}"),
        ("segment_ids: [1, 1, 2]", "mask: {documents: [1, 1, 2]}"),
        ("attention_chunk_size: 8192", "mask: {causal: true, chunk: 8192}"),
        ("prefix_length: 3", "mask: {any: [causal, {first: 3}]}"),
        ("any_of: [causal, {first: 3}]", "mask: {any: …}"),
        ("seq_lens: [5, 7]", "mask: {lengths: [5, 7]}"),
        ("is_causal: false", "mask: {causal: false}"),
        ("corner: top-left", "mask: {causal: true, corner: top-left}"),
        ("keep: [[1, 0], [1, 1]]", "mask: {keep: [[1, 0], [1, 1]]}"),
        ("attn_bias:\n- [0.5, -.inf]\n- [0, 1]", "mask: {additive: [[0.5, -.inf], [0, 1]]}"),
        ("rope_theta: 5e5", "position: {rope: {theta: 5e5}}"),
        ("interleaved: false", "position: {rope: {pairing: half}}"),
        ("alibi_slopes: [0.5, 0.125]", "position: {alibi: {slopes: [0.5, 0.125]}}"),
        # Where the numbers cannot be taken over, a line says what it looks like.
        ("cu_seqlens: [2, 5]", "mask: {documents: [0, 0, 1]}"),
        ("cu_seqlens: [0, 5, 2]", "mask: {documents: [0, 0, 1]}"),
        ("cu_seqlens: [0, 100000]", "mask: {documents: [0, 0, 1]}"),
        ("document_ids: {file: d.npy}", "mask: {documents: [0, 0, 1]}"),
        ("attention_chunk_size: 0", "mask: {causal: true, chunk: 4}"),
        ("sliding_window: null", "mask: {window: [2, 0]}"),
        ('sliding_window: "8"', "mask: {window: [2, 0]}"),
        ("window: [3, 0, 0]", "mask: {window: [2, 0]}"),
        ("seq_lens: [-1]", "mask: {lengths: [2, 3]}"),
        (f"key_padding_mask: {[1] * 33}", "mask: {padding: [1, 1, 0]}" + IN_TORCH),
        # A window counts the query's own key or does not, and has one side or two.
        (
            "sliding_window: 4096",
            "mask: {window: [4095, 0]}: a query sees itself and the 4,095 keys before it",
        ),
        (
            "window_size: 4",
            "mask: {window: [3, 0]} for 4 keys with the query's own, {window: [4, 0]} for 4 before"
            " it",
        ),
        ("window_size: [4, 0]", "mask: {window: [4, 0]}"),
        ("local_window_size: 2", "mask: {window: [2, 2]}"),
        # What true means depends on the word, and where it does not, both are said.
        ("key_padding_mask: [true, false, false]", "mask: {padding: [0, 1, 1]}" + IN_TORCH),
        (
            "src_key_padding_mask: [[0, 0, 1], [0, 1, 1]]",
            "mask: {padding: [[1, 1, 0], [1, 0, 0]]}" + IN_TORCH,
        ),
        ("key_padding_mask: {file: m.npy}", "mask: {padding: [1, 1, 0]}" + IN_TORCH),
        ("padding: [1, 0]", "mask: {padding: [1, 0]}, where 1 is a key that exists"),
        (
            "padding_mask: [true, false]",
            "mask: {padding: [1, 0]} if true is a key that exists, {padding: [0, 1]} if true is"
            " padding",
        ),
        (
            "attention_mask: [1, 1, 0]",
            "mask: {padding: [1, 1, 0]} if 1 is a key that exists, {padding: [0, 0, 1]} if 1 is"
            " padding",
        ),
        (
            "attention_mask: [[1, 1], [1, 0]]",
            "mask: {keep: [[1, 1], [1, 0]]} if each row is a query, {padding: [[1, 1], [1, 0]]} if"
            " each row is an entry of the batch: 1 shows",
        ),
        (
            "attn_mask: [[true, false]]",
            "mask: {keep: [[true, false]]} if true means may attend, as in"
            " scaled_dot_product_attention, {hide: …} if it means hidden, as in"
            " nn.MultiheadAttention",
        ),
        (
            "attn_mask: {file: m.npy}",
            "mask: {keep: …} if true means may attend, as in scaled_dot_product_attention, {hide:"
            " …} if it means hidden, as in nn.MultiheadAttention, {additive: …} for numbers that"
            " are added",
        ),
        ("attn_mask: [[0, -1e9]]", "mask: {additive: [[0, -1e9]]}"),
    ],
)
def test_what_stands_behind_a_key_of_other_software_is_taken_over(written: str, help: str) -> None:
    with pytest.raises(AttncliError) as caught:
        loads(f"{HEADS}{written}".encode(), "p.yaml")
    assert caught.value.help == f"write {help}"


@in_one_test("forms", ["[causal, {first: 1}]", "{causal: true}", "causal", "[]"])
def test_forms_behind_a_mask_of_other_software_are_no_matrix(forms: str) -> None:
    with pytest.raises(AttncliError) as caught:
        loads(f"{HEADS}attn_mask: {forms}".encode(), "p.yaml")
    assert caught.value.help == "did you mean mask?"


@in_one_test(
    ("mask", "help"),
    [
        ("{sliding_window: 3}", "{window: [2, 0]}: a query sees itself and the 2 keys before it"),
        ("{key_padding_mask: [true, false, false]}", "{padding: [0, 1, 1]}" + IN_TORCH),
        ("{any: [causal, {sliding_window: 1}]}",
         "{window: [0, 0]}: a query sees itself alone"),
    ],
)  # fmt: skip
def test_a_form_of_other_software_in_a_mask(mask: str, help: str) -> None:
    with pytest.raises(AttncliError) as caught:
        loads(f"{HEADS}mask: {mask}".encode(), "p.yaml")
    assert caught.value.help == f"write mask: {help}"


@in_one_test(
    ("mask", "help"),
    [
        ("{window: 4}",
         "{window: [3, 0]} for 4 keys with the query's own, {window: [4, 0]} for 4 before it"),
        ("{window: left}", "{window: [left, right]}, where -1 means no limit"),
        ("[1, 0, 1]",
         "{padding: [1, 0, 1]} if 1 is a key that exists, {padding: [0, 1, 0]} if 1 is padding; or"
         " one row per query"),
        ("[0.5, 1, 1]", "{padding: [1, 1, 0]} for the keys that exist; or one row per query"),
        ("[[1, 0], [1, 1]]",
         "{keep: [[1, 0], [1, 1]]} if 1 means may attend, {hide: [[1, 0], [1, 1]]} if it means"
         " hidden"),
    ],
)  # fmt: skip
def test_a_mask_that_does_not_say_what_it_means_is_written_out(mask: str, help: str) -> None:
    with pytest.raises(AttncliError) as caught:
        loads(f"{HEADS}mask: {mask}".encode(), "p.yaml")
    assert caught.value.help == f"write {help}"


def test_a_sliding_window_is_taken_over_with_the_keys_that_it_shows() -> None:
    """Transformers shows the query and the w - 1 keys before it."""
    rows = "[[1], [2], [3], [4], [5]]"
    arrays = f"Q: {rows}\nK: {rows}\nV: {rows}\n"
    with pytest.raises(AttncliError) as caught:
        loads(f"{arrays}sliding_window: 3".encode(), "p.yaml")
    advised = caught.value.help.removeprefix("write ").rpartition(": a query")[0]
    trace = attncli.trace(loads(f"{arrays}{advised}".encode(), "p.yaml"))
    seen = [[0 <= i - j < 3 for j in range(5)] for i in range(5)]
    np.testing.assert_array_equal(trace["weights"] > 0, seen)
