"""What a command line says of a problem beside its file: `--mask causal --as torch`."""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

from attncli.cli import options
from attncli.cli.groups import Group, Options


class Overrides(NamedTuple):
    """How a problem is read otherwise than its file says.

    `as_` names the software by whose meaning its mask is read, and with `allow_outside` its arrays
    may lie outside its folder. `Overrides(mask="causal")` is `--mask causal`.
    """

    mask: str | None = None
    as_: str | None = None
    allow_outside: bool = False
    scale: str | None = None


AS_IN_THE_FILE = Overrides()
_OF_READING: Options = {"as_": (options.As, None), "allow_outside": (options.AllowOutside, False)}
_ALL: Options = {
    "mask": (options.OtherMask, None),
    **_OF_READING,
    "scale": (options.OtherScale, None),
}

AllOverrides: TypeAlias = Annotated[Overrides, Group(Overrides, _ALL)]
# For commands that show the problem with other masks and scales themselves, or judge its answers.
ReadingOverrides: TypeAlias = Annotated[Overrides, Group(Overrides, _OF_READING)]
