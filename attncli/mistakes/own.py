"""The mistakes that can be made in an equation of a problem's own, found from the equation itself.

Each is a small change of the equation that people make on paper: a part left out, a sign turned, a
function forgotten, another cell read. Nothing is known of what the equation is for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from attncli.english import shorten
from attncli.equation.indexing import unused_letter
from attncli.equation.indices import INDICES, KEPT
from attncli.equation.nodes import (
    Call,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    rewrite,
)
from attncli.equation.notation import PYTHON
from attncli.equation.printer import write
from attncli.mistakes.model import Changes, Mistake, fits, with_letters
from attncli.problem.parts.axes import LEADING
from attncli.tracing.model import Step, Trace

# The letter whose axis is so long; d_k is written as it is.
_LETTER_OF = {INDICES[letter].length: letter for letter in KEPT if letter != "k"}
# Of an equation with more parts, only the first ones are tried: by its numbers, nobody could say
# which one was changed.
MOST_VARIANTS = 60
# Signs between numbers and choices, which nobody forgets as one forgets a function.
_NEVER_FORGOTTEN = frozenset(
    ("add", "sub", "mul", "div", "neg", "pow", "max", "min", "where", "share", "finite")
)
_TAKEN_FOR = {"le": "lt", "lt": "le", "ge": "gt", "gt": "ge", "max": "min", "min": "max"}
# The parts of a softmax of their own, by what stands behind its name.
_POWERS, _LARGEST, _LOGITS, _TOTAL = "_exp", "_max", "_logits", "_sum"


@dataclass(frozen=True, slots=True)
class _Variant:
    """An expression with something wrong, and what that is."""

    expression: Expression
    words: str


def own_mistakes(trace: Trace) -> Iterator[tuple[Mistake, Changes]]:
    """The mistakes in the trace's equations of its own, with the equations that they change."""
    for step in trace.computed():
        if not step.rule.own:
            continue
        made = _in_softmax(trace, step) if _is_softmax(trace, step) else _in_equation(trace, step)
        for number, (words, changes) in enumerate(made.items()):
            if all(
                isinstance(change, Expression) and fits(trace, name, change)
                for name, change in changes.items()
            ):
                yield _mistake(step.name, number, words, changes), changes


def _mistake(step: str, number: int, words: str, changes: Changes) -> Mistake:
    return Mistake(
        f"own-{step}-{number + 1}", f"in {step}, {words}", lambda _: changes, of_own=True
    )


# A softmax of their own


def _is_softmax(trace: Trace, step: Step) -> bool:
    """Whether a step is a softmax that was written as one word."""
    match step.rule.expression:
        case Call("share", (Ref(name=powers), Ref(name=total))):
            return powers == f"{step.name}{_POWERS}" and total == f"{step.name}{_TOTAL}"
        case _:
            return _is_inside_softmax(trace, step)


def _is_inside_softmax(trace: Trace, step: Step) -> bool:
    """Whether a step is the largest, an exponential or the sum of such a softmax."""
    for ending in (_POWERS, _LARGEST, _TOTAL):
        of = step.name.removesuffix(ending)
        if of != step.name and f"{of}{_LOGITS}" in trace and of in trace:
            return trace.steps[of].rule.own
    return False


def _in_softmax(trace: Trace, step: Step) -> Mapping[str, Changes]:
    """The mistakes in a softmax: it is left out, or it is taken of something else."""
    if _is_inside_softmax(trace, step):
        return {}
    target = step.rule.target
    powers = replace(target, name=f"{step.name}{_POWERS}")
    logits = replace(target, name=f"{step.name}{_LOGITS}")
    found: dict[str, Changes] = {
        "the softmax was left out": {step.name: logits},
        "the exponentials were not divided by their sum": {
            powers.name: Call("exp", (logits,)),
            step.name: powers,
        },
    }
    total = trace.steps[f"{step.name}{_TOTAL}"].rule.expression
    assert isinstance(total, Reduce)
    row = total.index
    for column in _own_letters(target):
        if column == row:
            continue
        other = unused_letter({*target.letters}, column)
        cell = replace(
            powers, indices=tuple(other if each == column else each for each in powers.indices)
        )
        found[f"the softmax was taken over {column}, not over {row}"] = {
            powers.name: Call("exp", (logits,)),
            step.name: Call("share", (powers, Reduce("add", other, cell))),
        }
    return found


