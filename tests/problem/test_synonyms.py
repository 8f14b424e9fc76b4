"""Keys as other software calls them are answered with what says the same here, which can be read as
it stands.
"""

from __future__ import annotations

import pytest

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
        ("lengths", "write mask: {lengths: [2, 3]}"),
        ("padding", "write mask: {padding: [1, 1, 0]}"),
        ("key_padding_mask", "write mask: {padding: [1, 1, 0]}"),
        ("window", "write mask: {window: [2, 0]}"),
        ("document_ids", "write mask: {documents: [1]}"),
        ("chunk", "write mask: {causal: true, chunk: 1}"),
        ("first", "write mask: {any: [causal, {first: 1}]}"),
        ("rope", "write position: {rope: true}"),
        ("alibi", "write position: {alibi: true}"),
        ("theta", "write position: {rope: {theta: 10000}}"),
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


@in_one_test(
    ("written", "help"),
    [
        ("cu_seqlens: [0, 2, 5]", "mask: {documents: [0, 0, 1, 1, 1]}"),
        ("cu_seq_lens_k: [0, 1, 1, 3]", "mask: {documents: [0, 2, 2]}"),
        ("segment_ids: [1, 1, 2]", "mask: {documents: [1, 1, 2]}"),
        ("attention_chunk_size: 8192", "mask: {causal: true, chunk: 8192}"),
        ("prefix_length: 3", "mask: {any: [causal, {first: 3}]}"),
        # Where the numbers cannot be taken over, a line says what it looks like.
        ("cu_seqlens: [2, 5]", "mask: {documents: [0, 0, 1]}"),
        ("cu_seqlens: [0, 5, 2]", "mask: {documents: [0, 0, 1]}"),
        ("cu_seqlens: [0, 100000]", "mask: {documents: [0, 0, 1]}"),
        ("document_ids: {file: d.npy}", "mask: {documents: [0, 0, 1]}"),
        ("attention_chunk_size: 0", "mask: {causal: true, chunk: 4}"),
    ],
)
def test_the_numbers_behind_a_key_of_other_software_are_taken_over(written: str, help: str) -> None:
    with pytest.raises(AttncliError) as caught:
        loads(f"{HEADS}{written}".encode(), "p.yaml")
    assert caught.value.help == f"write {help}"
