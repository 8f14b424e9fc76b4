"""RoPE as a model's config.json has it: every way to paste it, and every way to get it wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from attncli.errors import AttncliError
from attncli.problem.loader import loads
from attncli.problem.parts.positions import Rope
from attncli.problem.parts.positions.rope_types import ROPE_TYPES
from attncli.problem.saving import as_yaml
from attncli.tracing import run
from tests.cases import in_one_test

Problems = Callable[..., list[str]]

# These are three lines, and what is tested is line 4.
ROW = "[1, 0, 2, 1, 1, 0, 1, 1]"
QKV = f"Q: [{ROW}]\nK: [{ROW}]\nV: [[1]]\n"
LLAMA = (
    "factor: 8.0, low_freq_factor: 1.0, high_freq_factor: 4.0,"
    " original_max_position_embeddings: 8192"
)


def rope_of(text: str) -> Rope | None:
    return loads(f"{QKV}position: {{rope: {text}}}".encode(), "p.yaml").rope


def said_by(rope: Rope) -> dict[str, Any]:
    """What a RoPE says, each number by how it was written."""
    names = [each.name for each in fields(rope) if getattr(rope, each.name) is not None]
    return {name: getattr(getattr(rope, name), "written", getattr(rope, name)) for name in names}


PLAIN = {
    "theta": "10000",
    "pairing": "half",
    "rope_type": "default",
    "truncate": True,
    "mrope_interleaved": False,
}
LINEAR = PLAIN | {"rope_type": "linear", "factor": "8"}
OF_LLAMA = PLAIN | {
    "theta": "500000.0",
    "rope_type": "llama3",
    "factor": "8.0",
    "low_freq_factor": "1.0",
    "high_freq_factor": "4.0",
    "original_max_position_embeddings": "8192",
}


@in_one_test(
    ("text", "said"),
    [
        ("{rope_theta: 10000}", PLAIN),
        ("{rope_type: default}", PLAIN),
        ("{rope_scaling: null, rope_theta: 10000}", PLAIN),
        ("{rope_type: linear, factor: 8}", LINEAR),
        ("{rope_scaling: {type: linear, factor: 8}}", LINEAR),
        ("{rope_scaling: {type: linear, rope_type: linear, factor: 8}}", LINEAR),
        ("{rope_parameters: {rope_type: linear, factor: 8, rope_theta: 10000}}", LINEAR),
        # What stands twice may, if it is the same, and a length that is not read may stand there.
        (
            "{rope_theta: 10000, max_position_embeddings: 4096,"
            " rope_parameters: {rope_type: linear, factor: 8, rope_theta: 10000}}",
            LINEAR,
        ),
        (
            "{partial_rotary_factor: 0.5, rope_parameters: {rope_type: linear, factor: 8}}",
            LINEAR | {"partial_rotary_factor": "0.5"},
        ),
        (f"{{rope_theta: 500000.0, rope_scaling: {{{LLAMA}, rope_type: llama3}}}}", OF_LLAMA),
        (f"{{theta: 500000.0, rope_type: llama3, {LLAMA}}}", OF_LLAMA),
        # Without the length of training, it is that of the model.
        (
            "{rope_theta: 500000.0, max_position_embeddings: 8192, rope_scaling: {type: llama3,"
            " factor: 8.0, low_freq_factor: 1.0, high_freq_factor: 4.0}}",
            OF_LLAMA | {"max_position_embeddings": "8192"},
        ),
        (
            "{rope_parameters: {full_attention: {rope_type: linear, factor: 8},"
            " sliding_attention: {rope_type: default}}, layer: full_attention}",
            LINEAR,
        ),
        (
            "{rope_parameters: {full_attention: {rope_type: linear, factor: 8},"
            " sliding_attention: {rope_type: default}}, layer: sliding_attention}",
            PLAIN,
        ),
    ],
)
def test_a_config_is_read_as_it_is(text: str, said: dict[str, Any]) -> None:
    rope = rope_of(text)
    assert rope is not None
    assert said_by(rope) == said


def test_one_list_fits_queries_and_keys_of_one_number(problems: Problems) -> None:
    more = f"K: [{ROW}, {ROW}]\nV: [[1], [2]]\n"
    (message,) = problems(f"Q: [{ROW}]\n{more}position: {{rope: {{positions: [0, 1]}}}}")
    assert message.startswith(
        "4:19: position.rope.positions: has 2 positions for 1 query (give one position for each"
    )


def test_a_factor_follows_from_the_lengths() -> None:
    """As in Transformers, where the factor is null or left out."""
    rope = rope_of(
        "{max_position_embeddings: 163840, rope_scaling: {type: yarn, factor: null, mscale: 1.0,"
        " mscale_all_dim: 1.0, original_max_position_embeddings: 4096}}"
    )
    assert rope is not None
    assert rope.factor is not None
    assert rope.factor.value == 40


GEMMA_3 = (
    "rope_theta: 1000000.0, rope_local_base_freq: 10000.0, attention_factor: null,"
    " rope_scaling: {factor: 8.0, rope_type: linear}"
)


def test_an_older_gemma_3_has_a_base_for_each_kind_of_layer() -> None:
    """As Gemma3Model of Transformers 4.50 made both: the local one without the scaling."""
    local = rope_of(f"{{{GEMMA_3}, layer: sliding_attention}}")
    assert local == rope_of("{theta: 10000.0}")
    other = rope_of(f"{{{GEMMA_3}, layer: full_attention}}")
    assert other == rope_of("{theta: 1000000.0, rope_type: linear, factor: 8.0}")


def test_a_layer_may_have_no_positions() -> None:
    assert rope_of("{rope_parameters: {full: {factor: 8}, none: null}, layer: none}") is None


@in_one_test(
    ("text", "message"),
    [
        # By the names of older files, or more than is about RoPE.
        (
            "{rotary_pct: 0.25}",
            "4:19: position.rope: there is no key rotary_pct (write partial_rotary_factor, with the"
            " same number)",
        ),
        (
            "{model_type: llama, rope_theta: 10000}",
            "4:19: position.rope: there is no key model_type (paste only what is about RoPE:"
            " rope_parameters, or rope_theta and rope_scaling)",
        ),
        (
            "{rope_scaling: {type: su, factor: 8}}",
            "4:40: position.rope.rope_scaling.type: su is an older name (write type: longrope)",
        ),
        (
            "{factor: 8}",
            "4:27: position.rope.factor: is read with rope_type: linear, dynamic, yarn, longrope,"
            " llama3 or proportional, and this is default (leave it out, or write rope_type:"
            " linear)",
        ),
        (
            "{rope_type: yarn, factor: 8}",
            "4:18: position.rope: has no original_max_position_embeddings, which rope_type: yarn"
            " needs (write original_max_position_embeddings: 8192, or what config.json of the"
            " model has)",
        ),
        (
            "{rope_type: yarn, factor: 8, original_max_position_embeddings: 64, beta_fast: 1}",
            "4:96: position.rope.beta_fast: beta_fast must be greater than beta_slow: they are 1"
            " and 1 (models have beta_slow: 1 and beta_fast: 32)",
        ),
        (
            "{rope_type: yarn, theta: 1, factor: 8, original_max_position_embeddings: 64}",
            "4:18: position.rope: theta must be greater than 1 with rope_type: yarn, not 1 (write"
            " a number such as 10000)",
        ),
        (
            "{rope_type: longrope, short_factor: [1, 0, 1, 1], long_factor: [1, 2, 3, 4], factor:"
            " 2, original_max_position_embeddings: 64}",
            "4:54: position.rope.short_factor: has a 0, and a frequency is divided by it (write a"
            " number such as 1)",
        ),
        (
            "{rope_type: longrope, short_factor: [1, 2, 3, 4], long_factor: [1, 2, 3, 4], factor:"
            " 2, original_max_position_embeddings: 1}",
            "4:140: position.rope.original_max_position_embeddings:"
            " original_max_position_embeddings must be greater than 1 with rope_type: longrope,"
            " not 1 (write how many tokens a text of the training had, such as 4096)",
        ),
        (
            "{rope_type: longrope, short_factor: [1, 2], long_factor: [1, 2, 3, 4], factor: 2,"
            " original_max_position_embeddings: 64}",
            "4:12: position.rope: short_factor has 2 numbers, and 4 pairs of features are turned"
            " (give one number for each pair)",
        ),
        (
            "{rope_type: longrope, short_factor: [1, 2, 3, 4], long_factor: [1, 2, 3, 4],"
            " original_max_position_embeddings: 64}",
            "4:18: position.rope: has no factor, which rope_type: longrope needs (write factor: 8,"
            " or what config.json of the model has)",
        ),
        (
            "{rope_type: dynamic, factor: 2, max_position_embeddings: 4,"
            " partial_rotary_factor: 0.25}",
            "4:12: position.rope: 2 features are turned, and rope_type: dynamic divides by 2 less"
            " (give keys of 4 features or more, or leave out rope_type: dynamic)",
        ),
        (
            "{rope_type: linear, factor: 8, low_freq_factor: 1}",
            "4:66: position.rope.low_freq_factor: is read with rope_type: llama3, and this is"
            " linear (leave it out, or write rope_type: llama3)",
        ),
        (
            "{rope_type: linear}",
            "4:18: position.rope: has no factor, which rope_type: linear needs (write factor: 8,"
            " or what config.json of the model has)",
        ),
        (
            "{rope_type: llama, factor: 8}",
            "4:30: position.rope.rope_type: must be one of default, linear, dynamic, yarn,"
            " longrope, llama3, proportional, not llama (did you mean llama3?)",
        ),
        (
            "{rope_scaling: {type: linear, rope_type: default, factor: 8}}",
            "4:40: position.rope.rope_scaling.type: is linear, and rope_type is default (keep one"
            " of the two)",
        ),
        (
            "{theta: 5, rope_theta: 5}",
            "4:26: position.rope.theta: both theta and rope_theta are given (keep one of the two)",
        ),
        (
            "{rope_theta: 5, rope_parameters: {rope_theta: 6}}",
            "4:64: position.rope.rope_parameters.rope_theta: is 6 here and 5 beside it (keep one of"
            " the two)",
        ),
        (
            "{rope_parameters: {}, rope_scaling: {}}",
            "4:54: position.rope.rope_scaling: both rope_parameters and rope_scaling are given"
            " (keep one of the two)",
        ),
        (
            "{rope_scaling: linear}",
            "4:33: position.rope.rope_scaling: must be a mapping, not linear (write what"
            " config.json has, such as {rope_type: linear, factor: 8})",
        ),
        (
            "{rope_parameters: {a: {factor: 8}, b: {factor: 2}}}",
            "4:36: position.rope.rope_parameters: has a RoPE for each kind of layer: a and b"
            " (write layer: a beside it)",
        ),
        (
            "{rope_parameters: {full: {factor: 8}, none: null}, layer: ful}",
            "4:76: position.rope.layer: must be one of full, none, not ful (did you mean full?)",
        ),
        (
            "{rope_parameters: {rope_type: default}, layer: full}",
            "4:65: position.rope.layer: rope_parameters has no kinds of layers (leave layer out)",
        ),
        (
            "{positions: 3}",
            "4:30: position.rope.positions: must be positions of queries and keys, not 3 (write"
            " {queries: [2, 3], keys: [0, 1, 2, 3]}, or [0, 1, 2, 3] for both)",
        ),
        (
            "{positions: {keys: [1]}}",
            "4:30: position.rope.positions: has no queries (write {queries: [2, 3], keys: [0, 1, 2,"
            " 3]}, or [0, 1, 2, 3] for both)",
        ),
        (
            "{positions: {queries: [1], keys: [1, 2]}}",
            "4:45: position.rope.positions.keys: has 2 positions for 1 key (give one position for"
            " each of the keys; keys of a cache come first)",
        ),
        (
            "{positions: {queries: [1, 2], keys: [1]}}",
            "4:31: position.rope.positions.queries: has 2 positions for 1 query (give one position"
            " for each of the queries; keys of a cache come first)",
        ),
        (
            "{positions: [[0], [1]]}",
            "4:19: position.rope.positions: has 2 lists for 1 entry (give one list for all entries,"
            " or one for each; rows of time, height and width need mrope_section)",
        ),
        (
            "{mrope_section: [2, 1, 1], positions: [[0], [1]]}",
            "4:45: position.rope.positions: has 2 rows, and with mrope_section they are three (give"
            " rows of time, height and width; tokens of text have the same in each)",
        ),
        (
            "{mrope_section: [2, 1, 1], positions: [[0, 1], [1, 1], [0, 0]]}",
            "4:45: position.rope.positions: has 2 positions for 1 query (give one position for each"
            " of the queries; keys of a cache come first)",
        ),
        (
            "{mrope_section: [16, 24, 24]}",
            "4:12: position.rope: mrope_section has 64 pairs, and 4 pairs of features are turned"
            " (give the numbers of pairs that turn by time, height and width, which add up to all)",
        ),
        (
            "{mrope_section: [2, 2]}",
            "4:34: position.rope.mrope_section: must be three whole numbers above 0 (write how many"
            " pairs turn by time, height and width, such as [16, 24, 24])",
        ),
        (
            "{mrope_interleaved: true}",
            "4:38: position.rope.mrope_interleaved: there is no mrope_section (write how many pairs"
            " turn by time, height and width, such as [16, 24, 24])",
        ),
        (
            "{rope_scaling: {type: mrope}}",
            "4:40: position.rope.rope_scaling.type: rope_type: mrope needs mrope_section (write how"
            " many pairs turn by time, height and width, such as [16, 24, 24])",
        ),
        (
            "{layer: full}",
            "4:26: position.rope.layer: there are no rope_parameters of several layers (leave"
            " layer out)",
        ),
        (
            "{partial_rotary_factor: 1.5}",
            "4:42: position.rope.partial_rotary_factor: must be at most 1, not 1.5 (write a number"
            " such as 0.5)",
        ),
        (
            "{partial_rotary_factor: 0.4}",
            "4:12: position.rope: 0.4 of 8 features are 3: rope turns pairs of them (choose a"
            " partial_rotary_factor that gives an even number of features)",
        ),
        (
            "{rope_type: linear, factor: 0}",
            "4:46: position.rope.factor: must be greater than 0, not 0 (write a number such as 8)",
        ),
        (
            "{rope_type: llama3, factor: 8, low_freq_factor: 4, high_freq_factor: 1,"
            " original_max_position_embeddings: 8192}",
            "4:87: position.rope.high_freq_factor: high_freq_factor must be greater than"
            " low_freq_factor: they are 1 and 4 (Llama 3 has low_freq_factor: 1, high_freq_factor:"
            " 4)",
        ),
    ],
)
def test_what_does_not_fit_is_said(text: str, message: str, problems: Problems) -> None:
    assert problems(f"{QKV}position: {{rope: {text}}}") == [message]


@in_one_test(
    "text",
    [
        f"{{partial_rotary_factor: 1/2, rope_scaling: {{{LLAMA}, rope_type: llama3}}}}",
        (
            "{rope_type: yarn, factor: 8, original_max_position_embeddings: 64, truncate: false,"
            " mscale: 0.7, mscale_all_dim: 1, beta_fast: 16}"
        ),
        (
            "{rope_type: longrope, short_factor: [1, 2, 3, 4], long_factor: [1, 2, 3, 1/3],"
            " max_position_embeddings: 128, original_max_position_embeddings: 64}"
        ),
        "{rope_type: dynamic, factor: 8, max_position_embeddings: 64}",
        "{theta: 100, positions: {queries: [1/2], keys: [7]}}",
        "{rope_scaling: {type: mrope, mrope_section: [2, 1, 1]}, positions: [[1], [2], [3]]}",
        "{mrope_section: [2, 1, 1], mrope_interleaved: true}",
        "{rope_type: proportional, partial_rotary_factor: 0.25, pairing: interleaved}",
    ],
)
def test_a_saved_problem_has_the_same_rope(text: str) -> None:
    problem = loads(f"{QKV}position: {{rope: {text}}}".encode(), "p.yaml")
    saved, _ = as_yaml(problem, "p.npz")
    again = loads(saved.encode(), "saved.yaml")
    assert again.rope is not None
    assert problem.rope is not None
    assert as_yaml(again, "p.npz")[0] == saved
    assert run(again)["output"].tolist() == run(problem)["output"].tolist()
    assert again.rope.rope_type == problem.rope.rope_type


NUMBERS = ("0.001", "0.5", "1", "1.001", "2", "4096")


@pytest.mark.long
@in_one_test("length", NUMBERS)
@in_one_test("factor", NUMBERS)
@in_one_test("rope_type", [name for name in ROPE_TYPES if name != "default"])
def test_what_is_accepted_has_finite_tables(rope_type: str, factor: str, length: str) -> None:
    """Lengths of texts and factors that no model has: an error, or numbers."""
    kind = ROPE_TYPES[rope_type]
    given = {"factor": factor} if "factor" in (*kind.keys, *kind.may_have) else {}
    for key in kind.keys:
        if key.endswith("embeddings"):
            given[key] = length
        elif key in ("short_factor", "long_factor"):
            given[key] = f"[{length}, {factor}, 1, 2]"
    if rope_type == "llama3":
        given |= {"low_freq_factor": length, "high_freq_factor": f"{float(length) + 0.001}"}
    written = ", ".join(f"{key}: {number}" for key, number in given.items())
    rope = f"{{rope_type: {rope_type}, {written}}}"
    try:
        problem = loads(f"{QKV}position: {{rope: {rope}}}".encode(), "p.yaml")
    except AttncliError:
        assert rope_type == "longrope"
        assert float(length) <= 1 < float(factor)
        return
    trace = run(problem)
    for step in trace.steps.values():
        assert np.isfinite(step.value).all(), step.name