# Any other equation


def _in_equation(trace: Trace, step: Step) -> Mapping[str, Changes]:
    """The mistakes in an equation, by what is said of them."""
    expression = step.rule.equation.expression
    found: dict[str, Changes] = {}
    lengths = {**trace.sizes(step.rule.equation), **dict(step.rule.lengths)}
    variants = _Variants(trace, step, lengths, trace.shapes())
    for variant in variants.of(expression, _own_letters(step.rule.target)):
        if variant.expression != expression and len(found) < MOST_VARIANTS:
            found.setdefault(variant.words, {step.name: variant.expression})
    return found


@dataclass(frozen=True, slots=True)
class _Variants:
    """The wrong forms of parts of an equation of a trace: `lengths` says how long its letters are,
    `shapes` those of all arrays.
    """

    trace: Trace
    step: Step
    lengths: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]

    def of(self, node: Expression, scope: tuple[str, ...]) -> Iterator[_Variant]:
        """The wrong forms of an expression, in which these letters are known."""
        yield from self._here(node, scope)
        if inside := _smallest(node):
            letter, body = inside
            for each in self.of(body, (*scope, letter)):
                smallest = Reduce("max", letter, Call("neg", (each.expression,)))
                yield replace(each, expression=Call("neg", (smallest,)))
            return
        match node:
            case Call(function=function, arguments=arguments):
                for at, argument in enumerate(arguments):
                    for each in self.of(argument, scope):
                        others = (*arguments[:at], each.expression, *arguments[at + 1 :])
                        yield replace(each, expression=Call(function, others))
            case Reduce(function=function, index=index, body=body):
                for each in self.of(body, (*scope, index)):
                    yield replace(each, expression=Reduce(function, index, each.expression))
            case Number() | Name() | Ref():
                pass

    def _here(self, node: Expression, scope: tuple[str, ...]) -> Iterator[_Variant]:
        match node:
            case Call("add" | "sub" | "neg"):
                yield from _of_sums(node)
            case Call("mul" | "div" | "pow"):
                yield from _of_products(node)
            case Call("where", (condition, yes, no)):
                words = f"the two cases of {written(node)} were exchanged"
                yield _Variant(Call("where", (condition, no, yes)), words)
            case Call(function=function, arguments=arguments):
                yield from _of_functions(function, arguments, node)
            case Ref():
                yield from self._of_cells(node, scope)
            case Number() | Name() | Reduce():
                pass

    def _of_cells(self, cell: Ref, scope: tuple[str, ...]) -> Iterator[_Variant]:
        """Another cell of the array, or the same one of another array."""
        own = _own_indices(cell)
        if len(own) == 2 and own[0] != own[1]:
            turned = replace(cell, indices=(*cell.indices[:-2], own[1], own[0]))
            if self._has_room(turned):
                yield _read_for(turned, cell)
        for letter in dict.fromkeys(each for each in own if isinstance(each, str)):
            for other in scope:
                if other in own or self.lengths.get(other) != self.lengths.get(letter):
                    continue
                moved = with_letters(cell, {letter: other})
                assert isinstance(moved, Ref)
                yield _read_for(moved, cell)
        for name in self._alike(cell.name):
            yield _read_for(replace(cell, name=name), cell)

    def _has_room(self, cell: Ref) -> bool:
        """Whether each letter of a cell is as long as its axis."""
        shape = self.shapes.get(cell.name, ())
        lengths = [self.lengths.get(each) for each in cell.letters]
        return lengths == list(shape)

    def _alike(self, name: str) -> Iterator[str]:
        """Other arrays of the same axes: what is given, and what the same equation reads."""
        if name not in self.trace:
            return
        own = self.trace.steps[name]
        read = self.step.rule.inputs
        for other, step in self.trace.steps.items():
            if other == self.step.name:
                return
            is_like = step.shape == own.shape and step.rule.axis_names == own.rule.axis_names
            if other != name and is_like and (step.rule.given or other in read):
                yield other


