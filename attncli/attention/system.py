"""Equations of a person's own as a part of the plan: ours are the defaults of a system in which any
step may be replaced, and any may be added.

The steps are put into an order in which each comes after what it reads, as ours stand where they
can. What nobody reads any more is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from attncli.attention.own_sizes import OwnSizes
from attncli.attention.own_words import in_words
from attncli.attention.registry import FORWARD, OF_OWN, RULES
from attncli.english import count, listed
from attncli.equation.indexing import HEADS, LeadingAxes, all_letters, index_names
from attncli.equation.indices import INDICES, KEPT, is_letter
from attncli.equation.matrix_form import matrix_form
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    cells,
    rewrite,
    walk,
)
from attncli.equation.notation import PYTHON
from attncli.equation.other_notations.words import OTHER_NUMBERS
from attncli.equation.printer import write
from attncli.equation.rule import Rule, needed_for
from attncli.equation.symbols import symbol
from attncli.errors import AttncliError, Place, did_you_mean, input_error
from attncli.problem.keys import array_path
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import BATCH, HEAD, LEADING, of_one_head
from attncli.problem.parts.equations import OwnArray, OwnEquation, System, free_name

# The length of the axis of a letter: n_j is the number of keys.
LENGTH = re.compile(r"n_[a-z]")

# The indices of heads and entries that may stand before those of a cell: they are those of the
# equation.
_OF_HEADS_AND_ENTRIES = ((HEAD,), (BATCH,), (BATCH, HEAD))


def length_name(letter: str) -> str:
    """What the length of an axis is called in equations: d_k for k, n_t for a letter of theirs.

    A single letter is an index there, so that the number of queries is n_i.
    """
    known = INDICES.get(letter) if letter in KEPT else None
    if known and len(known.length) > 1:
        return known.length
    return f"n_{letter}"


def given_rule(array: OwnArray) -> Rule:
    """The rule of an array that equations read besides."""
    # A page would say: W G W_G.
    title = _title(array.name) if symbol(array.name).is_word else "Array"
    return Rule(
        array.name,
        array.name,
        title,
        # Those of heads and entries are put in with those of all arrays.
        Ref(array.name, of_one_head(array.letters)),
        meaning="The problem gives it, for its own equations.",
        gradient="What comes back from every step that reads it, added up.",
        own=True,
    )


def _title(name: str) -> str:
    """The title that a name makes: key_sum is Key sum, and q_raw, with a letter in it, q_raw."""
    words = name.split("_")
    if any(len(word) < 2 for word in words):
        return name
    return " ".join((words[0][:1].upper() + words[0][1:], *words[1:]))


@dataclass(frozen=True)
class SystemSteps:
    """The steps of a problem with equations of its own.

    `ours` are the built-in rules that the problem would have without them, with and without a
    shift. `leading` are the leading axes of the arrays that are given, `parameters` the numbers
    that equations may name.
    """

    system: System
    ours: Mapping[str, Rule]
    leading: LeadingAxes
    parameters: Collection[str]

    @cached_property
    def own(self) -> Mapping[str, OwnEquation]:
        """The equations by their names."""
        return self.system.replaced

    @cached_property
    def arrays(self) -> Mapping[str, OwnArray]:
        """The arrays by their names."""
        return {each.name: each for each in self.system.arrays}

    def check(self) -> None:
        """Raises AttncliError for a name that is given twice, that nobody knows, or nobody
        reads.
        """
        for name, own in self.own.items():
            if self._is_taken(name):
                raise own.error(
                    f"{name} has a meaning of its own in problems",
                    f"give the step another name, such as {free_name(name)}",
                )
            if name in self.arrays:
                raise own.error(
                    f"{name} is given in arrays, and defined here", "give one of them another name"
                )
            known = self.ours.get(name)
            if known is not None and known.given:
                raise own.error(
                    f"the problem gives {name}, and it is defined here",
                    f"remove {name}, or give the step another name",
                )
        read = {name for own in self.own.values() for name in self._names(own)}
        for name, array in self.arrays.items():
            if self._is_taken(name):
                raise array.error(
                    f"{name} has a meaning of its own in problems",
                    f"give the array another name, such as {free_name(name)}",
                )
            if name in self.ours:
                raise array.error(
                    f"{name} is a step of this problem",
                    f"give it another name, such as {free_name(name)}",
                )
            if name not in read:
                raise array.error("no equation reads it", f"remove {name}, or use it")
        if self.system.result not in {*self.own, *self.ours}:
            names = [*self.own, *(name for name, rule in self.ours.items() if not rule.given)]
            help = did_you_mean(self.system.result, names, f"the steps are {', '.join(names)}")
            raise input_error(
                f"there is no step {self.system.result}",
                path="result",
                place=self.system.result_place,
                help=help,
            )

    def _is_taken(self, name: str) -> bool:
        """Whether a name is that of a number, of a gradient, of a step of a loss, or of a cache."""
        # With a cache, keys and values are those of it, too; pi is a number of the language.
        if name in ("past_K", "past_V", "pi"):
            return True
        return name in self.parameters or (name in RULES and name not in FORWARD)

    def _names(self, own: OwnEquation) -> Iterator[str]:
        for node in walk(own.equation.expression):
            if isinstance(node, Ref | Name):
                yield node.name

    def rules(self, ours: Mapping[str, Rule]) -> dict[str, Rule]:
        """Every step that could be worked out, by name: these of ours with those of the person in
        their places, then the others as they are written.
        """
        found = {}
        for name, array in self.arrays.items():
            found[name] = given_rule(array)
        for name, rule in ours.items():
            found[name] = self._own_rules.get(name) or self._with_cells(rule)
        for name, rule in self._own_rules.items():
            found.setdefault(name, rule)
        return found

    def _with_cells(self, rule: Rule) -> Rule:
        """A rule of ours in which an array of one number for each head is a cell, as other arrays
        are: so the rule is known to read it.
        """
        if rule.given:
            return rule

        def change(node: Expression) -> Expression:
            if isinstance(node, Name) and node.name in self.ours:
                return Ref(node.name)
            return node

        equation = rule.equation
        expression = rewrite(equation.expression, change)
        if expression == equation.expression:
            return rule
        return rule.with_formula(replace(equation, expression=expression), rule.matrix_form)

    @cached_property
    def _own_rules(self) -> Mapping[str, Rule]:
        in_order = dict.fromkeys((*self.ours, *self.own))
        return {name: self._rule_of(self.own[name]) for name in in_order if name in self.own}

    def _rule_of(self, own: OwnEquation) -> Rule:
        name = own.name
        equation = self._resolved(own)
        known = RULES.get(name)
        symbol = own.symbol or (known.symbol if known else name)
        title = own.title or (known.title if known else _title(name))
        form = matrix_form(equation, HEADS)
        return Rule(
            name,
            symbol,
            title,
            equation,
            form,
            meaning=own.meaning or in_words(equation),
            why=own.why,
            gradient=OF_OWN,
            own=True,
        )

    def _resolved(self, own: OwnEquation) -> Equation:
        """The equation with every name as what it is: a letter, a number, or a step without
        axes.
        """
        equation = own.equation
        self._check_letters(own)

        def resolve(node: Expression) -> Expression:
            match node:
                case Name(name=name) if is_letter(name):
                    return node
                case Name(name=name):
                    return self._number(own, node)
                case Ref(name=name, indices=indices):
                    return Ref(name, self._indices(own, name, indices))
                case Call("softmax"):
                    raise own.error(
                        "softmax has to stand alone on the right side",
                        "write a step of its own: weights[i, j] = softmax(j, scaled[i, j])",
                        "softmax",
                    )
                case Number() | Call() | Reduce():
                    return node

        return Equation(equation.target, rewrite(equation.expression, resolve))

    def _number(self, own: OwnEquation, node: Name) -> Expression:
        """A name without indices: a length, a number of the problem, or a step that has no axes."""
        name = node.name
        if LENGTH.fullmatch(name):
            return Name(length_name(name[2:]))
        if name in self.parameters:
            return node
        if self._axes_of(own, name):
            raise own.error(
                f"{name} has {count(len(self._axes_of(own, name)), 'axis', 'axes')}, and is read"
                " without indices",
                f"write {name}[{', '.join(self._axes_of(own, name))}]",
                name,
            )
        return Ref(name)

    def _indices(
        self, own: OwnEquation, name: str, indices: Sequence[str | Expression]
    ) -> tuple[str | Expression, ...]:
        """The indices of a cell without those of heads and entries, which are put in later."""
        axes = self._axes_of(own, name)
        given = tuple(indices)
        extra = len(given) - len(axes)
        before = given[:extra] if extra > 0 else ()
        if before and before in _OF_HEADS_AND_ENTRIES:
            return given[extra:]
        if before and before == tuple(self.leading.get(name, ())):
            return given[extra:]
        if before and self._has_heads and extra <= len(LEADING):
            raise self._other_head(own, name, before, axes)
        if extra:
            raise own.error(
                f"{name} has {count(len(axes), 'axis', 'axes')}, and is read with"
                f" {count(len(indices), 'index', 'indices')}",
                f"write {name}[{', '.join(axes)}]" if axes else f"write {name}",
                name,
            )
        return given

    @property
    def _has_heads(self) -> bool:
        """Whether something that is given has heads or entries."""
        return any(self.leading.values())

    def _other_head(
        self,
        own: OwnEquation,
        name: str,
        before: Sequence[str | Expression],
        axes: Sequence[str],
    ) -> AttncliError:
        """The error for a cell of a head or an entry that is not that of the equation."""
        other = next(each for each in before if each not in (HEAD, BATCH))
        said = other if isinstance(other, str) else write(other, PYTHON)
        cell = f"{name}[{', '.join(axes)}]" if axes else name
        return own.error(
            f"an equation reads the cells of one head at a time, and {said} is another head",
            f"write {cell} for the same head, and sum(h, {cell}) for all; to mix heads, give arrays"
            " with a letter of your own for heads, such as W[a, d, k]",
            name,
        )

    def _axes_of(self, own: OwnEquation, name: str) -> tuple[str, ...]:
        """The letters of a step or an array without those of heads and entries; AttncliError for
        one that is not there.
        """
        if name in self.own:
            return of_one_head(self.own[name].equation.target.letters)
        if name in self.arrays:
            return of_one_head(self.arrays[name].letters)
        if name in self.ours:
            return self.ours[name].target.letters
        there = [*self.own, *self.arrays, *self.ours]
        if name in OTHER_NUMBERS:
            raise own.error(f"nothing is called {name}", f"write {OTHER_NUMBERS[name]}", name)
        cell = re.fullmatch(r"(\w+?)_([a-z]{1,3})", name)
        if cell and cell[1] in there:
            help = f"write {cell[1]}[{', '.join(cell[2])}]"
            raise own.error(f"nothing is called {name}", help, name)
        if name in RULES:
            help = f"the steps here are {listed([*self.ours])}"
            raise own.error(f"this problem has no {name}", help, name)
        for step, rule in self.ours.items():
            if rule.symbol == name:
                read = f"{step}[{', '.join(rule.target.letters)}]"
                raise own.error(
                    f"nothing is called {name}",
                    f"write {read}: {name} is its symbol on the page",
                    name,
                )
        help = did_you_mean(name, there, f"give it under arrays, or define it: {name}[i] = …")
        raise own.error(f"nothing is called {name}", help, name)

    def _check_letters(self, own: OwnEquation) -> None:
        """Every letter of an index stands on the left, or is summed over where it stands."""
        known = frozenset((*own.equation.target.letters, *LEADING))
        self._check_inside(own, own.equation.expression, known)

    def _check_inside(self, own: OwnEquation, node: Expression, known: frozenset[str]) -> None:
        match node:
            case Ref(indices=indices):
                for name in (each for index in indices for each in index_names(index)):
                    self._check_letter(own, name, known)
            case Name(name=name):
                self._check_letter(own, name, known, OTHER_NUMBERS.get(name, ""))
            case Call(arguments=arguments):
                for argument in arguments:
                    self._check_inside(own, argument, known)
            case Reduce(index=index, body=body):
                self._check_inside(own, body, known | {index})
            case Number():
                pass

    def _check_letter(
        self, own: OwnEquation, name: str, known: frozenset[str], meant: str = ""
    ) -> None:
        """A letter has to have a place; `meant` is what other notations mean by it."""
        if is_letter(name) and name not in known:
            help = f"put it on the left side, or write sum({name}, …)"
            if meant:
                help = f"write {meant}"
            raise own.error(f"{name} is neither on the left side nor summed over", help, name)

    def ordered(self, rules: Mapping[str, Rule], wanted: Iterable[str]) -> list[Rule]:
        """The rules that what is wanted needs, each after those that it reads, and else in their
        order.
        """
        needed = needed_for(wanted, rules)
        found: dict[str, Rule] = {}
        for name in rules:
            if name in needed:
                self._place(name, rules, found, ())
        return list(found.values())

    def _place(
        self,
        name: str,
        rules: Mapping[str, Rule],
        found: dict[str, Rule],
        around: tuple[str, ...],
    ) -> None:
        """Put a rule behind those that it reads; AttncliError for a circle."""
        if name in found or name not in rules:
            return
        if name in around:
            raise self._circle((*around[around.index(name) :], name))
        for each in rules[name].inputs:
            self._place(each, rules, found, (*around, name))
        found[name] = rules[name]

    def _circle(self, names: Sequence[str]) -> AttncliError:
        at = next(at for at, name in enumerate(names) if name in self.own)
        own, read = self.own[names[at]], names[(at + 1) % len(names)]
        # Of a step that reads itself, the left side has the name, too.
        start = own.source.find("=") + 1
        found = re.search(rf"(?<!\w){re.escape(read)}(?!\w)", own.source[start:])
        return own.error_at(
            f"the steps need each other in a circle: {' → '.join(names)}",
            "a step can read only steps that do not need it",
            start + found.start() if found else 0,
        )


@dataclass(frozen=True)
class Lengths:
    """How long each axis is in the steps of a system, found step by step.

    `known` are the lengths of the letters that keep their meaning, `shapes` those of all arrays so
    far.
    """

    known: Mapping[str, int]
    shapes: dict[str, tuple[int, ...]]
    own: Mapping[str, OwnEquation]
    parameters: dict[str, Scalar | Matrix]
    # Where the given arrays stand in a file; and under no name, where it begins.
    places: Mapping[str, Place] = field(default_factory=dict)
    # The lengths that no array on the right of an equation tells.
    needed: dict[str, int] = field(default_factory=dict)

    # How long each letter of theirs is, and where it stands so.
    letters: dict[str, tuple[int, str]] = field(default_factory=dict)

    def take(self, array: OwnArray) -> None:
        """The letters of an array; AttncliError where they are of another length elsewhere."""
        for letter, length in zip(array.letters, array.matrix.shape, strict=True):
            if letter not in KEPT:
                self.needed[letter] = length
            known = self.known.get(letter) if letter in KEPT else None
            size, where = self.letters.setdefault(letter, (length, array.name))
            if known is not None:
                size, where = known, "this problem"
            if size != length:
                raise array.error(
                    f"{letter} runs to {length} here, and to {size} in {where}",
                    "axes with the same letter have the same length",
                )

    @property
    def lengths(self) -> dict[str, int]:
        """How long each letter of theirs is."""
        return {letter: length for letter, (length, _) in self.letters.items()}

    def sized(self, rule: Rule) -> Rule:
        """The rule, which knows how long its letters are, and whose shape is known from now on."""
        if rule.given:
            return rule
        found = self.add(rule)
        there = {**self.known, **found}
        lengths = {
            letter: there[letter] for letter in all_letters(rule.equation) if letter in there
        }
        if not rule.own:
            # A query may be of another length than a key.
            others = {
                letter: size for letter, size in found.items() if size != self.known.get(letter)
            }
            lengths = {**dict(rule.lengths), **others}
        return replace(rule, lengths=tuple(lengths.items())) if lengths else rule

    def add(self, rule: Rule) -> Mapping[str, int]:
        """The shape of a step, and the lengths that its equation takes a mean over; how long the
        letters are that it reads arrays with.
        """
        own = self.own.get(rule.name)
        found: dict[str, tuple[int, str]] = {}
        for cell, conditions in cells(rule.equation.expression):
            if cell.name in self.shapes:
                self._add_cell(cell, found, own, is_chosen=bool(conditions))
        shape = [self._length_of(letter, rule, found) for letter in rule.target.letters]
        self.shapes[rule.name] = tuple(shape)
        for node in walk(rule.equation.expression):
            if isinstance(node, Reduce) and own is not None:
                self._add_length(node.index, found, own)
        if own is not None:
            self._add_named_lengths(found, own)
            self._check_sizes(rule, found, own)
        return {letter: length for letter, (length, _) in found.items()}

    def _length_of(self, letter: str, rule: Rule, found: Mapping[str, tuple[int, str]]) -> int:
        """How long an axis of a step is: by the arrays that it reads, or as the step itself knows,
        or the whole problem; AttncliError where none of them says it.
        """
        if letter in found:
            length, _ = found[letter]
            return length
        of_the_step = dict(rule.lengths)
        if letter in of_the_step:
            return of_the_step[letter]
        if letter in self.known:
            length = self.needed[letter] = self.known[letter]
            return length
        own = self.own[rule.name]
        raise own.error(
            f"nothing on the right side says how long {letter} is",
            f"read an array with the index {letter}, such as ones[{letter}] under arrays: 1"
            f" * ones[{letter}]",
            letter,
        )

    def _check_sizes(
        self, rule: Rule, found: Mapping[str, tuple[int, str]], own: OwnEquation
    ) -> None:
        """Raises AttncliError where the equation reads what is not there, or makes too much."""
        sizes = {**self.known, **{letter: length for letter, (length, _) in found.items()}}
        scalars = {}
        for name, given in self.parameters.items():
            if isinstance(given, Scalar):
                scalars[name] = given.value
        OwnSizes(own, rule.equation, self.shapes, sizes, scalars).check()

    def _add_named_lengths(self, found: Mapping[str, tuple[int, str]], own: OwnEquation) -> None:
        """The lengths that an equation names, such as n_j, also where it sums over no j."""
        for node in walk(own.equation.expression):
            if not isinstance(node, Name) or not LENGTH.fullmatch(node.name):
                continue
            letter = node.name[2:]
            read = self._read_length(letter, found)
            length = self.known.get(letter) if read is None else read
            if length is None:
                raise own.error(
                    f"nothing says how long {letter} is",
                    f"read an array with the index {letter}",
                    node.name,
                )
            self.parameters.setdefault(length_name(letter), Scalar(length, str(length)))

    def _add_cell(
        self,
        cell: Ref,
        found: dict[str, tuple[int, str]],
        own: OwnEquation | None,
        *,
        is_chosen: bool,
    ) -> None:
        self._check_axes(cell, own)
        for index, length in zip(cell.indices, self.shapes[cell.name], strict=True):
            if not isinstance(index, str):
                continue
            if is_chosen and length < self.known.get(index, 0):
                # A cell that a `where` chooses need not be there for every place.
                continue
            before = self.letters.get(index, (length, cell.name))
            if own is not None and index not in KEPT:
                self.letters.setdefault(index, before)
                found.setdefault(index, before)
            size, where = found.setdefault(index, (length, cell.name))
            if size != length:
                raise self._differ(index, (size, where), (length, cell.name), own)

    def _check_axes(self, cell: Ref, own: OwnEquation | None) -> None:
        """Raises AttncliError where a step of theirs has other axes than a step of ours reads."""
        found = len(self.shapes[cell.name])
        needed = len(cell.indices)
        if own is None and found != needed and cell.name in self.own:
            axes = ", ".join(RULES[cell.name].target.letters)
            raise self.own[cell.name].error(
                f"{cell.name} has {count(found, 'axis', 'axes')}, and is read with"
                f" {count(needed, 'index', 'indices')} by a step of attention",
                f"write {cell.name}[{axes}] = …",
            )

    def _differ(
        self,
        letter: str,
        first: tuple[int, str],
        second: tuple[int, str],
        own: OwnEquation | None,
    ) -> AttncliError:
        """The error for a letter of two lengths; in a step of ours, one of the two is theirs."""
        (size, where), (length, name) = first, second
        message = f"{letter} runs to {size} in {where}, and to {length} in {name}"
        help = "axes with the same letter have the same length"
        if own is not None:
            return own.error(message, help, name)
        for blamed in (name, where):
            if blamed in self.own:
                return self.own[blamed].error(message, help, blamed)
        path = name if name in self.places else ""
        return input_error(message, path=array_path(path), place=self.places.get(path), help=help)

    def _read_length(self, letter: str, found: Mapping[str, tuple[int, str]]) -> int | None:
        """How long a letter is by the arrays of an equation, or else of those before it."""
        length, _ = found.get(letter) or self.letters.get(letter) or (None, "")
        return length

    def _add_length(
        self, letter: str, found: Mapping[str, tuple[int, str]], own: OwnEquation
    ) -> None:
        length = self._read_length(letter, found)
        if length is None and letter in KEPT:
            length = self.known.get(letter)
        if length is None:
            raise own.error(
                f"nothing under the sum has the index {letter}",
                f"read an array with {letter}, such as ones[{letter}] * …, or sum over a letter"
                " that has a length, such as j",
                letter,
            )
        if letter not in found:
            self.needed[letter] = length
        name = length_name(letter)
        known = self.parameters.get(name)
        if isinstance(known, Scalar) and known.value != length:
            raise own.error(
                f"{letter} is {length} long here, and {known.value:g} elsewhere",
                "use another letter for one of the two axes",
                letter,
            )
        self.parameters[name] = Scalar(length, str(length))


def expanded(system: System) -> System:
    """The system with each softmax as the steps that it consists of, shifted by the largest of the
    row.
    """
    equations: list[OwnEquation] = []
    for own in system.equations:
        match own.equation.expression:
            case Call("softmax", (Name(name=letter), inside)):
                equations += _softmax_steps(own, letter, inside)
            case _:
                equations.append(own)
    _check_parts(equations, {array.name for array in system.arrays})
    return replace(system, equations=tuple(equations))


def _check_parts(equations: Sequence[OwnEquation], taken: Collection[str]) -> None:
    """Raises AttncliError where a part of a softmax has the name of something else."""
    names = [own.name for own in equations]
    for own in equations:
        is_part = not re.match(rf"\s*{re.escape(own.name)}\b", own.source)
        if is_part and (own.name in taken or names.count(own.name) > 1):
            raise own.error(
                f"the softmax makes a step {own.name}, and there is another one of this name",
                "give the other one another name",
                "softmax",
            )


def _softmax_steps(own: OwnEquation, letter: str, inside: Expression) -> list[OwnEquation]:
    target = own.equation.target
    if letter not in target.letters:
        raise own.error(
            f"softmax over {letter} gives one share for each {letter}",
            f"put {letter} on the left side",
            target.name,
        )
    row = tuple(index for index in target.letters if index != letter)
    logits = Ref(f"{target.name}_logits", target.letters)
    largest = Ref(f"{target.name}_max", row)
    powers = Ref(f"{target.name}_exp", target.letters)
    total = Ref(f"{target.name}_sum", row)
    shifted = Call("sub", (logits, Call("finite", (largest,))))
    unsaid = replace(own, title="", symbol="", meaning="", why="")
    return [
        replace(unsaid, equation=Equation(logits, inside)),
        replace(unsaid, equation=Equation(largest, Reduce("max", letter, logits))),
        replace(unsaid, equation=Equation(powers, Call("exp", (shifted,)))),
        replace(unsaid, equation=Equation(total, Reduce("add", letter, powers))),
        replace(own, equation=Equation(target, Call("share", (powers, total)))),
    ]
