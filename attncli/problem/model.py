"""A problem as the person gave it: checked once, then frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from attncli.english import entitled, listed, shape_text
from attncli.errors import Place
from attncli.problem.keys import ScaleWord
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import Shaped
from attncli.problem.parts.losses import Loss
from attncli.problem.parts.masks import Mask
from attncli.problem.parts.positions import Alibi, Position, Rope

if TYPE_CHECKING:
    from attncli.problem.parts.equations import System

_Kind = TypeVar("_Kind", bound=Position)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Problem:
    """One attention layer's input, complete and consistent: what `attncli.load` returns.

    `given` holds the arrays by name, in the order of `ARRAYS`, with their heads and batch entries
    on leading axes (`axes.py`). `tokens` label the queries, `context_tokens` the keys, those of a
    cache first. `scale` is a number, "default" (1/√d_k for scaled_dot) or "none"; `sink` is the one
    number of all heads, where it is not given per head. `positions` are the kinds that the problem
    has: `rope`, `alibi` and `slope` tell of these. `joined` says that heads were columns side by
    side, and so that their outputs are put side by side again. `convention` names the software by
    whose meaning the mask was read, None for our own. `d_output` is the gradient of the output,
    from which a backward pass begins, in the output's shape; None for all ones, or where there is a
    `loss`. `places` says where the arrays stand in a file, for what is only found wrong when they
    are worked with.
    """

    title: str
    tokens: tuple[str, ...]
    context_tokens: tuple[str, ...]
    given: Mapping[str, Matrix]
    mask: Mask = field(default_factory=Mask)
    score: str = "scaled_dot"
    scale: Scalar | ScaleWord = "default"
    softcap: Scalar | None = None
    exp_base: Scalar | None = None
    sink: Scalar | None = None
    positions: tuple[Position, ...] = ()
    joined: bool = False
    convention: str | None = None
    d_output: Matrix | None = None
    loss: Loss | None = None
    system: System | None = None
    places: Mapping[str, Place] = field(default_factory=dict, compare=False, repr=False)
    # What `sized` has found.
    _sized: Mapping[str, Shaped] | None = field(default=None, init=False, compare=False, repr=False)

    def __repr__(self) -> str:
        arrays = listed(
            [f"{name} {shape_text(given.shape)}" for name, given in self.given.items()], last=""
        )
        mask = f"; mask {listed(self.mask.names)}" if self.mask.names else ""
        return f"<{entitled('problem', self.title)}: {arrays}{mask}>"

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Problem], tuple[dict[str, Any]]]:
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        return _unpickled_problem, ({**values, "given": dict(self.given)},)

    @property
    def sized(self) -> Mapping[str, Shaped]:
        """The arrays that are given, and the shapes of those that equations make in their place:
        all that says how long axes are.
        """
        if self.system is None:
            return self.given
        if self._sized is None:
            # Most problems have no equations of their own.
            from attncli.problem.parts.made import with_made

            object.__setattr__(self, "_sized", with_made(self.given, self.system))
        assert self._sized is not None
        return self._sized

    @property
    def rope(self) -> Rope | None:
        """How queries and keys are rotated by their positions; None where they are not."""
        return self._position(Rope)

    @property
    def alibi(self) -> bool:
        """Whether distances are taken off the scores."""
        return self._position(Alibi) is not None

    @property
    def slope(self) -> Scalar | None:
        """The slope that is given for a single head; those of several heads are in `given`."""
        alibi = self._position(Alibi)
        if alibi is None or alibi.slopes is None or "slopes" in self.given:
            return None
        return alibi.slopes.only_number

    def _position(self, kind: type[_Kind]) -> _Kind | None:
        return next((each for each in self.positions if isinstance(each, kind)), None)


def _unpickled_problem(values: dict[str, Any]) -> Problem:
    return Problem(**{**values, "given": MappingProxyType(values["given"])})
