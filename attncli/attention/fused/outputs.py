"""The outputs of the heads from queries, keys and values, and what a trace needs to know about the
steps between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.attention.chunks import chunks
from attncli.attention.fused.tiles import Tile, Tiles, tiles_of
from attncli.attention.parallel import Report, run_tasks
from attncli.attention.plan import Plan
from attncli.attention.registry import is_small
from attncli.attention.softmax import Known, softmax_equations, unknown_step
from attncli.dtypes import Dtype
from attncli.equation.rule import Rule
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import HEAD, KEY_HEAD, LEADING
from attncli.problem.parts.positions import replacements

Array = NDArray[Any]
# The size of a tile: its scores stay in a core's own cache.
ROWS, COLUMNS = 256, 768
# The scores that are dot products of queries and keys.
_DOT_PRODUCTS = ("scaled_dot", "dot", "multiplicative")
# Every intermediate number stays below the largest of the format by this factor.
_MARGIN = 4.0


class FusedOutputs(NamedTuple):
    """The outputs of the heads, whether the trace shifts its softmax, and the rows that see no
    key.
    """

    value: Array
    shifted: bool
    fully_masked: tuple[int | tuple[int, ...], ...]


def fused_outputs(
    plan: Plan,
    weights: Rule,
    output: Rule,
    shape: tuple[int, ...],
    arrays: Mapping[str, Array],
    *,
    scale: float | None,
    dtype: Dtype,
    lowest: float,
    report: Report | None = None,
    threads: int | None = None,
) -> FusedOutputs | None:
    """The step `output`, of this shape; None if the steps must be computed one by one.

    This is so if the plan has a step between keys and values whose equation the fused path does not
    know.

    `weights` is the rule of the weights, `arrays` has the small steps before the scores. A softmax
    is shifted if the largest exponent of a row is below `lowest`, or if its exponential overflows.
    """
    problem = plan.problem
    base = problem.exp_base.value if problem.exp_base else math.e
    if problem.score not in _DOT_PRODUCTS or not is_known(plan, output):
        return None
    if dtype.name != dtype.computed or base <= 1:
        return None
    log = math.log(base) if problem.exp_base else 1.0
    softcap = problem.softcap.value if problem.softcap else None
    heads = _Heads.of(
        plan, output, shape, arrays, _Exponent(1.0 if scale is None else scale, softcap, log)
    )
    largest_score, largest_values = (
        heads.largest_score(),
        np.maximum(heads.values.max(-2), -heads.values.min(-2)),
    )
    moved = _most_added(plan, arrays)
    if not max(
        1, abs(heads.exponent.scale)
    ) * largest_score + moved < dtype.largest / _MARGIN / max(1.0, log):
        return None
    if not float(largest_values.max()) * heads.values.shape[-2] < dtype.largest / _MARGIN:
        return None
    bounded = heads.is_bounded(largest_score, largest_values, dtype)
    while True:
        work = _Work(heads, bounded)
        run_tasks(work.blocks(), work.worker, threads, report)
        shifted = work.is_shifted(dtype, lowest)
        if shifted is not None:
            break
        # This time the largest exponent of each row is found.
        bounded = False
    masked = work.fully_masked(weights) if any(rule.name == "mask" for rule in plan.rules) else ()
    return FusedOutputs(work.output.reshape(shape), shifted, masked)


def is_known(plan: Plan, output: Rule) -> bool:
    """Whether the fused path knows all equations of the plan from the keys to the `output` of the
    heads.
    """
    known = _known_equations(plan, output)
    softmax = (*plan.softmax_rules(shift=False), *plan.softmax_rules(shift=True))
    rules = [*plan.rules, *(rule for rule in softmax if not is_small(rule)), output]
    # Any mask will do: tiles read its equation.
    names = {rule.name for rule in rules if not is_small(rule)} - {"mask"}
    if not names <= known.keys():
        return False
    return unknown_step(rules, known) is None


def _known_equations(plan: Plan, output: Rule) -> Known:
    """The equations that `_Work` computes, step by step: change both together."""
    problem, names = plan.problem, {rule.name for rule in plan.rules}
    replaced = replacements(problem.positions)
    queries, keys = (replaced.get(name, name) for name in "QK")
    projected = (
        f"sum(p, {queries}[i, p] * W_a[p, k])"
        if problem.score == "multiplicative"
        else f"{queries}[i, k]"
    )
    before_cap = "scaled" if "scaled" in names else "scores"
    masked = f"{'capped' if 'capped' in names else before_cap}[i, j]"
    if "bias" in names:
        masked += " + bias[i, j]"
    if "mask" in names:
        masked = f"add_mask({masked}, mask[i, j])"
    scale = "* scale" if isinstance(problem.scale, Scalar) else "/ sqrt(d_k)"
    return {
        "K_T": (f"K_T[k, j] = {keys}[j, k]",),
        "scores": (f"scores[i, j] = sum(k, {projected} * K_T[k, j])",),
        "scaled": (f"scaled[i, j] = scores[i, j] {scale}",),
        "capped": (f"capped[i, j] = softcap * tanh({before_cap}[i, j] / softcap)",),
        "bias": ("bias[i, j] = -slopes * abs(i - j)", "bias[i, j] = -slopes * abs(i + offset - j)"),
        "masked": (f"masked[i, j] = {masked}",),
        **softmax_equations(plan.logits, powers=problem.exp_base is not None),
        output.name: (f"{output.name}[i, c] = sum(j, weights[i, j] * V[j, c])",),
    }


@dataclass(frozen=True, slots=True)
class _Exponent:
    """How q·k becomes an exponent: multiplied by `scale`, limited by `softcap`, multiplied by the
    `log` of the base.
    """

    scale: float
    softcap: float | None
    log: float

    @property
    def factors(self) -> tuple[float, float]:
        """The factor for the queries before the product, and the factor for the tanh after it."""
        if self.softcap is None:
            return self.scale * self.log, 1.0
        return self.scale / self.softcap, self.softcap * self.log

    def most(self, score: float) -> float:
        """The largest exponent that a score of this size can give."""
        scaled = abs(self.scale) * score
        return abs(self.log) * (scaled if self.softcap is None else min(scaled, self.softcap))


@dataclass(frozen=True, slots=True)
class _Heads:
    """Queries, keys and values of all heads of all entries, numbered one after the other.

    Each array has a single leading axis for its own heads; `own` says for each array which place on
    this axis belongs to a head. `places` says for each leading letter which place a head has on it.
    """

    queries: Array
    keys: Array
    values: Array
    sinks: Array | None
    own: Mapping[str, NDArray[np.intp]]
    places: Mapping[str, NDArray[np.intp]]
    # The shape of the outputs.
    shape: tuple[int, ...]
    tiles: Tiles | None
    exponent: _Exponent

    @classmethod
    def of(
        cls,
        plan: Plan,
        output: Rule,
        shape: tuple[int, ...],
        arrays: Mapping[str, Array],
        exponent: _Exponent,
    ) -> _Heads:
        problem = plan.problem
        letters = [letter for letter in output.target.letters if letter in LEADING]
        grid = np.indices(shape[:-2]).reshape(len(letters), math.prod(shape[:-2]))
        places = dict(zip(letters, grid, strict=True))
        places.setdefault(
            KEY_HEAD, places.get(HEAD, np.zeros(grid.shape[1], dtype=np.intp)) // plan.axes.group
        )
        replaced = replacements(problem.positions)
        queries, keys = (arrays[replaced.get(name, name)] for name in "QK")
        queries = (
            np.matmul(queries, arrays["W_a"]) if problem.score == "multiplicative" else queries
        )
        sinks = np.asarray(problem.sink.value) if problem.sink else arrays.get("sink")
        own: dict[str, NDArray[np.intp]] = {}

        def flat(name: str, array: Array, rank: int = 2) -> Array:
            """The array with a single leading axis; also notes in `own` which place on it belongs
            to each head.
            """
            first = array.ndim - rank
            lengths = array.shape[:first]
            letters = plan.leading_axes.get(name, ())
            at = np.zeros(grid.shape[1], dtype=np.intp)
            for letter, length in zip(letters, lengths, strict=True):
                at = at * length + places[letter]
            own[name] = at
            return array.reshape(math.prod(lengths), *array.shape[first:])

        matrices = {
            name: given.value
            for name, given in plan.parameters.items()
            if isinstance(given, Matrix)
        }
        scalars = {
            name: given.value
            for name, given in plan.parameters.items()
            if isinstance(given, Scalar)
        }
        tiles = tiles_of(
            plan.rules, {**arrays, **matrices}, {**scalars, "inf": math.inf}, queries.dtype.type
        )
        return cls(
            flat("Q", queries),
            flat("K", keys),
            flat("V", arrays["V"]),
            None if sinks is None else flat("sink", sinks, 0),
            own,
            places,
            shape,
            tiles,
            exponent,
        )

    def __len__(self) -> int:
        return math.prod(self.shape[:-2])

    def take(self, name: str, array: Array, heads: slice) -> Array:
        """The part of an array for these heads; a view, if they are next to each other in it."""
        own = self.own[name][heads]
        side_by_side = own[-1] - own[0] == len(own) - 1
        return array[own[0] : own[-1] + 1] if side_by_side else array[own]

    def largest_score(self) -> float:
        """The largest possible dot product of a query and a key, from their lengths (Cauchy and
        Schwarz).
        """
        return math.prod(
            math.sqrt(_squares(array).max(initial=0.0)) for array in (self.queries, self.keys)
        )

    def is_bounded(self, largest_score: float, largest_values: Array, dtype: Dtype) -> bool:
        """Whether no exponential can overflow or vanish, also after it is multiplied by V and
        summed over the keys.

        A mask may add numbers of any size, so then the answer is False.
        """
        if self.tiles is not None and self.tiles.added:
            return False
        most = self.exponent.most(largest_score)
        columns = np.ones(1)
        if largest_values.any():
            columns = largest_values[largest_values > 0].astype(np.float64)
        keys = self.keys.shape[-2]
        above = most + math.log(keys) + max(math.log(columns.max()), 0) + 1
        if above > dtype.highest_exponent:
            return False
        below = min(math.log(columns.min()), 0) - most
        if below < dtype.lowest_exponent:
            return False
        if self.sinks is None:
            return True
        sinks = np.asarray(self.sinks) * self.exponent.log
        is_above_lowest = sinks > dtype.lowest_exponent
        is_below_highest = sinks < dtype.highest_exponent - 1
        return bool(is_above_lowest.all() and is_below_highest.all())


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows of some heads: of one large head, or of several small ones."""

    heads: slice
    rows: slice


