"""Dumps of other programs: which files are some, what is read from them, and how each fault is
told.
"""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.attention.registry import RULES
from attncli.errors import AttncliError
from attncli.features.compare.dumps import Dump, is_dump, parse_renames, read_archive, read_dump
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.text.source import Source
from attncli.problem.text.tree import read_tree
from attncli.tracing import run
from attncli.tracing.serialization import to_dict
from tests.cases import in_one_test

STEPS = f"the steps are {', '.join(RULES)}"


def read(text: str, name: str = "dump.json", renames: dict[str, str] | None = None) -> Dump:
    errors, root = read_tree(Source(name, text), not_finite=True)
    return read_dump(root, errors, renames)


@in_one_test(
    ("text", "expected"),
    [
        ("{weights: [[1]]}", True),
        ("{Q: [[1]], K: [[1]], V: [[1]], scores: [[1]]}", True),
        ("{steps: {Q: [[1]]}}", True),
        ("{Q: [[1]], K: [[1]]}", True),
        ("{mask: [[0]], K_T: [[1]]}", True),
        ("{wieghts: [[1]]}", True),
        ("{Q: [[1]], K: [[1]], V: [[1]], A: [[1]]}", True),
        ("{Q: [[1]], K: [[1]], V: [[1]], M: [[1]], tokens: [a]}", False),
        ("{Q: [[1]], K: [[1]], V: [[1]]}", False),
        ("{X: [[1]], W_Q: [[1]], K: [[1]], W_V: [[1]], mask: causal}", False),
        ("{Q: [[1]], tokens: [a]}", False),
        ("[1]", False),
        ("1", False),
    ],
)
def test_a_dump_is_told_from_a_problem_by_its_keys(text: str, expected: bool) -> None:
    assert is_dump(read_tree(Source("file.yaml", text))[1]) is expected


@pytest.mark.parametrize("name", ["d.json", "d.npz", "d.safetensors"])
def test_letters_and_names_that_are_no_steps(name: str, tmp_path: Path) -> None:
    names = ("A", "Z'", "K^T", "scores", "attn", "config", "q")
    match Path(name).suffix:
        case ".json":
            found = read(
                json.dumps(
                    {each: [[1, 0.5]] for each in names[:-2]} | {"config": "no array", "q": None}
                )
            )
        case ".npz":
            np.savez(
                tmp_path / name,
                **{each: np.ones((1, 2)) for each in names[:-2]},
                config=np.array("no"),
                q=1,
            )
            found = read_archive(str(tmp_path / name))
        case _:
            tensors: dict[str, tuple[str, list[int], bytes]] = {
                each: ("F32", [1, 1], bytes(4)) for each in names
            }
            found = read_archive(stored(tmp_path / name, **tensors | {"q": ("F32", [], bytes(4))}))
    assert list(found.arrays) == ["K_T", "scores", "masked", "weights"]  # this q is no matrix
    assert found.left_out == ("attn", "config", "q")
    assert found.warnings == (
        (
            "not compared, because no step has this name: attn (it may be weights or output: write"
            " --rename attn=weights), config and q (did you mean Q?)"
        ),
    )


ELSEWHERE = [
    ("attn_weights", "weights"),
    ("attentions", "weights"),
    ("q", "Q"),
    ("k", "K"),
    ("query_states", "Q"),
    ("key_states", "K"),
    ("value_states", "V"),
    ("attn_output", "output"),
    ("logits", "scores"),
    ("out", "output"),
    ("scaled_attention_logits", "scaled"),
    ("Attention_Weights", "weights"),
    ("hidden_states", "X"),
]


@pytest.mark.parametrize(("name", "step"), ELSEWHERE)
@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_what_frameworks_call_a_step(name: str, step: str, suffix: str, tmp_path: Path) -> None:
    if suffix == "npz":
        np.savez(tmp_path / "d.npz", **{name: np.array([[1, 2]])})
        found = read_archive(str(tmp_path / "d.npz"))
    else:
        text = json.dumps({name: [[1, 2]]})
        assert is_dump(read_tree(Source("d.json", text))[1])
        found = read(text)
    assert {name: array.tolist() for name, array in found.arrays.items()} == {step: [[1, 2]]}
    assert (found.read_as, found.left_out, found.warnings) == ({name: step}, (), ())