def _of_sums(node: Call) -> Iterator[_Variant]:
    """A term that is left out, and a sign that is turned."""
    if _smallest(node):
        return
    match node:
        case Call("neg", (inner,)):
            yield _Variant(inner, f"the minus before {written(inner)} was left out")
        case Call("add" | "sub" as sign, (first, last)):
            yield _Variant(first, f"the term {written(last)} was left out")
            only = last if sign == "add" else Call("neg", (last,))
            yield _Variant(only, f"the term {written(first)} was left out")
            said = "subtracted, not added" if sign == "add" else "added, not subtracted"
            other = "sub" if sign == "add" else "add"
            yield _Variant(Call(other, (first, last)), f"{written(last)} was {said}")
        case _:
            pass


def _of_products(node: Call) -> Iterator[_Variant]:
    """A factor or a divisor that is left out, or stands on the other side of the line."""
    match node:
        case Call("div", (Reduce("add", letter) as total, Name(name=name))) if (
            _LETTER_OF.get(name, name.removeprefix("n_")) == letter
        ):
            yield _Variant(total, f"the sum over {letter} was taken, not the mean")
        case Call("div", (part, by)):
            yield _Variant(part, f"the division by {written(by)} was left out")
            words = f"{written(part)} was multiplied by {written(by)}, not divided by it"
            yield _Variant(Call("mul", (part, by)), words)
            yield _Variant(Call("div", (by, part)), f"{written(node)} was turned upside down")
        case Call("mul", (first, last)):
            yield _Variant(first, f"the factor {written(last)} was left out")
            yield _Variant(last, f"the factor {written(first)} was left out")
            # Nobody divides the cells of a product of matrices.
            if not (isinstance(first, Ref) and isinstance(last, Ref)):
                words = f"{written(first)} was divided by {written(last)}, not multiplied by it"
                yield _Variant(Call("div", (first, last)), words)
        case Call("pow", (base, _)):
            yield _Variant(base, f"the power was left out of {written(node)}")
        case _:
            pass


def _of_functions(
    function: str, arguments: tuple[Expression, ...], node: Expression
) -> Iterator[_Variant]:
    if function in _TAKEN_FOR:
        other = Call(_TAKEN_FOR[function], arguments)
        yield _Variant(other, f"{written(other)} was taken for {written(node)}")
    elif len(arguments) == 1 and function not in _NEVER_FORGOTTEN:
        yield _Variant(arguments[0], f"{function} was left out of {written(node)}")


def _smallest(node: Expression) -> tuple[str, Expression] | None:
    """The letter and the body of a minimum over a letter: it is the opposite of the largest."""
    match node:
        case Call("neg", (Reduce("max", letter, Call("neg", (body,))),)):
            return letter, body
        case _:
            return None


def _read_for(other: Ref, cell: Ref) -> _Variant:
    return _Variant(other, f"{written(other)} was read for {written(cell)}")


# Words


def written(node: Expression) -> str:
    """An expression as its author wrote it, without the letters of heads and entries, and cut if it
    is long.
    """

    return shorten(write(rewrite(node, _as_written), PYTHON), 60)


def _as_written(node: Expression) -> Expression:
    """A part as it is written: a mean and a minimum are put together of others, and the length of
    an axis has a name of ours.
    """
    match node:
        case Call("div", (Reduce("add", letter, body), Name(name=name))) if name == f"n_{letter}":
            return Call("mean", (Name(letter), body))
        case Name(name=name) if name in _LETTER_OF:
            return Name(f"n_{_LETTER_OF[name]}")
        case Ref():
            return replace(node, indices=_own_indices(node))
        case _:
            return node


def _own_indices(cell: Ref) -> tuple[str | Expression, ...]:
    return tuple(index for index in cell.indices if index not in LEADING)


def _own_letters(cell: Ref) -> tuple[str, ...]:
    return tuple(letter for letter in cell.letters if letter not in LEADING)
