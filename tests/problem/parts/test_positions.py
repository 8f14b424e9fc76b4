"""Positions and caches as a problem writes them: every form that is read, and every way to get it
wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attncli.problem.loader import loads
from attncli.problem.matrix import Scalar
from attncli.problem.parts.positions import Rope
from tests.cases import in_one_test

Problems = Callable[..., list[str]]

# three lines; what is tested is line 4
QKV = "Q: [[1, 0], [0, 1]]\nK: [[1, 0], [0, 1]]\nV: [[1, 2], [3, 4]]\n"
HALF = Rope(Scalar(10000, "10000"), "half")
ROPE = "write {rope: {theta: 10000, pairing: half}}"
ALIBI = "write {alibi: true}, or {alibi: {slopes: [0.5, 0.25]}}"
BOTH = f"{ROPE}, or {{alibi: true}}, or {{sinusoidal: true}}"
FORMS = "{rope: …}, {alibi: …} or {sinusoidal: …}"
PAST = "write past: {K: [[1, 0]], V: [[0, 1]]}"
HOLDS = "a cache holds a key and a value of every earlier token"


@in_one_test(
    ("text", "rope", "alibi", "slope"),
    [
        ("none", None, False, None),
        ("{rope: true}", HALF, False, None),
        ("{rope: false}", None, False, None),
        ("{rope: {}}", HALF, False, None),
        ("{rope: {theta: 500000.0}}", Rope(Scalar(500000, "500000.0"), "half"), False, None),
        (
            "{rope: {theta: 1/2, pairing: interleaved}}",
            Rope(Scalar(0.5, "1/2"), "interleaved"),
            False,
            None,
        ),
        ("{alibi: true}", None, True, None),
        ("{alibi: false}", None, False, None),
        ("{alibi: {slopes: [1/3]}}", None, True, Scalar(1 / 3, "1/3")),
        ("{alibi: {slopes: [-0.5]}}", None, True, Scalar(-0.5, "-0.5")),
        ("{rope: true, alibi: true}", HALF, True, None),
    ],
)
def test_positions(text: str, rope: Any, alibi: bool, slope: Any) -> None:
    problem = loads(f"{QKV}position: {text}".encode(), "p.yaml")
    assert (problem.rope, problem.alibi, problem.slope) == (rope, alibi, slope)


def test_positions_in_json() -> None:
    text = (
        '{"Q": [[1, 2]], "K": [[1, 2]], "V": [[1]], "position": {"rope": {"theta": 1e4}, "alibi":'
        " true}}"
    )
    problem = loads(text.encode(), "p.json")
    assert (problem.rope, problem.alibi) == (Rope(Scalar(10000, "1e4"), "half"), True)


@in_one_test(
    ("text", "messages"),
    [
        ("rope", [f"4:11: position: must be {FORMS}, not rope ({BOTH})"]),
        ("", [f"4:10: position: must be {FORMS}, not an empty value ({BOTH})"]),
        ("[rope]", [f"4:11: position: must be {FORMS}, not a list ({BOTH})"]),
        ("true", [f"4:11: position: must be {FORMS}, not true ({BOTH})"]),
        ("{rop: true}", ["4:12: position: there is no key rop (did you mean rope?)"]),
        (
            "{rope: true, learned: true}",
            ["4:24: position: there is no key learned (the keys here are rope, alibi, sinusoidal)"],
        ),
        (
            "{rope: 10000}",
            ["4:18: position.rope: must be true or false, not 10000 (write true or false)"],
        ),
        (
            "{rope: half}",
            ["4:18: position.rope: must be true or false, not half (write true or false)"],
        ),
        ("{rope: [10000]}", [f"4:18: position.rope: must be a mapping, not a list ({ROPE})"]),
        (
            "{rope: {base: 10000}}",
            [
                "4:19: position.rope: there is no key base (the keys here are theta, pairing,"
                " rope_type, rope_theta, partial_rotary_factor, factor, low_freq_factor,"
                " high_freq_factor, original_max_position_embeddings, max_position_embeddings,"
                " attention_factor, beta_fast, beta_slow, mscale, mscale_all_dim, truncate,"
                " mrope_interleaved, short_factor, long_factor, mrope_section, positions,"
                " rope_parameters, rope_scaling, layer, rope_local_base_freq)"
            ],
        ),
        (
            "{rope: {theta: }}",
            ["4:26: position.rope.theta: there is no number here (write a number such as 10000)"],
        ),
        (
            "{rope: {theta: 0}}",
            [
                "4:26: position.rope.theta: must be greater than 0, not 0 (write a number such as"
                " 10000)"
            ],
        ),
        (
            "{rope: {theta: ten}}",
            [
                "4:26: position.rope.theta: ten is not a number "
                "(write a number such as 3, -0.5, 1e3, 1/3 or sqrt(2))"
            ],
        ),
        (
            "{rope: {theta: [1]}}",
            ["4:26: position.rope.theta: must be a number, not a list (write one number)"],
        ),
        (
            "{rope: {theta: -2, pairing: halves}}",
            [
                (
                    "4:26: position.rope.theta: must be greater than 0, not -2 (write a number such"
                    " as 10000)"
                ),
                (
                    "4:39: position.rope.pairing: must be one of half, interleaved, not halves (did"
                    " you mean half?)"
                ),
            ],
        ),
        (
            "{alibi: 0.5}",
            ["4:19: position.alibi: must be true or false, not 0.5 (write true or false)"],
        ),
        (
            "{alibi: [0.5]}",
            [f"4:19: position.alibi: must be true or {{slopes: …}}, not a list ({ALIBI})"],
        ),
        (
            "{alibi: {slopes: [1], max: 8}}",
            ["4:33: position.alibi: there is no key max (the keys here are slopes)"],
        ),
        (
            "{alibi: {slopes: [x]}}",
            [
                "4:29: position.alibi.slopes[0]: x is not a number "
                "(write a number such as 3, -0.5, 1e3, 1/3 or sqrt(2))"
            ],
        ),
        (
            "{rope: no, alibi: 2}",
            [
                "4:18: position.rope: must be true or false, not no (write true or false)",
                "4:29: position.alibi: must be true or false, not 2 (write true or false)",
            ],
        ),
    ],
)
def test_bad_positions(text: str, messages: list[str], problems: Problems) -> None:
    assert problems(f"{QKV}position: {text}") == messages


@in_one_test(
    ("text", "place"),
    [
        ("{}", "4:11: position: "),
        ("{alibi: {}}", "4:19: position.alibi: "),
        ("{alibi: {slope: [1]}}", "4:19: position.alibi: "),
        ("{alibi: {slopes: 1}}", "4:28: position.alibi.slopes: must be a list of numbers, not 1 "),
        (
            "{alibi: {slopes: [[1]]}}",
            "4:28: position.alibi.slopes: must be a list of numbers, not a list of rows (1×1) ",
        ),
        ("{alibi: {slopes: []}}", "4:28: position.alibi.slopes: is empty (write [1, 0])"),
    ],
)
def test_positions_of_which_something_is_missing(text: str, place: str, problems: Problems) -> None:
    (message,) = problems(f"{QKV}position: {text}")
    assert message.startswith(place)


def test_a_cache_keeps_its_numbers_as_they_were_written() -> None:
    problem = loads(f'{QKV}past: {{V: [["1/2", 0.50]], K: [[1, 1e1]]}}'.encode(), "p.yaml")
    keys, values = problem.given["past_K"], problem.given["past_V"]
    assert keys.value.tolist() == [[1, 10]]
    assert values.written is not None
    assert values.written.tolist() == [["1/2", "0.50"]]


@in_one_test(
    ("text", "message"),
    [
        ("1", f"4:7: past: must be {{K: …, V: …}}, not 1 ({PAST})"),
        ("", f"4:6: past: must be {{K: …, V: …}}, not an empty value ({PAST})"),
        ("[[1, 2]]", f"4:7: past: must be {{K: …, V: …}}, not a list ({PAST})"),
        ("{}", f"4:7: past: has no K: {HOLDS} ({PAST})"),
        ("{V: [[1, 2]]}", f"4:7: past: has no K: {HOLDS} ({PAST})"),
        ("{K: [[1, 2]]}", f"4:7: past: has no V: {HOLDS} ({PAST})"),
        ("{K: [[1, 2]], V: [[1, 2]], Q: [[1, 2]]}", "4:34: past: there is no key Q "),
        (
            "{K: [[1, 2]], V: [[1, 2]], length: 1}",
            "4:34: past: there is no key length (the keys here are K, V)",
        ),
        (
            "{K: [1, 2], V: [[1, 2]]}",
            "4:11: past.K: must be a list of rows, not a list of numbers ",
        ),
        (
            "{K: [[1, 2]], V: [[1, x]]}",
            (
                "4:29: past.V[0][1]: x is not a number "
                "(write a number such as 3, -0.5, 1e3, 1/3 or sqrt(2))"
            ),
        ),
        (
            "{K: [[[[[1, 2]]]]], V: [[1, 2]]}",
            "4:11: past.K: must be a list of rows, not 5 lists deep (1×1×1×1×2) ",
        ),
        (
            "{K: {file: no.npy}, V: [[1, 2]]}",
            "4:18: past.K.file: cannot read no.npy: this file does not exist ",
        ),
    ],
)
def test_bad_caches(text: str, message: str, problems: Problems) -> None:
    (found,) = problems(f"{QKV}past: {text}")
    assert found.startswith(message)
