"""ONNX's Attention operator in double precision, by the reference evaluator of the onnx package."""

from __future__ import annotations

from typing import Any

import numpy as np

INPUTS = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")


def onnx_attention(opset: int, **choices: Any) -> tuple[np.ndarray, ...]:
    """The output and the scores or weights asked for, of these arrays and attributes."""
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    arrays = {name: choices.pop(name) for name in INPUTS if name in choices}
    names = [name if name in arrays else "" for name in INPUTS]
    while not names[-1]:
        names.pop()
    outputs = ["Y", "present_key", "present_value", "qk"]
    node = helper.make_node("Attention", names, outputs, **choices)
    inputs = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, None) for name in arrays]
    found = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, None) for name in ("Y", "qk")]
    graph = helper.make_graph([node], "attention", inputs, found)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return tuple(ReferenceEvaluator(model).run(None, arrays))
