"""The backward pass: the rules of a forward pass → the rules of its gradients, in order of work.

The gradient of an array adds up what comes from every step that reads the array;
`equation/differentiation.py` derives it. In three things the steps follow textbooks: a transpose is
no step of its own, the hidden layer of the additive score is a step, and the gradient of the
softmax is taken in one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from attncli.attention.losses import LOSS_RULES
from attncli.attention.registry import GRADIENT_RULES, OF_OWN, gradient_name, gradient_rule
from attncli.attention.softmax import softmax_equations, unknown_step
from attncli.attention.steps import BACKWARD_ORDER, INPUT_GRADIENTS
from attncli.equation.chain_rule import reads
from attncli.equation.differentiation import Reader, gradient_of
from attncli.equation.indexing import (
    GROUP_MEMBER,
    HEADS,
    IndexSpace,
    all_letters,
    replace_letters,
    with_letters_of_its_own,
)
from attncli.equation.indices import HEAD, KEY_HEAD
from attncli.equation.matrix_form import matrix_form
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Reduce,
    Ref,
    number_node,
    rewrite,
    walk,
)
from attncli.equation.parser import parse_expression
from attncli.equation.rule import Rule, needed_for

HIDDEN = " A hidden key has weight 0, so its gradient is 0."
SHARED = (
    " A group of query heads shares it: `q` runs through the heads of the group, and their"
    " gradients are added."
)
# What is said of the gradients of Q and K with the multiplicative score, and with the additive one.
THROUGH_WEIGHTS = {
    "Q": (
        "The gradient of a query is a sum over all keys. Each key is multiplied by the score"
        " weights, and by the gradient of its score with this query."
    ),
    "K": (
        "The gradient of a key is a sum over all queries. Each query is multiplied by the score"
        " weights, and by the gradient of its score with this key."
    ),
}
THROUGH_HIDDEN = {
    "Q": (
        "The gradient of a query is a sum over all keys: the gradients of the hidden layer,"
        " multiplied by `W_1`."
    ),
    "K": (
        "The gradient of a key is a sum over all queries: the gradients of the hidden layer,"
        " multiplied by `W_2`."
    ),
}
# One of the query heads that a head of keys serves.
_HEAD_OF_GROUP = parse_expression(f"{KEY_HEAD} * group + {GROUP_MEMBER}")
# These steps have no gradient: K_T is read as K, and the gradient of the softmax is taken in one
# step.
WITHOUT_GRADIENT = ("K_T", "row_max", "shifted", "exp", "row_sum")


@dataclass(frozen=True)
class Backward:
    """The backward pass of the forward `rules`, whose results have these `shapes`.

    `logits` is the name of the step that the softmax reads. `space` has the lengths of letters and
    the scalars.
    """

    rules: Mapping[str, Rule]
    shapes: Mapping[str, Sequence[int]]
    logits: str
    space: IndexSpace
    result: str = "output"

    @property
    def has_own(self) -> bool:
        """Whether some of the rules are of a person's own, or others than ours begin the way
        back.
        """
        return self.result != "output" or any(rule.own for rule in self.rules.values())

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The steps that have a gradient, in the order in which the gradients are computed."""
        if not self.has_own:
            return BACKWARD_ORDER
        return tuple(self._order_of_own())

    def _order_of_own(self) -> Iterator[str]:
        """From the result back, as the steps were worked out; then what is given."""
        helpers = {"K_T"} if self._copies_keys() else set()
        if self.has_known_softmax:
            helpers |= {*WITHOUT_GRADIENT} - {"K_T"}
        for name, rule in reversed(list(self.rules.items())):
            if name not in self.leading_to_the_result:
                continue
            is_constant = not rule.own and name not in (*BACKWARD_ORDER, *WITHOUT_GRADIENT)
            if rule.given or is_constant or name in helpers or name in LOSS_RULES:
                continue
            yield name
            if name == "weights" and self.has_known_softmax:
                yield "delta"
            if name == "scores" and not rule.own:
                # The layer of the additive score, if it is there.
                yield "hidden"
        there = self.leading_to_the_result
        for name in INPUT_GRADIENTS:
            if name in there or (self._is_sink(name) and self._leads_to_the_result(name)):
                yield name
        for name in ("Q", "K", "V", "new_K", "new_V"):
            if name in there and self.rules[name].given:
                yield name
        for name, rule in self.rules.items():
            if name in there and rule.given and rule.own:
                yield name

    @cached_property
    def leading_to_the_result(self) -> frozenset[str]:
        """The steps that the result, and so the loss, depends on."""
        return needed_for([self.result], self.rules)

    def _leads_to_the_result(self, number: str) -> bool:
        """Whether the result depends on a number of the problem, which is no step."""
        for name in self.leading_to_the_result:
            rule = self.rules.get(name)
            if rule is not None and not rule.given and reads(rule.equation.expression, number):
                return True
        return False

    def _copies_keys(self) -> bool:
        if self.result == "K_T":
            return False
        return "K_T" in self.rules and not self.rules["K_T"].own

    @cached_property
    def has_known_softmax(self) -> bool:
        """Whether the softmax is the built-in one, and nobody else reads what is inside of it."""
        there = self.leading_to_the_result
        if "weights" not in there or self.logits not in there:
            return False
        softmax = softmax_equations(self.logits, powers="exp_base" in self.space.scalars)
        if not {"exp", "row_sum"} <= self.rules.keys():
            return False
        if unknown_step(self.rules.values(), softmax):
            return False
        inside = (*softmax, "row_top")
        for name, rule in self.rules.items():
            reads_inside = {"exp", "row_sum", "row_max", "shifted", self.logits} & {*rule.inputs}
            if reads_inside and name in there and name not in inside:
                return False
        return True

    @property
    def takes_softmax_in_one_step(self) -> bool:
        """Whether the gradient goes through the softmax in one step; without own rules another
        softmax is refused.
        """
        return not self.has_own or self.has_known_softmax

    def steps(self) -> Iterator[Rule]:
        """The gradients in order of work, beginning with that of the output, and the helpers that
        they read.

        Raises ValueError for a step through which no gradient goes, or a wrong one.
        """
        if not self.has_own:
            self._check_rules()
        forward = self._differentiable_equations()
        for name in self.order:
            if name in forward or name in self.rules or self._is_sink(name):
                for rule in self._steps_of(name, forward):
                    yield rule
                    if name in forward:
                        # The gradient may have other letters, such as those of Q if a query has its
                        # own length.
                        forward[name] = _with_letters(forward[name], rule.target.letters)
            elif name == "delta":
                yield self._mean_gradient()

    def _check_rules(self) -> None:
        """Raises ValueError for a step without a gradient whose input has one, or for an unknown
        softmax.
        """
        for name, rule in self.rules.items():
            lost = [each for each in rule.inputs if each in BACKWARD_ORDER]
            if lost and name not in (*BACKWARD_ORDER, *WITHOUT_GRADIENT, *LOSS_RULES):
                raise ValueError(
                    f"the gradient of {lost[0]} goes through {name}, which is not in BACKWARD_ORDER"
                )
        softmax = softmax_equations(self.logits, powers="exp_base" in self.space.scalars)
        if other := unknown_step(self.rules.values(), softmax):
            raise ValueError(
                f"the gradient of the softmax is not that of this equation: {other.source}"
            )

    def _steps_of(self, name: str, forward: Mapping[str, Equation]) -> Iterator[Rule]:
        """The gradient of a step, and before it the helper that this gradient reads."""
        is_result = name == self.result
        if is_result and "loss" in self.rules:
            yield self._of_loss()
        elif is_result:
            given = gradient_name(name)
            yield replace(self._known_rule(given), formula=_renamed(self.rules[name].target, given))
        elif name == self.logits and self.takes_softmax_in_one_step:
            yield self._through_softmax()
        elif name == "hidden":
            yield self._rule(forward["hidden"], None)
            yield self._gradient(forward["hidden"].target, forward)
        else:
            yield self._gradient(
                self.rules[name].target if name in self.rules else Ref(name), forward
            )

    def _differentiable_equations(self) -> dict[str, Equation]:
        """The equations that gradients go through: without constants and K_T, with the hidden layer
        as a step.
        """
        rules = {name: rule.equation for name, rule in self.rules.items() if not rule.given}
        transposed = rules.pop("K_T", None) if self._copies_keys() else None
        found = {
            name: _without_copy(transposed, each)
            for name, each in rules.items()
            if name in self.order
        }
        if "scores" not in found or self.rules["scores"].own:
            return found
        hidden = GRADIENT_RULES["hidden"].target.letters
        tanhs = [
            node
            for node in walk(found["scores"].expression)
            if isinstance(node, Call) and node.function == "tanh"
        ]
        # The only tanh is that of hidden features, or of the whole score.
        if len(tanhs) == 1:
            (inner,) = tanhs[0].arguments
            layer, scores = _extracted(found["scores"], inner, "hidden")
            if layer.target.letters[-len(hidden) :] == hidden:
                found["hidden"], found["scores"] = layer, scores
        return found

    def _gradient(self, cell: Ref, forward: Mapping[str, Equation]) -> Rule:
        """The gradient of an array (or of the sink that all heads share), from all steps that read
        it.
        """
        readers = [
            name
            for name, each in forward.items()
            if not self._is_softmax(name) and reads(each.expression, cell.name)
        ]
        through = [
            Reader(forward[name], _renamed(forward[name].target, gradient_name(name)))
            for name in readers
        ]
        if cell.name == "sink" and self._is_softmax("weights"):
            through = [Reader(self.rules["row_sum"].equation, self._of_row_sums())]
        lengths = self.space.lengths
        shape = self.shapes.get(cell.name, tuple(lengths[letter] for letter in cell.letters))
        equation = gradient_of(cell, shape, gradient_name(cell.name), through, self.space)
        # For some of the rows there is no matrix form.
        part = isinstance(equation.expression, Ref) and shape != self.shapes[readers[0]]
        form = None if part else self._special_form(readers, shape) or matrix_form(equation, HEADS)
        return self._rule(equation, form, self._words(cell.name, readers[:1], forward))

    def _of_loss(self) -> Rule:
        """The gradient of the output from the loss; that of a cross-entropy, (P - Y) / N, is taken
        in one step.
        """
        if "row_loss" in self.rules:
            equation = self._of_cross_entropy()
            words = self._words_through("row_loss")
        else:
            equation = self._of_mean_squared_error()
            words = self._words_through("error")
        return self._rule(equation, matrix_form(equation, HEADS), words)

    def _of_cross_entropy(self) -> Equation:
        cell = self.rules[self.result].target
        probabilities = _renamed(cell, "class_probs")
        target = _renamed(cell, "target")
        apart = Call("sub", (probabilities, target))
        mean = Call("div", (apart, Name("N")))
        gradient = _renamed(cell, gradient_name(self.result))
        return Equation(gradient, mean)

    def _of_mean_squared_error(self) -> Equation:
        cell = self.rules[self.result].target
        error = self.rules["error"].equation
        shape = self.shapes[self.result]
        of_loss = Reader(self.rules["loss"].equation, number_node(1))
        of_error = gradient_of(error.target, shape, "d_error", [of_loss], self.space)
        through_error = Reader(error, of_error.expression)
        return gradient_of(cell, shape, gradient_name(self.result), [through_error], self.space)

    def _special_form(self, readers: Sequence[str], shape: Sequence[int]) -> Expression | None:
        """A matrix form that is no product: a rotation back, or the gradient of masked scores
        unchanged.
        """
        for name in readers:
            gradient = Name(gradient_name(name))
            form = None
            if name in self.rules:
                form = self.rules[name].matrix_form
            if isinstance(form, Call) and form.function == "rotate":
                _, *angles = form.arguments
                back = Call("neg", tuple(angles))
                return Call("rotate", (gradient, back))
            # The gradient of masked scores is already 0 where a key is hidden.
            if name == "masked" and shape == self.shapes[name]:
                return gradient
        return None

    def _mean_gradient(self) -> Rule:
        weights = self.rules["weights"].target
        cells = Call("mul", (weights, _renamed(weights, "d_weights")))
        equation = Equation(
            Ref("delta", weights.indices[:-1]), Reduce("add", weights.letters[-1], cells)
        )
        return self._rule(equation, matrix_form(equation, HEADS))

    def _through_softmax(self) -> Rule:
        """The gradient through the softmax in one step: dZ = A ∘ (dA - δ), times ln b for a base b
        other than e.

        Through exponentials, sums and the shift it would be the same numbers, in six equations that
        no textbook has. And the shift would seem to have a gradient, although the softmax does not
        depend on it.
        """
        weights = self.rules["weights"].target
        cell = self.rules[self.logits].target
        delta = Ref("delta", weights.indices[:-1])
        difference = Call("sub", (_renamed(weights, "d_weights"), delta))
        found: Expression = Call("mul", (weights, difference))
        if "exp_base" in self.space.scalars:
            logarithm = Call("log", (Name("exp_base"),))
            found = Call("mul", (logarithm, found))
        for letter in reversed(weights.letters):
            if letter in cell.letters:
                continue
            if letter == HEAD and KEY_HEAD in cell.letters:
                found = replace_letters(found, {HEAD: _HEAD_OF_GROUP})
                letter = GROUP_MEMBER
            found = Reduce("add", letter, found)
        equation = Equation(_renamed(cell, gradient_name(self.logits)), found)
        form = matrix_form(equation, HEADS)
        rule = self._rule(equation, form, self._words_through("weights"))
        if "mask" not in self.rules:
            return rule
        return replace(rule, why=rule.why + HIDDEN)

    def _words(
        self, name: str, readers: Sequence[str], forward: Mapping[str, Equation]
    ) -> tuple[str, str] | None:
        """What the page says about the gradient of an array; None for the words of its own rule."""
        for reader in readers:
            if name in THROUGH_HIDDEN and reader == "hidden":
                return THROUGH_HIDDEN[name], ""
            expression = forward[reader].expression
            if name in THROUGH_WEIGHTS and reads(expression, "W_a"):
                return THROUGH_WEIGHTS[name], ""
            return self._words_through(reader)
        return None

    def _words_through(self, step: str) -> tuple[str, str] | None:
        rule = self.rules.get(step)
        return (rule.through, rule.through_why) if rule and rule.through else None

    def _is_softmax(self, name: str) -> bool:
        """Whether this is the step through which the gradient of the softmax is taken in one."""
        return name == "weights" and self.takes_softmax_in_one_step

    def _rule(
        self, equation: Equation, form: Expression | None, words: tuple[str, str] | None = None
    ) -> Rule:
        """The rule of a gradient with this equation; its words may be those of the step that the
        gradient comes through.
        """
        rule = self._known_rule(equation.target.name)
        meaning, why = words or (rule.meaning, rule.why)
        # Of ours, some are only known by the step that their gradient usually comes through.
        meaning = meaning or OF_OWN
        if GROUP_MEMBER in all_letters(equation):
            meaning += SHARED
        symbols = next(iter(self.rules.values())).symbols
        return replace(
            rule, formula=equation, headline=form, meaning=meaning, why=why, symbols=symbols
        )

    def _known_rule(self, name: str) -> Rule:
        """The rule of a gradient before its equation is known: of a step of ours, or of theirs."""
        of = self.rules.get(name.removeprefix("d_"))
        if (of is not None and of.own) or name not in GRADIENT_RULES:
            assert of is not None
            return gradient_rule(of)
        return GRADIENT_RULES[name]

    def _of_row_sums(self) -> Expression:
        """The gradient of the row sums: -δ / r."""
        sums = self.rules["row_sum"].target
        return Call("neg", (Call("div", (_renamed(sums, "delta"), sums)),))

    def _is_sink(self, name: str) -> bool:
        """Whether this is the sink that all heads share, a number that is no step."""
        return name == "sink" and name in self.space.scalars


