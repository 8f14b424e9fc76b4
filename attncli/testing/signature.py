"""What a function is called with: its parameters are known by their names, and so are the settings
that they stand for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from attncli.testing.case import Array, Case, PerHead

# The names of the parameters for each setting. The first that a function has is used.
NAMES: Mapping[str, tuple[str, ...]] = {
    "mask": ("mask", "attn_mask", "attention_mask", "bias", "attn_bias"),
    "bias": ("bias", "attn_bias"),
    "causal": ("is_causal", "causal"),
    "scale": ("scale", "sm_scale", "softmax_scale", "scaling"),
    "window": ("window", "window_size", "sliding_window", "local_window_size"),
    "softcap": ("softcap", "logits_soft_cap", "attn_logits_soft_cap", "logit_cap"),
    "sink": ("sinks", "sink", "s_aux"),
    "grouped": ("enable_gqa",),
    "alibi": ("alibi", "use_alibi", "alibi_slopes", "slopes"),
    "rope": ("rope", "use_rope", "theta", "rope_theta", "rope_base"),
    "rope_parameters": ("rope_parameters", "rope_scaling", "rope_config"),
    "offset": ("offset", "start_pos", "position_offset", "past_length"),
    "lengths": ("lengths", "seq_lens", "key_value_seq_lengths"),
}
# Of keys that are padding, true hides. It is asked where there is no mask for queries and keys.
PADDING = "key_padding_mask"
# A function that has no such parameter is asked all the same.
MAY_BE_UNSAID = ("grouped",)
# What has to be given, and is no setting: dropout is off, and nothing is trained.
OTHERS: Mapping[str, Any] = {
    "dropout": None,
    "dropout_p": 0.0,
    "dropout_rate": 0.0,
    "attn_dropout": None,
    "training": False,
    "is_training": False,
    "deterministic": True,
}
# Sizes that some functions want to be told, of a case with its heads first.
SIZES: Mapping[str, Callable[[Case], int]] = {
    "d_k": lambda case: case.keys.shape[-1],
    "dk": lambda case: case.keys.shape[-1],
    "d_head": lambda case: case.keys.shape[-1],
    "head_dim": lambda case: case.keys.shape[-1],
    "d_v": lambda case: case.values.shape[-1],
    "num_heads": lambda case: case.heads,
    "n_heads": lambda case: case.heads,
}
QKV = ("q", "k", "v")
# What the gradient of the output is called in expressions, and in messages.
UPSTREAM = "dO"
# What an expression of a call may name besides.
SETTINGS_OF_EXPRESSIONS = (
    "mask",
    "bias",
    "causal",
    "scale",
    "window",
    "softcap",
    "sink",
    "slopes",
    "theta",
    "rope_parameters",
    "offset",
)


class Parameter(NamedTuple):
    """A parameter of a function, as `child.parameters_of` tells of it."""

    name: str
    required: bool
    default: str
    annotation: str
    positional: bool

    @property
    def takes_pair(self) -> bool:
        """Whether it is a tuple, as the two sides of a window are."""
        return self.default == "tuple" or "uple" in self.annotation


class Arguments(NamedTuple):
    """What is handed over: the arrays and other values by name, and which of them goes where.

    `positional` are those that come without a name, `named` those with the names of parameters.
    """

    values: Mapping[str, Any]
    positional: tuple[str, ...]
    named: Mapping[str, str]


def parameters(described: Sequence[Mapping[str, Any]] | None) -> tuple[Parameter, ...] | None:
    """The parameters of a function; None where Python does not know them."""
    if described is None:
        return None
    return tuple(Parameter(**each) for each in described)


def call_of(
    case: Case,
    known: Iterable[Parameter] | None,
    heads_first: Case | None = None,
    arrays: tuple[str, ...] = QKV,
) -> Arguments | None:
    """How a function with these parameters is called for a case; None where it cannot be asked.

    The first parameters are the `arrays`: queries, keys and values. `heads_first` is the same case
    before its axes were put in the order of the function, if they were.
    """
    given = dict(zip(QKV, (case.queries, case.keys, case.values), strict=True))
    values: dict[str, Any] = {name: given[name] for name in arrays}
    others = {each.name: each for each in list(known or ())[len(arrays) :]}
    named: dict[str, str] = {}
    for role, setting in case.asks.items():
        parameter = _parameter_for(role, setting, others)
        if parameter is None and role in MAY_BE_UNSAID:
            continue
        # Before it was turned to what is meant by true.
        shown = (heads_first or case).asks[role]
        if parameter is None and PADDING in others and is_padding(role, shown):
            values[PADDING] = hidden_keys(shown)
            named[PADDING] = PADDING
            continue
        if parameter is None:
            return None
        values[role] = _handed_over(role, setting, parameter)
        named[parameter.name] = role
    if "window" in case.asks and (causal := _parameter_for("causal", True, others)):
        # What a window is of is mostly the past.
        values["causal"] = True
        named[causal.name] = "causal"
    for parameter in others.values():
        if parameter.name not in named and _has_to_be_given(parameter):
            values[parameter.name] = _not_asked(parameter, heads_first or case)
            named[parameter.name] = parameter.name
    return Arguments(values, arrays, named)


def call_by_expression(
    case: Case, expression: str, heads_first: Case | None = None
) -> Arguments | None:
    """How a function is called by an expression; None where the expression names no setting that
    the case asks for.

    It may name q, k and v, and every setting, which is None where it is not asked.
    """
    named = names_in(expression)
    values: dict[str, Any] = dict.fromkeys(SETTINGS_OF_EXPRESSIONS)
    values.update(zip(QKV, (case.queries, case.keys, case.values), strict=True))
    values["causal"] = False
    if _works_with(expression, "mask"):
        # None cannot be turned round. A mask that hides nothing asks for the same.
        values["mask"] = _hiding_nothing(heads_first or case)
    for role, setting in case.asks.items():
        if role in MAY_BE_UNSAID:
            continue
        name = _name_in_expressions(role, setting)
        if name not in named:
            return None
        values[name] = setting.numbers if isinstance(setting, PerHead) else setting
    if case.upstream is not None:
        values[UPSTREAM] = case.upstream
    used = {name: value for name, value in values.items() if name in named}
    return Arguments(used, (), {})


def is_known(name: str) -> bool:
    """Whether a parameter of this name stands for a setting, or for what is no setting."""
    settings = {each for names in NAMES.values() for each in names}
    return name in settings or name in OTHERS or name in SIZES or name == PADDING


def names_in(expression: str) -> set[str]:
    """The names in an expression of Python; raises SyntaxError for what is none."""
    tree = ast.parse(expression.strip(), mode="eval")
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _works_with(expression: str, name: str) -> bool:
    """Whether an expression works with what is so called, as in ~mask and mask[0], and does not
    ask first whether it is None.
    """
    tree = ast.parse(expression.strip(), mode="eval")
    found = False
    for node in ast.walk(tree):
        parts = list(ast.iter_child_nodes(node))
        is_part = any(isinstance(each, ast.Name) and each.id == name for each in parts)
        if is_part and isinstance(node, ast.Compare):
            return False
        if is_part and isinstance(node, ast.UnaryOp | ast.BinOp | ast.Attribute | ast.Subscript):
            found = True
    return found


def _name_in_expressions(role: str, setting: Any) -> str:
    if role == "mask" and setting.dtype != np.bool_:
        return "bias"
    return {"alibi": "slopes", "rope": "theta"}.get(role, role)


def _parameter_for(role: str, setting: Any, known: Mapping[str, Parameter]) -> Parameter | None:
    names = NAMES[role]
    # Where there are two, numbers are a bias and truth values a mask.
    if role == "mask" and isinstance(setting, np.ndarray) and setting.dtype != np.bool_:
        names = (*NAMES["bias"], *names)
    return next((known[name] for name in names if name in known), None)


def _handed_over(role: str, setting: Any, parameter: Parameter) -> Any:
    """A setting as this parameter has it."""
    if role == "alibi" and not parameter.name.endswith("slopes"):
        return True
    if isinstance(setting, PerHead):
        return setting.numbers
    if role == "window" and parameter.takes_pair:
        return (setting, 0)
    if role == "rope" and parameter.name in ("rope", "use_rope"):
        return True
    is_bias = parameter.name in NAMES["bias"]
    if role == "mask" and is_bias and setting.dtype == np.bool_:
        return added(setting)
    return setting


def is_padding(role: str, setting: Any) -> bool:
    """Whether a mask hides the same keys from all queries of an entry."""
    if role != "mask" or setting.dtype != np.bool_:
        return False
    return setting.ndim > 2 and bool((setting == setting[..., :1, :]).all())


def hidden_keys(keep: Array) -> Array:
    """The keys that are hidden from all queries: entries × keys, as PyTorch means it."""
    return ~keep.reshape(len(keep), -1, keep.shape[-1])[:, 0]


def added(keep: Array) -> Array:
    """Truth values as numbers that are added: 0 where a key is seen, else -inf."""
    return np.where(keep, 0.0, -np.inf)


def _has_to_be_given(parameter: Parameter) -> bool:
    """Whether a call without this parameter fails, or asks for more than is meant: dropout, or a
    causal mask that is there without being asked for.
    """
    is_switch = parameter.name in OTHERS or parameter.name in NAMES["causal"]
    return parameter.required or is_switch


def _hiding_nothing(case: Case) -> Array:
    """A mask in which every query of a case sees every key."""
    return np.ones((case.queries.shape[-2], case.keys.shape[-2]), bool)


def _not_asked(parameter: Parameter, case: Case) -> Any:
    """The value of a parameter that has to be given, where its setting is not asked."""
    name = parameter.name
    if name in NAMES["mask"] and parameter.required:
        return _hiding_nothing(case)
    if name in OTHERS and parameter.default in ("float", "int"):
        return 0.0
    if name in OTHERS:
        return OTHERS[name]
    if name in SIZES:
        return SIZES[name](case)
    if name in NAMES["scale"]:
        return 1 / sqrt(case.keys.shape[-1])
    if name in NAMES["causal"]:
        return False
    return None
