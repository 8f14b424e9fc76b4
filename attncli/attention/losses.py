"""The loss, from the output to one number: the mean of squared errors, or the cross-entropy of its
rows.

The rules here are those of one head. `loss_rules` puts in the letters of the output's own axes, and
sums over all of them. The softmax of a cross-entropy runs along the last axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref, rewrite
from attncli.equation.rule import Rule, UnparsedCell

_MSE = "with loss: mse, in the backward pass"
_CROSS_ENTROPY = "with loss: cross_entropy, in the backward pass"
TARGET = Rule(
    "target",
    "Y",
    "Target",
    UnparsedCell("target[i, c]"),
    meaning="what the output should be.",
    when="with a loss, in the backward pass",
)
LOSSES = (
    TARGET,
    Rule(
        "error",
        "err",
        "Errors",
        "error[i, c] = output[i, c] - target[i, c]",
        "output - target",
        meaning="The difference between each number of the output and its target.",
        when=_MSE,
        through="The derivative of a squared error is twice the error. The mean divides it by `N`.",
        through_why="The backward pass begins here.",
    ),
    Rule(
        "row_top",
        "O_max",
        "Largest of each row",
        "row_top[i] = max(c, output[i, c])",
        "row_maxima(output)",
        meaning="The largest number of each row of the output.",
        when=(
            "with loss: cross_entropy, where exponentials would overflow, or a whole row of them"
            " would be 0"
        ),
    ),
    Rule(
        "log_sum",
        "lse",
        "Logarithm of each row's sum",
        "log_sum[i] = log(sum(c, exp(output[i, c])))",
        "",
        meaning=(
            "Each row of the output is taken as logits. This is the logarithm of the sum of their"
            " exponentials."
        ),
        when=_CROSS_ENTROPY,
    ),
    Rule(
        "log_probs",
        "logP",
        "Log-probabilities",
        "log_probs[i, c] = output[i, c] - log_sum[i]",
        "output - log_sum",
        meaning="The logarithm of the probability that each row gives to each class.",
        why=(
            "The logarithm of a quotient is a difference. So even a very small probability keeps"
            " its digits."
        ),
        when=_CROSS_ENTROPY,
    ),
    Rule(
        "class_probs",
        "P",
        "Probabilities",
        "class_probs[i, c] = exp(log_probs[i, c])",
        "softmax(output)",
        meaning=(
            "The probability that each row gives to each class: the softmax of the row. Each row"
            " sums to 1."
        ),
        when=_CROSS_ENTROPY,
    ),
    Rule(
        "row_loss",
        "L_row",
        "Loss of each row",
        "row_loss[i] = -sum(c, target[i, c] * log_probs[i, c])",
        "",
        meaning=(
            "The cross-entropy of each row: minus the logarithm of the probability of the right"
            " class."
        ),
        why=(
            "It is 0 if the right class has probability 1, and large if that probability is near 0."
        ),
        when=_CROSS_ENTROPY,
        through=(
            "The gradient is the probability of each class, minus 1 for the right class. The mean"
            " divides it by `N`."
        ),
        through_why=(
            "The derivative of logarithm and softmax together is just this difference. The backward"
            " pass begins with it."
        ),
    ),
    Rule(
        "loss",
        "L",
        "Loss",
        "loss = sum(i, sum(c, error[i, c] ** 2)) / N",
        "",
        meaning="The mean of the squared errors, over all `N` numbers of the output.",
        why=(
            "One number says how far the output is from its target. The gradients say how this"
            " number changes."
        ),
        when="with a loss, in the backward pass",
    ),
)
LOSS_RULES = {rule.name: rule for rule in LOSSES}
_SHIFTED = Rule(
    "log_sum",
    "lse",
    LOSS_RULES["log_sum"].title,
    "log_sum[i] = row_top[i] + log(sum(c, exp(output[i, c] - row_top[i])))",
    "",
    meaning=LOSS_RULES["log_sum"].meaning,
    why=(
        "The largest number of the row is subtracted first, and added again at the end. Otherwise"
        " exponentials may be too large, or all 0."
    ),
    when=_CROSS_ENTROPY,
)
# A logarithm of at most that of the number of classes is lost beside a large row_top: two classes
# that share the largest number would both have probability 1. So it is subtracted last.
_FAR_LOG_PROBS = replace(
    LOSS_RULES["log_probs"],
    formula=(
        "log_probs[i, c] = output[i, c] - row_top[i] - log(sum(y, exp(output[i, y] - row_top[i])))"
    ),
    headline="",
    why=(
        "The largest number of the row is subtracted first. What is left is small, and the"
        " logarithm keeps its digits beside it."
    ),
)
_MEAN = Rule(
    "loss",
    "L",
    "Loss",
    "loss = sum(i, row_loss[i]) / N",
    "",
    meaning="The mean of the losses of all `N` rows.",
    why=LOSS_RULES["loss"].why,
    when=LOSS_RULES["loss"].when,
)
_CLASSES = replace(
    TARGET, meaning="a 1 in each row, in the column of the right class, and 0 elsewhere."
)
# The other form of a step, and when the step has it.
OTHER_LOSSES = {
    "target": ("loss: cross_entropy", _CLASSES),
    "log_sum": ("where exponentials would overflow, or a whole row of them would be 0", _SHIFTED),
    "log_probs": (
        "where exponentials would overflow, or all be 0, in any number format",
        _FAR_LOG_PROBS,
    ),
    "loss": ("loss: cross_entropy", _MEAN),
}


def loss_rules(kind: str, output: Ref, *, shifted: bool, far: bool) -> Iterator[Rule]:
    """The rules from this output, with all its letters, to the loss, the target first.

    `shifted` says whether the softmax of a cross-entropy is, and `far` whether a row of the output
    is so far from 0 that the logarithm of a sum would be lost beside it.
    """
    rules = _of_mean_squared_error() if kind == "mse" else _of_cross_entropy(shifted, far)
    for rule in rules:
        yield _of(rule, output.letters)


def _of_mean_squared_error() -> Iterator[Rule]:
    yield TARGET
    yield LOSS_RULES["error"]
    yield LOSS_RULES["loss"]


def _of_cross_entropy(shifted: bool, far: bool) -> Iterator[Rule]:
    yield _CLASSES
    if shifted:
        yield LOSS_RULES["row_top"]
        yield _SHIFTED
    else:
        yield LOSS_RULES["log_sum"]
    yield _FAR_LOG_PROBS if shifted and far else LOSS_RULES["log_probs"]
    yield LOSS_RULES["class_probs"]
    yield LOSS_RULES["row_loss"]
    yield _MEAN


def _of(rule: Rule, letters: tuple[str, ...]) -> Rule:
    """The rule with the output's letters in place of those of one head, and those before them put
    before each cell.
    """
    leading, own = letters[:-2], letters[-2:]
    # A result of one letter, or of none, has no row, or no column either.
    named = dict(zip(("i", "c")[2 - len(own) :], own, strict=True))
    gone = {"i", "c"} - {*named}

    def cell(node: Ref) -> Ref:
        left = [index for index in node.indices if index not in gone]
        return Ref(node.name, (*leading, *(named.get(str(index), index) for index in left)))

    def change(node: Expression) -> Expression:
        match node:
            case Ref():
                return cell(node)
            case Reduce(index=index, body=body) if index in gone:
                return body
            case Reduce(function=function, index=index, body=body):
                found: Expression = Reduce(function, named.get(index, index), body)
                for letter in reversed(leading if index == "i" else ()):
                    found = Reduce(function, letter, found)
                return found
            case Number() | Name() | Call():
                return node

    target = rule.target if not rule.target.indices else cell(rule.target)
    if rule.given:
        return rule.with_formula(target, None)
    return rule.with_formula(
        Equation(target, rewrite(rule.equation.expression, change)), rule.matrix_form
    )
