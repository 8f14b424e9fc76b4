"""Problems with changed keys: read like a file, and what is wrong with a change is told as one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attncli.errors import AttncliError
from attncli.features.compare.changes import parse_settings, read_changed
from attncli.problem.model import Problem
from attncli.problem.parts.masks.window import Window
from attncli.problem.text.source import Source
from attncli.problem.text.tree import read_tree
from tests.cases import in_one_test

TEXT = (
    "title: T\nQ: [[1, 0], [0, 1]]\nK: [[1, 0], [0, 1]]\nV: [[1], [2]]\nmask: causal\nsoftcap: 5\n"
)
WORDS = {"dtype": ("float64", "float16")}


def changed(*settings: str, text: str = TEXT, folder: Path | None = None) -> Problem:
    source = Source("p.yaml", text, folder or Path())
    return read_changed(read_tree(source)[1], source, parse_settings(list(settings), WORDS))


def refusal(*settings: str) -> str:
    with pytest.raises(AttncliError) as caught:
        changed(*settings)
    error = caught.value
    where = f"{error.place.file}:{error.place.line}:{error.place.column}: " if error.place else ""
    assert error.exit_code == 2
    return f"{where}{error} ({error.help})"


def test_another_value() -> None:
    problem = changed("scale=1/3", "mask={window: [1, 0]}")
    assert problem.scale.written == "1/3"  # type: ignore[union-attr]
    assert problem.mask.parts == (Window(1, 0),)
    assert (problem.title, problem.softcap.value) == ("T", 5)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "matrix",
    ["[3 4]\n[5 6]", "| 3 | 4 |\n| 5 | 6 |", "[[3, 4], [5, 6]];", "⎡3 4⎤\n⎣5 6⎦", "3\t4\n5\t6"],
)
def test_a_pasted_matrix(matrix: str) -> None:
    """Also one that YAML refuses."""
    assert changed(f"V={matrix}").given["V"].value.tolist() == [[3, 4], [5, 6]]


@pytest.mark.parametrize("setting", ["softcap=", "softcap= ", "softcap=null", "softcap=~"])
def test_a_key_is_taken_away(setting: str) -> None:
    assert changed(setting).softcap is None


def test_a_source_for_another() -> None:
    problem = changed("Q=", "X=[[1, 2]]", "W_Q=[[1, 0], [0, 1]]", "mask=none")
    assert list(problem.given) == ["X", "W_Q", "K", "V"]
    assert problem.tokens == ("t1",)


def test_a_value_may_hold_an_equals_sign_and_lines() -> None:
    assert changed("title=a=b").title == "a=b"
    np.testing.assert_array_equal(changed("V=\n- [3]\n- [4]\n").given["V"].value, [[3], [4]])


def test_a_file_starts_from_the_folder_of_the_problem(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([[7.0], [8.0]]))
    problem = changed("V={file: v.npy}", folder=tmp_path)
    np.testing.assert_array_equal(problem.given["V"].value, [[7], [8]])


def test_the_tree_is_not_changed() -> None:
    source = Source("p.yaml", TEXT)
    root = read_tree(source)[1]
    read_changed(root, source, {"scale": "2", "softcap": ""})
    assert read_changed(root, source, {}).softcap is not None


@in_one_test(
    ("setting", "message"),
    [
        (
            "softcap=-1",
            (
                "--set softcap:1:1: softcap: must be greater than 0, not -1 (write a number such"
                " as 50)"
            ),
        ),
        (
            "score=dott",
            (
                "--set score:1:1: score: must be one of scaled_dot, dot, multiplicative, additive,"
                " not dott (did you mean dot?)"
            ),
        ),
        (
            "V=[[1], [x]]",
            (
                "--set V:1:8: V[1][0]: x is not a number "
                "(write a number such as 3, -0.5, 1e3, 1/3 or sqrt(2))"
            ),
        ),
        ("V=[[1]]", "--set V:1:1: V: has 1 row, but K has 2 (every key needs a value: "),
        (
            "V={{1, 0}, {0, 1}}",
            "--set V:1:1: V: the brackets of a matrix are [ ], not { } (write [[1, 0], [0, 1]])",
        ),
        ("V=[1, 0], [0, 1]", "--set V:1:9: V: [0, does not belong here (put all rows into one"),
        ("V=[[1]", '--set V:1:5: "]" is missing (add it here; write a list as [1, 2, 3])'),
        (
            "W_Q=[[1]]",
            (
                "--set W_Q:1:1: both Q and W_Q are given "
                "(remove W_Q to use Q as it is, or remove Q to project X)"
            ),
        ),
        ("Q=[[1]]", "p.yaml:3:1: K: a key has 2 numbers and a query 1: "),
        (
            "Q=",
            (
                "p.yaml:1:1: the queries are missing "
                "(give Q, or X and W_Q; the file is correct without --set Q=)"
            ),
        ),
        ("scale=", "--set scale= removes a key that p.yaml does not have (leave out --set scale=)"),
        ("scale", "--set scale has no = (write it as in --set mask=causal)"),
        ("skale=2", "--set skale: there is no such key (did you mean scale?)"),
        ("causal=true", "--set causal: there is no such key (write --set 'mask=causal')"),
        (
            "window=[1, 0]",
            "--set window: there is no such key (write --set 'mask={window: [1, 0]}')",
        ),
        (
            "key_padding_mask=[false, true]",
            "--set key_padding_mask: there is no such key (write --set 'mask={padding: [1, 0]}':"
            " here 1 is a key that exists, ",
        ),
        ("num_heads=2", "--set num_heads: there is no such key (did you mean heads?)"),
        (
            "position.rope.pairing=interleaved",
            (
                "--set position.rope.pairing: there is no such key "
                "(write --set 'position={rope: {pairing: interleaved}}')"
            ),
        ),
        (
            "mask.window=[1, 0]",
            "--set mask.window: there is no such key (write --set 'mask={window: [1, 0]}')",
        ),
        ("mask.=1", "--set mask.: there is no such key (did you mean mask?)"),
        ("=2", "--set : there is no such key (the keys are title, "),
        ("dtype=float15", "--set dtype cannot be 'float15' (did you mean float16?)"),
        ("dtype=half", "--set dtype cannot be 'half' (did you mean float16?)"),
        (
            "mask=[[0, 1], [1, 0]]",
            (
                "--set mask:1:1: mask: a mask of only 0 and 1 is ambiguous: 1 can mean "
                "visible or hidden "
            ),
        ),
    ],
)
def test_what_is_wrong_with_a_change(setting: str, message: str) -> None:
    assert refusal(setting).startswith(message)


def test_an_error_in_the_file_names_the_changes_that_made_it_one() -> None:
    assert refusal("heads=2", "scale=3").startswith(
        "p.yaml:4:1: V: its 1 column cannot be split into 2 heads "
    )
    assert refusal("heads=2", "scale=3").endswith(
        "; the file is correct without --set heads=2 and --set scale=3)"
    )


def test_a_key_changed_twice() -> None:
    assert refusal("scale=1", "scale=2") == "--set scale is given twice (keep one of the two)"
