"""A mistake in an equation of the problem's own is found from the equation itself, and named only
where it gives all numbers of a step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import attncli
from attncli.answers.reader import read_answers
from attncli.cli.main import run
from attncli.features.check.diagnosis import Diagnosis, diagnose
from attncli.features.check.verdicts import Judgement, judge
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.mistakes.own import own_mistakes
from attncli.problem.text.source import decode
from attncli.tracing.model import Trace

Array: TypeAlias = NDArray[np.float64]
Given: TypeAlias = Mapping[str, Array]

INPUTS = Path(__file__).parents[3] / "inputs" / "equations"
FILES = sorted(file.stem for file in INPUTS.glob("*.yaml"))
DECIMALS = 6


def written(array: Any) -> str:
    """Nested lists, in all decimals, as a flow of YAML."""
    if isinstance(array, np.ndarray) and array.ndim:
        return "[" + ", ".join(map(written, array)) + "]"
    return "-inf" if array == -np.inf else f"{float(array) + 0.0:.{DECIMALS}f}"


def judged(trace: Trace, answers: Mapping[str, Any]) -> Judgement:
    text = "\n".join(f"{name}: {written(array)}" for name, array in answers.items())
    return judge(trace, read_answers(decode(text.encode(), "a.yaml", None), trace))


def names(found: tuple[Diagnosis, ...]) -> set[str]:
    return set(itertools.chain.from_iterable(each.mistakes for each in found))


# Made in NumPy


def softmax(logits: Array, axis: int = -1) -> Array:
    powers = np.exp(logits - logits.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def raw_queries(given: Given) -> Array:
    return given["X"] @ given["W_Q"]


def mean_square(rows: Array) -> Array:
    return np.mean(rows**2, -1, keepdims=True)


def true_weights(given: Given) -> Array:
    q, k = given["X"] @ given["W_Q"], given["X"] @ given["W_K"]
    return softmax(q @ k.T / np.sqrt(q.shape[-1]))


def noise(given: Given, axis: int) -> Array:
    p, r = given["X"] @ given["W_P"], given["X"] @ given["W_R"]
    return softmax(p @ r.T / np.sqrt(p.shape[-1]), axis)


def lam(given: Given, first: float) -> Array:
    up = np.exp(given["lam_q"] @ given["lam_k"])
    return np.asarray(up - np.exp(given["lam_p"] @ given["lam_r"]) + first)


def lengths(rows: Array) -> Array:
    return np.linalg.norm(rows, axis=-1)


def distance(given: Given) -> Array:
    queries, keys = np.indices((len(given["Q"]), len(given["K"])))
    return given["bias_of"][np.clip(keys - queries, -2, 2) + 2]


CASES: list[tuple[str, str, str, Callable[[Given], Array]]] = [
    (
        "qk_norm",
        "Q",
        "in Q, sqrt was left out of sqrt(mean(t, q_raw[i, t] ** 2) + eps)",
        lambda g: g["gain_q"] * raw_queries(g) / (mean_square(raw_queries(g)) + g["eps"]),
    ),
    (
        "qk_norm",
        "Q",
        "in Q, the sum over t was taken, not the mean",
        lambda g: (
            g["gain_q"]
            * raw_queries(g)
            / np.sqrt(np.sum(raw_queries(g) ** 2, -1, keepdims=True) + g["eps"])
        ),
    ),
    (
        "qk_norm",
        "Q",
        "in Q, the factor gain_q[k] was left out",
        lambda g: raw_queries(g) / np.sqrt(mean_square(raw_queries(g)) + g["eps"]),
    ),
    (
        "qk_norm",
        "Q",
        "in Q, gain_k[k] was read for gain_q[k]",
        lambda g: g["gain_k"] * raw_queries(g) / np.sqrt(mean_square(raw_queries(g)) + g["eps"]),
    ),
    (
        "qk_norm",
        "q_raw",
        "in q_raw, W_K[d, k] was read for W_Q[d, k]",
        lambda g: g["X"] @ g["W_K"],
    ),
    (
        "differential",
        "difference",
        "in difference, lam * noise[i, j] was added, not subtracted",
        lambda g: true_weights(g) + lam(g, float(g["lam_first"])) * noise(g, -1),
    ),
    (
        "differential",
        "difference",
        "in difference, the factor lam was left out",
        lambda g: true_weights(g) - noise(g, -1),
    ),
    ("differential", "lam", "in lam, the term lam_first was left out", lambda g: lam(g, 0.0)),
    (
        "differential",
        "noise",
        "in noise, the softmax was taken over i, not over j",
        lambda g: noise(g, 0),
    ),
    (
        "cosine",
        "cosine",
        "in cosine, the division by q_length[i] * k_length[j] was left out",
        lambda g: g["Q"] @ g["K"].T,
    ),
    (
        "cosine",
        "q_length",
        "in q_length, sqrt was left out of sqrt(sum(k, Q[i, k] ** 2))",
        lambda g: lengths(g["Q"]) ** 2,
    ),
    (
        "relative_bias",
        "scores",
        "in scores, bias_of[min(max(j - i, -2), 2) + 2] was subtracted, not added",
        lambda g: g["Q"] @ g["K"].T - distance(g),
    ),
    (
        "output_gate",
        "gate",
        "in gate, sigmoid was left out of sigmoid(sum(d, X[i, d] * W_G[d, c]))",
        lambda g: g["X"] @ g["W_G"],
    ),
    (
        "entropy",
        "entropy",
        "in entropy, the division by log(2) was left out",
        lambda g: -np.sum(true_weights(g) * np.log(true_weights(g)), -1),
    ),
    (
        "linear",
        "phi_q",
        "in phi_q, the two cases of where(Q[i, k] > 0, Q[i, k] + 1, exp(Q[i, k])) were exchanged",
        lambda g: np.where(raw_queries(g) > 0, np.exp(raw_queries(g)), raw_queries(g) + 1),
    ),
]


@pytest.mark.sampled(6, "long")
@pytest.mark.parametrize(
    ("file", "step", "name", "mistaken"),
    CASES,
    ids=[f"{file}: {name}" for file, _, name, _ in CASES],
)
def test_a_mistake_made_in_numpy_is_named(
    file: str, step: str, name: str, mistaken: Callable[[Given], Array]
) -> None:
    trace = attncli.trace(INPUTS / f"{file}.yaml")
    given = {each: trace[each] for each, made in trace.steps.items() if made.rule.given}
    judgement = judged(trace, {step: mistaken(given)})
    assert name in names(diagnose(judgement))


# Every change of every equation


def named_of(file: str, every: int, least: int = 1) -> tuple[int, int, list[str]]:
    """How many mistakes were tried, how many of them no number shows, and those without a name
    that at least so many different numbers show.
    """
    trace = attncli.trace(INPUTS / f"{file}.yaml")
    tried = hidden = 0
    unnamed = []
    for mistake, changes in itertools.islice(own_mistakes(trace), every // 2, None, every):
        made = MistakenTrace(trace, changes)
        answers = {step.name: made[step.name] for step in trace.computed()}
        if any(np.isnan(array).any() or np.isposinf(array).any() for array in answers.values()):
            continue
        tried += 1
        judgement = judged(trace, answers)
        cells = itertools.chain.from_iterable(step.flat for step in judgement.steps.values())
        # A step that is 0 all over says as little as one number.
        wrong = {cell.given for cell in cells if cell.verdict == "wrong"}
        if not wrong:
            hidden += 1
        elif len(wrong) >= least and mistake.name not in names(diagnose(judgement)):
            unnamed.append(mistake.name)
    return tried, hidden, unnamed


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("file", FILES)
def test_mistakes_that_show_are_named(file: str) -> None:
    tried, hidden, unnamed = named_of(file, every=6)
    assert unnamed == []
    assert hidden < tried


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_all_mistakes_that_show_are_named(file: str) -> None:
    # One or two wrong numbers may be slips as well, or be given by a change of another equation.
    tried, hidden, unnamed = named_of(file, every=1, least=3)
    assert unnamed == []
    assert hidden < 0.4 * tried


@pytest.mark.sampled(10)
@pytest.mark.parametrize("file", FILES)
def test_right_answers_name_nothing(file: str) -> None:
    trace = attncli.trace(INPUTS / f"{file}.yaml")
    answers = {step.name: step.value for step in trace.computed()}
    assert diagnose(judged(trace, answers)) == ()


def test_a_mistake_that_gives_only_some_numbers_is_not_named() -> None:
    """Another number is wrong, too: then nothing is said of the equation."""
    trace = attncli.trace(INPUTS / "cosine.yaml")
    wrong = trace["Q"] @ trace["K"].T
    wrong[0, 0] += 0.37
    found = names(diagnose(judged(trace, {"cosine": wrong})))
    assert [name for name in found if name.startswith("in cosine")] == []


def test_all_changes_of_one_equation() -> None:
    trace = attncli.trace(
        Q=[[1.5, 2], [0.5, -1]],
        K=[[1, 0], [0, 1]],
        V=[[1, 2, 3], [2, 1, 0]],
        arrays={"gain[c]": [1, 2, 3], "other[c]": [4, 5, 6], "eps": 0.5},
        equations=["gated[i, c] = output[i, c] - 2 * sqrt(gain[c] + eps)", "second[c] = other[c]"],
        result="gated",
    )
    made = [mistake.name for mistake, _ in own_mistakes(trace)]
    assert [name.removeprefix("in gated, ") for name in made] == [
        "the term 2 * sqrt(gain[c] + eps) was left out",
        "the term output[i, c] was left out",
        "2 * sqrt(gain[c] + eps) was added, not subtracted",
        "the factor sqrt(gain[c] + eps) was left out",
        "the factor 2 was left out",
        "2 was divided by sqrt(gain[c] + eps), not multiplied by it",
        "sqrt was left out of sqrt(gain[c] + eps)",
        "the term eps was left out",
        "the term gain[c] was left out",
        "eps was subtracted, not added",
        "other[c] was read for gain[c]",
        "in second, gain[c] was read for other[c]",
    ]
    assert len({mistake.id for mistake, _ in own_mistakes(trace)}) == len(made)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html", "json", "csv", "tsv"])
def test_every_format_has_the_name(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = attncli.trace(INPUTS / "output_gate.yaml")
    answers = tmp_path / "answers.yaml"
    answers.write_text(f"gate: {written(trace['X'] @ trace['W_G'])}\n", encoding="utf-8")
    assert run(["check", str(INPUTS / "output_gate.yaml"), str(answers), "--format", form]) == 1
    printed = capsys.readouterr().out
    assert "sigmoid was left out of sigmoid(sum(d, X" in printed.replace("\n  ", " ").replace(
        "\\", ""
    )


@pytest.mark.long
def test_known_mistakes_are_named_where_the_step_is_ours() -> None:
    """The mask was forgotten, with queries of the problem's own."""
    keys: dict[str, Any] = {
        "X": [[1, 0.5, -0.2], [0.3, 0.9, 0.1], [-0.7, 0.2, 0.6]],
        "W_Q": [[0.5, 0.3], [-0.2, 0.4], [0.1, 0.6]],
        "W_K": [[0.4, -0.1], [0.3, 0.5], [0.6, 0.2]],
        "W_V": [[0.6, 0.3], [0.2, -0.7], [0.4, 0.1]],
        "equations": ["Q[i, k] = 2 * tanh(sum(d, X[i, d] * W_Q[d, k]))"],
    }
    trace = attncli.trace(**keys, mask="causal")
    forgotten = attncli.trace(**keys)
    found = names(diagnose(judged(trace, {"output": forgotten["output"]})))
    assert "the mask was forgotten" in found
    scaled = trace["scores"] / 2
    found = names(diagnose(judged(trace, {"scaled": scaled})))
    assert "the scores were divided by d_k, not by its root" in found


