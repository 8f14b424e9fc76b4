"""A function of FlexAttention for programs; `mask.schema.json` describes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncli.attention.changes_of_scores import SCORES
from attncli.features.mask.positions import Positions
from attncli.features.mask.problem import mask_of
from attncli.features.mask.shortest import Check, is_whole
from attncli.features.mask.study import Study
from attncli.features.mask.words import form_words, mask_words, score_keys
from attncli.problem.keys import CORNERS
from attncli.problem.parts.masks import Mask, MaskPart
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.any_of import AnyOf
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.chunk import Chunk
from attncli.problem.parts.masks.documents import Documents
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.parts.masks.lengths import Counted
from attncli.problem.parts.masks.padding import Padding
from attncli.problem.parts.masks.window import Window
from attncli.tracing.json_numbers import json_values
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__


def study_data(study: Study) -> dict[str, Any]:
    """The form of a function, the keys of a problem that say it, and what it gave."""
    sizes = study.sizes
    data: dict[str, Any] = {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "function": study.name,
        "kind": study.kind,
        "sizes": {
            "batch": sizes.entries,
            "heads": sizes.heads,
            "queries": sizes.queries,
            "keys": sizes.keys,
        },
        "form": form_words(study) or None,
        "masks": [mask_words(each.mask) for each in study.masks],
        "problem": _keys(study) if study.has_form else None,
        "elsewhere": [_check(each) for each in study.checks],
        "remarks": list(study.remarks),
        "visible": study.visible.tolist(),
    }
    if study.score is not None and study.score.why_not:
        data["reason"] = study.score.why_not
    if study.values is not None:
        data["scores"] = list(SCORES)
        data["values"] = json_values(study.values)
    return data


def _keys(study: Study) -> dict[str, Any]:
    """The keys of a problem that say what the function does."""
    mask = mask_of(study)
    found = dict(score_keys(study))
    if mask.parts:
        found["mask"] = _mask_data(mask)
    return found


def _mask_data(mask: Mask) -> Any:
    """A mask as JSON, which a problem may have."""
    corner = {} if mask.corner == CORNERS[0] else {"corner": mask.corner}
    found: list[Any] = []
    for part in mask.parts:
        beside = corner if part.has_corner else {}
        if part.needs_no_value and not beside:
            found.append(part.name)
        else:
            found.append({part.name: _part_data(part)} | beside)
    return found[0] if len(found) == 1 else found


def _part_data(part: MaskPart) -> Any:
    """What stands under the name of a part."""
    match part:
        case AnyOf():
            return [_mask_data(Mask(each.parts)) for each in part.masks]
        case Keep():
            return part.matrix.tolist()
        case Additive():
            return part.matrix.value.tolist()
        case Documents():
            return part.numbers.value.astype(int).tolist()
        case Padding():
            return np.array(part.exists, dtype=int).tolist()
        case Counted():
            return list(part.lengths)
        case Window():
            return [part.left, part.right]
        case Chunk():
            return part.length
        case Causal():
            return True
        case _:
            raise TypeError(f"no function has the form {part.name}")


def _check(check: Check) -> dict[str, Any]:
    """What came of other positions."""
    data: dict[str, Any] = {**_positions(check.positions), "holds": check.holds}
    if check.error:
        data["error"] = check.error
    if check.differs_at is not None:
        data["differs_at"] = list(check.differs_at)
    return data


def _positions(positions: Positions) -> dict[str, Any]:
    queries, keys = positions.shape
    if is_whole(positions):
        return {"queries": queries, "keys": keys}
    return {"positions": list(positions.keys)}
