"""What turned queries and keys after their linear layers: RoPE, by what the model's config says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attncli.errors import AttncliError
from attncli.problem.keys import PAIRINGS
from attncli.problem.python_values import problem as new_problem
from attncli.torch.tensors import to_numpy
from attncli.tracing.run import run

_ROTATED = ("Q_rot", "K_rot")
# Where versions of Transformers have it: in one mapping, or in several keys.
_PARAMETERS = "rope_parameters"
_OLDER = ("rope_theta", "rope_scaling", "partial_rotary_factor")
_LENGTHS = ("max_position_embeddings", "original_max_position_embeddings")


def rope_of(module: nn.Module | None) -> Mapping[str, Any] | None:
    """What the config of a module says of its RoPE, as a problem has it; None where it says
    nothing.
    """
    config = getattr(module, "config", None)
    if config is None:
        return None
    found: dict[str, Any] = {}
    parameters = getattr(config, _PARAMETERS, None)
    if parameters:
        found[_PARAMETERS] = _plain(parameters)
    else:
        found |= {key: _plain(getattr(config, key, None)) for key in _OLDER}
        if found["rope_theta"] is None:
            return None
    found |= {key: _plain(getattr(config, key, None)) for key in _LENGTHS}
    found["layer"] = _kind_of_layer(module, config, parameters)
    return {key: value for key, value in found.items() if value is not None}


def _plain(value: Any) -> Any:
    """A value of a config with plain mappings and lists inside."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value


def _kind_of_layer(module: nn.Module | None, config: Any, parameters: Any) -> str | None:
    """The word for the layer of this module, where each kind of layer has a RoPE of its own."""
    if not parameters or not any(isinstance(each, Mapping) for each in parameters.values()):
        return None
    kinds = getattr(config, "layer_types", None)
    number = getattr(module, "layer_idx", None)
    if kinds is None or number is None:
        return None
    return str(kinds[number])


def position_of(
    keys: Mapping[str, Any], rope: Mapping[str, Any], query: Tensor, key: Tensor
) -> Mapping[str, Any] | None:
    """The position of a problem whose rotated queries and keys are these; None where no pairing
    gives them.

    `keys` are those of a problem without it, of all heads. It is attncli's own work that is held
    against the tensors.
    """
    for pairing in PAIRINGS:
        position = {"rope": {**rope, "pairing": pairing}}
        if _gives({**keys, "position": position}, query, key):
            return position
    return None


def _gives(keys: Mapping[str, Any], *recorded: Tensor) -> bool:
    try:
        trace = run(new_problem(**keys), keep=_ROTATED)
    except AttncliError:
        # A config may have what no problem says.
        return False
    for name, tensor in zip(_ROTATED, recorded, strict=True):
        ours = np.asarray(trace[name])
        theirs = to_numpy(tensor).reshape(ours.shape)
        if np.abs(ours - theirs).max() > _tolerance(tensor):
            return False
    return True


def _tolerance(tensor: Tensor) -> float:
    """How far a rotated vector may be off: by what its format rounds, and by what float32 rounds
    of an angle, which grows with the position.
    """
    in_float32 = torch.finfo(torch.float32).eps
    rounding = max(4 * torch.finfo(tensor.dtype).eps, 64 * in_float32)
    angle = 4 * in_float32 * tensor.shape[-2]
    return (rounding + angle) * float(tensor.abs().max())
