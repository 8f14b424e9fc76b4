"""What a page says of the arrays that a problem gives."""

from __future__ import annotations

from pathlib import Path

from attncli.page.derivation import derivation
from attncli.page.document import plain
from attncli.page.short.overview import given_in_words, learned_in_words
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.render import Style, render
from attncli.tracing import run
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[2] / "inputs"


@in_one_test(
    ("file", "said"),
    [
        (
            "i_love_ai",
            "X has a row for each token; the weights that a model learns are W_Q, W_K and W_V.",
        ),
        ("qkv_given", "Q, K and V have a row for each token."),
        ("is_causal", "Q has a row for each query, K and V have a row for each key."),
        (
            "cross_attention",
            "X has a row for each query, C has a row for each key; the weights that a model"
            " learns are W_Q, W_K and W_V.",
        ),
        (
            "kv_cache",
            "X has a row for each query, K_past and V_past have a row for each token of the cache;"
            " the weights that a model learns are W_Q, W_K and W_V.",
        ),
        (
            "multi_head",
            "X has a row for each token; the weights and biases that a model learns are W_Q,"
            " W_K, W_V, W_O, b_Q and b_O.",
        ),
        # A number for each head is no weight.
        ("gpt_oss_sink", "Q, K and V have a row for each token."),
        # Its own arrays are weights, too.
        ("equations/output_gate", "X has a row for each token."),
    ],
)
def test_it_is_said_in_a_sentence(file: str, said: str) -> None:
    trace = run(load(str(INPUTS / f"{file}.yaml")))
    assert plain(given_in_words(trace)) == said


def test_it_stands_before_the_shapes_where_there_is_more_than_matrices() -> None:
    trace = run(load(str(INPUTS / "i_love_ai.yaml")))
    page = render(derivation(trace, View()), "table")
    assert "W_Q, W_K and W_V. Shapes: X (3×4) → Q, K, V (3×3)" in " ".join(page.split())
    assert "a row for each" not in render(derivation(trace, View(detail="brief")), "table")


def test_a_size_and_a_shape_stay_on_the_line_of_what_they_are_of() -> None:
    for file in ("multi_head", "kv_cache"):
        trace = run(load(str(INPUTS / f"{file}.yaml")))
        for width in range(50, 100, 15):
            for line in render(derivation(trace, View()), "table", Style(width=width)).splitlines():
                assert not line.endswith((" d_v =", " d_k =", " d_model =", " d_v", " d_model"))
                assert not line.startswith(("  = 2", "  = 4", "  (3×4)", "  (1×3)"))


@in_one_test(
    ("file", "said"),
    [
        ("i_love_ai", "A model learns W_Q, W_K and W_V in training; here they are given."),
        (
            "multi_head",
            "A model learns W_Q, W_K, W_V, W_O, b_Q and b_O in training; here they are given.",
        ),
        ("qkv_given", ""),
        ("gpt_oss_sink", ""),
    ],
)
def test_where_the_numbers_of_weights_come_from(file: str, said: str) -> None:
    trace = run(load(str(INPUTS / f"{file}.yaml")))
    assert plain(learned_in_words(trace)) == said


def test_a_live_page_says_it_before_what_is_given() -> None:
    trace = run(load(str(INPUTS / "i_love_ai.yaml")))
    blocks = derivation(trace, View(short=False))
    page = " ".join(render(blocks, "table").split())
    before, _, _ = page.partition("What is given")
    assert "A model learns W_Q, W_K and W_V in training; here they are given." in before