@dataclass(slots=True)
class _Work:
    """The outputs, block by block; `bounded` where no exponential can be too large or too small.

    What is known of each row afterwards: its largest exponent lies between `low` and `high`, both
    -inf where it sees no key; and how many keys it has `seen`.
    """

    heads: _Heads
    bounded: bool
    output: Array = field(init=False)
    low: Array = field(init=False)
    high: Array = field(init=False)
    seen: Array = field(init=False)
    _keys: dict[int, list[Array]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        number, (rows, width) = len(self.heads), self.heads.shape[-2:]
        self.output = np.empty((number, rows, width), self.heads.queries.dtype)
        self.low, self.high = (np.full((number, rows), -math.inf) for _ in range(2))
        self.seen = np.zeros((number, rows), dtype=np.int64)

    def blocks(self) -> list[_Block]:
        """The blocks, last rows first: with a causal mask they see most keys, so that all threads
        end together.
        """
        rows, keys = self.heads.shape[-2], self.heads.keys.shape[-2]
        at_once = max(1, ROWS * COLUMNS // (min(rows, ROWS) * min(keys, COLUMNS)))
        blocks = [
            _Block(heads, part)
            for heads in chunks(len(self.heads), at_once)
            for part in chunks(rows, ROWS)
        ]
        return blocks[::-1]

    def worker(self) -> Callable[[_Block], None]:
        """The function that one thread calls for each block, with memory that it uses again and
        again.
        """
        scratch = _Scratch(self.output.dtype)
        return lambda block: self._work(block, scratch)

    def _work(self, block: _Block, scratch: _Scratch) -> None:
        """Compute the outputs of a block, and what is noted about its rows."""
        heads, exponent = self.heads, self.heads.exponent
        before, after = exponent.factors
        queries = heads.take("Q", heads.queries, block.heads)[:, block.rows]
        queries = queries * queries.dtype.type(before)
        values = heads.take("V", heads.values, block.heads)
        output, seen = self.output[block.heads, block.rows], self.seen[block.heads, block.rows]
        output[...] = 0
        total, largest = np.zeros((2, *output.shape[:2]), dtype=queries.dtype)
        largest -= math.inf
        product = scratch.product(output.shape)
        for keys, columns, tile in self._tiles(block):
            scores = np.matmul(
                queries, keys, out=scratch.scores((*output.shape[:2], keys.shape[-1]))
            )
            if exponent.softcap is not None:
                np.tanh(scores, out=scores)
                scores *= after
            if tile.added is not None:
                scores += tile.added if exponent.log == 1 else tile.added * exponent.log
            seen += tile.seen
            if not self.bounded:
                if tile.visible is not None:
                    np.copyto(scores, -math.inf, where=tile.visible == 0)
                _shift(scores, largest, total, output)
            np.exp(scores, out=scores)
            if self.bounded and tile.visible is not None:
                scores *= tile.visible
            # This is three times as fast as a sum.
            total += np.einsum("hij->hi", scores)
            output += np.matmul(scores, values[:, columns], out=product)
        self._finish(block, total, largest, output)

    def _tiles(self, block: _Block) -> Iterator[tuple[Array, slice, Tile]]:
        """The keys of each tile that some row sees, their columns, and the tile."""
        heads = self.heads
        for packed, columns in zip(
            self._packed(block.heads), chunks(heads.keys.shape[-2], COLUMNS), strict=True
        ):
            if heads.tiles is None:
                yield packed, columns, Tile(None, None, packed.shape[-1])
                continue
            places = {letter: place[block.heads] for letter, place in heads.places.items()}
            for piece, tile in heads.tiles.over(block.rows, columns, places, ROWS):
                if tile is not None:
                    yield (
                        packed[..., piece.start - columns.start : piece.stop - columns.start],
                        piece,
                        tile,
                    )

    def _packed(self, heads: slice) -> list[Array]:
        """The keys of these heads, transposed: an array for each tile, which the BLAS multiplies
        faster than a view.
        """
        # Two threads may both do this, with the same result.
        if heads.start not in self._keys:
            keys = self.heads.take("K", self.heads.keys, heads)
            pieces = chunks(keys.shape[-2], COLUMNS)
            self._keys[heads.start] = [
                np.ascontiguousarray(keys[:, piece].swapaxes(-1, -2)) for piece in pieces
            ]
        return self._keys[heads.start]

    def _finish(self, block: _Block, total: Array, largest: Array, output: Array) -> None:
        """Divide each row by its sum, the sink included."""
        sinks, at = self.heads.sinks, (block.heads, block.rows)
        if sinks is not None:
            sinks = self.heads.take("sink", sinks, block.heads)[:, None] * self.heads.exponent.log
        seen = self.seen[at]
        if self.bounded:
            np.log(total, out=self.high[at], where=seen > 0)
            self.low[at] = self.high[at] - np.log(np.maximum(seen, 1))
            if sinks is not None:
                total += np.exp(sinks)
        else:
            self.low[at] = self.high[at] = largest
            if sinks is not None:
                _shift(
                    np.broadcast_to(sinks, total.shape)[..., None].astype(total.dtype),
                    largest,
                    total,
                    output,
                )
                total += np.exp(sinks - largest)
        total[total == 0] = 1
        output /= total[..., None]

    def is_shifted(self, dtype: Dtype, lowest: float) -> bool | None:
        """Whether the trace shifts its softmax (`tracing/shift.py`); None if the bounds of the rows
        do not show it.
        """
        heads = self.heads
        terms = heads.keys.shape[-2]
        low, high = self.low, self.high
        if heads.sinks is not None:
            terms += 1
            of_heads = heads.take("sink", heads.sinks, slice(0, len(heads)))[:, None]
            sinks = of_heads * heads.exponent.log
            low = np.maximum(low, sinks)
            high = np.maximum(high, sinks)
        top = dtype.highest_exponent_of(terms)
        known = np.isfinite(high)
        low, high = low[known], high[known]
        if (low > top).any() or (high < lowest).any():
            return True
        if (high > top).any() or (low < lowest).any():
            return None
        return False

    def fully_masked(self, weights: Rule) -> tuple[int | tuple[int, ...], ...]:
        """The rows that see no key, as indices of the weights, which may have fewer leading axes
        than the output.
        """
        shape = self.heads.shape[:-2]
        leading = list(self.heads.places)[: len(shape)]
        # Heads that the weights do not tell apart all see the same keys, as the first one does.
        own: list[int | slice] = []
        for letter in leading:
            own.append(slice(None) if letter in weights.target.letters else 0)
        blind = (self.seen == 0).reshape(*shape, self.seen.shape[-1])
        rows: list[int | tuple[int, ...]] = []
        for place in np.argwhere(blind[tuple(own)]):
            row = tuple(map(int, place))
            rows.append(row[0] if len(row) == 1 else row)
        return tuple(rows)


class _Scratch:
    """Memory that a thread uses for one tile after another."""

    def __init__(self, dtype: Any) -> None:
        self._scores, self._product = np.empty(0, dtype), np.empty(0, dtype)

    def scores(self, shape: tuple[int, ...]) -> Array:
        if self._scores.size < math.prod(shape):
            self._scores = np.empty(math.prod(shape), self._scores.dtype)
        return self._scores[: math.prod(shape)].reshape(shape)

    def product(self, shape: tuple[int, ...]) -> Array:
        if self._product.size < math.prod(shape):
            self._product = np.empty(math.prod(shape), self._product.dtype)
        return self._product[: math.prod(shape)].reshape(shape)


def _most_added(plan: Plan, arrays: Mapping[str, Array]) -> float:
    """The most that the bias and the mask can change a score."""
    # Where there are several heads, slopes are a step of their own.
    single = plan.parameters.get("slopes")
    slopes = arrays.get("slopes", single.value if single else 0.0)
    farthest = 1 + plan.sizes["i"] + 2 * plan.sizes["j"]
    most = float(np.abs(slopes).max()) * farthest
    for name, given in plan.parameters.items():
        if name.startswith("additive"):
            array = np.asarray(given.value)
            finite = array[np.isfinite(array)]
            largest = np.abs(finite).max(initial=0.0)
            most += float(largest)
    return most


def _shift(scores: Array, largest: Array, total: Array, output: Array) -> None:
    """Subtract the largest score so far from these scores, and scale the earlier sums to match."""
    before = largest.copy()
    np.maximum(largest, scores.max(axis=-1), out=largest)
    by = np.where(largest == -math.inf, 0, largest)
    scores -= by[..., None]
    factor = np.exp(before - by)
    total *= factor
    output *= factor[..., None]


def _squares(rows: Array) -> Array:
    """The square of the length of each row."""
    squares: Array = np.einsum("...d,...d->...", rows, rows)
    return squares
