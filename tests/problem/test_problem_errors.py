"""What is wrong with a problem, told to the letter: keys, cells, sources, shapes, labels,
settings.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from attncli.errors import AttncliError
from attncli.problem.loader import LONGEST_LINE_KEPT, loads
from attncli.tracing.run import run
from tests.cases import in_one_test

Problems = Callable[..., list[str]]

# three lines; what is tested is line 4
QKV = "Q: [[1, 0], [0, 1]]\nK: [[1, 0], [0, 1]]\nV: [[1, 2], [3, 4]]\n"
EVEN = "all rows of a matrix must be equally long"
POINT = "decimals are written with a point:"
ROWS = "write Q: [[1, 0], [0, 1]]"
RANDOM = "write {random: [4, 8], seed: 7}"

LINE_4 = [
    ("Tokens: [a, b]", "4:1: there is no key Tokens (did you mean tokens?)"),
    ("sclae: 1", "4:1: there is no key sclae (did you mean scale?)"),
    ("zzz: 1", "4:1: there is no key zzz (attncli schema problem lists the keys)"),
    ("title:", "4:7: title: must be text, not an empty value (write text in quotes)"),
    ("title: ''", "4:8: title: must not be empty (write text in quotes)"),
    ("title: [a]", "4:8: title: must be text, not a list (write text in quotes)"),
    (
        "tokens: ab",
        '4:9: tokens: must be a list of labels, not ab (write tokens: ["I", "love", "AI"])',
    ),
    (
        "tokens: [a]",
        (
            "4:1: tokens: 1 label for 2 queries (give one label for each, or remove tokens to get "
            "numbered labels)"
        ),
    ),
    (
        "context_tokens: [a, b, c]",
        (
            "4:1: context_tokens: 3 labels for 2 keys (give one label for each, or remove"
            " context_tokens to get numbered labels)"
        ),
    ),
    (
        "tokens: [a, '']",
        (
            '4:13: tokens[1]: a label must be a text of at least one character, not "" '
            "(every row needs a name)"
        ),
    ),
    (
        "tokens: [a, [b]]",
        (
            "4:13: tokens[1]: a label must be a text of at least one character, not a list "
            "(every row needs a name)"
        ),
    ),
    (
        "score: dott",
        (
            "4:8: score: must be one of scaled_dot, dot, multiplicative, additive, not dott (did"
            " you mean dot?)"
        ),
    ),
    (
        "score: cosine",
        (
            "4:8: score: must be one of scaled_dot, dot, multiplicative, additive, not cosine "
            "(choose one of scaled_dot, dot, multiplicative, additive)"
        ),
    ),
    (
        "score: 2",
        (
            "4:8: score: must be one of scaled_dot, dot, multiplicative, additive, not 2 "
            "(choose one of scaled_dot, dot, multiplicative, additive)"
        ),
    ),
    (
        "scale: nope",
        (
            "4:8: scale: must be a number or none, not nope (write a number, or none for unscaled"
            " scores)"
        ),
    ),
    ("scale: '2'", '4:8: scale: "2" is text, not a number (remove the quotes: 2)'),
    ("scale: [1]", "4:8: scale: must be a number, not a list (write one number)"),
    ("softcap: 0", "4:10: softcap: must be greater than 0, not 0 (write a number such as 50)"),
    ("softcap: null", "4:10: softcap: there is no number here (write a number such as 50)"),
    ("softcap: ''", "4:10: softcap: there is no number here (write a number such as 50)"),
    (
        "softcap: false",
        "4:10: softcap: false is a truth value, not a number (write a number such as 50)",
    ),
    ("exp_base:", "4:10: exp_base: there is no number here (write e, or a number such as 2 or 3)"),
    (
        "softcap: .inf",
        (
            "4:10: softcap: .inf is not allowed here "
            "(only a mask can hold an infinity: -inf, which hides a key)"
        ),
    ),
    (
        "exp_base: 1",
        "4:11: exp_base: must be greater than 1, not 1 (write e, or a number such as 2 or 3)",
    ),
    (
        "sink: x",
        "4:7: sink: x is not a number (write a number such as 3, -0.5, 1e3, 1/3 or sqrt(2))",
    ),
    (
        "sink: .inf",
        (
            "4:7: sink: .inf is not allowed here "
            "(only a mask can hold an infinity: -inf, which hides a key)"
        ),
    ),
    (
        "sink: [[1]]",
        "4:7: sink: must be a list of numbers, not a list of rows (1×1) (write sink: [1, 0])",
    ),
    ("sink: []", "4:7: sink: is empty (write [1, 0])"),
    (
        "past: {K: 3, V: [[4]]}",
        "4:11: past.K: must be a list of rows, not 3 (write K: [[1, 0], [0, 1]])",
    ),
    (
        "d_output: [[1]]",
        (
            "4:1: d_output: is 1×1, but the output is 2×2 "
            "(give one number for each number of the output, or remove d_output to use all ones)"
        ),
    ),
    (
        "d_output: [1, 2]",
        (
            "4:11: d_output: must be a list of rows, not a list of numbers "
            "(write d_output: [[1, 0], [0, 1]])"
        ),
    ),
    (
        "loss: mse",
        (
            "4:7: loss: must be {kind: …, …}, not mse (write loss: {kind: mse, target: [[1, 0], [0,"
            " 1]]})"
        ),
    ),
    (
        "loss: {targets: [1, 0]}",
        "4:7: loss: has no kind (write loss: {kind: cross_entropy, targets: [1, 0]})",
    ),
    (
        "loss: {kind: mae}",
        "4:14: loss.kind: must be one of mse, cross_entropy, not mae (did you mean mse?)",
    ),
    ("loss: {kind: mse, targt: [[1]]}", "4:19: loss: there is no key targt (did you mean target?)"),
    (
        "loss: {kind: mse}",
        "4:7: loss: has no target (write loss: {kind: mse, target: [[1, 0], [0, 1]]})",
    ),
    (
        "loss: {kind: mse, targets: [1]}",
        (
            "4:19: loss: mse has target, not targets (write loss: {kind: mse, target: [[1, 0], [0,"
            " 1]]})"
        ),
    ),
    (
        "loss: {kind: mse, target: [[1, 0]]}",
        (
            "4:19: loss.target: is 1×2, but the output is 2×2 "
            "(give one number for each number of the output)"
        ),
    ),
    (
        "loss: {kind: cross_entropy, targets: [1]}",
        (
            "4:29: loss.targets: is 1 class, but the output is 2×2 "
            "(give one class for each row of the output)"
        ),
    ),
    (
        "loss: {kind: cross_entropy, targets: [1, 2]}",
        (
            "4:42: loss.targets[1]: 2 is no column of the output "
            "(the output has 2 columns, and its classes are 0 to 1)"
        ),
    ),
    (
        "loss: {kind: mse, target: 3}",
        "4:27: loss.target: must be a list of rows, not 3 (write target: [[1, 0], [0, 1]])",
    ),
    (
        "loss: {kind: cross_entropy, targets: 0}",
        "4:38: loss.targets: must be a list of numbers, not 0 (write targets: [1, 0])",
    ),
    ("loss: {kind: cross_entropy, targets: []}", "4:38: loss.targets: is empty (write [1, 0])"),
    (
        "loss: {kind: cross_entropy, targets: [1, 0, 1]}",
        (
            "4:29: loss.targets: is 3 classes, but the output is 2×2 "
            "(give one class for each row of the output)"
        ),
    ),
    (
        "loss: {kind: cross_entropy, targets: [0, -1]}",
        (
            "4:42: loss.targets[1]: -1 is no column of the output "
            "(the output has 2 columns, and its classes are 0 to 1)"
        ),
    ),
    (
        "loss: {kind: cross_entropy, targets: [0.5, 1]}",
        (
            "4:39: loss.targets[0]: 0.5 is no column of the output "
            "(the output has 2 columns, and its classes are 0 to 1)"
        ),
    ),
    (
        "loss: {kind: mse, target: [[1, 0], [0, 1]]}\nd_output: [[1, 0], [0, 1]]",
        (
            "4:1: loss: d_output is given, too "
            "(keep one of the two: the loss already gives the gradient of the output)"
        ),
    ),
    (
        "W_Q: [[1]]",
        "4:1: both Q and W_Q are given (remove W_Q to use Q as it is, or remove Q to project X)",
    ),
    (
        "b_V: [1, 2]",
        (
            "4:1: b_V: is not added to anything: V is given directly "
            "(add it to V yourself, or give W_V instead of V)"
        ),
    ),
    ("X: [[1]]", "4:1: X: is not used: Q, K and V are given directly (remove X)"),
    ("context: [[1]]", "4:1: context: is not used: K and V are given directly (remove context)"),
    (
        "W_a: [[1]]",
        (
            "4:1: W_a: is used only with score: multiplicative (remove W_a, or write score:"
            " multiplicative)"
        ),
    ),
    ("score: multiplicative", "4:1: score: multiplicative needs W_a (give W_a of 2×2)"),
    (
        "score: additive",
        (
            "4:1: score: additive needs W_1, W_2 and v "
            "(give W_1 of 2 × the length of v, W_2 of 2 × the length of v and v of any length)"
        ),
    ),
    (
        "score: additive\nW_1: [[1, 2, 3], [4, 5, 6]]\nv: [1, 2, 3]",
        "4:1: score: additive needs W_2 (give W_2 of 2×3)",
    ),
    (
        "score: additive\nW_2: [[1], [2]]",
        "4:1: score: additive needs W_1 and v (give W_1 of 2×1 and v of 1 number)",
    ),
    (
        "score: multiplicative\nW_a: [[1]]",
        "5:1: W_a: is 1×1, but 2×2 is needed (a query has 2 numbers, a key 2)",
    ),
    (
        "score: additive\nW_1: [[1], [1]]\nW_2: [[1]]\nv: [1]",
        "6:1: W_2: is 1×1, but 2×1 is needed (a query has 2 numbers, a key 2, v 1)",
    ),
    (
        "score: additive\nW_1: [[1], [1]]\nW_2: [[1], [1]]\nv: [[1]]",
        "7:4: v: must be a list of numbers, not a list of rows (1×1) (write v: [1, 0])",
    ),
]

CELLS = [
    ("[]", "is empty (write [[1, 0], [0, 1]])", "1:4: Q: "),
    ("[[]]", "is empty (write [[1, 0], [0, 1]])", "1:5: Q[0]: "),
    ("[1, 2]", f"must be a list of rows, not a list of numbers ({ROWS})", "1:4: Q: "),
    ("hello", f"must be a list of rows, not hello ({ROWS})", "1:4: Q: "),
    ("", f"must be a list of rows, not an empty value ({ROWS})", "1:3: Q: "),
    ("[[1, 2], [3]]", f"has 1 entry, but the first row has 2 ({EVEN})", "1:13: Q[1]: "),
    (
        "[[1, 2], [1, 1,5]]",
        f"has 3 entries, but the first row has 2 ({EVEN}; {POINT} 1.5)",
        "1:13: Q[1]: ",
    ),
    (
        "[[-0,5, 2], [1, 3]]",
        f"has 2 entries, but the first row has 3 ({EVEN}; {POINT} -0.5)",
        "1:16: Q[1]: ",
    ),
    ("[[1,2],[1,1,5]]", f"has 3 entries, but the first row has 2 ({EVEN})", "1:11: Q[1]: "),
    ("[[1, 2], [1, 1,5,2]]", f"has 4 entries, but the first row has 2 ({EVEN})", "1:13: Q[1]: "),
    (
        "[[[[[1, 0], [0, 1]]]]]",
        f"must be a list of rows, not 5 lists deep (1×1×1×2×2) ({ROWS})",
        "1:4: Q: ",
    ),
    (
        "[[1, 2], 3]",
        f"must be a row of 2 entries like the first row, not 3 ({EVEN})",
        "1:13: Q[1]: ",
    ),
    ("[[1, [2]]]", f"must be one entry like its neighbours, not a list ({EVEN})", "1:9: Q[0][1]: "),
    ("[[1, true]]", "true is a truth value, not a number (write 1 or 0)", "1:9: Q[0][1]: "),
    ("[[1, ~]]", "there is no number here (write a number, such as 0)", "1:9: Q[0][1]: "),
    ("[[1, '2']]", '"2" is text, not a number (remove the quotes: 2)', "1:9: Q[0][1]: "),
    (
        "[[1, two]]",
        "two is not a number (write a number such as 3, -0.5, 1e3, 1/3 or sqrt(2))",
        "1:9: Q[0][1]: ",
    ),
    ("[[1, 010]]", "010 has a leading zero (write 10)", "1:9: Q[0][1]: "),
    (
        "[[1, -.inf]]",
        "-.inf is not allowed here (only a mask can hold an infinity: -inf, which hides a key)",
        "1:9: Q[0][1]: ",
    ),
    (
        "[[[1], [2]], [[3]]]",
        "has 1 row, but Q[0] has 2 (all of them must have the same number of rows)",
        "1:17: Q[1]: ",
    ),
    (
        "[[[[1], [2]]], [[[3]]]]",
        "has 1 row, but Q[0][0] has 2 (fill up the shorter ones with rows of 0)",
        "1:20: Q[1][0]: ",
    ),
    (
        "[[[[1]], [[2]]], [[[3]]]]",
        "has 1 matrix, but Q[0] has 2 (all of them must have the same number of matrices)",
        "1:21: Q[1]: ",
    ),
    ("[[[1, 2]], [[3]]]", f"has 1 entry, but the first row has 2 ({EVEN})", "1:16: Q[1][0]: "),
    (
        "[[[1, 0]], [1]]",
        f"must be a row of 2 entries like the first row, not 1 ({EVEN})",
        "1:16: Q[1][0]: ",
    ),
    (
        "{a: 1}",
        (
            "must be a list of rows, {file: …} or {random: …} "
            "(write {file: weights.npz, name: W_Q}, {file: W_Q.csv} or {random: [4, 8], seed: 7})"
        ),
        "1:4: Q: ",
    ),
    ("{random: [2, 2], sed: 1}", "there is no key sed (did you mean seed?)", "1:21: Q: "),
    ("{random: 4}", f"must be a shape, not 4 ({RANDOM})", "1:13: Q.random: "),
    (
        "{random: [2, 0]}",
        f"must be a whole number of at least 1, not 0 ({RANDOM})",
        "1:17: Q.random[1]: ",
    ),
    (
        "{random: [2, 2], seed: -1}",
        f"must be a whole number of at least 0, not -1 ({RANDOM})",
        "1:27: Q.seed: ",
    ),
    (
        "{random: [2, 2], low: 3}",
        "low (3) must be less than high (1) (low is where the numbers begin, high where they end)",
        "1:4: Q: ",
    ),
    (
        "{random: [100000, 100000]}",
        "asks for 10,000,000,000 numbers (an array has at most 50,000,000 numbers)",
        "1:13: Q.random: ",
    ),
    ("{random: []}", f"is empty ({RANDOM})", "1:13: Q.random: "),
    (
        f"{{random: [{'1, ' * 33}]}}",
        "has 33 dimensions (an array has at most 32 dimensions)",
        "1:13: Q.random: ",
    ),
    (
        "{random: [" + "9" * 18 + ", " + "9" * 18 + "]}",
        (
            "asks for 999,999,999,999,999,…00,000,001 (47 characters) numbers (an array has at most"
            " 50,000,000 numbers)"
        ),
        "1:13: Q.random: ",
    ),
    (
        "{random: [2, 2], seed: 99999999999999999999}",
        "99999999999999999999 is too large (a whole number has at most 18 digits here)",
        "1:27: Q.seed: ",
    ),
    (
        "{random: [2, 2], low: 1.0000001, high: 1}",
        (
            "low (1.0000001) must be less than high (1) "
            "(low is where the numbers begin, high where they end)"
        ),
        "1:4: Q: ",
    ),
    (
        "{random: [2, 2], low: -1e308, high: 1e308}",
        (
            "low (-1e308) is too far from high (1e308) "
            "(the distance between them can be at most about 1.8e308)"
        ),
        "1:4: Q: ",
    ),
]

WHOLE = [
    (
        "X: [[1, 1,5]]\nW_Q: [[1], [2]]\nW_K: [[1], [2], [3]]\nW_V: [[1], [2], [3]]\nb_K: [1, 2,5]",
        [
            (
                "2:1: W_Q: X is 1×3 and W_Q is 2×1: X has 3 columns, but W_Q has 2 rows "
                f"(Q = X·W_Q needs these two to be equal; {POINT} 1.5)"
            ),
            (
                "5:1: b_K: has 3 numbers, but K has 1 column (give one number for each column of"
                f" W_K; {POINT} 2.5)"
            ),
        ],
    ),
    (
        "Q: [[1, 2]]\nK: [[1, 2,5]]\nV: [[1]]",
        [
            "2:1: K: a key has 3 numbers and a query 2: a dot product needs the same number "
            f"(make them equal, or write score: multiplicative with a W_a of 2×3; {POINT} 2.5)"
        ],
    ),
    ("- 1", ["1:1: this is a list, not a problem (write lines such as X: [[1, 0], [0, 1]])"]),
    ("hello", ["1:1: this is hello, not a problem (write lines such as X: [[1, 0], [0, 1]])"]),
    (
        "title: a",
        [
            "1:1: the queries are missing (give Q, or X and W_Q)",
            "1:1: the keys are missing (give K, or X (or context) and W_K)",
            "1:1: the values are missing (give V, or X (or context) and W_V)",
        ],
    ),
    ("X: [[1]]\nW_Q: [[1]]\nV: [[1]]", ["1:1: the keys are missing (give K, or W_K to project X)"]),
    (
        "W_Q: [[1]]\nK: [[1]]\nV: [[1]]",
        ["1:1: W_Q: there is no X to project (give X, or Q itself instead of W_Q)"],
    ),
    (
        "X: [[1, 2]]\nW_q: [[1], [2]]\nW_K: [[1], [2]]\nW_V: [[1], [2]]",
        ["2:1: there is no key W_q (did you mean W_Q?)"],
    ),
    (
        "X: [[1, 2]]\nW_Q: [[1, 1], [2, 2], [3, 3]]\nW_K: [[1, 2]]\nW_V: [[1], [2]]\nb_V: [1, 2]",
        [
            (
                "2:1: W_Q: X is 1×2 and W_Q is 3×2: X has 2 columns, but W_Q has 3 rows (Q = X·W_Q"
                " needs these two to be equal; transpose W_Q if it is laid out as in"
                " torch.nn.Linear)"
            ),
            (
                "3:1: W_K: X is 1×2 and W_K is 1×2: X has 2 columns, but W_K has 1 row (K = X·W_K"
                " needs these two to be equal; transpose W_K if it is laid out as in"
                " torch.nn.Linear)"
            ),
            "5:1: b_V: has 2 numbers, but V has 1 column (give one number for each column of W_V)",
        ],
    ),
    (
        "X: [[1, 2]]\ncontext: [[1, 2, 3]]\nW_Q: [[1], [2]]\nW_K: [[1], [2]]\nW_V: [[1], [2], [3]]",
        [
            "4:1: W_K: context is 1×3 and W_K is 2×1: context has 3 columns, but W_K has 2 rows (K"
            " = context·W_K needs these two to be equal)"
        ],
    ),
    (
        "Q: [[1, 2]]\nK: [[1, 2, 3]]\nV: [[1]]",
        [
            "2:1: K: a key has 3 numbers and a query 2: a dot product needs the same number "
            "(make them equal, or write score: multiplicative with a W_a of 2×3)"
        ],
    ),
    (
        "Q: [[1, 2]]\nK: [[1, 2]]\nV: [[1], [2]]",
        [
            "3:1: V: has 2 rows, but K has 1 (every key needs a value: K and V must have the same"
            " number of rows)"
        ],
    ),
    (
        "Q: [[1]]\nK: [[1]]\nQ: [[2]]\nV: [[x]]",
        [
            "3:1: Q is given twice (it is on line 1 already: keep one of the two)",
            "4:6: V[0][0]: x is not a number (write a number such as 3, -0.5, 1e3, 1/3 or sqrt(2))",
        ],
    ),
]


@in_one_test(("line", "message"), LINE_4)
def test_settings_and_unknown_keys(line: str, message: str, problems: Problems) -> None:
    assert problems(QKV + line) == [message]


@in_one_test(("cells", "message", "place"), CELLS)
def test_cells(cells: str, message: str, place: str, problems: Problems) -> None:
    assert problems(f"Q: {cells}\nK: [[1, 0], [0, 1]]\nV: [[1, 2], [3, 4]]") == [place + message]


FILL = "fill up the shorter ones with rows of 0"
W = "W_Q: [[1], [2]]\nW_K: [[1], [2]]\nW_V: [[1], [2]]"


@in_one_test(
    ("text", "message"),
    [
        (
            f"X: [[[1, 2], [3, 4]], [[1, 2]]]\n{W}",
            (
                f"1:23: X[1]: has 1 row, but X[0] has 2 ({FILL} at the end, and add mask:"
                " {lengths: [2, 1]})"
            ),
        ),
        # told once, with the lengths of all
        (
            f"X: [[[1, 2]], [[1, 2], [3, 4]], [], [[1, 2], [3, 4], [5, 6]]]\n{W}",
            (
                f"1:15: X[1]: has 2 rows, but X[0] has 1 ({FILL} at the end, and add mask:"
                " {lengths: [1, 2, 0, 3]})"
            ),
        ),
        (
            f"X: [[[1, 2]], {', '.join(['[[1, 2], [3, 4]]'] * 12)}]\n{W}",
            (
                f"1:15: X[1]: has 2 rows, but X[0] has 1 ({FILL} at the end, and add mask: "
                "{lengths: [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, …]})"
            ),
        ),
        # queries are not what lengths count
        (
            f"X: [[[1, 2], [3, 4]], [[1, 2]]]\ncontext: {{random: [2, 3, 2]}}\n{W}",
            f"1:23: X[1]: has 1 row, but X[0] has 2 ({FILL})",
        ),
        (
            f"X: {{random: [2, 3, 2]}}\ncontext: [[[1, 2], [3, 4]], [[1, 2]]]\n{W}",
            (
                f"2:29: context[1]: has 1 row, but context[0] has 2 ({FILL} at the end, and add"
                " mask: {lengths: [2, 1]})"
            ),
        ),
        (
            "K: [[[[1], [2]]], [[[3]]]]\nQ: [[1]]\nV: [[1]]",
            (
                f"1:20: K[1][0]: has 1 row, but K[0][0] has 2 ({FILL} at the end, and add mask:"
                " {lengths: [2, 1]})"
            ),
        ),
    ],
)
def test_sentences_of_different_lengths(text: str, message: str, problems: Problems) -> None:
    assert problems(text) == [message]


@in_one_test(("text", "messages"), WHOLE)
def test_whole_problems(text: str, messages: list[str], problems: Problems) -> None:
    assert problems(text) == messages


ALL = "an array has at most 50,000,000 numbers"
LESS = f"{ALL}; attncli compute --steps output --detail brief does without it"
TOO_LARGE = [
    (
        "{Q: {random: [100001, 1]}, K: [[1]], V: [[1]]}",
        "1:2: Q: has 100,001 rows, one for each token (at most 100,000 tokens are possible)",
    ),
    (
        "{Q: [[1]], K: {random: [100001, 1]}, V: {random: [100001, 1]}}",
        "1:12: K: has 100,001 rows, one for each token (at most 100,000 tokens are possible)",
    ),
    (
        "{X: {random: [100000, 1]}, W_Q: {random: [1, 501]}, W_K: {random: [1, 501]}, W_V: [[1]]}",
        f"1:28: W_Q: Q would be 100000×501, which is 50,100,000 numbers ({ALL})",
    ),
    (
        "{Q: {random: [100000, 1]}, K: [[1]], V: {random: [1, 501]}}",
        f"1:38: V: the output would be 100000×501, which is 50,100,000 numbers ({ALL})",
    ),
    (
        (
            "{Q: {random: [100000, 1]}, K: {random: [1, 501]}, V: [[1]], score: multiplicative,"
            " W_a: {random: [1, 501]}}"
        ),
        f"1:84: W_a: Q·W_a would be 100000×501, which is 50,100,000 numbers ({ALL})",
    ),
]


# which a problem may have
TOO_MANY_SCORES = [
    (
        "{X: {random: [7072, 1]}, W_Q: [[1]], W_K: [[1]], W_V: [[1]]}",
        f"1:2: X: the matrix of scores would be 7072×7072, which is 50,013,184 numbers ({LESS})",
    ),
    (
        (
            "{Q: {random: [5000, 1]}, K: {random: [5000, 1]}, V: {random: [5000, 1]}, score:"
            " additive, W_1: [[1, 2, 3]], W_2: [[1, 2, 3]], v: [1, 2, 3]}"
        ),
        (
            "1:127: v: what v is multiplied by would be 5000×5000×3, which is 75,000,000 numbers"
            f" ({LESS})"
        ),
    ),
]


@pytest.mark.parametrize(("text", "message"), TOO_LARGE)
def test_problems_too_large(text: str, message: str, problems: Problems) -> None:
    assert problems(text) == [message]


@pytest.mark.long
@pytest.mark.parametrize(("text", "message"), TOO_MANY_SCORES)
def test_only_who_makes_scores_asks_how_many_there_are(text: str, message: str) -> None:
    """And still tells where in the file they come from."""
    problem = loads(text.encode(), "p.yaml")
    assert run(problem, keep=["output"]).steps
    with pytest.raises(AttncliError) as caught:
        run(problem)
    error = caught.value
    assert error.place is not None
    place = f"{error.place.line}:{error.place.column}"
    assert f"{place}: {error} ({error.help})" == message


def test_a_problem_does_not_keep_a_file_that_is_one_line() -> None:
    """The places of its arrays stay without the line, which is the whole text."""
    row = [0.5] * LONGEST_LINE_KEPT
    text = json.dumps({"Q": [row], "K": [row], "V": [row]})
    places = loads(text.encode(), "p.json").places
    assert {name: place.line for name, place in places.items()} == {"Q": 1, "K": 1, "V": 1}
    assert {place.source for place in places.values()} == {""}


def test_twenty_problems_are_told_and_all_counted() -> None:
    with pytest.raises(AttncliError) as caught:
        loads(f"Q: [[{', '.join(['x'] * 30)}]]\nK: [[1]]\nV: [[y]]".encode(), "p.yaml")
    assert len(caught.value.more) == 19
    assert str(caught.value.more[-1]) == "Q[0][19]: x is not a number"
    assert caught.value.untold == 11


def test_reading_ends_with_the_thousandth_problem() -> None:
    with pytest.raises(AttncliError) as caught:
        loads(f"Q: [[{', '.join(['x'] * 2000)}]]".encode(), "p.yaml")
    assert (len(caught.value.more), caught.value.untold) == (19, 980)


@in_one_test(
    ("data", "message"),
    [
        (b"\xff\xfeX\x00", "1:1: the file is UTF-16, not UTF-8 (save the file as UTF-8)"),
        (b"\xfe\xff\x00X", "1:1: the file is UTF-16, not UTF-8 (save the file as UTF-8)"),
        (
            b"\xff\xfe\x00\x00X\x00\x00\x00",
            "1:1: the file is UTF-32, not UTF-8 (save the file as UTF-8)",
        ),
        (
            b"title: a\nX: \xe9\n",
            "2:4: byte 0xe9 is not UTF-8; in Windows-1252 it is é (save the file as UTF-8)",
        ),
        (
            b"title: a\rX: \xe9\r",
            "2:4: byte 0xe9 is not UTF-8; in Windows-1252 it is é (save the file as UTF-8)",
        ),
        (
            b"\xef\xbb\xbfX: \xe9",
            "1:4: byte 0xe9 is not UTF-8; in Windows-1252 it is é (save the file as UTF-8)",
        ),
    ],
)
def test_other_encodings(data: bytes, message: str, problems: Problems) -> None:
    assert problems(data) == [message]


@pytest.mark.parametrize("name", ["w.npz", "w.npy", "model.safetensors", "model.pt", "MODEL.PTH"])
def test_a_file_of_arrays_is_no_problem(name: str) -> None:
    with pytest.raises(AttncliError) as caught:
        loads(b"PK\x03\x04\x8c", name)
    assert caught.value.message == f"{name} holds arrays, not text"
    assert "{file: arrays.npz, name: X}" in caught.value.help


def test_the_place_holds_the_whole_line() -> None:
    line = "Q: [[" + "1, " * 2000 + "x]]"
    with pytest.raises(AttncliError) as caught:
        loads(f"title: a\r\n{line}\r\nK: [[1]]".encode(), "wide.yaml")
    place = caught.value.more[-1].place
    assert place
    assert (place.file, place.line, place.column, place.source) == ("wide.yaml", 2, 6006, line)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_every_way(end: str, problems: Problems) -> None:
    lines = ("title: a", "", "Q: [[x]]", "K: [[1]]", "V: [[1]]")
    assert [line[:18] for line in problems(end.join(lines))] == ["3:6: Q[0][0]: x is"]
