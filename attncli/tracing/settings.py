"""The choices under which a trace was worked out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from attncli.attention.plan import Plan
from attncli.dtypes import Dtype

# In data only where they apply.
OPTIONAL = (
    "corner", "convention", "softcap", "exp_base", "precision", "heads", "kv_heads", "position", "pairing",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """How the scores were made and bounded, and how the numbers were kept.

    `scale` is what the scores were multiplied by, None if by nothing; `corner` is None at the top left;
    `convention` names the software as which the mask was read, None for our own; `softcap` and `exp_base` are None
    where there are none; `precision` is the decimals of a trace on paper. `heads` is None where there is no axis of
    heads, `kv_heads` where keys and values have as many; `position` names what positions do ("rope", "alibi"),
    `pairing` which features rope turns together.
    """

    score: str
    scale: float | None
    mask: tuple[str, ...]
    dtype: str
    device: str
    rounding: str
    corner: str | None = None
    convention: str | None = None
    softcap: float | None = None
    exp_base: float | None = None
    precision: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    position: tuple[str, ...] | None = None
    pairing: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The settings as data, without what does not apply."""
        data = {field.name: getattr(self, field.name) for field in fields(Settings)}
        data |= {"mask": list(self.mask), "position": list(self.position) if self.position else None}
        return {name: value for name, value in data.items() if value is not None or name not in OPTIONAL}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """The settings that `to_dict` wrote; raises KeyError where one is missing, whatever else there is."""
        known = {field.name: data.get(field.name) for field in fields(cls)}
        required = {name: data[name] for name in known if name not in OPTIONAL}
        position = tuple(known["position"]) if known["position"] else None
        return cls(**(known | required | {"mask": tuple(data["mask"]), "position": position}))


def settings_of(
    plan: Plan, *, dtype: Dtype, device: str, precision: int | None = None, rounding: str = "shown"
) -> Settings:
    """The settings of a trace by this plan."""
    problem, scale = plan.problem, None
    if any(rule.name == "scaled" for rule in plan.rules):
        given = plan.parameters.get("scale")
        scale = float(given.value) if given else 1 / math.sqrt(float(plan.parameters["d_k"].value))
    return Settings(
        problem.score,
        scale,
        tuple(problem.mask.names),
        dtype.name,
        device,
        rounding,
        corner=problem.mask.corner if problem.mask.corner != "top-left" else None,
        convention=problem.convention,
        softcap=problem.softcap.value if problem.softcap else None,
        exp_base=problem.exp_base.value if problem.exp_base else None,
        precision=precision,
        heads=plan.axes.number if plan.axes.has_heads else None,
        kv_heads=plan.axes.kv_heads if plan.axes.group > 1 else None,
        position=tuple(position.name for position in problem.positions) or None,
        pairing=problem.rope.pairing if problem.rope else None,
    )
