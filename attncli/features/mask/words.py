"""The form of a function in attncli's words, and as the keys of a problem."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attncli.english import listed
from attncli.features.mask.alibi import Slopes
from attncli.features.mask.study import Study
from attncli.problem.keys import CORNERS
from attncli.problem.parts.masks import Mask, MaskPart
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.any_of import AnyOf
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.parts.masks.lengths import Counted
from attncli.problem.parts.masks.padding import Padding
from attncli.problem.saving import mask_as_yaml

NO_MASK = "none"


def form_words(study: Study) -> str:
    """What a function does, as in "softcap 50 and causal"; "" where no key of a problem says it."""
    if not study.has_form:
        return ""
    said = [_setting_words(key, value) for key, value in score_keys(study).items()]
    if study.adds_matrix:
        said.append("additive")
    masks = {mask_words(each.mask): None for each in study.masks}
    if len(masks) > 1:
        said.append("another mask for each head")
    elif NO_MASK not in masks or not said:
        said += masks
    return " and ".join(said)


def _setting_words(key: str, value: Any) -> str:
    """A key with its value: softcap 50, alibi."""
    if not isinstance(value, dict):
        return f"{key} {json.dumps(value)}"
    [(name, setting)] = value.items()
    return name if setting is True else f"{name} {flow(setting)}"


def flow(value: Any) -> str:
    """A value of lists, numbers and plain words in the flow style of YAML: {alibi: true}."""
    return json.dumps(value).replace('"', "")


def score_keys(study: Study) -> dict[str, Any]:
    """The keys of a problem that say what becomes of scores, but for what a mask adds or hides."""
    score, slopes = study.score, study.slopes
    found: dict[str, Any] = {}
    if score is None or score.why_not:
        return found
    if score.scale is not None:
        found["scale"] = _plain(score.scale)
    if score.softcap is not None:
        found["softcap"] = _plain(score.softcap)
    if slopes is not None and study.has_alibi:
        found["position"] = {"alibi": _alibi(slopes)}
    return found


def _alibi(slopes: Slopes) -> Any:
    """What stands under alibi."""
    return slopes.are_usual or {"slopes": [_plain(each) for each in slopes.numbers]}


def _plain(number: float) -> int | float:
    """A whole number without a point."""
    return int(number) if number.is_integer() else number


def is_matrix(mask: Mask) -> bool:
    """Whether a mask says of every query and key whether it is seen."""
    return any(isinstance(part, Keep) for part in mask.parts)


def without_numbers(mask: Mask) -> str:
    """A mask as a problem has it, with an ellipsis for each matrix: [causal, {additive: …}]."""
    parts = []
    for part in mask.parts:
        if isinstance(part, Keep | Additive):
            parts.append(f"{{{part.name}: …}}")
        else:
            parts.append(mask_as_yaml(Mask((part,), mask.corner)))
    return parts[0] if len(parts) == 1 else f"[{', '.join(parts)}]"


def mask_words(mask: Mask) -> str:
    """A mask in words: causal and window [2, 0]."""
    if not mask.parts:
        return NO_MASK
    said = _parts_words(mask)
    if mask.corner != CORNERS[0]:
        said += f", corner {mask.corner}"
    return said


def _parts_words(mask: Mask) -> str:
    return " and ".join(map(_part_words, mask.parts))


def _part_words(part: MaskPart) -> str:
    if isinstance(part, Keep):
        return "keep"
    if isinstance(part, AnyOf):
        inside = ", ".join(map(_parts_words, part.masks))
        return f"any [{inside}]"
    if part.needs_no_value:
        return part.name
    if isinstance(part, Counted) and len(part.lengths) == 1:
        return f"{part.name} {part.lengths[0]}"
    if isinstance(part, Padding) and len(part.exists) == 1:
        return f"{part.name} {[int(each) for each in part.exists[0]]}"
    written = mask_as_yaml(Mask((part,)))
    return written.strip("{}").replace(": ", " ", 1)


def added_words(study: Study) -> Iterator[str]:
    """What is to be said of numbers that are added."""
    slopes = study.slopes
    if slopes is None:
        return
    yield (
        "It is ALiBi for the keys up to the query. Keys behind it gain what ALiBi in attncli takes"
        " from them, so the numbers stand in a matrix. With a causal mask, it is position:"
        f" {{alibi: {flow(_alibi(slopes))}}}."
    )
    if slopes.are_usual:
        yield f"The slopes are {listed([f'{each:.6g}' for each in slopes.numbers])}."