def test_our_own_names_count_before_those_of_others() -> None:
    found = read('{"attn_weights": [[0.5]], "A": [[1]]}')
    assert (found.arrays["weights"].tolist(), found.read_as) == ([[1]], {})
    assert found.warnings == (
        "not compared, because no step has this name: attn_weights (weights is there)",
    )


def test_v_beside_q_is_no_vector_of_a_score() -> None:
    assert read('{"q": [[1]], "k": [[2]], "v": [[3]]}').read_as == {"q": "Q", "k": "K", "v": "V"}
    assert list(read('{"v": [3], "hidden": [[[1]]]}').arrays) == ["v", "hidden"]


def test_a_name_said_on_the_command_line() -> None:
    found = read(
        '{"att": [[1]], "attn": [[2]], "attn_weights": [[3]]}',
        renames={"att": "weights", "attn": "output"},
    )
    assert {name: array.tolist() for name, array in found.arrays.items()} == {
        "weights": [[1]],
        "output": [[2]],
    }
    assert found.read_as == {"att": "weights", "attn": "output"}
    assert found.warnings == (
        "not compared, because no step has this name: attn_weights (att is read as weights)",
    )
    assert list(read('{"scores": [[1]]}', renames={"scores": "scaled"}).arrays) == ["scaled"]


@pytest.mark.parametrize(
    ("rename", "message", "help"),
    [
        (
            "attn_weights",
            "--rename attn_weights does not name a step",
            "write it as in --rename attn_weights=weights",
        ),
        (
            "=weights",
            "--rename =weights does not name a step",
            "write it as in --rename attn_weights=weights",
        ),
        ("a=wieghts", "--rename a=wieghts: no step is called wieghts", "did you mean weights?"),
        (
            "a=attn_weights",
            "--rename a=attn_weights: no step is called attn_weights",
            "did you mean weights?",
        ),
    ],
)
def test_faults_of_a_rename(rename: str, message: str, help: str) -> None:
    with pytest.raises(AttncliError) as caught:
        parse_renames([rename])
    assert (caught.value.exit_code, str(caught.value), caught.value.help) == (2, message, help)


def test_renames_that_say_two_things() -> None:
    assert parse_renames(["a=A", "b = scores"]) == {"a": "weights", "b": "scores"}
    with pytest.raises(AttncliError, match="--rename: a and b are both the step weights"):
        parse_renames(["a=A", "b=weights"])
    with pytest.raises(AttncliError, match="--rename a is given twice"):
        parse_renames(["a=A", "a=output"])
    with pytest.raises(AttncliError, match="mine and weights are both the step weights"):
        read('{"mine": [[1]], "weights": [[1]]}', renames={"mine": "weights"})


@pytest.mark.parametrize("name", ["d.npz", "d.safetensors", "d.json"])
def test_a_mask_of_true_and_false_says_what_may_be_seen(name: str, tmp_path: Path) -> None:
    if name == "d.json":
        found = read('{"mask": [[true, false], [true, true]], "weights": [[1, 0]]}')
    elif name == "d.npz":
        np.savez(tmp_path / name, mask=np.tri(2, dtype=bool), weights=np.eye(2, dtype=np.float16))
        found = read_archive(str(tmp_path / name))
        assert found.dtype == "float16"
    else:
        found = read_archive(stored(tmp_path / name, mask=("BOOL", [2, 2], b"\1\0\1\1")))
    assert found.arrays["mask"].tolist() == [[0, -np.inf], [0, 0]]


def test_a_mask_of_numbers_is_one_of_numbers(tmp_path: Path) -> None:
    assert read('{"mask": [[0, 1], [1, 1]]}').arrays["mask"].tolist() == [[0, 1], [1, 1]]
    np.savez(tmp_path / "d.npz", mask=np.tri(2, dtype=np.int64))
    assert read_archive(str(tmp_path / "d.npz")).arrays["mask"].tolist() == [[1, 0], [1, 1]]


def test_of_many_names_that_are_no_steps_some_are_told() -> None:
    (warning,) = read(
        json.dumps({"weights": [[1]]} | {f"zz{place}": 1 for place in range(100)})
    ).warnings
    assert (
        warning == "not compared, because no step has this name:"
        f" {', '.join(f'zz{place}' for place in range(8))}, …"
    )
    assert read('{"weights": [[1]]}').warnings == ()


