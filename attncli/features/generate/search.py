"""Looks for problems whose numbers say which mistake was made, and which are a pleasure to work out
by hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.cli.input import change
from attncli.cli.overrides import Overrides
from attncli.errors import AttncliError, usage_error
from attncli.features.generate.columns import columns_alike, fewest_alike
from attncli.features.generate.drawing import Draws, Layer
from attncli.features.generate.terms import terms_of_products
from attncli.marking.asked import asked_steps
from attncli.mistakes.audit import (
    UNITS_APART,
    Audit,
    all_told_apart,
    audit,
    mistaken_numbers,
    told_apart,
)
from attncli.problem.loader import loads
from attncli.problem.model import Problem
from attncli.problem.parts.axes import BATCH
from attncli.problem.saving import mask_as_yaml
from attncli.tracing import run
from attncli.tracing.difference import Doubles
from attncli.tracing.model import Trace
from attncli.tracing.run import FLOAT64
from attncli.tracing.shift import FEWEST_DECIMALS, Shift

# The largest weight of a row is larger than the next one by at least this.
LEAST_LEAD = 0.1
# Scaled scores are at most this, because e to the fifth is 148 already.
LARGEST_SCORE = 5.0
# A mistake is looked for if this share of plausible draws shows it, and two are if it tells them
# apart.
SHOWN_BY = 0.75
# So many draws are looked at at once; most of them need not be worked out.
_DRAWS_OF_A_BLOCK = 1024
# A product has at most this share more or fewer terms that are not zero than is usual.
MOST_FURTHER_TERMS = 0.1
# The sample has a key of its own: those of problems have two texts.
_SAMPLED = ["a sample"]
# So many plausible draws say what problems of this kind can show.
_DRAWS_OF_A_SAMPLE = 48
# Mistakes are worked out for at least so many plausible draws at once: for one alone they take
# nearly as long.
_PLAUSIBLE_AT_ONCE = 4
# No more are drawn for one problem. With the default sizes, one to five are enough.
_MOST_BLOCKS = 200
# If no draw of these is plausible, none will be.
_BLOCKS_WITHOUT = 40
# Fewer plausible draws than this are expected in all blocks: then one block is enough to say no.
_HOPELESSLY_FEW_DRAWS = 1e-12
HARD_TO_FIND = "has small scores and a clear winner in every row"
# So many problems are worked out on paper. The one that rounding changes least is taken.
_MOST_TRIED = 32
# This close to a half of the last digit, in its units, a number may be rounded up or down.
_NEAR_A_HALF = 1e-6


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
    mistakes that every problem shows, and `apart` says which two of them it tells apart. `terms`
    says how many terms each product has that are not zero, in all problems nearly as many, and
    `alike` how many pairs of columns of each matrix, within a head, may be equal or opposite.
    """

    layer: Layer
    mask: str | None
    asked: tuple[str, ...]
    decimals: int
    like: Problem
    shifted: bool
    needed: tuple[str, ...]
    apart: NDArray[np.bool_]
    terms: Mapping[str, int]
    alike: Mapping[str, int]

    @classmethod
    def of(
        cls, layer: Layer, mask: str | None, asked: Sequence[str] | None, decimals: int
    ) -> Search:
        """The search for problems of this kind; what they can show is learned from a sample that no
        seed changes.

        `mask` is in YAML, and `asked` names steps, or None for all. Raises AttncliError (exit 2)
        for a mask or steps that these problems cannot have, and where no draw is plausible.
        """
        like, mask = sample(layer, mask)
        trace = run(like, precision=decimals)
        _require_seen_keys(trace)
        steps = asked_steps(trace, asked)
        none_apart = np.zeros((0, 0), dtype=bool)
        plain = cls(layer, mask, steps, decimals, like, trace.shifted, (), none_apart, {}, {})
        found: list[Draws] = []
        for block in range(_MOST_BLOCKS):
            drawn = plain._block(_SAMPLED, block)
            if block == 0:
                plain = replace(plain, alike=plain._fewest_alike(drawn))
            found.append(plain._plausible(drawn))
            seen = sum(map(len, found))
            if not seen and block == 0 and plain._is_hopeless(drawn):
                raise _nothing_found(1, HARD_TO_FIND, mask)
            if seen >= _DRAWS_OF_A_SAMPLE or (not seen and block >= _BLOCKS_WITHOUT - 1):
                break
        draws = np.concatenate(found)
        if not len(draws):
            raise _nothing_found(_BLOCKS_WITHOUT, HARD_TO_FIND, mask)
        right, numbers = plain._numbers(draws)
        shown = {}
        for name, mistaken in numbers.items():
            share_of_draws = told_apart(mistaken, right, decimals).mean()
            if share_of_draws >= SHOWN_BY:
                shown[name] = mistaken
        pairs = np.zeros((0, 0, 1), dtype=bool)
        if shown:
            pairs = all_told_apart(np.array([*shown.values()]), decimals)
        return cls(
            layer,
            mask,
            steps,
            decimals,
            like,
            trace.shifted,
            tuple(shown),
            pairs.mean(axis=-1) >= SHOWN_BY,
            plain._usual_terms(draws),
            plain.alike,
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
            if off > 1 + _NEAR_A_HALF:
                continue
            found = self._found(problem, text)
            if found:
                return found
        for _, _, problem, text in sorted(tried):
            found = self._found(problem, text)
            if found:
                return found
        what = "shows all mistakes and tells them apart"
        raise _nothing_found(_MOST_BLOCKS, what, self.mask)

    def _drawn(self, key: Sequence[object]) -> Iterator[Draws]:
        """The draws by a key that show every mistake."""
        for plausible in self._plausible_by_key(key):
            yield from self._telling(plausible)

    def _plausible_by_key(self, key: Sequence[object]) -> Iterator[Draws]:
        """The plausible draws by a key, some at a time."""
        waiting: list[Draws] = []
        for block in range(_MOST_BLOCKS):
            waiting.append(self._plausible(self._block(key, block)))
            if sum(map(len, waiting)) >= _PLAUSIBLE_AT_ONCE:
                yield np.concatenate(waiting)
                waiting = []
        if waiting:
            yield np.concatenate(waiting)

    def _changed_by_rounding(self, problem: Problem) -> float:
        """How many units of the last digit the last step is off if every step is rounded, at
        most.
        """
        step = self.asked[-1]
        on_paper = run(problem, rounding="paper", precision=self.decimals, shifted=self.shifted)
        assert on_paper.truth is not None
        exact, paper = on_paper.truth[step], on_paper[step]
        # What a mask hides is -inf in both, and -inf - -inf is not a number.
        differing = paper != exact
        apart = np.zeros_like(exact)
        with np.errstate(over="ignore"):
            np.subtract(paper, exact, out=apart, where=differing)
            largest = abs(apart).max()
            units = 10.0**self.decimals
            return float(largest * units)

    def _worked_at_once(self, draws: Draws) -> Trace:
        """All draws as a batch."""
        return run(self.layer.batch(self.like, draws), shifted=self.shifted)

    def _block(self, key: Sequence[object], block: int) -> Draws:
        return self.layer.draw(
            key, range(block * _DRAWS_OF_A_BLOCK, (block + 1) * _DRAWS_OF_A_BLOCK)
        )

    def _plausible(self, draws: Draws) -> Draws:
        """Those with a clear winner in every row, no large scores, and no number that could be
        rounded two ways.

        No two queries have the same weights, and no row of scores adds up to 0: nobody could divide
        by that sum, which is one of the mistakes.
        """
        draws = draws[self._varied(draws)]
        if not len(draws):
            return draws
        trace = self._worked_at_once(draws)
        fine = _all(_fine_rows(trace))
        fine &= self._has_different_rows(trace["weights"])
        scores = trace[trace.logits]
        fine &= _all(_sums_of_finite(scores) > _NEAR_A_HALF)
        # One shift serves all draws here, and each decides for itself when it is worked out alone.
        shift = Shift.at(max(self.decimals, FEWEST_DECIMALS), self.like, FLOAT64)
        # The draws are the entries of one batch.
        _, *letters = trace.steps[trace.logits].rule.target.letters
        fine &= np.array([shift.of_logits(each, letters) == self.shifted for each in scores])
        for name in self.asked:
            cells = _by_draw(trace, name, trace[name], len(draws))
            fine &= self._rounds_one_way(cells)
        if self.terms:
            fine &= self._takes_as_long(trace)
        return draws[fine]

    def _fewest_alike(self, draws: Draws) -> dict[str, int]:
        """How many pairs of columns of each matrix are equal or opposite at least, in its heads."""
        matrices = self.layer.matrices(draws[self._varied(draws)])
        return fewest_alike({name: self.layer.by_head(name, of) for name, of in matrices.items()})

    def _usual_terms(self, draws: Draws) -> dict[str, int]:
        """How many terms that are not zero each product has, in the middle one of these draws."""
        terms = terms_of_products(self._worked_at_once(draws))
        return {name: int(np.sort(counts)[len(counts) // 2]) for name, counts in terms.items()}

    def _takes_as_long(self, trace: Trace) -> NDArray[np.bool_]:
        """In which draws each product has nearly the usual number of terms that are not zero."""
        fine = np.ones(trace[trace.result].shape[0], dtype=bool)
        for name, counts in terms_of_products(trace).items():
            usual = self.terms.get(name, 0)
            fine &= abs(counts - usual) <= MOST_FURTHER_TERMS * usual
        return fine

    def _has_different_rows(self, weights: NDArray[np.float64]) -> NDArray[np.bool_]:
        """In which draws no two queries have the same weights."""
        of_one = weights[..., :, None, :]
        of_other = weights[..., None, :, :]
        apart = abs(of_one - of_other).max(axis=-1)
        alike = apart < UNITS_APART * 10.0**-self.decimals
        rows_like_it = alike.sum(axis=-1)
        # Each row is like itself.
        return _all(rows_like_it == 1)

    def _rounds_one_way(self, cells: NDArray[np.float64]) -> NDArray[np.bool_]:
        """In which draws no number is so near to a half of the last digit that it could be rounded
        two ways.
        """
        # What a mask hides is not a number here, and what it adds may be too large for one.
        with np.errstate(invalid="ignore", over="ignore"):
            units = cells * 10.0**self.decimals
            below = np.floor(units)
            fraction = units - below
            from_half = abs(fraction - 0.5)
            is_near = from_half < _NEAR_A_HALF
        return _all(~is_near)

    def _is_hopeless(self, draws: Draws) -> bool:
        """Whether rows have a clear winner so seldom that no draw will have one in all its rows.

        If a row has one in a third of the draws, 128 rows have them in one of 10 to the 61st.
        """
        fine = _fine_rows(self._worked_at_once(draws))
        shares = fine.mean(axis=0)
        # A row that has none in these draws may have one in others.
        shares = np.maximum(shares, 1 / len(draws))
        log_of_share = float(np.log(shares).sum())
        draws_in_all = _DRAWS_OF_A_BLOCK * _MOST_BLOCKS
        least_share = _HOPELESSLY_FEW_DRAWS / draws_in_all
        return log_of_share < math.log(least_share)

    def _varied(self, draws: Draws) -> NDArray[np.bool_]:
        """Which draws have no row and no column of zeros, none that is like the one before it, no
        token twice, as few columns as may be that are equal or opposite, and no two matrices that
        differ in one number only: whoever takes one for the other would seem to have read that
        number wrongly.
        """
        fine = np.ones(len(draws), dtype=bool)
        matrices = self.layer.matrices(draws)
        for one, other in combinations(matrices.values(), 2):
            if one.shape == other.shape:
                different = (one != other).reshape(len(draws), -1)
                fine &= different.sum(axis=-1) > 1
        for name, most in self.alike.items():
            fine &= columns_alike(self.layer.by_head(name, matrices[name])) <= most
        for matrix in matrices.values():
            for across, along in ((-1, -2), (-2, -1)):
                steps = np.diff(matrix, axis=along)
                fine &= _all(matrix.any(axis=across))
                fine &= _all(steps.any(axis=across))
        if self._can_have_different_tokens():
            tokens = matrices["X"]
            of_one = tokens[:, :, None]
            of_other = tokens[:, None]
            alike = (of_one == of_other).all(axis=-1)
            pairs_alike = alike.sum(axis=(1, 2))
            # Each token is like itself.
            fine &= pairs_alike == self.layer.n
        return fine

    def _can_have_different_tokens(self) -> bool:
        """Whether rows of X are drawn, and are long enough for that many different ones."""
        if self.layer.gives_qkv:
            return False
        different_rows: int = 2**self.layer.d_model
        return self.layer.n <= different_rows

    def _telling(self, draws: Draws) -> Draws:
        """Those that show every mistake that problems of this kind can show, and tell them apart as
        these can.
        """
        if not len(draws):
            return draws
        right, numbers = self._numbers(draws)
        by_mistake = np.array([numbers[name] for name in self.needed])
        made = by_mistake.reshape(len(self.needed), *right.shape)
        fine = told_apart(made, right, self.decimals).all(axis=0)
        draws, made = draws[fine], made[:, fine]
        told = all_told_apart(made, self.decimals)
        need_not_be = ~self.apart[..., None]
        all_told = (told | need_not_be).all(axis=(0, 1))
        return draws[all_told]

    def _numbers(self, draws: Draws) -> tuple[Doubles, dict[str, Doubles]]:
        """The numbers of the last step that is asked for, right and by each mistake: draws ×
        numbers.
        """
        step = self.asked[-1]
        trace = self._worked_at_once(draws)

        def by_draw(cells: Doubles) -> Doubles:
            rows = _by_draw(trace, step, cells, len(draws))
            return rows.reshape(len(draws), -1)

        mistaken = {}
        for name, cells in mistaken_numbers(trace, step).items():
            mistaken[name] = by_draw(cells)
        return by_draw(trace[step]), mistaken

    def _found(self, problem: Problem, text: str) -> Found | None:
        """The problem of this text if it shows the mistakes worked out alone, too."""
        trace = run(problem, precision=self.decimals)
        said = audit(trace, self.asked[-1], self.decimals)
        if trace.shifted != self.shifted:
            # Its steps are others than those of the draws.
            return None
        if not set(self.needed) <= set(said.shown):
            return None
        return Found(text, trace, said)


def sample(layer: Layer, mask: str | None) -> tuple[Problem, str | None]:
    """A problem of these sizes that no seed changes, and the mask in YAML without the files that it
    names.

    Raises AttncliError (exit 2) for a mask that such problems cannot have.
    """
    draws = layer.draw(_SAMPLED, range(1))
    text = layer.text(draws[0], "a sample", None)
    like = change(loads(text.encode(), "problem.yaml"), Overrides(mask=mask))
    if mask is None:
        return like, None
    # A problem of the set is not where a file that the mask names is found.
    return like, mask_as_yaml(like.mask)


def _by_draw(trace: Trace, step: str, cells: Doubles, draws: int) -> Doubles:
    """Cells of a step of a batch of draws, draw by draw: draws × cells.

    A step that reads no number that is drawn, such as a mask, has no axis of draws, and is the same
    in each.
    """
    target = trace.steps[step].rule.target
    if BATCH in target.letters:
        return cells
    shape = (draws, *cells.shape)
    return np.broadcast_to(cells, shape)


def _fine_rows(trace: Trace) -> NDArray[np.bool_]:
    """Which rows of the weights have a clear winner, and no large score, in each draw."""
    ranked = np.sort(trace["weights"], axis=-1)
    first = ranked[..., -1]
    second = ranked[..., -2]
    lead = first - second
    is_clear = lead >= LEAST_LEAD - _NEAR_A_HALF
    is_small = trace["scaled"] <= LARGEST_SCORE + _NEAR_A_HALF
    has_small_scores = is_small.all(axis=-1)
    return np.asarray(is_clear & has_small_scores)


def _sums_of_finite(scores: Doubles) -> Doubles:
    """What the finite numbers of each row add up to, without the sign."""
    finite = np.where(np.isfinite(scores), scores, 0)
    return np.asarray(abs(finite.sum(axis=-1)))


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
            is_blind = not keys.any()
            if is_blind:
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
    help = (
        "choose fewer tokens or shorter rows, such as --dims 4,2,3,5,"
        " or with several heads --dims 4,2,3,2"
    )
    if mask is not None:
        help = f"change --mask, which may leave a row no choice, or {help}"
    drawn = blocks * _DRAWS_OF_A_BLOCK
    return usage_error(f"no problem of {drawn:,} that were drawn {what}", help=help)
