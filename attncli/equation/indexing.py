"""Indices: where they point, which axes come before them, and in which region a condition on them
holds.

An index is a letter, which runs over a whole axis, or an expression of letters and whole numbers, h
// group.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, count, product
from typing import Any, TypeAlias

from attncli.equation.functions import FUNCTIONS
from attncli.equation.indices import BATCH, HEAD, KEY_HEAD
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    number_node,
    rewrite,
    walk,
)

_LEADING = (BATCH, HEAD, KEY_HEAD)
_OF_A_DERIVATION: ContextVar[_Letters | None] = ContextVar("of_a_derivation", default=None)
# The letter of a query head within the group that one head of keys serves.
GROUP_MEMBER = "q"
# Matrix forms leave these letters out.
HEADS = (*_LEADING, GROUP_MEMBER)

# The position of each letter: {"i": 0, "j": 1}.
Place: TypeAlias = Mapping[str, int]
# The letters of batches and heads, for each array that has any.
LeadingAxes: TypeAlias = Mapping[str, Sequence[str]]


def position(index: str | Expression, place: Place, scalars: Mapping[str, Any]) -> int:
    """The position an index gives at a place; `scalars` are numbers, or nodes of numbers, that are
    whole.

    Where h is 3 and group is 2, h // group is 1.
    """
    match index:
        case str() as letter:
            return place[letter]
        case Name(name=name) if name in place:
            return place[name]
        case Name(name=name):
            scalar = scalars[name]
            # In full, a whole number may be printed as 2.0.
            return int(Fraction(scalar.text) if isinstance(scalar, Number) else scalar)
        case Number(value=value) if value is not None:
            return int(value)
        case Call(function=function, arguments=arguments):
            return int(
                FUNCTIONS[function].scalar(*(position(part, place, scalars) for part in arguments))
            )
        case Number() | Ref() | Reduce():
            raise TypeError(f"cannot be a position: {index!r}")


def index_names(index: str | Expression) -> Iterator[str]:
    """Every name in an index: its letters, and the numbers it is worked out with.

    >>> from attncli.equation.parser import parse_expression
    >>> list(index_names(parse_expression("h // group")))
    ['h', 'group']
    """
    if isinstance(index, str):
        yield index
    else:
        yield from (node.name for node in walk(index) if isinstance(node, Name))


def letters(index: str | Expression, known: Collection[str]) -> Iterator[str]:
    """The letters, of those known, that an index depends on.

    >>> from attncli.equation.parser import parse_expression
    >>> list(letters(parse_expression("h // group"), known={"h", "i", "j"}))
    ['h']
    """
    names = index_names(index)
    return (name for name in names if name in known)


def all_letters(equation: Equation) -> frozenset[str]:
    """All index letters of an equation, by which i in j <= i is known from a scalar such as d_k.

    >>> from attncli.equation.parser import parse_equation
    >>> sorted(all_letters(parse_equation("S[i, j] = sum(k, Q[i, k] * K_T[k, j]) / sqrt(d_k)")))
    ['i', 'j', 'k']
    """
    summed = {node.index for node in walk(equation.expression) if isinstance(node, Reduce)}
    return frozenset(equation.target.letters) | summed


def free_names(expression: Expression) -> frozenset[str]:
    """Every name that the value depends on, in indices or by itself; what is summed over is not
    among them.

    Of Σ_k Q[i, k]·K_T[k, j], these are i and j.
    """
    match expression:
        case Ref(indices=indices):
            return frozenset(name for index in indices for name in index_names(index))
        case Name(name=name):
            return frozenset((name,))
        case Call(arguments=arguments):
            return frozenset[str]().union(*map(free_names, arguments))
        case Reduce(index=index, body=body):
            return free_names(body) - {index}
        case Number():
            return frozenset()


def replace_letters(expression: Expression, new: Mapping[str, str | Expression]) -> Expression:
    """The same expression with other letters, or with expressions for letters.

    A sum over a letter that comes in gets another letter: Σ_k Q[i, k]·w[p] becomes Σ_l Q[i, l]·w[k]
    with k for p.
    """
    match expression:
        case Ref(name=name, indices=indices):
            return Ref(name, tuple(_index_with(index, new) for index in indices))
        case Name(name=name) if name in new:
            index = new[name]
            return Name(index) if isinstance(index, str) else index
        case Call(arguments=arguments):
            replaced = tuple(replace_letters(argument, new) for argument in arguments)
            return replace(expression, arguments=replaced)
        case Reduce(index=index, body=body):
            changeable = free_names(body) - {index}
            free = {name: to for name, to in new.items() if name in changeable}
            brought = {name for to in free.values() for name in index_names(to)}
            if index in brought:
                other = unused_letter(names_in(body) | brought, index)
                free[index] = other
                index = other
            return Reduce(expression.function, index, replace_letters(body, free))
        case Number() | Name():
            return expression


def _index_with(index: str | Expression, new: Mapping[str, str | Expression]) -> str | Expression:
    if isinstance(index, str):
        return new.get(index, index)
    found = replace_letters(index, new)
    return found.name if isinstance(found, Name) and found.name in new.values() else found


def names_in(expression: Expression) -> frozenset[str]:
    """Every name that stands in it: of arrays and numbers, and all letters, those summed over among
    them.

    >>> from attncli.equation.parser import parse_expression
    >>> sorted(names_in(parse_expression("sum(k, Q[i, k] * K_T[k, j]) / sqrt(d_k)")))
    ['K_T', 'Q', 'd_k', 'i', 'j', 'k']
    """
    names = {*free_names(expression)}
    for node in walk(expression):
        match node:
            case Ref(name=name):
                names.add(name)
            case Reduce(index=index, body=body):
                names.add(index)
                names |= free_names(body)
            case Number() | Name() | Call():
                pass
    return frozenset(names)


def unused_letter(taken: Collection[str], like: str = "") -> str:
    """A letter for a sum whose own letter, which it is `like`, already stands for something else.

    >>> unused_letter({"i", "j", "k"})
    'l'
    """
    numbered = (f"l{number}" for number in count(2))
    letters = _OF_A_DERIVATION.get()
    candidates = (letter for letter in chain("lwfxyz", numbered) if letter not in taken)
    if letters is None:
        return next(candidates)
    return next(letter for letter in candidates if letters.take(letter, like))


@dataclass(frozen=True, slots=True)
class _Letters:
    """The letters of a problem's own axes, which no sum takes that is derived; how long letters
    are; and what each letter of such a sum stands for, always the same.
    """

    own: frozenset[str]
    lengths: dict[str, int]
    stands_for: dict[str, str]

    def take(self, letter: str, like: str) -> bool:
        """Whether a letter may be one like this, which it then is."""
        first = self.stands_for.get(like, like)
        if letter in self.own or self.stands_for.get(letter, first) != first:
            return False
        if letter not in self.stands_for and letter in self.lengths:
            return False
        self.stands_for[letter] = first
        if first in self.lengths:
            self.lengths[letter] = self.lengths[first]
        return True


@contextmanager
def avoiding(letters: Collection[str], lengths: dict[str, int]) -> Iterator[None]:
    """Inside, no sum takes one of these letters, which stand for axes of a problem's own, and a
    letter that a sum takes stands for one letter: its length is put among the `lengths`.
    """
    found = _Letters(frozenset(letters), lengths, {})
    before = _OF_A_DERIVATION.set(found)
    try:
        yield
    finally:
        _OF_A_DERIVATION.reset(before)


def with_letters_of_its_own(expression: Expression, taken: frozenset[str]) -> Expression:
    """The same with another letter for each sum inside whose letter is taken, by a cell or by a sum
    around it.
    """
    match expression:
        case Call(arguments=arguments):
            return replace(
                expression,
                arguments=tuple(with_letters_of_its_own(each, taken) for each in arguments),
            )
        case Reduce(function=function, index=index, body=body):
            if index in taken:
                other = unused_letter(taken | names_in(body), index)
                index, body = other, replace_letters(body, {index: other})
            return Reduce(function, index, with_letters_of_its_own(body, taken | {index}))
        case Number() | Name() | Ref():
            return expression


def add_axes(
    equation: Equation, leading: LeadingAxes, order: Sequence[str], shared: Mapping[str, Expression]
) -> Equation:
    """The equation of a single head, for arrays with leading axes: S[i, j] = … becomes S[b, h, i,
    j] = ….

    The target takes the leading letters of all it reads, in this order, but for those that are
    summed over there. `shared` says which position on a shared axis belongs to a letter's: {"g":
    h // group} reads a head of keys for the query head h, wherever h is there.
    """
    read = {node.name for node in walk(equation.expression) if isinstance(node, Ref | Name)}
    # A head that counts with its own position is one of all heads.
    named = free_names(equation.expression).intersection(_LEADING)
    if read.isdisjoint(leading) and named <= {*equation.target.letters}:
        # Nothing that it reads has such axes.
        return equation
    found = {*equation.target.letters, *named}
    for name in read:
        found.update(leading.get(name, ()))
    left = {*named, *_leading_left(equation.expression, leading, shared, frozenset())}
    if left.isdisjoint((HEAD, KEY_HEAD)):
        # All heads are added up.
        found -= {HEAD, KEY_HEAD} - {*equation.target.letters}
    found -= {BATCH} - left - {*equation.target.letters}
    through = _read_through(shared, found)
    added = found - through.keys()
    first = tuple(letter for letter in order if letter in added)
    own = tuple(letter for letter in equation.target.letters if letter not in first)
    target = replace(equation.target, indices=(*first, *own))
    # The head of keys that an equation counts with is that of its head of queries.
    counted = {letter: through[letter] for letter in named.intersection(through)}
    expression = replace_letters(equation.expression, counted)
    return Equation(target, _with_leading(expression, leading, shared, frozenset(found)))


def _read_through(
    shared: Mapping[str, Expression], found: Collection[str]
) -> Mapping[str, Expression]:
    """The shared axes that are read by a letter that is there."""
    return {letter: index for letter, index in shared.items() if any(letters(index, found))}


def _with_leading(
    node: Expression,
    leading: LeadingAxes,
    shared: Mapping[str, Expression],
    there: frozenset[str],
) -> Expression:
    """An expression with the leading indices of all that it reads, where these letters are."""
    match node:
        case Ref(name=name) | Name(name=name) if name in leading:
            through = _read_through(shared, there)
            before = [through.get(letter, letter) for letter in leading[name]]
            after = node.indices if isinstance(node, Ref) else ()
            return Ref(name, (*before, *after))
        case Call(arguments=arguments):
            changed = tuple(_with_leading(each, leading, shared, there) for each in arguments)
            return node if changed == arguments else replace(node, arguments=changed)
        case Reduce(index=index, body=body):
            inside = _with_leading(body, leading, shared, there | {index})
            return node if inside == body else replace(node, body=inside)
        case Number() | Name() | Ref():
            return node


def _leading_left(
    node: Expression,
    leading: LeadingAxes,
    shared: Mapping[str, Expression],
    summed: frozenset[str],
) -> Iterator[str]:
    """The leading letters of what an expression reads that no sum around it runs over: those of a
    shared axis belong to the letter by which it is read.
    """
    match node:
        case Ref(name=name) | Name(name=name):
            for letter in leading.get(name, ()):
                index = shared.get(letter)
                is_gone = letter in summed or (index is not None and any(letters(index, summed)))
                if not is_gone:
                    yield letter
        case Call(arguments=arguments):
            for argument in arguments:
                yield from _leading_left(argument, leading, shared, summed)
        case Reduce(index=index, body=body):
            yield from _leading_left(body, leading, shared, summed | {index})
        case Number():
            pass


def fix_axes(expression: Expression, fixed: Place, known: Collection[str] = ()) -> Expression:
    """The expression of one place on the fixed axes, without their indices; what then has none is a
    number.

    An index that depends on other letters, too, keeps its axis: h * d_v + c is 2 * d_v + c at h =
    2. So does one behind those of leading axes: where d_v is 1, concat[i, h] is concat[i, 2].
    A letter that stands for its own position is that number. `known` are the letters of the
    equation.
    """
    summed = {node.index for node in walk(expression) if isinstance(node, Reduce)}

    def change(node: Expression) -> Expression:
        if not isinstance(node, Ref) or not node.indices:
            return node
        left = []
        is_behind_own = False
        for index in node.indices:
            is_gone = is_fixed(index, fixed, known)
            if is_behind_own or not is_gone:
                left.append(_index_at(index, fixed))
            if not is_gone and index not in _LEADING:
                is_behind_own = True
        return Ref(node.name, tuple(left)) if left else Name(node.name)

    def number(node: Expression) -> Expression:
        if isinstance(node, Name) and node.name in fixed and node.name not in summed:
            return number_node(fixed[node.name])
        return node

    return rewrite(rewrite(expression, change), number)


def is_fixed(index: str | Expression, fixed: Collection[str], known: Collection[str] = ()) -> bool:
    """Whether an index is a fixed letter, or an expression of fixed letters alone, such as h //
    group.
    """
    is_any = False
    for name in index_names(index):
        if name in fixed:
            is_any = True
        elif name in known:
            return False
    return is_any


def _index_at(index: str | Expression, fixed: Place) -> str | Expression:
    """An index with numbers for the fixed letters: h * d_v + c is c at h = 0, and d_v + c at h =
    1.
    """

    def put(node: Expression) -> Expression:
        match node:
            case Name(name=name) if name in fixed:
                return number_node(fixed[name])
            case Call("mul", (Number(value=number), by)) if number in (0, 1):
                return by if number else number_node(0)
            case Call("add", (Number(value=number), term)) if number == 0:
                return term
        return node

    if isinstance(index, str):
        index = Name(index)
    found = rewrite(index, put)
    if isinstance(found, Name):
        return found.name
    return found


def _indices_in(expression: Expression) -> Iterator[str | Expression]:
    """The indices of all cells that an expression reads."""
    for node in walk(expression):
        if isinstance(node, Ref):
            yield from node.indices


@dataclass(frozen=True, slots=True)
class Region:
    """The places of some letters at which something holds, among `every` place there is."""

    letters: tuple[str, ...]
    places: frozenset[tuple[int, ...]]
    every: frozenset[tuple[int, ...]]

    @property
    def complement(self) -> Region:
        """The places at which it does not hold."""
        return Region(self.letters, self.every - self.places, self.every)

    @property
    def is_everywhere(self) -> bool:
        return self.places == self.every

    def __contains__(self, place: Place) -> bool:
        return tuple(place[letter] for letter in self.letters) in self.places


@dataclass(frozen=True, slots=True)
class IndexSpace:
    """How far each letter runs, and the numbers that conditions and indices are worked out with.

    Whether two conditions, or two indices, are the same is not derived by algebra but looked up at
    every place: indices are small whole numbers, there are few of them, and no rule about `//` and
    `%` can then be wrong.
    """

    lengths: Mapping[str, int]
    scalars: Mapping[str, Any]
    # Of the arrays that are known to be read, and their gradients.
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def with_lengths(self, lengths: Mapping[str, int]) -> IndexSpace:
        """The same with other lengths of some letters."""
        return replace(self, lengths={**self.lengths, **lengths})

    def of_equation(self, equation: Equation, of_cell: Mapping[str, int]) -> IndexSpace:
        """The space of one equation that reads a cell: a letter may run farther in another.

        So may e, of which a problem's own equations make an axis of theirs, and which counts the
        features of all heads in one of ours.
        """
        shape = self.shapes.get(equation.target.name, ())
        if len(shape) != len(equation.target.letters):
            return self.with_lengths(of_cell)
        of_result = dict(zip(equation.target.letters, shape, strict=True))
        return self.with_lengths({**of_result, **of_cell})

    def region(self, run: Sequence[str], holds: Callable[[Place], bool]) -> Region:
        """The places of these letters at which something holds."""
        every = set()
        places = set()
        for place in self._every_place(run):
            at = tuple(place.values())
            every.add(at)
            if holds(place):
                places.add(at)
        return Region(tuple(run), frozenset(places), frozenset(every))

    def holds(self, condition: Expression, place: Place) -> bool:
        """Whether a condition on positions holds at a place."""
        return bool(position(condition, place, self.scalars))

    def describes(self, condition: Expression, region: Region) -> bool:
        """Whether a condition holds in just this region."""
        if {*letters(condition, self.lengths)} != {*region.letters}:
            return False
        return self.region(region.letters, lambda place: self.holds(condition, place)) == region

    def is_inside(self, index: str | Expression, letter: str, place: Place) -> bool:
        """Whether an index, which stands for this letter, is a position that the letter runs
        through.
        """
        return 0 <= position(index, place, self.scalars) < self.lengths[letter]

    def simplify_indices(
        self, expression: Expression, equation: Equation, region: Region
    ) -> Expression:
        """The expression with each computed index as a letter, or as the equation spells it, where
        that is the same.

        They need to be the same in this region only.
        """
        own = list(dict.fromkeys(_indices_in(equation.expression)))
        plainer: dict[Expression, str | Expression] = {}
        for index in _indices_in(expression):
            if not isinstance(index, str) and self._is_known(index):
                plainer[index] = self._plainest(index, own, region)

        def plain(index: str | Expression, length: int | None) -> str | Expression:
            found = index if isinstance(index, str) else plainer.get(index, index)
            # A letter stands for a whole axis.
            is_part = isinstance(found, str) and length not in (None, self.lengths.get(found))
            return index if is_part else found

        def change(node: Expression) -> Expression:
            if not isinstance(node, Ref):
                return node
            lengths = self.shapes.get(node.name, (None,) * len(node.indices))
            indices = tuple(map(plain, node.indices, lengths))
            return replace(node, indices=indices)

        return rewrite(expression, change)

    def _is_known(self, index: Expression) -> bool:
        """Whether all letters and numbers of an index are known."""
        return all(name in self.lengths or name in self.scalars for name in index_names(index))

    def _plainest(
        self, index: Expression, own: Sequence[str | Expression], region: Region
    ) -> str | Expression:
        """A letter that an index depends on, or one of the equation's `own` indices, where that is
        the same; else the index itself.
        """
        depends = tuple(dict.fromkeys(letters(index, self.lengths)))
        alike = []
        for other in own:
            if {*letters(other, self.lengths)} == {*depends}:
                alike.append(other)
        for other in (*depends, *alike):
            if self._same(index, other, depends, region):
                return other
        return index

    def _same(
        self, one: Expression, other: str | Expression, depends: Sequence[str], region: Region
    ) -> bool:
        run = tuple(dict.fromkeys((*depends, *region.letters)))
        for place in self._every_place(run):
            if place not in region:
                continue
            if position(one, place, self.scalars) != position(other, place, self.scalars):
                return False
        return True

    def _every_place(self, run: Sequence[str]) -> Iterator[Place]:
        ranges = (range(self.lengths[letter]) for letter in run)
        return (dict(zip(run, place, strict=True)) for place in product(*ranges))
