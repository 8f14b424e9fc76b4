"""Looks for problems whose numbers say which mistake was made, and which are a pleasure to work out
by hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.cli.input import change
from attncli.cli.overrides import Overrides
from attncli.errors import AttncliError, usage_error
from attncli.features.generate.drawing import Draws, Layer
from attncli.mistakes.audit import (
    UNITS_APART,
    Audit,
    all_told_apart,
    audit,
    mistaken_numbers,
    told_apart,
)
from attncli.page.worksheet import blank_steps
from attncli.problem.loader import loads
from attncli.problem.model import Problem
from attncli.problem.parts.axes import BATCH
from attncli.problem.saving import mask_as_yaml
from attncli.tracing import run
from attncli.tracing.model import Trace
from attncli.tracing.run import FLOAT64
from attncli.tracing.shift import FEWEST_DECIMALS, Shift

# the largest weight of a row is larger than the next by this much
CLEAR = 0.1
# of the scaled scores: e to the fifth is 148
LARGEST = 5.0
# a mistake is looked for if this share of plausible draws shows it, and two if it tells them apart
SHOWN_BY = 0.75
# draws that are looked at at once; most of them need not be worked out
_BLOCK = 1024
# the key of its draws; those of a problem have two texts
_SAMPLED = ["a sample"]
# plausible draws that say what problems of this kind can show
_SAMPLE = 48
# for one problem; with the default sizes, one to five are enough
_MOST_BLOCKS = 200
# in which no draw is plausible: then none will be
_BLOCKS_WITHOUT = 40
# Fewer plausible draws than this are expected in all blocks: then one block is enough to say no.
_HOPELESS = 1e-12
HARD_TO_FIND = "has small scores and a clear winner in every row"
# problems worked out on paper, of which the one is taken that rounding changes least
_MOST_TRIED = 32
# units of the last digit: this close to a half, a number may be rounded up or down
_NEAR = 1e-6


class Found(NamedTuple):
    """A problem as a file has it, worked out, and what it shows of mistakes."""

    text: str
    trace: Trace
    audit: Audit


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Looks for problems of a kind.

    `asked` are the steps whose numbers are asked for, with so many `decimals`; a mistake has to
    show in the last of them alone. `shifted` says whether the softmax of every problem is shifted,
    as large numbers in a mask need it: the steps are others then. `needed` are the names of
    mistakes that every problem shows, and `apart` says which two of them it tells apart.
    """

    layer: Layer
    mask: str | None
    asked: tuple[str, ...]
    decimals: int
    like: Problem
    shifted: bool
    needed: tuple[str, ...]
    apart: NDArray[np.bool_]

    @classmethod
    def of(
        cls, layer: Layer, mask: str | None, asked: Sequence[str] | None, decimals: int
    ) -> Search:
        """The search for problems of this kind; what they can show is learned from a sample that no
        seed changes.

        `mask` is in YAML, and `asked` names steps, or None for all. Raises AttncliError (exit 2)
        for a mask or steps that these problems cannot have, and where no draw is plausible.
        """
        draws = layer.draw(_SAMPLED, range(1))
        sample = layer.text(draws[0], "a sample", None)
        like = change(loads(sample.encode(), "problem.yaml"), Overrides(mask=mask))
        if mask is not None:
            # A problem of the set is not where a file that the mask names is found.
            mask = mask_as_yaml(like.mask)
        trace = run(like, precision=decimals)
        _require_seen_keys(trace)
        steps = blank_steps(trace, asked)
        plain = cls(
            layer, mask, steps, decimals, like, trace.shifted, (), np.zeros((0, 0), dtype=bool)
        )
        found: list[Draws] = []
        for block in range(_MOST_BLOCKS):
            drawn = plain._block(_SAMPLED, block)
            found.append(plain._plausible(drawn))
            seen = sum(map(len, found))
            if not seen and block == 0 and plain._is_hopeless(drawn):
                raise _nothing_found(1, HARD_TO_FIND, mask)
            if seen >= _SAMPLE or (not seen and block >= _BLOCKS_WITHOUT - 1):
                break
        draws = np.concatenate(found)
        if not len(draws):
            raise _nothing_found(_BLOCKS_WITHOUT, HARD_TO_FIND, mask)
        right, numbers = plain._numbers(draws)
        shown = {
            name: each
            for name, each in numbers.items()
            if told_apart(each, right, decimals).mean() >= SHOWN_BY
        }
        pairs = (
            all_told_apart(np.array([*shown.values()]), decimals) if shown else np.zeros((0, 0, 1))
        )
        return cls(
            layer,
            mask,
            steps,
            decimals,
            like,
            trace.shifted,
            tuple(shown),
            pairs.mean(axis=-1) >= SHOWN_BY,
        )

    def problem(self, key: Sequence[object], title: str) -> Found:
        """The first problem by this key that shows what it should, and that rounding on paper
        hardly changes.

        With many tokens there is none; of the first few, it is then the one that is changed least.
        AttncliError (exit 2) where no problem shows what it should.
        """
        tried: list[tuple[float, int, Problem, str]] = []
        for draw in islice(self._drawn(key), _MOST_TRIED):
            text = self.layer.text(draw, title, self.mask)
            problem = loads(text.encode(), "problem.yaml")
            off = self._changed_by_rounding(problem)
            tried.append((off, len(tried), problem, text))
            if off <= 1 + _NEAR and (found := self._found(problem, text)):
                return found
        for _, _, problem, text in sorted(tried):
            if found := self._found(problem, text):
                return found
        raise _nothing_found(_MOST_BLOCKS, "shows all mistakes and tells them apart", self.mask)

    def _drawn(self, key: Sequence[object]) -> Iterator[Draws]:
        """The draws by a key that show every mistake."""
        for block in range(_MOST_BLOCKS):
            yield from self._telling(self._plausible(self._block(key, block)))

    def _changed_by_rounding(self, problem: Problem) -> float:
        """How many units of the last digit the last step is off if every step is rounded, at
        most.
        """
        step = self.asked[-1]
        exact, paper = (
            run(problem, rounding=way, precision=self.decimals, shifted=self.shifted)[step]
            for way in ("shown", "paper")
        )
        # What a mask hides is -inf in both, and -inf - -inf is not a number.
        with np.errstate(over="ignore"):
            apart = np.subtract(paper, exact, out=np.zeros_like(exact), where=paper != exact)
            return float(abs(apart).max() * 10.0**self.decimals)

    def _block(self, key: Sequence[object], block: int) -> Draws:
        return self.layer.draw(key, range(block * _BLOCK, (block + 1) * _BLOCK))

    def _plausible(self, draws: Draws) -> Draws:
        """Those with a clear winner in every row, no large scores, and no number that could be
        rounded two ways.

        No two queries have the same weights, and no row of scores adds up to 0: nobody could divide
        by that sum, which is one of the mistakes.
        """
        draws = draws[self._varied(draws)]
        if not len(draws):
            return draws
        trace = run(self.layer.batch(self.like, draws), shifted=self.shifted)
        weights = trace["weights"]
        fine = _all(_fine_rows(trace))
        alike = (
            abs(weights[..., :, None, :] - weights[..., None, :, :]).max(axis=-1)
            < UNITS_APART * 10.0**-self.decimals
        )
        fine &= _all(alike.sum(axis=-1) == 1)  # each is like itself alone
        scores = trace[trace.logits]
        fine &= _all(abs(np.where(np.isfinite(scores), scores, 0).sum(axis=-1)) > _NEAR)
        # One shift serves all draws here, and each decides for itself when it is worked out alone.
        shift = Shift.at(max(self.decimals, FEWEST_DECIMALS), self.like, FLOAT64)
        fine &= np.array([shift.of_logits(each) == self.shifted for each in scores])
        for name in self.asked:
            cells = _by_draw(trace, name, trace[name], len(draws))
            # What a mask hides is not a number here, and what it adds may be too large for one.
            with np.errstate(invalid="ignore", over="ignore"):
                units = cells * 10.0**self.decimals
                fine &= _all(~(abs(units - np.floor(units) - 0.5) < _NEAR))
        return draws[fine]

    def _is_hopeless(self, draws: Draws) -> bool:
        """Whether rows have a clear winner so seldom that no draw will have one in all its rows.

        If a row has one in a third of the draws, 128 rows have them in one of 10 to the 61st.
        """
        trace = run(self.layer.batch(self.like, draws), shifted=self.shifted)
        shares = _fine_rows(trace).mean(axis=0)
        # A row that has none in these draws may have one in others.
        shares = np.maximum(shares, 1 / len(draws))
        log_of_share = float(np.log(shares).sum())
        draws_in_all = _BLOCK * _MOST_BLOCKS
        return log_of_share < math.log(_HOPELESS / draws_in_all)

    def _varied(self, draws: Draws) -> NDArray[np.bool_]:
        """Which draws have no row and no column of zeros, none that is like the one before it, and
        no token twice.
        """
        fine = np.ones(len(draws), dtype=bool)
        for matrix in self.layer.matrices(draws).values():
            for across, along in ((-1, -2), (-2, -1)):
                fine &= _all(matrix.any(axis=across)) & _all(
                    np.diff(matrix, axis=along).any(axis=across)
                )
        if not self.layer.gives_qkv and self.layer.n <= 2**self.layer.d_model:
            tokens = self.layer.matrices(draws)["X"]
            alike = (tokens[:, :, None] == tokens[:, None]).all(axis=-1)
            fine &= alike.sum(axis=(1, 2)) == self.layer.n
        return fine

    def _telling(self, draws: Draws) -> Draws:
        """Those that show every mistake that problems of this kind can show, and tell them apart as
        these can.
        """
        if not len(draws):
            return draws
        right, numbers = self._numbers(draws)
        made = np.array([numbers[name] for name in self.needed]).reshape(
            len(self.needed), *right.shape
        )
        fine = told_apart(made, right, self.decimals).all(axis=0)
        draws, made = draws[fine], made[:, fine]
        return draws[
            (all_told_apart(made, self.decimals) | ~self.apart[..., None]).all(axis=(0, 1))
        ]

    def _numbers(self, draws: Draws) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """The numbers of the last step that is asked for, right and by each mistake: draws ×
        numbers.
        """
        step = self.asked[-1]
        trace = run(self.layer.batch(self.like, draws), shifted=self.shifted)

        def by_draw(cells: NDArray[np.float64]) -> NDArray[np.float64]:
            return _by_draw(trace, step, cells, len(draws)).reshape(len(draws), -1)

        mistaken = {}
        for name, cells in mistaken_numbers(trace, step).items():
            mistaken[name] = by_draw(cells)
        return by_draw(trace[step]), mistaken

    def _found(self, problem: Problem, text: str) -> Found | None:
        """The problem of this text if it shows the mistakes worked out alone, too."""
        trace = run(problem, precision=self.decimals)
        said = audit(trace, self.asked[-1], self.decimals)
        same_steps = trace.shifted == self.shifted
        return (
            Found(text, trace, said) if same_steps and set(self.needed) <= set(said.shown) else None
        )


