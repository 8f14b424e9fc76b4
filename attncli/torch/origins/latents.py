"""Multi-head latent attention, as in DeepSeek V2 and V3: the short vectors from which a module
makes queries, keys and values, and the steps from them as equations of a problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn

from attncli.torch.attention import Attention
from attncli.torch.origins.rotations import position_of, rope_of
from attncli.torch.seen import Linear
from attncli.torch.tensors import own, size_of, to_numpy

# The modules in it, by the names that all models have which have them. Queries come from a short
# vector as well, or from the input itself.
DOWN, _NORM, _UP = "kv_a_proj_with_mqa", "kv_a_layernorm", "kv_b_proj"
_QUERY_DOWN, _QUERY_NORM, _QUERY_UP = "q_a_proj", "q_a_layernorm", "q_b_proj"
_QUERY = "q_proj"
_EPSILONS = ("variance_epsilon", "eps")

Equation = dict[str, str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Latents:
    """What a module of latent attention read, and its weights, by the names of the paper.

    `x` is batch × n × d_model. `arrays` are weights with a row for each feature that goes in, those
    of a head with an axis of heads before it, and gains and biases. `rope` is what the config says.
    """

    x: Tensor
    arrays: Mapping[str, Tensor]
    eps: float
    rope: Mapping[str, Any]

    @property
    def bytes(self) -> int:
        """What the input takes in memory; the weights are those of the model."""
        return size_of(self.x)

    def copied(self) -> Latents:
        """The same with an input of its own."""
        return replace(self, x=own(self.x))

    def keys(
        self, given: Attention, head: int | None, entry: int | None, *, absorbed: bool
    ) -> dict[str, Any]:
        """The keys of a problem that begins at X, of these heads and entries.

        Its Q and K are the parts that are rotated. `absorbed` are the equations that make no other
        keys, and no values.
        """
        heads = self.arrays["W_UK"].shape[0]
        several = head is None and heads > 1
        arrays: dict[str, Any] = {}
        for name, letters in self._letters():
            array = to_numpy(self.arrays[name])
            if letters.startswith("h") and not several:
                array = array[head or 0]
                letters = letters.removeprefix("h, ")
            arrays[f"{name}[{letters}]"] = array
        arrays["eps"] = self.eps
        x = self.x if entry is None else self.x[entry]
        found = {
            "X": to_numpy(x),
            "arrays": arrays,
            "equations": list(self._equations("h, " if several else "", absorbed)),
            "position": self._position(given.key),
            "scale": given.usual_scale if given.scale is None else given.scale,
        }
        return found | ({"heads": heads} if several else {})

    def _letters(self) -> Iterator[tuple[str, str]]:
        """Each array with the letters of its axes."""
        known = {
            "W_DQ": "d, p",
            "b_DQ": "p",
            "gain_Q": "p",
            "W_UQ": "h, p, e",
            "W_QR": "h, p, k",
            "W_DKV": "d, r",
            "b_DKV": "r",
            "gain_KV": "r",
            "W_KR": "d, k",
            "b_KR": "k",
            "W_UK": "h, r, e",
            "W_UV": "h, r, c",
        }
        if not self._has_latent_queries:
            known |= {"W_UQ": "h, d, e", "W_QR": "h, d, k"}
        for name, letters in known.items():
            if name in self.arrays:
                yield name, letters

    @property
    def _has_latent_queries(self) -> bool:
        return "W_DQ" in self.arrays

    def _equations(self, h: str, absorbed: bool) -> Iterator[Equation]:
        """All steps up to the scores, and those after them that are not as always; `h` is the
        letter of heads in weights, where there is one.
        """
        yield from self._equations_of_queries(h)
        yield _equation(
            f"kv_down[j, r] = sum(d, X[j, d] * W_DKV[d, r]){self._bias('b_DKV[r]')}",
            "Compressed keys and values",
        )
        yield _equation(
            "c_KV[j, r] = gain_KV[r] * kv_down[j, r] / sqrt(mean(s, kv_down[j, s] ** 2) + eps)",
            "Latent keys and values",
            "Beside the rotated key, all that a cache keeps of a token.",
        )
        yield _equation(
            f"K[j, k] = sum(d, X[j, d] * W_KR[d, k]){self._bias('b_KR[k]')}",
            "Keys of the position",
            "The part of each key that is rotated, the same for all heads.",
        )
        rotated = "sum(k, Q_rot[i, k] * K_rot[j, k])"
        if absorbed:
            yield _equation(
                f"q_A[i, r] = sum(e, q_C[i, e] * W_UK[{h}r, e])",
                "Absorbed queries",
                "The part of each query that can be compared with latent vectors.",
            )
            yield _equation(
                f"scores[i, j] = sum(r, q_A[i, r] * c_KV[j, r]) + {rotated}",
                meaning="The same scores as with keys of the content.",
            )
            yield _equation(
                "mixed[i, r] = sum(j, weights[i, j] * c_KV[j, r])",
                "Mixed latent vectors",
                "Each row is the sum of all latent vectors, each multiplied by its weight.",
            )
            yield _equation(
                f"{'heads_output' if h else 'output'}[i, c] = sum(r, mixed[i, r] * W_UV[{h}r, c])",
                meaning="The values of the mixed latent vectors.",
            )
            return
        yield _equation(
            f"k_C[j, e] = sum(r, c_KV[j, r] * W_UK[{h}r, e])",
            "Keys of the content",
            "The part of each key that is made of its latent vector.",
        )
        yield _equation(
            f"V[j, c] = sum(r, c_KV[j, r] * W_UV[{h}r, c])",
            meaning="Each row is one token's value, made of the same latent vector.",
        )
        yield _equation(
            f"scores[i, j] = sum(e, q_C[i, e] * k_C[j, e]) + {rotated}",
            meaning="The product of both parts of a query with both parts of a key.",
        )

    def _equations_of_queries(self, h: str) -> Iterator[Equation]:
        source = "sum(d, X[i, d] * {}[" + h + "d, {}])"
        if self._has_latent_queries:
            yield _equation(
                f"q_down[i, p] = sum(d, X[i, d] * W_DQ[d, p]){self._bias('b_DQ[p]')}",
                "Compressed queries",
            )
            yield _equation(
                "c_Q[i, p] = gain_Q[p] * q_down[i, p] / sqrt(mean(t, q_down[i, t] ** 2) + eps)",
                "Latent queries",
                "The compressed queries, all of the same length.",
            )
            source = "sum(p, c_Q[i, p] * {}[" + h + "p, {}])"
        yield _equation(
            f"q_C[i, e] = {source.format('W_UQ', 'e')}",
            "Queries of the content",
            "The part of each query that does not depend on positions.",
        )
        yield _equation(
            f"Q[i, k] = {source.format('W_QR', 'k')}",
            "Queries of the position",
            "The part of each query that is rotated.",
        )

    def _bias(self, cell: str) -> str:
        name, _, _ = cell.partition("[")
        return f" + {cell}" if name in self.arrays else ""

    def _position(self, key: Tensor) -> Mapping[str, Any]:
        """What rotates the keys of the position into those that were recorded, which are the last
        features of all keys.
        """
        weight = self.arrays["W_KR"].detach().cpu().double()
        before = self.x.double() @ weight
        if "b_KR" in self.arrays:
            before = before + self.arrays["b_KR"].detach().cpu().double()
        rows = to_numpy(before)
        given = {"Q": rows, "K": rows, "V": rows}
        after = key[:, 0, :, -weight.shape[-1] :]
        # A model may put the first features of all pairs before the second ones.
        neighbours = after.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)
        for turned in (after, neighbours):
            found = position_of(given, self.rope, turned, turned)
            if found is not None:
                return found
        return {"rope": {**self.rope, "pairing": "interleaved"}}


def _equation(equation: str, title: str = "", meaning: str = "") -> Equation:
    words = {"equation": equation, "title": title, "meaning": meaning}
    return {name: text for name, text in words.items() if text}


def latents_of(
    module: nn.Module | None, attention: Attention, layers: Iterable[Linear]
) -> Latents | None:
    """The latents of the module that made a call, if it has the parts that such modules have, and
    its input was seen. `layers` are the linear layers before the call.
    """
    down, norm, up = (getattr(module, name, None) for name in (DOWN, _NORM, _UP))
    rope = rope_of(module)
    if down is None or norm is None or up is None or rope is None:
        return None
    source = next((each for each in layers if each.weight is down.weight), None)
    if source is None or not source.readable or attention.query.ndim != 4:
        return None
    batch, heads, queries, width = attention.query.shape
    rank = norm.weight.shape[0]
    rotated = down.weight.shape[0] - rank
    content = width - rotated
    arrays = {
        "W_DKV": down.weight.T[:, :rank],
        "W_KR": down.weight.T[:, rank:],
        "gain_KV": norm.weight,
        **_parts(up, heads, {"W_UK": content, "W_UV": -1}),
        **_query_arrays(module, heads, {"W_UQ": content, "W_QR": rotated}),
    }
    if down.bias is not None:
        arrays |= {"b_DKV": down.bias[:rank], "b_KR": down.bias[rank:]}
    eps = next((getattr(norm, name) for name in _EPSILONS if hasattr(norm, name)), 0.0)
    return Latents(source.input.reshape(batch, queries, -1), arrays, float(eps), rope)


def _query_arrays(
    module: nn.Module | None, heads: int, sizes: Mapping[str, int]
) -> Mapping[str, Tensor]:
    """The weights that make the queries, in one step or in two."""
    down = getattr(module, _QUERY_DOWN, None)
    if down is None:
        return _parts(getattr(module, _QUERY), heads, sizes)
    arrays = {
        "W_DQ": down.weight.T,
        "gain_Q": getattr(module, _QUERY_NORM).weight,
        **_parts(getattr(module, _QUERY_UP), heads, sizes),
    }
    return arrays if down.bias is None else arrays | {"b_DQ": down.bias}


def _parts(layer: nn.Linear, heads: int, sizes: Mapping[str, int]) -> Mapping[str, Tensor]:
    """The weight of a linear layer cut into heads, and each head into two parts; the second takes
    what is left.
    """
    columns = layer.weight.T
    of_heads = columns.unflatten(-1, (heads, -1)).transpose(0, 1)
    first, second = sizes
    size = sizes[first]
    before = of_heads[..., :size]
    after = of_heads[..., size:]
    return {first: before, second: after}
