"""The published schema and the reader agree: on keys, words and forms, on good problems and on bad
ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import attncli
from attncli.english import listed
from attncli.problem.keys import (
    CORNERS,
    KEYS,
    LAYOUTS,
    PAIRINGS,
    PARTS,
    SCALE_WORDS,
    SCORES,
    SINE_LAYOUTS,
)
from attncli.problem.loader import loads
from attncli.problem.parts.losses import LOSSES
from attncli.problem.parts.mask_reader import mask_words
from attncli.problem.parts.masks import forms
from attncli.problem.parts.positions.rope_types import ROPE_TYPES
from attncli.problem.text.nodes import Leaf, is_null, truth
from attncli.problem.text.number_forms import MINUS_INFINITY, is_plain
from attncli.problem.text.source import Source
from attncli.problem.text.tree import read_tree
from tests.cases import in_one_test
from tests.tools.json_schemas import DEFINITIONS, expanded

INPUTS = Path(__file__).parents[2] / "inputs"
SCHEMA = json.loads(
    (Path(attncli.__file__).parent / "problem/problem.schema.json").read_text(encoding="utf-8")
)
EXPANDED = expanded(SCHEMA)
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

ROW_OF_6 = "[[1, 2, 3, 4, 5, 6]]"
GOOD = [
    (
        "{Q: [[1e3, -.5], ['1/3', sqrt(2)]], K: [[1, 2]], V: [[1]], scale: 1/2, title: 3, tokens:"
        " [1, x]}"
    ),
    (
        "{Q: {random: [2, 3], seed: 1, low: -1, high: 2}, K: {random: [2, 3]}, V: {random: [2, 1]},"
        " mask: none}"
    ),
    (
        "{X: [[1]], W_Q: [[1]], W_K: [[1]], W_V: [[1]], b_Q: [1], b_K: [1/2], b_V: {random: [1]},"
        " heads: 1, kv_heads: 1}"
    ),
    "{Q: [[[1]]], K: [[[[1]]]], V: [[1]], softcap: 2, exp_base: e, score: dot, scale: none}",
    (
        "{Q: [[1]], K: [[1]], V: [[1]], exp_base: 2.5, score: multiplicative, W_a: [[1]], scale:"
        " default}"
    ),
    "{Q: [[1]], K: [[1]], V: [[1]], mask: [[true]]}",
    "{Q: [[1]], K: [[1]], V: [[1]], mask: [[-.inf]]}",
    "{Q: [[1]], K: [[1], [2]], V: [[1], [2]], mask: [[0, -1]]}",
    "{Q: [[1]], K: [[1], [2]], V: [[1], [2]], mask: {corner: bottom-right, window: [0, 0]}}",
    "{Q: [[1]], K: [[1]], V: [[1]], mask: [[['-inf']]]}",
    "{Q: [[1]], K: [[1]], V: [[1]], mask: [causal, {padding: [1]}, [[0.5]]]}",
    (
        "{Q: [[1]], K: [[1]], V: [[1]], mask: {causal: true, corner: bottom-right, lengths: [1],"
        " window: [0, -1]}}"
    ),
    "{Q: [[1]], K: [[1]], V: [[1]], mask: {keep: [[1]], hide: [[[false]]], additive: [[0]]}}",
    "{Q: [[1]], K: [[1]], V: [[1]], mask: {padding: [[true]], lengths: 1}}",
    (
        "{X: [[[1]], [[2]]], W_Q: [[1, 2]], W_K: [[1]], W_V: [[1]], heads: 2, kv_heads: 1, W_O:"
        " [[1], [2]], b_O: [1]}"
    ),
    (
        "{Q: [[[[1]]], [[[2]]]], K: [[[[1]]], [[[2]]]], V: [[[[1]]], [[[2]]]], mask: [[[[0.5]]],"
        " [[[1]]]], heads: 1}"
    ),
    (
        "{Q: [[[1]], [[2]]], K: [[1]], V: [[1]], mask: {keep: [[[1]], [[0]]], additive: [[[[0.5]],"
        " [[-inf]]]]}}"
    ),
    (
        "{Q: [[[[1]]], [[[2]]]], K: [[1], [2]], V: [[1], [2]], mask: {lengths: [1, 2], padding:"
        " [[1, 0], [1, 1]]}}"
    ),
    "{Q: [[1]], K: [[1]], V: [[1]], past: {K: [[1]], V: {random: [1, 1]}}, sink: -0.5}",
    "{Q: [[1, 2]], K: [[1, 2]], V: [[1]], position: {rope: true, alibi: true}, sink: [1/2]}",
    (
        "{Q: [[1, 2]], K: [[1, 2]], V: [[1]], position: {rope: {theta: 1e4, pairing: interleaved}},"
        " sink: sqrt(2)}"
    ),
    (
        "{Q: [[1, 2]], K: [[1, 2]], V: [[1, 2]], heads: 2, position: {alibi: {slopes: [1/2,"
        " 0.25]}}, sink: [1, 2]}"
    ),
    "{Q: [[1]], K: [[1]], V: [[1]], position: none}",
    *(
        f"{{Q: [[1, 2]], K: [[1, 2]], V: [[1]], position: {{rope: {rope}}}}}"
        for rope in (
            "{rope_theta: 500, partial_rotary_factor: 1.0}",
            "{rope_type: linear, factor: 8, pairing: interleaved}",
            "{rope_parameters: {rope_type: linear, factor: 8}, rope_theta: 500}",
            "{rope_theta: 500, rope_scaling: {type: linear, factor: 8}, partial_rotary_factor: 1}",
            (
                "{rope_type: yarn, factor: 4, original_max_position_embeddings: 64, beta_fast: 32,"
                " beta_slow: 1/2, mscale: 0, mscale_all_dim: 1, truncate: false}"
            ),
            "{theta: 100, positions: [3]}",
            "{rope_type: linear, factor: 2, positions: {queries: [1], keys: [4]}}",
            "{rope_type: proportional, partial_rotary_factor: 0.25, factor: 2}",
            (
                "{rope_type: longrope, short_factor: [1], long_factor: [2], attention_factor: 1.5,"
                " original_max_position_embeddings: 64}"
            ),
            "{rope_scaling: null, max_position_embeddings: 4096}",
            (
                "{rope_type: llama3, factor: 8, low_freq_factor: 1, high_freq_factor: 4,"
                " original_max_position_embeddings: 8192}"
            ),
            (
                "{rope_parameters: {full_attention: {rope_type: default, rope_theta: 500},"
                " sliding_attention: null}, layer: full_attention}"
            ),
        )
    ),
    "{Q: [[1, 2]], K: [[1, 2]], V: [[1]], position: {rope: {}, alibi: false}}",
    *(
        f"{{Q: {ROW_OF_6}, K: {ROW_OF_6}, V: [[1]], position: {{rope: {rope}}}}}"
        for rope in (
            "{rope_scaling: {type: mrope, mrope_section: [1, 1, 1]}, positions: [[1], [2], [2]]}",
            "{mrope_section: [1, 1, 1], mrope_interleaved: true}",
            "{positions: {queries: [[1]], keys: [1]}}",
        )
    ),
    (
        "{Q: {random: [2, 1], integers: true, low: -1}, K: {random: [2, 1], decimals: 1}, V:"
        " {random: [2, 1]}}"
    ),
    (
        "Q: |\n  1 2\n  3 4\nK: '[1 2; 3 4]'\nV: np.array([[1, 2], [3, 4]])\nmask: |\n  true"
        " false\n  true true"
    ),
    (
        "{Q: 1 2; 3 4, K: 1 2; 3 4, V: 1 2; 3 4, mask: [causal, 0.5 0; 0 0, {keep: 1 0; 1 1,"
        " padding: 1 1}], sink: '[1]'}"
    ),
    (
        "{Q: [[1]], K: [[1]], V: [[1]], arrays: {'gain[k]': [2], eps: 1/8}, equations:"
        " ['scores[i, j] = sum(k, gain[k] * Q[i, k] * K[j, k]) + eps']}"
    ),
    (
        "{Q: [[1]], K: [[1]], V: [[1]], arrays: {'mix[z]': 1 2}, equations: [{equation:"
        " 'mixed[i, z] = mix[z] * output[i, 0]', title: Mix, symbol: Y, meaning: All., why: It"
        " shows.}], result: mixed}"
    ),
    (
        "{Q: [[1]], K: [[1]], V: [[1]], arrays: {'W_G[c, z]': {random: [1, 2]}}, equations:"
        " ['gated[i, z] = sum(c, output[i, c] * W_G[c, z])'], result: gated}"
    ),
]
BAD: list[dict[str, Any]] = [
    {"Tokens": ["a"]},
    {"W_O": [1]},
    {"b_O": [[1]]},
    {"d_output": [[1], 2]},
    {"X": [[True]]},
    {"X": [["x"]]},
    {"X": [1]},
    {"X": [[]]},
    {"X": [["1"]]},
    {"X": [[[[1]]]]},
    {"X": {"file": "a.npy", "nam": "x"}},
    {"X": {"random": [0, 1]}},
    {"heads": 0},
    {"heads": "two"},
    {"kv_heads": 1.5},
    {"past": {}},
    {"past": {"K": [[1]]}},
    {"past": {"K": [[1]], "V": [1]}},
    {"past": [[1]]},
    {"past": {"K": [[1]], "V": [[1]], "Q": [[1]]}},
    {"position": {}},
    {"position": "rope"},
    {"position": {"rop": True}},
    {"position": {"rope": {"theta": 0}}},
    {"position": {"rope": {"pairing": "halves"}}},
    {"position": {"rope": 10000}},
    {"position": {"rope": {"rope_type": "linear"}}},
    {"position": {"rope": {"rope_type": "round", "factor": 2}}},
    {"position": {"rope": {"factor": 2}}},
    {"position": {"rope": {"rope_scaling": {"type": "linear", "factor": 0}}}},
    {"position": {"rope": {"partial_rotary_factor": 2}}},
    {"position": {"rope": {"positions": 3}}},
    {"position": {"rope": {"positions": {"queries": [1]}}}},
    {"position": {"alibi": {}}},
    {"position": {"alibi": {"slopes": 1}}},
    {"position": {"alibi": {"slopes": []}}},
    {"sink": "one"},
    {"sink": []},
    {"sink": [[1]]},
    {"sink": True},
    {"sink": None},
    {"X": {"file": "a.npy", "part": "Q"}},
    {"X": {"file": "a.npy", "layout": "heads"}},
    {"X": {"file": "a.npy", "transpose": 1}},
    {"X": {"file": "a.npy", "index": -1}},
    {"score": "cosine"},
    {"softcap": 0},
    {"exp_base": 1},
    {"mask": "causl"},
    {"mask": {}},
    {"mask": {"corner": "left"}},
    {"mask": {"corner": "top-left"}},
    {"mask": {"corner": "top-left", "lengths": 1}},
    {"mask": [[1, 0], [0, 1]]},
    {"mask": [[[1, 0], [0, 1]]]},
    {"mask": ["causal", [[1]]]},
    {"mask": [[0.0]]},
    {"Q": [[[[[1]]]]]},
    {"mask": [[[[[0.5]]]]]},
    {"mask": [[[1]], [[0]]]},
    {"mask": {"lengths": []}},
    {"mask": {"padding": [[[1]]]}},
    {"mask": {"keep": [[[[[1]]]]]}},
    {"mask": {"window": [1]}},
    {"mask": {"keep": [[2]]}},
    {"mask": [[True, 0.5]]},
    {"tokens": "ab"},
    {"tokens": [""]},
    {"X": {"random": [1, 1], "decimals": -1}},
    {"X": {"random": [1, 1], "integers": 1}},
    {"arrays": [1]},
    {"arrays": {"gain[1]": [1]}},
    {"arrays": {"gain[K]": [1]}},
    {"arrays": {"gain[k]": "one"}},
    {"equations": "Q[i, k] = 2"},
    {"equations": ["2 * Q"]},
    {"equations": [{"title": "Gate"}]},
    {"equations": [{"equation": "gate = 1", "titel": "Gate"}]},
    {"equations": [{"equation": "gate = 1", "meaning": 3}]},
    {"result": 3},
    {"result": "gated[i]"},
]


def value_of(leaf: Leaf) -> Any:
    """What an editor's YAML 1.2 reader makes of it."""
    if leaf.quoted:
        return leaf.text
    if is_null(leaf):
        return None
    if (value := truth(leaf)) is not None:
        return value
    if leaf.text in MINUS_INFINITY:
        return float("-inf")
    if is_plain(leaf.text):
        number = float(leaf.text)
        return int(number) if number.is_integer() else number
    return leaf.text


