"""`attncli record` on a small model that is saved on the spot."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import attncli
from attncli.cli.main import run

WORDS = ["[UNK]", "I", "love", "AI"]


@pytest.fixture(scope="module")
def folder(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 with random weights and a tokenizer of four words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers = pytest.importorskip("transformers", reason="Transformers is not installed")
        from tokenizers import Tokenizer, models, pre_tokenizers

        torch.manual_seed(0)
        tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        model = transformers.GPT2Model(
            transformers.GPT2Config(
                vocab_size=4, n_positions=8, n_embd=8, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
            )
        )
        path = tmp_path_factory.mktemp("model")
        transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]").save_pretrained(path)
        model.save_pretrained(path)
    return path


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")  # of Transformers
def test_a_layer_and_a_head_are_saved(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["record", str(folder), "--text", "I love AI", "--layer", "1", "--head", "0", "-o", "layer1.yaml"]) == 0
    assert capsys.readouterr().out == ""
    problem = attncli.load("layer1.yaml")
    assert problem.title == "layer 1, head 0"
    assert problem.tokens == ("I", "love", "AI")
    weights = attncli.trace(problem)["weights"]
    assert weights.sum(axis=1) == pytest.approx([1, 1, 1])
    assert weights[0].tolist() == [1, 0, 0]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_without_an_output_the_calls_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["record", str(folder), "--text", "I love AI"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "h.1.attn" in out
    assert "cannot be saved" not in out


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--layer", "7", "-o", "x.yaml"], "there is no layer 7"),
        (["--layer", "0", "--head", "2", "-o", "x.yaml"], "there is no head 2"),
        (["--layer", "0", "-o", "x.json"], "x.json is not a YAML file"),
    ],
)
def test_what_is_not_there(
    more: list[str], message: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(["record", str(folder), "--text", "I love AI", *more]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_which_call_to_write_must_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["record", "anywhere", "--text", "I love AI", "-o", "x.yaml"]) == 2
    assert "-o needs --layer" in capsys.readouterr().err


def test_a_folder_without_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["record", str(tmp_path), "--text", "I love AI"]) == 4
    assert "there is no config.json in it" in capsys.readouterr().err
    assert run(["record", str(tmp_path / "nowhere"), "--text", "I love AI"]) == 4
    assert "there is no such folder" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_package_that_is_missing(
    package: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, package, None)
    assert run(["record", str(tmp_path), "--text", "I love AI"]) == 5
    assert "pip install 'attncli[torch]' transformers" in capsys.readouterr().err