def test_steps_come_in_the_order_of_work() -> None:
    found = read('{"weights": [[1, 0]], "scores": [[2, 3]]}')
    assert list(found.arrays) == ["scores", "weights"]
    np.testing.assert_array_equal(found.arrays["scores"], [[2, 3]])


@pytest.mark.parametrize("name", ["dump.json", "dump.yaml"])
def test_what_is_no_finite_number(name: str) -> None:
    words = "[NaN, Infinity, -Infinity]" if name.endswith("json") else "[.nan, .inf, -.inf]"
    text = f'{{"masked": [{words}, ["NaN", "Infinity", "-Infinity"]]}}'
    np.testing.assert_array_equal(
        read(text, name).arrays["masked"], [[np.nan, np.inf, -np.inf]] * 2
    )


def test_a_trace_of_ours(love: Problem) -> None:
    trace = run(love, dtype="float16")
    found = read(json.dumps(to_dict(trace)))
    assert (found.dtype, list(found.arrays)) == ("float16", list(trace.steps))
    assert found.labels["scores"] == (("I", "love", "AI"), ("I", "love", "AI"))
    for name, array in found.arrays.items():
        np.testing.assert_array_equal(array, trace[name])


@pytest.mark.parametrize(
    ("numbers", "dtype"),
    [
        ([0.5, 3.0], "float64"),  # any format has them, so nothing is known
        ([0.1, 0.7], "float64"),
        ([float(np.float32(0.1)), 0.5], "float32"),
        ([float(np.float32(0.1)), 0.1], "float64"),
        ([1e300, 0.5], "float64"),
    ],
)
def test_numbers_of_float32_are_known_by_their_digits(numbers: list[float], dtype: str) -> None:
    assert read(json.dumps({"weights": [numbers]})).dtype == dtype


@in_one_test(
    ("arrays", "dtype", "shifted"),
    [
        ({"exp": [[1, 0.5], [0.2, 1]]}, "float64", True),
        ({"exp": [[1, 0.5], [2, 1]]}, "float64", False),
        ({"row_max": [1]}, "float64", True),
        # e^0 is 1
        ({"scaled": [[0, -1], [-2, 0]], "exp": [[1, 0.3679], [0.1353, 1]]}, "float64", False),
        ({"scaled": [[3, 2], [-2, 0]], "exp": [[1, 0.3679], [0.1353, 1]]}, "float64", True),
        # so is e^(1e-33) in float64
        ({"scaled": [[1e-33, -1e-170]], "exp": [[1, 1]]}, "float64", False),
        ({"scaled": [[1e-3, -1]], "exp": [[1, 0.3675]]}, "float64", True),
        # A query that sees no key has NaN if it was shifted, since -inf - -inf is NaN.
        ({"exp": [[1, 0.5], [np.nan, np.nan]]}, "float64", True),
        # A score that is NaN takes the whole row with it if it was shifted, and else only itself.
        ({"scaled": [[np.nan, np.inf]], "exp": [[np.nan, np.inf]]}, "float64", False),
        ({"scaled": [[np.nan, -np.inf]], "exp": [[np.nan, 0]]}, "float64", False),
        ({"scores": [[1]]}, "float64", False),
    ],
)
def test_a_shifted_softmax_is_known(arrays: dict[str, Any], dtype: str, shifted: bool) -> None:
    assert Dump({name: np.array(array) for name, array in arrays.items()}, dtype).shifted is shifted