def test_a_slip_is_carried_on() -> None:
    """One wrong number of a gate: what is worked out from it is carried."""
    trace = attncli.trace(INPUTS / "output_gate.yaml")
    gate = trace["gate"].copy()
    gate[1, 2] += 0.1
    judgement = judged(trace, {"gate": gate, "gated": gate * trace["output"]})
    verdicts = {
        name: [each.verdict for each in cells.flat] for name, cells in judgement.steps.items()
    }
    assert verdicts["gate"] == ["right"] * 5 + ["wrong"] + ["right"] * 3
    assert verdicts["gated"] == ["right"] * 5 + ["carried"] + ["right"] * 3


def test_a_wrong_sign_in_one_cell_has_a_name() -> None:
    trace = attncli.trace(INPUTS / "cosine.yaml")
    cosines, q, k = trace["cosine"].copy(), trace["Q"], trace["K"]
    cosines[0, 1] = (-q[0, 0] * k[1, 0] + q[0, 1] * k[1, 1]) / (5 * 10)
    # A slip is sought where the numbers before it are there.
    answers = {"q_length": trace["q_length"], "k_length": trace["k_length"], "cosine": cosines}
    assert names(diagnose(judged(trace, answers))) == {"Q[0][0]·K[1][0] has the wrong sign"}


@pytest.mark.parametrize("letter", ["t", "u", "l", "w"])
def test_a_softmax_over_another_axis_is_named_whatever_its_letter(letter: str) -> None:
    gate = np.array([[1.0, 3, 0], [2, 2, 5], [0, 1, 1]])
    problem = attncli.problem(
        Q=[[1], [2], [3]],
        K=[[1], [2], [3]],
        V=[[1], [2], [3]],
        arrays={f"gate[i, {letter}]": gate},
        equations=[f"mix[i, {letter}] = softmax({letter}, gate[i, {letter}])"],
        result="mix",
    )
    (diagnosis,) = attncli.check(problem, {"mix": np.round(softmax(gate, 0), 3)}).diagnoses
    assert diagnosis.mistakes == (f"in mix, the softmax was taken over i, not over {letter}",)
