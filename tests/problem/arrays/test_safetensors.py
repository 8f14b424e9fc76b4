"""Tensors from .safetensors files: as the safetensors package and PyTorch wrote them, and as nobody
ever should.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save, save_file

from attncli.errors import AttncliError
from attncli.problem.loader import load as load_problem

KV = "K: [[1, 0], [0, 1]]\nV: [[1, 2], [3, 4]]\n"
EYE = np.eye(2)
INPUTS = Path(__file__).parents[3] / "inputs"


def read(folder: Path, reference: str = "{file: q.safetensors}") -> np.ndarray[Any, Any]:
    """What a reference gives as the Q of a problem in the folder."""
    (folder / "p.yaml").write_text(f"Q: {reference}\n{KV}")
    return load_problem(str(folder / "p.yaml")).given["Q"].value


def wrong(folder: Path, reference: str = "{file: q.safetensors}") -> tuple[int, str, str]:
    with pytest.raises(AttncliError) as caught:
        read(folder, reference)
    assert not caught.value.more
    return int(caught.value.exit_code), str(caught.value), caught.value.help


def packed(header: object, data: bytes = b"", padding: bytes = b"") -> bytes:
    """A file of this header, made without the safetensors package, which would refuse most of
    them.
    """
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text + padding)) + text + padding + data


def entry(dtype: Any = "F32", shape: Any = (2, 2), offsets: Any = (0, 16)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    "dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]
)
def test_every_type_numpy_has(tmp_path: Path, dtype: str) -> None:
    array = np.array([[1, 2], [3, 100]], dtype)
    save_file(
        {"before": np.ones(3), "q": array, "zz": np.ones((2, 3), "f4")}, tmp_path / "q.safetensors"
    )
    value = read(tmp_path, "{file: q.safetensors, name: q}")
    assert value.tolist() == [[1, 2], [3, 100]]
    assert value.dtype == np.float64


def test_truth_values(tmp_path: Path) -> None:
    save_file({"keep": np.array([[True, False], [True, True]])}, tmp_path / "keep.safetensors")
    (tmp_path / "p.yaml").write_text(f"Q: [[1, 0], [0, 1]]\n{KV}mask: {{file: keep.safetensors}}\n")
    (part,) = load_problem(str(tmp_path / "p.yaml")).mask.parts
    assert part.matrix.tolist() == [[True, False], [True, True]]  # type: ignore[union-attr]


def test_every_bfloat16(tmp_path: Path) -> None:
    """All 65,280 that are finite, against their definition: sign, eight bits of exponent, seven of
    fraction.
    """
    codes = np.arange(2**16, dtype="<u2")
    exponent, fraction = (codes >> 7) & 0xFF, (codes & 0x7F).astype(float)
    finite = exponent < 0xFF
    magnitude = np.where(
        exponent == 0,
        np.ldexp(fraction / 128, -126),
        np.ldexp(1 + fraction / 128, exponent.astype(int) - 127),
    )
    expected = np.where(codes >> 15, -magnitude, magnitude)[finite]
    data = codes[finite].tobytes()
    (tmp_path / "q.safetensors").write_bytes(
        packed({"q": entry("BF16", [32640, 2], [0, len(data)])}, data)
    )
    assert (read(tmp_path) == expected.reshape(32640, 2)).all()


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64", "int64", "uint8"])
def test_what_pytorch_wrote(torch: Any, tmp_path: Path, dtype: str) -> None:
    from safetensors.torch import save_file as save_tensors

    tensor = (
        (torch.randn(2, 7, generator=torch.Generator().manual_seed(1)) * 50)
        .abs()
        .to(getattr(torch, dtype))
    )
    save_tensors(
        {"layer.weight": tensor, "layer.bias": tensor[0].clone()}, tmp_path / "q.safetensors"
    )
    taken = read(tmp_path, "{file: q.safetensors, name: layer.weight, transpose: true}")
    assert taken.tolist() == tensor.double().T.tolist()


def test_padding_and_metadata_and_other_tensors(tmp_path: Path) -> None:
    header = {
        "__metadata__": {"format": "pt"},
        "e": entry("F4", [0], [0, 0]),
        "q": entry(),
        "f": entry("X9", [3], [16, 18]),
    }
    (tmp_path / "q.safetensors").write_bytes(
        packed(header, np.eye(2, dtype="<f4").tobytes() + b"ab", b"    ")
    )
    assert read(tmp_path, "{file: q.safetensors, name: q}").tolist() == EYE.tolist()
    assert wrong(tmp_path, "{file: q.safetensors, name: f}") == (
        3,
        "Q.file: q.safetensors holds X9 instead of plain numbers",
        "save it as F32 or BF16",
    )


GOOD = packed({"q": entry()}, b"\0" * 16)
_NOT_JSON = (
    "is not a readable .safetensors file: its header is not a JSON mapping with every name once"
)
_NO_TENSOR = (
    "is not a readable .safetensors file: q does not have a dtype, a shape and two data_offsets"
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a readable .safetensors file: it has only 0 bytes"),
        (b"\1", "is not a readable .safetensors file: it has only 1 byte"),
        (
            struct.pack("<Q", 2**64 - 1) + b"{}",
            (
                "is not a readable .safetensors file: its header would be"
                " 18,446,744,073,709,551,615 bytes long, and the file has 10"
            ),
        ),
        (
            packed(b"{}")[:-1],
            (
                "is not a readable .safetensors file: its header would be 2 bytes long, and the"
                " file has 9"
            ),
        ),
        (packed(b""), _NOT_JSON),
        (packed(b"[]"), _NOT_JSON),
        (packed(b" {}"), _NOT_JSON),
        (packed(b"\xff\xfe{"), _NOT_JSON),
        (packed(b'{"\\ud800": 1}'), _NOT_JSON),
        (packed(b'{"q": 1, "q": 2}'), _NOT_JSON),
        (
            packed(b'{"q": {"dtype": "F32", "shape": [NaN], "data_offsets": [0, 4]}}', b"\0" * 4),
            _NOT_JSON,
        ),
        (packed(b'{"q": ' * 50_000), _NOT_JSON),
        (packed(b'{"q": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"), _NOT_JSON),
        (packed(b'{"q": ' + b"9" * 5000 + b"}"), _NOT_JSON),
        (packed({}), "holds no arrays"),
        (packed({"q": None}), _NO_TENSOR),
        (packed({"q": []}), _NO_TENSOR),
        (packed({"q": {"dtype": "F32", "shape": [2, 2]}}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(7)}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(shape=4)}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(shape=["2", 2])}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(shape=[2.0, 2])}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(shape=[-2, -2])}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(shape=[True, 4])}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(shape=[2**64, 4])}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(offsets=[0])}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(offsets=[0, 16, 16])}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(offsets=[-16, 0])}, b"\0" * 16), _NO_TENSOR),
        (packed({"q": entry(offsets=[16, 0])}, b"\0" * 16), _NO_TENSOR),
        (
            packed({"q": entry(offsets=[0, 12])}, b"\0" * 12),
            "is not a readable .safetensors file: q is F32 of the shape (2, 2) in 12 bytes",
        ),
        (
            packed({"q": entry(shape=[2**62, 2**62, 2**62])}, b"\0" * 16),
            (
                "is not a readable .safetensors file: q is F32 of the shape"
                " (4611686018427387904…427387904) (63 characters) in 16 bytes"
            ),
        ),
        (
            packed({"q": entry(), "k": entry()}, b"\0" * 32),
            (
                "is not a readable .safetensors file: k begins at byte 0, and what is before it"
                " ends at 16"
            ),
        ),
        (
            packed({"q": entry(), "k": entry(offsets=[8, 24])}, b"\0" * 24),
            (
                "is not a readable .safetensors file: k begins at byte 8, and what is before it"
                " ends at 16"
            ),
        ),
        (
            packed({"q": entry(), "k": entry(offsets=[20, 36])}, b"\0" * 36),
            (
                "is not a readable .safetensors file: k begins at byte 20, and what is before it"
                " ends at 16"
            ),
        ),
        (
            GOOD + b"\0",
            "is not a readable .safetensors file: 1 byte at its end belongs to no tensor",
        ),
        (GOOD[:-1], f"should have {len(GOOD)} bytes but has only {len(GOOD) - 1}"),
        (packed({"q": entry(shape=[2**31, 2**31], offsets=[0, 2**64])}), _NO_TENSOR),
        (
            packed({"q": entry(shape=[2**30, 2**30], offsets=[0, 2**62])}),
            "should have 4,611,686,018,427,388,012 bytes but has only 108",
        ),
        (
            packed({"q": entry(shape=[], offsets=[0, 4])}, b"\0" * 4),
            "has the shape (): it is empty, or it is not a matrix",
        ),
        (
            packed({"q": entry(shape=[0, 2], offsets=[0, 0])}),
            "has the shape (0, 2): it is empty, or it is not a matrix",
        ),
        (
            packed({"q": entry("F8_E4M3", [2, 2], [0, 4])}, b"\0" * 4),
            "holds F8_E4M3 instead of plain numbers",
        ),
        (
            packed({"q": entry("C64", [1, 2], [0, 16])}, b"\0" * 16),
            "holds C64 instead of plain numbers",
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 548105171\n",
            "is a Git LFS pointer, not the file it stands for",
        ),
    ],
)
def test_headers_that_lie(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "q.safetensors").write_bytes(data)
    code, told, help = wrong(tmp_path)
    assert (code, told) == (3, f"Q.file: q.safetensors {message}")
    assert help


@pytest.mark.long
def test_a_shape_of_a_million_sides_takes_no_time(tmp_path: Path) -> None:
    header = {"q": entry(shape=[2**62] * 700_000)}
    (tmp_path / "q.safetensors").write_bytes(packed(header, b"\0" * 16))
    assert wrong(tmp_path)[1].endswith("in 16 bytes")


@pytest.mark.parametrize("length", [2**24 + 1, 2**32 - 8])
def test_headers_that_never_end(tmp_path: Path, length: int) -> None:
    with (tmp_path / "q.safetensors").open("wb") as stream:
        stream.write(struct.pack("<Q", length))
        stream.truncate(2**32)  # a hole: no bytes on the disk, but four GiB for whoever reads it
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert wrong(tmp_path)[1].endswith(
        f"its header is {length:,} bytes long, and 16,777,216 is the limit"
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**19  # KiB


def test_only_the_tensor_asked_for_is_read(tmp_path: Path) -> None:
    huge = 2**32
    header = {"a": entry("F32", [2**15, 2**15], [0, huge]), "q": entry(offsets=[huge, huge + 16])}
    with (tmp_path / "q.safetensors").open("wb") as stream:
        stream.write(packed(header))
        stream.seek(huge, os.SEEK_CUR)
        stream.write(np.eye(2, dtype="<f4").tobytes())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert read(tmp_path, "{file: q.safetensors, name: q}").tolist() == EYE.tolist()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**17  # KiB
    assert (
        wrong(tmp_path, "{file: q.safetensors, name: a}")[1]
        == "Q.file: q.safetensors has the shape (32768, 32768): too many numbers"
    )


def test_names(tmp_path: Path) -> None:
    arrays = {
        f"h.{layer}.{name}": EYE for layer in range(12) for name in ("attn.weight", "mlp.weight")
    }
    save_file({**arrays, "wte.weight": np.ones((5, 2), "f2")}, tmp_path / "q.safetensors")
    code, message, help = wrong(tmp_path)
    assert (code, message) == (3, "Q.file: q.safetensors holds 25 arrays")
    assert help.startswith(
        "say which by name: h.0.attn.weight (2×2), h.0.mlp.weight (2×2), h.1.attn"
    )
    assert help.endswith(", … and 13 more")
    assert help.count("(") == 12
    code, message, help = wrong(tmp_path, "{file: q.safetensors, name: wte.wieght}")
    assert (code, message) == (3, "Q.name: q.safetensors has no array named wte.wieght")
    assert help.startswith("did you mean wte.weight? it holds 25 arrays: h.0.attn.weight (2×2), ")
    help = wrong(tmp_path, "{file: q.safetensors, name: WTE}")[2]
    assert help.startswith("it holds 25 arrays: wte.weight (5×2), h.0.attn.weight (2×2), ")


def test_the_only_tensor_needs_no_name(tmp_path: Path) -> None:
    save_file({"a long name": EYE}, tmp_path / "q.safetensors")
    assert read(tmp_path).tolist() == EYE.tolist()
    assert wrong(tmp_path, "{file: q.safetensors, name: b}")[2] == "it holds a long name (2×2)"


class TestShards:
    """Models in several files, with an index that says which file holds which tensor."""

    @pytest.fixture(autouse=True)
    def model(self, tmp_path: Path) -> None:
        (tmp_path / "model").mkdir()
        for number in (1, 2):
            save_file(
                {f"w{number}": number * EYE, "x": EYE},
                tmp_path / "model" / f"m-0000{number}.safetensors",
            )
        self.index(
            tmp_path,
            {"w1": "m-00001.safetensors", "w2": "m-00002.safetensors", "w3": "m-00003.safetensors"},
        )

    def index(self, folder: Path, shards: object) -> None:
        (folder / "model" / "m.safetensors.index.json").write_text(
            json.dumps({"weight_map": shards})
        )

    def test_the_file_that_holds_it_is_read(self, tmp_path: Path) -> None:
        assert read(tmp_path, "{file: model/m.safetensors.index.json, name: w2}").tolist() == [
            [2, 0],
            [0, 2],
        ]

    @pytest.mark.parametrize(
        ("reference", "message", "help"),
        [
            (
                "",
                "Q.file: model/m.safetensors.index.json holds 3 arrays",
                "say which by name: w1, w2, w3",
            ),
            (
                ", name: w22",
                "Q.name: model/m.safetensors.index.json has no array named w22",
                "did you mean w2? it holds 3 arrays: w1, w2, w3",
            ),
            (
                ", name: w3",
                (
                    "Q.file: model/m.safetensors.index.json says it is in m-00003.safetensors,"
                    " which is not there"
                ),
                "put m-00003.safetensors beside the index",
            ),
        ],
    )
    def test_what_it_does_not_hold(
        self, tmp_path: Path, reference: str, message: str, help: str
    ) -> None:
        assert wrong(tmp_path, f"{{file: model/m.safetensors.index.json{reference}}}") == (
            3,
            message,
            help,
        )

    @pytest.mark.parametrize(
        "shards",
        [None, [], {"w1": 1}, {"w1": "m.safetensors.index.json"}, {"w1": "p.yaml"}, {"w1": ""}],
    )
    def test_an_index_that_is_none(self, tmp_path: Path, shards: object) -> None:
        self.index(tmp_path, shards)
        assert wrong(tmp_path, "{file: model/m.safetensors.index.json, name: w1}")[:2] == (
            3,
            "Q.file: model/m.safetensors.index.json is not a readable index",
        )

    def test_it_leads_nowhere_else(self, tmp_path: Path) -> None:
        self.index(tmp_path, {"w1": "../../secret.safetensors"})
        assert (
            "is outside the problem's folder"
            in wrong(tmp_path, "{file: model/m.safetensors.index.json, name: w1}")[1]
        )


_WORDS = st.sampled_from(
    ["q", "dtype", "F32", "shape", "data_offsets", "BF16", "F8_E4M3", "__metadata__", ""]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | _WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=12,
)
_SMALL = st.integers(-1, 9)
_ENTRIES = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F32", "BF16", "U8", "BOOL", "F64", "C64"]) | _JSON,
        "shape": st.lists(_SMALL, max_size=3) | _JSON,
        "data_offsets": st.lists(_SMALL.map(lambda n: 4 * n), min_size=2, max_size=2) | _JSON,
    }
)
_HEADERS = st.dictionaries(
    st.sampled_from(["q", "k", "__metadata__"]), _ENTRIES | _JSON, max_size=3
)
_SEVERAL = save({"q": np.eye(2, dtype="f4"), "k": np.ones(3), "v": np.ones((1, 2), "u1")})


def _slips() -> Iterator[st.SearchStrategy[bytes]]:
    """Bytes of any kind, any header, and a good file with some of its bytes changed or cut off."""
    yield st.binary(max_size=80)
    yield st.builds(packed, st.binary(max_size=40), st.binary(max_size=20))
    yield st.builds(packed, _JSON | _HEADERS, st.binary(max_size=40))
    changes = st.lists(
        st.tuples(st.integers(0, len(_SEVERAL) - 1), st.integers(0, 255)), max_size=4
    )
    yield st.builds(_changed, changes, st.integers(0, len(_SEVERAL) + 2))


def _changed(changes: list[tuple[int, int]], length: int) -> bytes:
    data = bytearray(_SEVERAL)
    for at, byte in changes:
        data[at] = byte
    return bytes(data).ljust(length, b"\0")[:length]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(*_slips()),
    st.sampled_from(["", ", name: q", ", name: k, part: q", ", name: q, transpose: true"]),
)
def test_any_bytes(tmp_path: Path, data: bytes, more: str) -> None:
    (tmp_path / "q.safetensors").write_bytes(data)
    with contextlib.suppress(AttncliError):
        read(tmp_path, f"{{file: q.safetensors{more}}}")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(*_slips()))
def test_what_is_read_is_what_the_package_reads(tmp_path: Path, data: bytes) -> None:
    """A file the safetensors package refuses is refused here, and numbers read from any are the
    same.
    """
    file = tmp_path / "q.safetensors"
    file.write_bytes(data)
    try:
        value = read(tmp_path, "{file: q.safetensors, name: q}")
    except AttncliError:
        return
    with safe_open(file, framework="numpy") as opened:
        if opened.get_slice("q").get_dtype() != "BF16":  # which NumPy does not have
            assert (opened.get_tensor("q").astype(float) == value).all()


def test_the_package_refuses_what_these_tests_call_damaged() -> None:
    with pytest.raises(SafetensorError):
        load(GOOD[:-1])
    load(GOOD)


def test_the_example_is_what_its_recipe_makes() -> None:
    """The recipe of docs/how-to/real-models.md."""

    def weights(*shape: int) -> np.ndarray[Any, Any]:
        return ((7 * np.arange(np.prod(shape)) % 11 - 5) / 4).reshape(shape)

    arrays = load((INPUTS / "tiny_gpt2.safetensors").read_bytes())
    assert {name: array.shape for name, array in arrays.items()} == {
        "h.0.attn.c_attn.weight": (4, 12),
        "h.0.attn.c_attn.bias": (12,),
        "h.0.attn.c_proj.weight": (4, 4),
        "h.0.attn.c_proj.bias": (4,),
    }
    assert all((array == weights(*array.shape)).all() for array in arrays.values())