@in_one_test(
    ("text", "place", "message", "help"),
    [
        ('{"wieghts": [[1]]}', "1:2", "no step is called wieghts", "did you mean weights?"),
        ('{"zz": [1]}', "1:2", "no step is called zz", STEPS),
        (
            '{"attn": [1]}',
            "1:2",
            "no step is called attn",
            "it may be weights or output: write --rename attn=weights",
        ),
        (
            '{"attn_weights": [[1]], "probs": [[1]]}',
            "1:25",
            "attn_weights and probs are both the step weights",
            "keep one of the two, or choose it: --rename probs=weights",
        ),
        (
            '{"weights": [[1]], "A": [1]}',
            "1:20",
            "weights and A are both the step weights",
            "keep one of the two",
        ),
        (
            '{"A": {"value": 1}}',
            "1:17",
            "A.value: must be an array, not 1",
            "write value: [[1, 0], [0, 1]]",
        ),
        (
            '{"weights": 1}',
            "1:13",
            "weights: must be an array, not 1",
            "write weights: [[1, 0], [0, 1]]",
        ),
        ('{"weights": []}', "1:13", "weights: is empty", "leave the step out"),
        (
            '{"weights": [[1, 2], [1]]}',
            "1:22",
            "weights[1]: has 1 entry, but the first row has 2",
            "give all rows of an array the same length",
        ),
        (
            '{"weights": [[1, [2]]]}',
            "1:18",
            "weights[0][1]: must be a number, not a list",
            "write a number, NaN, Infinity or -Infinity",
        ),
        (
            '{"weights": [[1, null]]}',
            "1:18",
            "weights[0][1]: must be a number, not an empty value",
            "write a number, NaN, Infinity or -Infinity",
        ),
        (
            '{"mask": [[true, 0]]}',
            "1:18",
            "mask[0][1]: must be true or false, not 0",
            "the first value is true or false, so write true or false",
        ),
        (
            '{"mask": [[0, true]]}',
            "1:15",
            "mask[0][1]: must be a number, not true",
            "write a number, NaN, Infinity or -Infinity",
        ),
        (
            '{"weights": [["1"]]}',
            "1:15",
            'weights[0][0]: must be a number, not "1"',
            "write a number, NaN, Infinity or -Infinity",
        ),
        ('{"steps": [1]}', "1:11", "steps: must be a mapping, not a list", "write {scores: …}"),
        ('{"steps": {}}', "1:11", "the file has no step", STEPS),
    ],
)
def test_faults_of_a_text(text: str, place: str, message: str, help: str) -> None:
    with pytest.raises(AttncliError) as caught:
        read(text)
    error = caught.value
    assert error.place is not None
    assert (
        error.exit_code,
        f"{error.place.line}:{error.place.column}",
        str(error),
        error.help,
    ) == (
        3,
        place,
        message,
        help,
    )


@pytest.mark.parametrize(
    ("dtypes", "dtype"),
    [
        (("float64",), "float64"),
        (("float64", "float32"), "float32"),
        (("float16", "float32"), "float16"),
        (("int64",), "float64"),
        (("bool", "float32"), "float32"),
    ],
)
def test_an_archive_tells_its_format(dtypes: tuple[str, ...], dtype: str, tmp_path: Path) -> None:
    names = ("scores", "weights")
    np.savez(
        tmp_path / "d.npz",
        **{name: np.ones((2, 2), each) for name, each in zip(names, dtypes, strict=False)},
    )
    found = read_archive(str(tmp_path / "d.npz"))
    assert (found.dtype, list(found.arrays)) == (dtype, list(names[: len(dtypes)]))


@pytest.mark.parametrize("name", ["d.json", "d.yaml", "d.npz", "d.safetensors"])
def test_a_step_of_one_number_is_one(name: str, tmp_path: Path) -> None:
    match Path(name).suffix:
        case ".npz":
            np.savez(tmp_path / name, loss=1.5, sink=np.float32(-1))
            found = read_archive(str(tmp_path / name))
        case ".safetensors":
            tensors = {
                "loss": ("F32", [], struct.pack("<f", 1.5)),
                "sink": ("F32", [], struct.pack("<f", -1)),
            }
            found = read_archive(stored(tmp_path / name, **tensors))
        case _:
            found = read('{"loss": 1.5, "sink": {"value": -1}}', name)
    assert {step: (array.shape, float(array)) for step, array in found.arrays.items()} == {
        "sink": ((), -1),
        "loss": ((), 1.5),
    }


