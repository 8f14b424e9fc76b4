"""Arrays from .npy and .npz files, trusted no further than their bytes go; and random ones."""

from __future__ import annotations

import io
import os
import re
import resource
import struct
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from attncli.cli.main import run
from attncli.errors import AttncliError
from attncli.problem.arrays.formats import format_of, npz
from attncli.problem.loader import load
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.suffixes import array_suffixes

KV = "K: [[1, 0], [0, 1]]\nV: [[1, 2], [3, 4]]\n"
EYE = np.eye(2)
OUTSIDE = (
    "copy it beside the problem file and name it from there, or add --allow-outside if you trust"
    " the problem"
)


def read(folder: Path, reference: str, more: str = "") -> Problem:
    """A problem in the folder whose Q is this reference."""
    (folder / "p.yaml").write_text(f"Q: {reference}\n{KV}{more}")
    return load(str(folder / "p.yaml"))


def wrong(folder: Path, reference: str, more: str = "") -> tuple[int, str, str]:
    with pytest.raises(AttncliError) as caught:
        read(folder, reference, more)
    assert not caught.value.more
    return int(caught.value.exit_code), str(caught.value), caught.value.help


def header(shape: str, descr: str = "'<f8'") -> bytes:
    """A .npy file that claims this shape, and holds 16 bytes."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 16


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i1", "u2", ">f8", ">i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path: Path, dtype: str, order: Any) -> None:
    array = np.array([[1, 2], [3, 4]], dtype=dtype, order=order)
    np.save(tmp_path / "q.npy", array)
    matrix = read(tmp_path, "{file: q.npy}").given["Q"]
    assert matrix.value.tolist() == [[1, 2], [3, 4]]
    assert matrix.value.dtype == np.float64
    assert matrix.written is None
    assert not matrix.value.flags.writeable


def test_each_format_is_one_file_found_by_listing() -> None:
    assert array_suffixes() == (".csv", ".npy", ".npz", ".safetensors", ".tsv", ".txt", ".xlsx")
    for suffix in array_suffixes():
        assert all(
            callable(getattr(format_of(suffix), name)) for name in ("read", "names", "dtype")
        )


def test_npz_by_name_and_alone(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", wq=EYE, wk=2 * EYE)
    np.savez_compressed(tmp_path / "one.npz", wq=3 * EYE)
    assert read(tmp_path, "{file: two.npz, name: wk}").given["Q"].value.tolist() == [[2, 0], [0, 2]]
    assert read(tmp_path, "{file: one.npz}").given["Q"].value.tolist() == [[3, 0], [0, 3]]


def test_a_folder_below_and_leading_ones(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    np.save(tmp_path / "weights" / "q.npy", EYE[None, None])
    # an entry and a head
    assert read(tmp_path, "{file: weights/q.npy}").given["Q"].value.shape == (1, 1, 2, 2)
    np.save(tmp_path / "weights" / "w.npy", EYE[None, None])
    (tmp_path / "p.yaml").write_text(f"X: [[1, 0]]\nW_Q: {{file: weights/w.npy}}\n{KV}")
    # weights have no axes of their own
    assert load(str(tmp_path / "p.yaml")).given["W_Q"].value.shape == (2, 2)


def test_masks_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "q.npy", EYE)
    np.save(tmp_path / "keep.npy", np.array([[True, False], [True, True]]))
    np.save(tmp_path / "add.npy", np.array([[0, -np.inf], [0.5, 0]]))
    for mask in ("{file: keep.npy}", "{keep: {file: keep.npy}}", "[causal, {file: keep.npy}]"):
        part = read(tmp_path, "{file: q.npy}", f"mask: {mask}\n").mask.parts[-1]
        assert isinstance(part, Keep)
        assert part.matrix.tolist() == [[True, False], [True, True]]
    for mask in ("{file: add.npy}", "{additive: {file: add.npy}}"):
        part = read(tmp_path, "{file: q.npy}", f"mask: {mask}\n").mask.parts[-1]
        assert isinstance(part, Additive)
        assert part.matrix.value.tolist() == [[0, -np.inf], [0.5, 0]]


def test_bad_masks_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "q.npy", EYE)
    np.save(tmp_path / "two.npy", 2 * EYE)
    np.save(tmp_path / "nan.npy", np.array([[np.nan, 2], [0, 0]]))
    assert (
        wrong(tmp_path, "{file: q.npy}", "mask: {file: q.npy}")[1]
        == "mask: a mask of only 0 and 1 is ambiguous: 1 can mean visible or hidden"
    )
    assert wrong(tmp_path, "{file: q.npy}", "mask: {hide: {file: two.npy}}")[1:] == (
        "mask.hide: holds other values than true and false, 1 and 0",
        "save it as booleans",
    )
    assert (
        wrong(tmp_path, "{file: q.npy}", "mask: {file: nan.npy}")[1]
        == "mask[0][0]: nan is not a finite number"
    )


@pytest.mark.parametrize(
    ("array", "message", "help"),
    [
        (EYE > 0, "Q: holds truth values, not numbers", "save it as numbers"),
        (EYE + 1j, "Q.file: q.npy holds complex128 instead of plain numbers", "save it as float64"),
        (
            np.array([["a"]]),
            "Q.file: q.npy holds <U1 instead of plain numbers",
            "save it as float64",
        ),
        (
            np.zeros(2, "i4,f8"),
            "Q.file: q.npy holds [('f0', '<i4'), ('f1', '<f8')] instead of plain numbers",
            "save it as float64",
        ),
        (
            np.array([[1.0, np.nan]]),
            "Q[0][1]: nan is not a finite number",
            "attention needs finite numbers",
        ),
        (
            np.array([[1.0, 2], [-np.inf, 1]]),
            "Q[1][0]: -inf is not a finite number",
            "attention needs finite numbers",
        ),
        (
            np.zeros((0, 2)),
            "Q.file: q.npy has the shape (0, 2): it is empty, or it is not a matrix",
            "save a matrix or a vector",
        ),
        (
            np.array(1.0),
            "Q.file: q.npy has the shape (): it is empty, or it is not a matrix",
            "save a matrix or a vector",
        ),
        (
            np.zeros(2),
            "Q: must be a list of rows, not a list of numbers",
            "write Q: [[1, 0], [0, 1]]",
        ),
        (
            np.zeros((2, 1, 1, 2, 2)),
            "Q: must be a list of rows, not 5 lists deep (2×1×1×2×2)",
            "write Q: [[1, 0], [0, 1]]",
        ),
    ],
)
def test_arrays_attention_cannot_use(tmp_path: Path, array: Any, message: str, help: str) -> None:
    np.save(tmp_path / "q.npy", array)
    assert wrong(tmp_path, "{file: q.npy}") == (3, message, help)


def test_pickles_are_not_loaded(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "sprung"),)

    np.save(tmp_path / "q.npy", np.array([[Trap()]]), allow_pickle=True)
    assert wrong(tmp_path, "{file: q.npy}") == (
        3,
        "Q.file: q.npy holds object instead of plain numbers",
        "save it as float64",
    )
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "q.npy is not an array in NumPy's format"),
        (b"PK\x03\x04", "q.npy is not an array in NumPy's format"),
        (header("(2, 2)")[:40], "q.npy is not an array in NumPy's format"),
        (header("(" * 5000), "q.npy is not an array in NumPy's format"),
        (header("(2, -2)"), "q.npy has the shape (2, -2): not all of these are lengths"),
        (header("(10**9, 10**9)"), "q.npy is not an array in NumPy's format"),
        (header("(1000000, 1000000)"), "q.npy has the shape (1000000, 1000000): too many numbers"),
        (header("(5000, 10001)"), "q.npy has the shape (5000, 10001): too many numbers"),
        (
            header(f"({'9' * 4000}, {'9' * 4000})"),
            (
                "q.npy has the shape (9999999999999999999…999999999) (8,004 characters): too many"
                " numbers"
            ),
        ),
        (
            header("(5000, 9000)"),
            f"q.npy claims 45,000,000 numbers but has only {len(header('(5000, 9000)'))} bytes",
        ),
        (header("(True, True)"), "q.npy has the shape (True, True): not all of these are lengths"),
        (
            header(f"({'1, ' * 33})"),
            (
                "q.npy has the shape (1, 1, 1, 1, 1, 1, 1…, 1, 1, 1) (99 characters): it is empty,"
                " or it is not a matrix"
            ),
        ),
        (
            header("(2, 2)", f"[('{'a' * 5000}', '<f8')]"),
            f"q.npy holds [('{'a' * 17}…', '<f8')] (5,013 characters) instead of plain numbers",
        ),
        (header("(2, 2)"), "q.npy ends before its last number"),
        (header("(2, 2)", "'|O'"), "q.npy holds object instead of plain numbers"),
    ],
)
def test_headers_that_lie(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "q.npy").write_bytes(data)
    assert wrong(tmp_path, "{file: q.npy}")[:2] == (3, f"Q.file: {message}")


def test_the_third_version_is_the_second_in_utf_8(tmp_path: Path) -> None:
    with (tmp_path / "q.npy").open("wb") as stream:
        np.lib.format.write_array(stream, np.array([[0.1, 2.0], [3.0, 4.0]]), version=(3, 0))
    assert read(tmp_path, "{file: q.npy}").given["Q"].value.tolist() == [[0.1, 2], [3, 4]]
    with warnings.catch_warnings(action="ignore"):  # so NumPy says that it needs the third version
        np.save(tmp_path / "q.npy", np.zeros(2, [("größe €", "f8")]))
    assert (tmp_path / "q.npy").read_bytes()[6] == 3
    assert (
        wrong(tmp_path, "{file: q.npy}")[1]
        == "Q.file: q.npy holds [('größe €', '<f8')] instead of plain numbers"
    )
    (tmp_path / "q.npy").write_bytes(
        (tmp_path / "q.npy").read_bytes().replace("€".encode(), b"\xff\xff\xff")
    )
    assert wrong(tmp_path, "{file: q.npy}")[1] == "Q.file: q.npy is not an array in NumPy's format"


@pytest.mark.parametrize("length", [2**16 + 1, 2**32 - 1])
def test_headers_that_never_end(tmp_path: Path, length: int) -> None:
    with (tmp_path / "q.npy").open("wb") as stream:
        stream.write(b"\x93NUMPY\x02\x00" + length.to_bytes(4, "little"))
        # a hole: no bytes on the disk, but four GiB for whoever reads it
        stream.truncate(2**32 + 12)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert wrong(tmp_path, "{file: q.npy}")[1] == "Q.file: q.npy is not an array in NumPy's format"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**19  # KiB


@pytest.mark.parametrize(
    ("number", "dtype", "nearest"),
    [
        (2**53 + 1, "i8", 2**53),
        (-(2**53) - 1, "i8", -(2**53)),
        (2**63 - 1, "i8", 2**63),
        (2**64 - 1, "u8", 2**64),
        (2**53 + 1, ">u8", 2**53),
    ],
)
def test_integers_with_more_digits_than_a_double(
    tmp_path: Path, number: int, dtype: str, nearest: int
) -> None:
    np.save(tmp_path / "q.npy", np.array([[1, 2], [number, 1]], dtype))
    assert wrong(tmp_path, "{file: q.npy}") == (
        3,
        f"Q[1][0]: {number} would become {nearest}: a double does not hold all its digits",
        "save it as float64 if the nearest number will do",
    )


@pytest.mark.parametrize(
    ("number", "dtype"), [(2**53, "i8"), (-(2**63), "i8"), (2**60, "i8"), (2**63, "u8")]
)
def test_large_integers_that_are_doubles(tmp_path: Path, number: int, dtype: str) -> None:
    np.save(tmp_path / "q.npy", np.array([[number, 1]], dtype))
    assert read(tmp_path, "{file: q.npy}").given["Q"].value[0, 0] == number


def test_long_names_are_shortened(tmp_path: Path) -> None:
    a, b, c = ("a" * 60_000, "b" * 60_000, "c" * 60_000)
    with zipfile.ZipFile(tmp_path / "w.npz", "w") as archive:
        for name in (a, b):
            archive.writestr(name, b"")
    shown = [f"{letter * 40}…{letter * 20} (60,000 characters)" for letter in "abc"]
    assert wrong(tmp_path, "{file: w.npz}")[2] == f"say which by name: {shown[0]}, {shown[1]}"
    assert (
        wrong(tmp_path, f"{{file: w.npz, name: {c}}}")[1]
        == f"Q.name: w.npz has no array named {shown[2]}"
    )
    assert wrong(tmp_path, f"{{file: {c}.npy}}")[:2] == (
        4,
        f"Q.file: cannot read {'c' * 100}…{'c' * 46}.npy (60,004 characters): file name too long",
    )
    assert (
        wrong(tmp_path, f"{{file: ../{'c/' * 30}q.npy}}")[1]
        == "Q.file: ../c/c/c/c/c/c/c/c/c…/c/c/q.npy (68 characters) is outside the problem's folder"
    )


def test_zip_files_that_lie(tmp_path: Path) -> None:
    (tmp_path / "q.npz").write_bytes(b"PK no archive")
    assert (
        wrong(tmp_path, "{file: q.npz}")[1]
        == "Q.file: q.npz is not a readable .npz file: it is not an archive"
    )
    with zipfile.ZipFile(tmp_path / "q.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("q.npy", header("(5000, 9000)"))
    assert (
        wrong(tmp_path, "{file: q.npz}")[1]
        == f"Q.file: q.npz claims 45,000,000 numbers but has only {len(header('(5000, 9000)'))}"
        " bytes"
    )
    with zipfile.ZipFile(tmp_path / "q.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("q.npy", header("(1, 2)"))
    assert (
        wrong(tmp_path, "{file: q.npz}")[1]
        == "Q.file: q.npz is not a readable .npz file: it is compressed in a way that it should"
        " not be"
    )
    np.savez(tmp_path / "q.npz", q=np.eye(2))
    data = bytearray((tmp_path / "q.npz").read_bytes())
    for entry, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(entry) + flags] |= 1
    (tmp_path / "q.npz").write_bytes(data)
    assert (
        wrong(tmp_path, "{file: q.npz}")[1]
        == "Q.file: q.npz is not a readable .npz file: it is encrypted"
    )


def test_an_archive_of_other_things(tmp_path: Path) -> None:
    array = io.BytesIO()
    np.save(array, np.eye(2))
    with zipfile.ZipFile(tmp_path / "q.npz", "w") as archive:
        archive.writestr("a.txt", "what is in it")
        archive.writestr("folder/", "")
    assert (
        wrong(tmp_path, "{file: q.npz}")[1]
        == "Q.file: a.txt in q.npz is not an array in NumPy's format"
    )
    with zipfile.ZipFile(tmp_path / "q.npz", "a") as archive:
        archive.writestr("q.npy", array.getvalue())
    assert read(tmp_path, "{file: q.npz}").given["Q"].value.tolist() == [[1, 0], [0, 1]]
    with (
        warnings.catch_warnings(action="ignore"),
        zipfile.ZipFile(tmp_path / "q.npz", "a") as archive,
    ):
        archive.writestr("q.npy", array.getvalue())
        archive.writestr("k.npy", array.getvalue())
    twice = (3, "Q.file: q.npz holds 2 arrays named q", "save it again with numpy.savez")
    assert wrong(tmp_path, "{file: q.npz, name: q}") == twice
    assert read(tmp_path, "{file: q.npz, name: k}").given["Q"].shape == (2, 2)
    with zipfile.ZipFile(tmp_path / "q.npz", "w") as archive:
        archive.writestr("q", array.getvalue())
    assert read(tmp_path, "{file: q.npz}").given["Q"].shape == (2, 2)


def listed(data: bytes, *, begins: int, name: bytes, flags: int = 0) -> bytes:
    """The archive with another entry for its one array: where that begins (in ZIP64), its name, its
    flags.
    """
    entry, end = data.rindex(b"PK\1\2"), data.rindex(b"PK\5\6")
    extra = struct.pack("<HHQ", 1, 8, begins)
    fixed = bytearray(data[entry : entry + 46])
    fixed[8:10], fixed[30:32], fixed[42:46] = (
        struct.pack("<H", flags),
        struct.pack("<H", len(extra)),
        b"\xff" * 4,
    )
    changed = bytes(fixed) + name + extra
    return (
        data[:entry]
        + changed
        + data[end : end + 12]
        + struct.pack("<I", len(changed))
        + data[end + 16 :]
    )


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"begins": 0, "name": b"q.npy"}, None),
        ({"begins": 2**64 - 1, "name": b"q.npy"}, "a part of it begins outside of it"),
        ({"begins": 2**40, "name": b"q.npy"}, "it is damaged"),
        ({"begins": 0, "name": b"\xff.npy", "flags": 0x800}, "it is damaged"),
    ],
)
def test_zip_lists_that_lie(tmp_path: Path, entry: dict[str, Any], why: str | None) -> None:
    np.savez(tmp_path / "q.npz", q=np.eye(2))
    (tmp_path / "q.npz").write_bytes(listed((tmp_path / "q.npz").read_bytes(), **entry))
    if why is None:  # so that it is the lie alone that is refused
        with (tmp_path / "q.npz").open("rb") as stream:
            assert npz.read(stream, "q.npz", "").tolist() == [[1, 0], [0, 1]]
        return
    code, message, _ = wrong(tmp_path, "{file: q.npz}")
    assert (code, message.startswith(f"Q.file: q.npz is not a readable .npz file: {why}")) == (
        3,
        True,
    ), message


def test_damaged_zip_member(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "q.npz", q=np.random.default_rng(1).normal(size=(40, 40)))
    data = bytearray((tmp_path / "q.npz").read_bytes())
    data[400:440] = b"\xff" * 40
    (tmp_path / "q.npz").write_bytes(data)
    code, message, _ = wrong(tmp_path, "{file: q.npz}")
    assert code == 3
    assert message in (
        "Q.file: q.npz is not a readable .npz file: it is damaged",
        "Q.file: q.npz is not an array in NumPy's format",
    )


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (
            "{file: w.npz}",
            (3, "Q.file: w.npz holds 2 arrays", "say which by name: wq (2×2), wk (2×2)"),
        ),
        (
            "{file: w.npz, name: w_q}",
            (
                3,
                "Q.name: w.npz has no array named w_q",
                "did you mean wq? it holds 2 arrays: wq (2×2), wk (2×2)",
            ),
        ),
        (
            "{file: w.npz, name: zzz}",
            (3, "Q.name: w.npz has no array named zzz", "it holds 2 arrays: wq (2×2), wk (2×2)"),
        ),
        (
            "{file: q.npy, name: q}",
            (
                3,
                "Q.name: q.npy holds one array without a name",
                "remove name, or refer to a .npz file",
            ),
        ),
        (
            "{file: zzzzzz.npy}",
            (
                4,
                "Q.file: cannot read zzzzzz.npy: this file does not exist",
                "check the spelling and the folder",
            ),
        ),
        (
            "{file: qq.npy}",
            (4, "Q.file: cannot read qq.npy: this file does not exist", "did you mean q.npy?"),
        ),
        (
            "{file: p.yaml}",
            (
                3,
                "Q.file: p.yaml is neither .safetensors, .npz, .npy, .xlsx, .csv, .tsv nor .txt",
                "save it with numpy.savez or safetensors",
            ),
        ),
        (
            "{file: q.pt}",
            (
                3,
                "Q.file: q.pt may be a pickle, which can run any program when it is read",
                "save it with safetensors.torch.save_file or numpy.savez",
            ),
        ),
        ("{file: ../q.npy}", (3, "Q.file: ../q.npy is outside the problem's folder", OUTSIDE)),
        ("{file: /etc/q.npy}", (3, "Q.file: /etc/q.npy is outside the problem's folder", OUTSIDE)),
        (
            "{file: out.npy}",
            (3, "Q.file: out.npy is outside the problem's folder (it is a link)", OUTSIDE),
        ),
        (
            "{file: folder.npy}",
            (
                4,
                "Q.file: cannot read folder.npy: it is a folder, not a file",
                "name a .safetensors, .npz, .npy, .xlsx, .csv, .tsv or .txt file",
            ),
        ),
        (
            "{file: pipe.npy}",
            (
                4,
                "Q.file: cannot read pipe.npy: it is a named pipe, not a file",
                "name a .safetensors, .npz, .npy, .xlsx, .csv, .tsv or .txt file",
            ),
        ),
        ("{file: [a]}", (3, "Q.file: must be text, not a list", "write text in quotes")),
        (
            "{file: q.npy, transpose: 1}",
            (3, "Q.transpose: must be true or false, not 1", "write true or false"),
        ),
        (
            "{file: v.npy, transpose: true}",
            (3, "Q.transpose: a vector has no rows and columns to swap", "remove transpose"),
        ),
        (
            "{file: q.npy, index: -1}",
            (
                3,
                "Q.index: must be a whole number of at least 0, not -1",
                "write index: 0, or index: [0, 3]",
            ),
        ),
        (
            "{file: q.npy, index: [0, 1]}",
            (
                3,
                "Q.index: has more indices than the array has axes",
                "each number takes one entry of the first axis",
            ),
        ),
        (
            "{file: q.npy, index: 2}",
            (3, "Q.index: there is no entry 2: the axis has 2", "entries count from 0"),
        ),
        ("{file: q.npy, nam: q}", (3, "Q: there is no key nam", "did you mean name?")),
    ],
)
def test_references(tmp_path: Path, reference: str, expected: tuple[int, str, str]) -> None:
    folder = tmp_path / "problem"
    folder.mkdir()
    np.savez(folder / "w.npz", wq=EYE, wk=EYE)
    np.save(folder / "q.npy", EYE)
    np.save(folder / "v.npy", np.ones(2))
    np.save(tmp_path / "secret.npy", EYE)
    (folder / "out.npy").symlink_to(tmp_path / "secret.npy")
    (folder / "folder.npy").mkdir()
    os.mkfifo(folder / "pipe.npy")
    assert wrong(folder, reference) == expected


@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
def test_what_is_taken_of_an_array(tmp_path: Path, suffix: str) -> None:
    array = np.arange(24.0).reshape(2, 3, 2, 2)
    file = tmp_path / f"a.{suffix}"
    match suffix:
        case "npy":
            np.save(file, array)
        case "npz":
            np.savez(file, a=array)
        case _:
            save_file({"a": array}, file)

    def taken(words: str) -> list[list[float]]:
        value = read(tmp_path, f"{{file: a.{suffix}, {words}}}").given["Q"].value
        assert value.flags.c_contiguous
        return value.tolist()

    assert taken("index: [1, 2]") == [[20, 21], [22, 23]]
    assert taken("index: [0, 1], transpose: true") == [[4, 6], [5, 7]]
    assert taken("index: [0, 1], transpose: false") == [[4, 5], [6, 7]]


def test_links_within_the_folder_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    np.save(tmp_path / "blobs" / "q.npy", EYE)
    (tmp_path / "blobs" / "q.npy").rename(tmp_path / "blobs" / "0f3a")
    (tmp_path / "q.npy").symlink_to(tmp_path / "blobs" / "0f3a")
    assert read(tmp_path, "{file: q.npy}").given["Q"].value.tolist() == EYE.tolist()


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "q.npy").symlink_to(tmp_path / "q.npy")
    assert wrong(tmp_path, "{file: q.npy}")[0] in (3, 4)


def test_random_numbers_come_from_their_seed(tmp_path: Path) -> None:
    value = read(tmp_path, "{random: [5, 2], seed: 7, low: -2, high: 3}", "").given["Q"].value
    assert value.tolist() == np.random.default_rng(7).uniform(-2, 3, (5, 2)).tolist()
    default = read(tmp_path, "{random: [5, 2]}").given["Q"].value
    assert default.tolist() == np.random.default_rng(0).uniform(0, 1, (5, 2)).tolist()


def test_outside_is_allowed_by_the_person_alone(tmp_path: Path) -> None:
    folder = tmp_path / "problem"
    folder.mkdir()
    np.save(tmp_path / "q.npy", EYE)
    (folder / "link.npy").symlink_to("../q.npy")
    os.mkfifo(tmp_path / "pipe.npy")
    for file in ("../q.npy", str(tmp_path / "q.npy"), "link.npy"):
        (folder / "p.yaml").write_text(f"Q: {{file: {file}}}\n{KV}")
        assert load(str(folder / "p.yaml"), outside=True).given["Q"].value.tolist() == EYE.tolist()
    assert wrong(folder, "{file: ../q.npy}")[2] == OUTSIDE
    # nothing else is allowed with it
    (folder / "p.yaml").write_text(f"Q: {{file: ../pipe.npy}}\n{KV}")
    with pytest.raises(AttncliError, match="it is a named pipe, not a file"):
        load(str(folder / "p.yaml"), outside=True)


@pytest.mark.parametrize(
    "arguments",
    [["compute"], ["cost"], ["worksheet"], ["compare", "--set", "mask=none"], ["check"]],
)
def test_every_command_that_reads_a_problem_has_the_option(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "problem").mkdir()
    np.save(tmp_path / "q.npy", EYE)
    problem, answers = tmp_path / "problem" / "p.yaml", tmp_path / "answers.yaml"
    problem.write_text(f"Q: {{file: ../q.npy}}\n{KV}")
    answers.write_text("scores: [[1, 0], [0, 1]]\n")
    command, *options = arguments
    line = [command, str(problem), *([str(answers)] if command == "check" else []), *options]
    assert run(line) == 3
    assert "is outside the problem's folder" in capsys.readouterr().err
    assert run([*line, "--allow-outside"]) == 0


@pytest.mark.long
def test_an_archive_made_to_burst(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "q.npz", q=np.zeros((3000, 3000)))
    code, message, help = wrong(tmp_path, "{file: q.npz}")
    assert (code, help) == (3, "save it with numpy.savez, which does not compress")
    assert re.fullmatch(r"Q\.file: q\.npz unpacks [0-9]{2},[0-9]{3} bytes to 72,000,128", message)
    # small ones may be as empty as they like
    np.savez_compressed(tmp_path / "q.npz", q=np.zeros((2, 2)))
    assert read(tmp_path, "{file: q.npz}").given["Q"].value.shape == (2, 2)


def test_an_empty_array_is_told_whatever_its_reader_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "q.npy", EYE)
    monkeypatch.setattr(format_of(".npy"), "read", lambda *arguments: np.zeros((0, 2)))
    assert wrong(tmp_path, "{file: q.npy}") == (
        3,
        "Q.file: q.npy has the shape (0, 2): it is empty, or it is not a matrix",
        "save a matrix or a vector",
    )