def words_in(schema: Any) -> Iterator[tuple[str, ...]]:
    """Every list of words that the schema allows somewhere, in order."""
    if isinstance(schema, dict):
        for key, inner in schema.items():
            if key == "enum" and all(isinstance(word, str) for word in inner):
                yield tuple(inner)
            else:
                yield from words_in(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from words_in(inner)


def keys_in(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key that the schema allows somewhere, by its path in the schema, with what it says."""
    if isinstance(schema, list):
        schema = {str(number): inner for number, inner in enumerate(schema)}
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("properties"), dict):
        yield from ((f"{path}/{name}", key) for name, key in schema["properties"].items())
    for name, inner in schema.items():
        yield from keys_in(inner, f"{path}/{name}")


def test_it_is_a_draft_07_schema() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"


def references_in(schema: Any) -> Iterator[str]:
    """The name of every definition that the schema refers to, once for each use."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(DEFINITIONS)
        for inner in schema.values():
            yield from references_in(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from references_in(inner)


def test_every_definition_is_used_and_every_reference_is_defined() -> None:
    assert set(references_in(SCHEMA)) == set(SCHEMA["definitions"])


def described_references(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of the schema that has a reference and something beside it."""
    if isinstance(schema, dict):
        if "$ref" in schema and len(schema) > 1:
            yield schema
        for inner in schema.values():
            yield from described_references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from described_references(inner)


def test_nothing_stands_beside_a_reference_where_draft_07_ignores_it() -> None:
    assert list(described_references(SCHEMA)) == []


def test_it_says_the_same_with_its_definitions_written_out() -> None:
    written_out = jsonschema.Draft7Validator(EXPANDED)
    assert "$ref" not in json.dumps(EXPANDED)
    assert [problem for problem in BAD if written_out.is_valid(problem)] == []


def test_it_knows_the_reader_s_keys_and_describes_each() -> None:
    properties = SCHEMA["properties"]
    assert list(properties) == list(KEYS)
    assert all(property["description"].endswith((".", "…")) for property in properties.values())


def test_every_key_is_explained_at_its_place() -> None:
    """An editor shows the description of a key, and not that of one of the forms of its value."""
    assert [path for path, key in keys_in(SCHEMA) if not key.get("description")] == []


def test_it_knows_the_reader_s_words_and_no_others() -> None:
    known = (
        CORNERS,
        LAYOUTS,
        mask_words(),
        PAIRINGS,
        SINE_LAYOUTS,
        PARTS,
        SCALE_WORDS,
        (*ROPE_TYPES, "mrope"),
        tuple(SCORES),
        MINUS_INFINITY,
    )
    assert set(words_in(EXPANDED)) == {tuple(words) for words in known}
    losses = [kind["properties"] for kind in EXPANDED["properties"]["loss"]["anyOf"]]
    assert [loss["kind"]["const"] for loss in losses] == list(LOSSES)
    assert [list(loss) for loss in losses] == [["kind", kind.target] for kind in LOSSES.values()]
    assert list(EXPANDED["properties"]["position"]["anyOf"][1]["properties"]) == [
        "rope",
        "alibi",
        "sinusoidal",
    ]


def test_it_knows_every_form_of_a_mask() -> None:
    described = EXPANDED["properties"]["mask"]["anyOf"][3]["properties"]
    assert set(described) == {"corner", *forms()}
    dependent = EXPANDED["properties"]["mask"]["anyOf"][3]["dependencies"]["corner"]["anyOf"]
    with_a_corner = [name for name, form in forms().items() if form.has_corner]
    assert dependent == [{"required": [name]} for name in with_a_corner]
    said = described["corner"]["description"]
    assert said.startswith(f"Where {listed(with_a_corner)} begin: ")


@in_one_test("text", GOOD)
def test_good_problems_validate(plain: Any, text: str) -> None:
    loads(text.encode(), "p.yaml")
    VALIDATOR.validate(plain(read_tree(Source("p.yaml", text))[1], value_of))


@in_one_test(
    "path",
    sorted([*INPUTS.iterdir(), *(INPUTS / "equations").iterdir()]),
    ids=lambda path: path.name,
)
def test_inputs_validate(plain: Any, path: Path) -> None:
    if path.suffix in (".yaml", ".json"):
        VALIDATOR.validate(plain(read_tree(Source(path.name, path.read_text()))[1], value_of))


@in_one_test("problem", BAD, ids=str)
def test_bad_problems_do_not(problem: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(problem)


@pytest.mark.parametrize(
    "written", ["[1 2; 3 4]", "[1, 2; 3, 4]", "[sqrt(2) 0; 0 1]", "'1 2; 3 4'", "|\n  1 2\n  3 4"]
)
def test_a_matrix_pasted_into_yaml_without_quotes_is_allowed(written: str) -> None:
    """As YAML has it: a list with texts in it, which are not rows of numbers."""
    text = f"Q: {written}\nK: [[1, 0], [0, 1]]\nV: [[1, 0], [0, 1]]\n"
    assert loads(text.encode(), "problem.yaml").given["Q"].shape == (2, 2)
    assert VALIDATOR.is_valid(yaml.safe_load(text))


def test_a_list_of_words_is_no_pasted_matrix() -> None:
    assert not VALIDATOR.is_valid({"Q": ["one two; three four"], "K": [[1, 0]], "V": [[1]]})
    assert not VALIDATOR.is_valid({"Q": [1, 2], "K": [[1, 0]], "V": [[1]]})