def _renamed(cell: Ref, name: str) -> Ref:
    return replace(cell, name=name)


def _with_letters(equation: Equation, letters: Sequence[str]) -> Equation:
    """The equation with other letters in its target, which no sum inside has."""
    target = replace(equation.target, indices=tuple(letters))
    others = dict(zip(equation.target.letters, letters, strict=True))
    expression = replace_letters(equation.expression, others)
    return Equation(target, with_letters_of_its_own(expression, frozenset(letters)))


def _without_copy(copy: Equation | None, equation: Equation) -> Equation:
    """The equation, reading the original array in place of its copy (K in place of K_T)."""
    if copy is None:
        return equation
    source = copy.expression
    name = copy.target.name
    letters = copy.target.letters

    def change(node: Expression) -> Expression:
        if isinstance(node, Ref) and node.name == name:
            places = dict(zip(letters, node.indices, strict=True))
            return replace_letters(source, places)
        return node

    expression = rewrite(equation.expression, change)
    return replace(equation, expression=expression)


def _extracted(equation: Equation, part: Expression, name: str) -> tuple[Equation, Equation]:
    """A part of an equation, inside sums, as an equation of its own; and the equation that reads
    its result.
    """
    letters = list(equation.target.letters)
    for node in walk(equation.expression):
        if isinstance(node, Reduce) and part in walk(node.body):
            letters.append(node.index)
    cell = Ref(name, tuple(letters))

    def change(node: Expression) -> Expression:
        if node == part:
            return cell
        return node

    rest = rewrite(equation.expression, change)
    return Equation(cell, part), replace(equation, expression=rest)
