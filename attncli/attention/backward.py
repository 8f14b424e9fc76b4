"""The backward pass: the rules of a forward pass → the rules of its gradients, in order of work.

The gradient of an array adds up what comes from every step that reads the array;
`equation/differentiation.py` derives it. In three things the steps follow textbooks: a transpose is
no step of its own, the hidden layer of the additive score is a step, and the gradient of the
softmax is taken in one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from attncli.attention.losses import LOSS_RULES
from attncli.attention.registry import GRADIENT_RULES, gradient_name
from attncli.attention.softmax import softmax_equations, unknown_step
from attncli.attention.steps import BACKWARD_ORDER
from attncli.equation.chain_rule import reads
from attncli.equation.differentiation import Reader, gradient_of
from attncli.equation.indexing import GROUP_MEMBER, IndexSpace, all_letters, replace_letters
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
from attncli.equation.rule import Rule
from attncli.problem.parts.axes import LEADING

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
# These steps have no gradient: K_T is read as K, and the gradient of the softmax is taken in one
# step.
WITHOUT_GRADIENT = ("K_T", "row_max", "shifted", "exp", "row_sum")
# Matrix forms leave these letters out.
HEADS = (*LEADING, GROUP_MEMBER)


@dataclass(frozen=True, slots=True)
class Backward:
    """The backward pass of the forward `rules`, whose results have these `shapes`.

    `logits` is the name of the step that the softmax reads. `space` has the lengths of letters and
    the scalars.
    """

    rules: Mapping[str, Rule]
    shapes: Mapping[str, Sequence[int]]
    logits: str
    space: IndexSpace

    def steps(self) -> Iterator[Rule]:
        """The gradients in order of work, beginning with that of the output, and the helpers that
        they read.

        Raises ValueError for a step through which no gradient goes, or a wrong one.
        """
        self._check_rules()
        forward = self._differentiable_equations()
        for name in BACKWARD_ORDER:
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
        if name == "output" and "loss" in self.rules:
            yield self._of_loss()
        elif name == "output":
            yield replace(
                GRADIENT_RULES["d_output"], formula=_renamed(self.rules[name].target, "d_output")
            )
        elif name == self.logits:
            yield self._through_softmax()
        elif name == "hidden":
            yield _rule(forward["hidden"], None)
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
        transposed = rules.pop("K_T", None)
        found = {
            name: _without_copy(transposed, each)
            for name, each in rules.items()
            if name in BACKWARD_ORDER
        }
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
            if name != "weights" and reads(each.expression, cell.name)
        ]
        through = [
            Reader(forward[name], _renamed(forward[name].target, gradient_name(name)))
            for name in readers
        ]
        if cell.name == "sink":
            through = [Reader(self.rules["row_sum"].equation, self._of_row_sums())]
        lengths = self.space.lengths
        shape = self.shapes.get(cell.name, tuple(lengths[letter] for letter in cell.letters))
        equation = gradient_of(cell, shape, gradient_name(cell.name), through, self.space)
        # For some of the rows there is no matrix form.
        part = isinstance(equation.expression, Ref) and shape != self.shapes[readers[0]]
        form = None if part else self._special_form(readers, shape) or matrix_form(equation, HEADS)
        return _rule(equation, form, self._words(cell.name, readers[:1], forward))

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
        return _rule(equation, matrix_form(equation, HEADS), words)

    def _of_cross_entropy(self) -> Equation:
        cell = self.rules["output"].target
        probabilities = _renamed(cell, "class_probs")
        target = _renamed(cell, "target")
        apart = Call("sub", (probabilities, target))
        mean = Call("div", (apart, Name("N")))
        gradient = _renamed(cell, "d_output")
        return Equation(gradient, mean)

    def _of_mean_squared_error(self) -> Equation:
        cell = self.rules["output"].target
        error = self.rules["error"].equation
        shape = self.shapes["output"]
        of_loss = Reader(self.rules["loss"].equation, number_node(1))
        of_error = gradient_of(error.target, shape, "d_error", [of_loss], self.space)
        through_error = Reader(error, of_error.expression)
        return gradient_of(cell, shape, "d_output", [through_error], self.space)

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
        return _rule(equation, matrix_form(equation, HEADS))

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
            if letter not in cell.letters:
                found = Reduce("add", letter, found)
        equation = Equation(_renamed(cell, gradient_name(self.logits)), found)
        form = matrix_form(equation, HEADS)
        rule = _rule(equation, form, self._words_through("weights"))
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
            if name in THROUGH_WEIGHTS and reads(forward[reader].expression, "W_a"):
                return THROUGH_WEIGHTS[name], ""
            return self._words_through(reader)
        return None

    def _words_through(self, step: str) -> tuple[str, str] | None:
        rule = self.rules.get(step)
        return (rule.through, rule.through_why) if rule and rule.through else None

    def _of_row_sums(self) -> Expression:
        """The gradient of the row sums: -δ / r."""
        sums = self.rules["row_sum"].target
        return Call("neg", (Call("div", (_renamed(sums, "delta"), sums)),))

    def _is_sink(self, name: str) -> bool:
        """Whether this is the sink that all heads share, a number that is no step."""
        return name == "sink" and name in self.space.scalars


def _renamed(cell: Ref, name: str) -> Ref:
    return replace(cell, name=name)


def _rule(
    equation: Equation, form: Expression | None, words: tuple[str, str] | None = None
) -> Rule:
    """The rule of a gradient with this equation; its words may be those of the step that the
    gradient comes through.
    """
    rule = GRADIENT_RULES[equation.target.name]
    meaning, why = words or (rule.meaning, rule.why)
    if GROUP_MEMBER in all_letters(equation):
        meaning += SHARED
    return replace(rule, formula=equation, headline=form, meaning=meaning, why=why)


def _with_letters(equation: Equation, letters: Sequence[str]) -> Equation:
    """The equation with other letters in its target."""
    target = replace(equation.target, indices=tuple(letters))
    others = dict(zip(equation.target.letters, letters, strict=True))
    return Equation(target, replace_letters(equation.expression, others))


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
