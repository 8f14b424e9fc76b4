"""Reads what a problem says about RoPE: by the names of a model's config.json, pasted as it is or
key by key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncli.english import listed
from attncli.errors import did_you_mean
from attncli.problem.arrays.matrix_reader import read_matrix
from attncli.problem.keys import PAIRINGS
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.positions.rope_types import ROPE_TYPES
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, describe, is_null
from attncli.problem.text.values import Value, read_scalar, read_truth, read_word, require_keys

DEFAULT_THETA = Scalar(10000, "10000")
# What a number may be, and an example of it.
_EXAMPLES = {
    "theta": "10000",
    "rope_theta": "10000",
    "partial_rotary_factor": "0.5",
    "factor": "8",
    "low_freq_factor": "1",
    "high_freq_factor": "4",
    "original_max_position_embeddings": "8192",
    "max_position_embeddings": "131072",
    "attention_factor": "1",
    "beta_fast": "32",
    "beta_slow": "1",
    "mscale": "1",
    "mscale_all_dim": "1",
}
_VECTORS = ("short_factor", "long_factor")
_TRUTHS = ("truncate", "mrope_interleaved")
# Some models have a 0 here, which counts as nothing.
_MAY_BE_0 = ("mscale", "mscale_all_dim")
_ORIGINAL = "original_max_position_embeddings"
_MOST = "max_position_embeddings"
# The ends of a ramp, the lower one first, and what models have.
_BOUNDS = (
    ("low_freq_factor", "high_freq_factor", "Llama 3 has low_freq_factor: 1, high_freq_factor: 4"),
    ("beta_slow", "beta_fast", "models have beta_slow: 1 and beta_fast: 32"),
)
# A config.json has these for every type, whether it is read or not.
_OF_ALL = (
    "theta",
    "rope_theta",
    "partial_rotary_factor",
    "original_max_position_embeddings",
    "max_position_embeddings",
    "mrope_section",
    "mrope_interleaved",
)
_WORDS = ("pairing", "rope_type", "type")
# A config.json has its keys in one of these, older ones in the second.
_PASTED = ("rope_parameters", "rope_scaling")
_KEYS = (
    "theta",
    "pairing",
    "rope_type",
    *(key for key in _EXAMPLES if key != "theta"),
    *_TRUTHS,
    *_VECTORS,
    "mrope_section",
)
_PASTED_KEYS = (*_KEYS, "type")
# What is printed by Python has it.
_NONE = "None"
# Older files of Gemma 3 have another base here, for layers with a window.
_LOCAL = "rope_local_base_freq"
_LOCAL_LAYER, _GLOBAL_LAYER = "sliding_attention", "full_attention"
_ALL_KEYS = (*_KEYS, "positions", *_PASTED, "layer", _LOCAL)
# Qwen2-VL calls the default so where it has sections.
_OF_SECTIONS = "mrope"
_SECTIONS_HELP = "write how many pairs turn by time, height and width, such as [16, 24, 24]"
_POSITIONS = ("queries", "keys")
_POSITIONS_HELP = "write {queries: [2, 3], keys: [0, 1, 2, 3]}, or [0, 1, 2, 3] for both"


# What older files call a key, or where they have it.
_OTHER_NAMES = {
    "rotary_pct": "write partial_rotary_factor, with the same number",
    "rotary_emb_base": "write rope_theta, with the same number",
    "rotary_base": "write rope_theta, with the same number",
    "rotary_ndims": "write partial_rotary_factor: this number divided by the length of a head",
    "rotary_dim": "write partial_rotary_factor: this number divided by the length of a head",
    "local_rope_theta": "for a layer with a window, write rope_theta with this number",
    "global_rope_theta": "for a layer without a window, write rope_theta with this number",
}
# A config.json has these beside what it says of RoPE.
_OF_A_WHOLE_CONFIG = (
    "architectures",
    "model_type",
    "hidden_size",
    "num_attention_heads",
    "num_hidden_layers",
    "num_key_value_heads",
    "vocab_size",
    "head_dim",
    "torch_dtype",
)
# Types by the names of older files.
_RENAMED_TYPES = {"su": "longrope"}


class _NoRope(Exception):
    """The layer that is asked for has no RoPE."""


def read_settings(value: Value) -> dict[str, Any] | None:
    """The fields of `Rope` by their names; None where a layer has none, or after reporting what is
    wrong.
    """
    before = value.errors.count
    if _report_commas(value):
        return None
    require_keys(value, _ALL_KEYS, _meant)
    try:
        found = _by_name(value)
    except _NoRope:
        return None
    rope_type = _type(found)
    pairing: str | None = PAIRINGS[0]
    if "pairing" in found:
        pairing = read_word(found["pairing"], PAIRINGS)
    _one_theta(found)
    settings = _values(found)
    positions = None
    if "positions" in value.keys:
        positions = _positions(value.key("positions"))
    if value.errors.count > before or rope_type is None:
        return None
    _infer(rope_type, settings)
    _check_keys(value, rope_type, found, settings)
    _check_order(value, rope_type, found, settings)
    _check_sections(found)
    if value.errors.count > before:
        return None
    theta = settings.get("theta") or settings.get("rope_theta") or DEFAULT_THETA
    kind = ROPE_TYPES[rope_type]
    of_all = ("partial_rotary_factor", "mrope_section", "mrope_interleaved")
    wanted = (*of_all, *kind.keys, *kind.may_have)
    fields = {key: settings[key] for key in wanted if settings.get(key) is not None}
    if positions is not None:
        fields["positions"] = positions
    return {"theta": theta, "pairing": pairing, "rope_type": rope_type, **fields}


def _sections(value: Value) -> tuple[int, ...] | None:
    """How many pairs turn by the time, the height and the width of a token."""
    numbers = read_matrix(value, rank=1)
    if numbers is None:
        return None
    cells = numbers.rows()[0]
    if len(cells) != 3 or any(cell < 1 or cell != cell // 1 for cell in cells):
        value.wrong("must be three whole numbers above 0", _SECTIONS_HELP)
        return None
    return tuple(int(cell) for cell in cells)


def _positions(value: Value) -> dict[str, Matrix] | None:
    """Where queries and keys stand: two lists, or one for both; of several entries or of time,
    height and width, lists of these.
    """
    if isinstance(value.node, ListNode):
        both = read_matrix(value, rank=1, deepest=3)
        return None if both is None else dict.fromkeys(_POSITIONS, both)
    if not isinstance(value.node, MappingNode):
        value.wrong(
            f"must be positions of queries and keys, not {describe(value.node)}", _POSITIONS_HELP
        )
        return None
    require_keys(value, _POSITIONS)
    found = {}
    for word in _POSITIONS:
        if word not in value.keys:
            value.wrong(f"has no {word}", _POSITIONS_HELP)
            continue
        matrix = read_matrix(value.key(word), rank=1, deepest=3)
        if matrix is not None:
            found[word] = matrix
    return found


def _values(found: Mapping[str, Value]) -> dict[str, Any]:
    """Each setting that is a number, a list of numbers or a truth, by its name."""
    settings: dict[str, Any] = {}
    for key, value in found.items():
        if key in _EXAMPLES:
            settings[key] = _number(value)
        elif key in _VECTORS:
            settings[key] = _divisors(value)
        elif key in _TRUTHS:
            settings[key] = read_truth(value)
        elif key == "mrope_section":
            settings[key] = _sections(value)
    return settings


def _divisors(value: Value) -> Matrix | None:
    """The numbers that frequencies are divided by; None after reporting that one is 0."""
    divisors = read_matrix(value, rank=1)
    if divisors is not None and not divisors.value.all():
        value.wrong("has a 0, and a frequency is divided by it", "write a number such as 1")
        return None
    return divisors


def _infer(rope_type: str, settings: dict[str, Any]) -> None:
    """What follows from other settings, as Transformers has it: the length of training is that of
    the model, and a factor the quotient of the two.
    """
    kind = ROPE_TYPES[rope_type]
    most = settings.get(_MOST)
    if most is None:
        return
    if _ORIGINAL in kind.keys:
        settings.setdefault(_ORIGINAL, most)
    if kind.attention_factor and _ORIGINAL in settings:
        quotient = most.value / settings[_ORIGINAL].value
        settings.setdefault("factor", Scalar.of(quotient))


def _by_name(value: Value) -> dict[str, Value]:
    """Every setting by its name, those inside of what was pasted, too.

    Raises _NoRope where the chosen layer has none.
    """
    given = {key: value.key(key) for key in value.keys}
    # A config.json has null for what a model does not have.
    written = [given[key] for key in _PASTED if key in given and not is_null(given[key].node)]
    if len(written) > 1:
        written[1].wrong("both rope_parameters and rope_scaling are given", "keep one of the two")
    found = {key: each for key, each in given.items() if key in _KEYS and not _is_left_out(each)}
    layer = given.get("layer")
    if _LOCAL in given and _is_local(value, layer, given[_LOCAL]):
        # The scaling is that of the other layers.
        return {**found, "rope_theta": given[_LOCAL]}
    if _LOCAL in given:
        layer = None
    for each in written[:1]:
        inner = _of_layer(each, layer)
        require_keys(inner, _PASTED_KEYS, _meant)
        for key in inner.keys:
            if key in _PASTED_KEYS and not is_null(inner.key(key).node):
                _take(found, key, inner.key(key))
    if layer is not None and not written:
        layer.wrong("there are no rope_parameters of several layers", "leave layer out")
    return found


def _is_left_out(value: Value) -> bool:
    """Whether a config.json says nothing here, as in attention_factor: null."""
    return is_null(value.node) and value.name not in ("theta", "pairing")


def _is_local(value: Value, layer: Value | None, base: Value) -> bool:
    """Whether the layer that is asked for has a window, and so the base that older files of Gemma 3
    have for these.
    """
    if layer is None:
        base.wrong(
            f"is the base of layers with a window, and {value.name} has no layer beside it",
            f"write layer: {_LOCAL_LAYER}, or layer: {_GLOBAL_LAYER} for one without",
        )
        return False
    return read_word(layer, (_LOCAL_LAYER, _GLOBAL_LAYER)) == _LOCAL_LAYER


def _report_commas(value: Value) -> bool:
    """Report lines of JSON with their commas, which YAML takes for a part of the text."""
    before = value.errors.count
    for key in value.keys:
        given = value.key(key)
        if isinstance(given.node, Leaf) and given.text.endswith(",") and not given.node.quoted:
            written = given.text.removesuffix(",")
            given.wrong(
                "ends with a comma, which is a part of the text here",
                f"write {key}: {written}; or all that is pasted between {{ and }}, as JSON has it",
            )
        elif isinstance(given.node, MappingNode):
            _report_commas(given)
    return value.errors.count > before


def _meant(key: str, value: Value) -> str:
    """Help with a key that files of models have; empty where it is none of these."""
    if key in _OF_A_WHOLE_CONFIG:
        return "paste only what is about RoPE: rope_parameters, or rope_theta and rope_scaling"
    return _OTHER_NAMES.get(key, "")


def _take(found: dict[str, Value], key: str, value: Value) -> None:
    """One more setting, which may stand beside what was pasted, too, if it is the same there."""
    other = found.setdefault(key, value)
    if other is value:
        return
    texts = [each.text if isinstance(each.node, Leaf) else "" for each in (other, value)]
    if texts[0] != texts[1]:
        value.wrong(
            f"is {describe(value.node)} here and {describe(other.node)} beside it",
            "keep one of the two",
        )


def _of_layer(value: Value, layer: Value | None) -> Value:
    """The settings of the layer that is asked for; what was pasted itself where all layers share
    it.

    Raises _NoRope where the layer has none.
    """
    if not isinstance(value.node, MappingNode):
        value.wrong(
            f"must be a mapping, not {describe(value.node)}",
            "write what config.json has, such as {rope_type: linear, factor: 8}",
        )
        return value
    inner = value.node.values
    is_nested = any(isinstance(node, MappingNode) for node in inner.values())
    if not is_nested:
        if layer is not None:
            layer.wrong(f"{value.name} has no kinds of layers", "leave layer out")
        return value
    kinds = listed([*inner], last="and")
    if layer is None:
        value.wrong(
            f"has a RoPE for each kind of layer: {kinds}",
            f"write layer: {next(iter(inner))} beside it",
        )
        raise _NoRope
    word = layer.node.text if isinstance(layer.node, Leaf) else ""
    if word not in inner:
        help = did_you_mean(word, [*inner], f"choose one of {', '.join(inner)}")
        layer.wrong(f"must be one of {', '.join(inner)}, not {describe(layer.node)}", help)
        raise _NoRope
    chosen = value.key(word)
    if is_null(chosen.node):
        raise _NoRope
    return chosen


def _number(value: Value) -> Scalar | None:
    """A number above 0, a share of at most 1."""
    help = f"write a number such as {_EXAMPLES.get(value.name, _EXAMPLES['theta'])}"
    if isinstance(value.node, Leaf) and value.text == _NONE:
        value.wrong("None is what Python has for nothing", "leave it out, or write null")
        return None
    number = read_scalar(value, help=help)
    if number is None:
        return None
    if number.value == 0 and value.name in _MAY_BE_0:
        return number
    if number.value <= 0:
        value.wrong(f"must be greater than 0, not {number.written}", help)
        return None
    if value.name == "partial_rotary_factor" and number.value > 1:
        value.wrong(f"must be at most 1, not {number.written}", help)
        return None
    return number


def _type(found: Mapping[str, Value]) -> str | None:
    """The kind of RoPE; None after reporting another word."""
    words = [found[key] for key in ("rope_type", "type") if key in found]
    read = [_type_of(word, found) for word in words]
    if not read:
        return "default"
    if len({*read}) > 1 and None not in read:
        words[1].wrong(f"is {read[1]}, and rope_type is {read[0]}", "keep one of the two")
    return read[0]


def _type_of(word: Value, found: Mapping[str, Value]) -> str | None:
    """The type of this word; mrope is the default, where there are sections."""
    is_of_sections = isinstance(word.node, Leaf) and word.node.text == _OF_SECTIONS
    if is_of_sections and "mrope_section" in found:
        return "default"
    if is_of_sections:
        word.wrong("rope_type: mrope needs mrope_section", _SECTIONS_HELP)
        return None
    written = word.node.text if isinstance(word.node, Leaf) else ""
    if written in _RENAMED_TYPES:
        now = _RENAMED_TYPES[written]
        word.wrong(f"{written} is an older name", f"write {word.name}: {now}")
        return None
    return read_word(word, tuple(ROPE_TYPES))


def _check_sections(found: Mapping[str, Value]) -> None:
    """Report an order of sections where there are none."""
    if "mrope_interleaved" in found and "mrope_section" not in found:
        found["mrope_interleaved"].wrong("there is no mrope_section", _SECTIONS_HELP)


def _one_theta(found: Mapping[str, Value]) -> None:
    if "theta" in found and "rope_theta" in found:
        found["theta"].wrong("both theta and rope_theta are given", "keep one of the two")


def _check_keys(
    value: Value, rope_type: str, found: Mapping[str, Value], settings: Mapping[str, Any]
) -> None:
    """Report keys that another type has, and those that are missing."""
    kind = ROPE_TYPES[rope_type]
    for key, given in found.items():
        if key in (*_OF_ALL, *_WORDS, *kind.keys, *kind.may_have):
            continue
        others = [
            other.name for other in ROPE_TYPES.values() if key in (*other.keys, *other.may_have)
        ]
        given.wrong(
            f"is read with rope_type: {listed(others, last='or')}, and this is {rope_type}",
            f"leave it out, or write rope_type: {others[0]}",
        )
    needed = list(kind.keys)
    if kind.attention_factor and "attention_factor" not in settings:
        needed = [*dict.fromkeys((*needed, "factor"))]
    for key in needed:
        if key not in settings:
            example = _EXAMPLES.get(key, "[1, 2]")
            value.wrong(
                f"has no {key}, which rope_type: {rope_type} needs",
                f"write {key}: {example}, or what config.json of the model has",
            )


def _check_order(
    value: Value, rope_type: str, found: Mapping[str, Value], settings: Mapping[str, Any]
) -> None:
    """Report bounds of a ramp that are exchanged, and a theta that leaves nothing to divide by."""
    for low, high, usual in _BOUNDS:
        if low not in found and high not in found:
            continue
        least = settings.get(low) or Scalar(float(_EXAMPLES[low]), _EXAMPLES[low])
        most = settings.get(high) or Scalar(float(_EXAMPLES[high]), _EXAMPLES[high])
        if least.value >= most.value:
            at = found.get(high) or found[low]
            at.wrong(
                f"{high} must be greater than {low}: they are {most.written} and {least.written}",
                usual,
            )
    theta = settings.get("theta") or settings.get("rope_theta") or DEFAULT_THETA
    original = settings.get(_ORIGINAL)
    factor = settings.get("factor")
    # The attention factor is made of the logarithms of both, where the text is stretched.
    is_made = "attention_factor" not in settings and factor is not None and factor.value > 1
    if rope_type == "longrope" and is_made and original is not None and original.value <= 1:
        at = found.get(_ORIGINAL) or found.get(_MOST) or value
        at.wrong(
            f"{_ORIGINAL} must be greater than 1 with rope_type: longrope, not {original.written}",
            "write how many tokens a text of the training had, such as 4096",
        )
    if rope_type == "yarn" and theta.value <= 1:
        value.wrong(
            f"theta must be greater than 1 with rope_type: yarn, not {theta.written}",
            "write a number such as 10000",
        )