def _by_draw(
    trace: Trace, step: str, cells: NDArray[np.float64], draws: int
) -> NDArray[np.float64]:
    """Cells of a step of a batch of draws, draw by draw: draws × cells.

    A step that reads no number that is drawn, such as a mask, has no axis of draws, and is the same
    in each.
    """
    if BATCH in trace.steps[step].rule.target.letters:
        return cells
    return np.broadcast_to(cells, (draws, *cells.shape))


def _fine_rows(trace: Trace) -> NDArray[np.bool_]:
    """Which rows of the weights have a clear winner, and no large score, in each draw."""
    ranked = np.sort(trace["weights"], axis=-1)
    first, second = ranked[..., -1], ranked[..., -2]
    is_clear = first - second >= CLEAR - _NEAR
    is_small = trace["scaled"] <= LARGEST + _NEAR
    return np.asarray(is_clear & is_small.all(axis=-1))


def _all(fine: NDArray[np.bool_] | np.bool_) -> NDArray[np.bool_]:
    """Whether all of an entry is fine."""
    fine = np.asarray(fine)
    return np.asarray(fine.reshape(len(fine), -1).all(axis=-1))


def _require_seen_keys(trace: Trace) -> None:
    """Raise AttncliError (exit 2) for a mask under which no numbers make a clear winner in rows
    that differ.
    """
    hidden = np.isneginf(trace[trace.logits])
    seen = ~hidden.reshape(-1, *hidden.shape[-2:])
    help = "change --mask so that every query sees a key, and no two see the same one only"
    for head in seen:
        alone: dict[int, str] = {}
        for query, keys in zip(trace.tokens, head, strict=True):
            if not keys.any():
                raise usage_error(f"query {query} sees no key, so it has no weights", help=help)
            if keys.sum() > 1:
                continue
            key = int(keys.argmax())
            if key in alone:
                what = (
                    f"queries {alone[key]} and {query} see the same key only, so their weights tell"
                    " nothing"
                )
                raise usage_error(what, help=help)
            alone[key] = query


def _nothing_found(blocks: int, what: str, mask: str | None) -> AttncliError:
    sizes = (
        "choose fewer tokens or shorter rows, such as --dims 4,2,3,5, or with several heads --dims"
        " 4,2,3,2"
    )
    return usage_error(
        f"no problem of {blocks * _BLOCK:,} that were drawn {what}",
        help=(
            sizes if mask is None else f"change --mask, which may leave a row no choice, or {sizes}"
        ),
    )