@pytest.mark.parametrize("name", ["d.npz", "d.safetensors"])
def test_an_array_that_is_none_is_named(name: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", loss=1.5, weights=1.0)
    stored(tmp_path / "d.safetensors", loss=("F32", [], bytes(4)), weights=("F32", [], bytes(4)))
    with pytest.raises(
        AttncliError,
        match=rf"{name}: weights has the shape \(\): it is empty, or it is not a matrix",
    ):
        read_archive(str(tmp_path / name))


def test_an_archive_of_ours_compares_equal(problem: Any, tmp_path: Path) -> None:
    trace = run(problem(Q=[[1, 2]], K=[[3, 4]], V=[[5]], mask=(Causal(),)))
    np.savez_compressed(tmp_path / "d.npz", **{name: trace[name] for name in trace})
    found = read_archive(str(tmp_path / "d.npz"))
    assert list(found.arrays) == list(trace)
    for name in trace:
        np.testing.assert_array_equal(found.arrays[name], trace[name])


def stored(path: Path, **tensors: tuple[str, list[int], bytes]) -> str:
    """A .safetensors file written by hand."""
    header, end = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [end, end := end + len(data)],
        }
    text = json.dumps(header).encode()
    path.write_bytes(
        len(text).to_bytes(8, "little") + text + b"".join(data for _, _, data in tensors.values())
    )
    return str(path)


def test_bfloat16_in_safetensors(tmp_path: Path) -> None:
    # 1 is 3f80 in bfloat16 and -2 is c000, low byte first
    path = stored(
        tmp_path / "d.safetensors",
        weights=("BF16", [1, 2], b"\x80\x3f\x00\xc0"),
        mask=("BOOL", [1], b"\1"),
    )
    found = read_archive(path)
    assert (found.dtype, list(found.arrays)) == ("bfloat16", ["mask", "weights"])
    np.testing.assert_array_equal(found.arrays["weights"], [[1, -2]])


def test_faults_of_an_archive(tmp_path: Path) -> None:
    def fault(name: str) -> tuple[int, str, str]:
        with pytest.raises(AttncliError) as caught:
            read_archive(str(tmp_path / name))
        return int(caught.value.exit_code), caught.value.message, caught.value.help

    (tmp_path / "no.npz").write_bytes(b"PK nothing")
    np.savez(tmp_path / "wrong.npz", wieghts=np.ones(2))
    np.savez(tmp_path / "twice.npz", weights=np.ones(2), A=np.ones(2))
    np.savez(tmp_path / "text.npz", weights=np.array(["a"]))
    np.savez(tmp_path / "object.npz", weights=np.array([{}], dtype=object))
    np.save(tmp_path / "one.npy", np.ones(2))
    with zipfile.ZipFile(tmp_path / "empty.npz", "w"):
        pass
    stored(tmp_path / "wrong.safetensors", wieghts=("F32", [1], bytes(4)))
    (tmp_path / "no.safetensors").write_bytes(b"no")
    at = f"{tmp_path}/"
    assert fault("no.npz")[:2] == (
        3,
        f"{at}no.npz is not a readable .npz file: it is not an archive",
    )
    assert fault("wrong.npz") == (
        3,
        f"{at}wrong.npz: no step is called wieghts",
        "did you mean weights?",
    )
    assert fault("twice.npz") == (
        3,
        f"{at}twice.npz: weights and A are both the step weights",
        "keep one of the two",
    )
    assert fault("wrong.safetensors") == (
        3,
        f"{at}wrong.safetensors: no step is called wieghts",
        "did you mean weights?",
    )
    assert fault("no.safetensors")[:2] == (
        3,
        f"{at}no.safetensors is not a readable .safetensors file: it has only 2 bytes",
    )
    assert fault("text.npz") == (
        3,
        f"{at}text.npz: weights holds <U1 instead of plain numbers",
        "save it as float64",
    )
    assert fault("object.npz")[:2] == (
        3,
        f"{at}object.npz: weights holds object instead of plain numbers",
    )
    assert fault("one.npy")[:2] == (3, f"{at}one.npy: a .npy file holds one array without a name")
    assert fault("empty.npz") == (3, f"{at}empty.npz has no array", STEPS)
    (tmp_path / "mine.pt").write_bytes(b"\x80\x02.")
    assert fault("mine.pt") == (
        3,
        f"{at}mine.pt may be a pickle, which can run any program when it is read",
        (
            'save it with numpy.savez("mine.npz", scores=scores.detach().cpu().numpy(), …), '
            "or with safetensors.torch.save_file"
        ),
    )
    assert fault("nowhere.pt")[0] == 4
    assert fault("nowhere.npz")[0] == 4
    assert fault("")[0] == 4
