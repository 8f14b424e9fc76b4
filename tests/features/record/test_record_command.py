"""`attncli record` on a small model that is saved on the spot."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import attncli
from attncli.cli.main import run
from attncli.features.schema.command import schemas

WORDS = ["[UNK]", "I", "love", "AI"]


@pytest.fixture(scope="module")
def folder(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 with random weights and a tokenizer of four words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers = pytest.importorskip("transformers", reason="Transformers is not installed")
        from tokenizers import Tokenizer, models, pre_tokenizers

        torch.manual_seed(0)
        tokenizer = Tokenizer(
            models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
        )
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        model = transformers.GPT2Model(
            transformers.GPT2Config(
                vocab_size=4,
                n_positions=8,
                n_embd=8,
                n_layer=2,
                n_head=2,
                bos_token_id=0,
                eos_token_id=0,
            )
        )
        path = tmp_path_factory.mktemp("model")
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, unk_token="[UNK]"
        ).save_pretrained(path)
        model.save_pretrained(path)
    return path


def record_first_head(folder: Path) -> int:
    """The exit code of recording head 0 of layer 1 of the model, as layer1.yaml."""
    line = ["record", str(folder), "--text", "I love AI", "--layer", "1", "--head", "0"]
    return run([*line, "-o", "layer1.yaml"])


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")  # of Transformers
def test_a_layer_and_a_head_are_saved(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert record_first_head(folder) == 0
    assert capsys.readouterr().out == ""
    problem = attncli.load("layer1.yaml")
    assert problem.title == "layer 1, head 0"
    assert problem.tokens == ("I", "love", "AI")
    weights = attncli.trace(problem)["weights"]
    assert weights.sum(axis=1) == pytest.approx([1, 1, 1])
    assert weights[0].tolist() == [1, 0, 0]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_a_problem_that_does_not_give_the_recorded_output(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from attncli.features.record import model

    run_model = model.run_model

    def run_and_change(*args: Any) -> Any:
        recorded = run_model(*args)
        recorded.calls[1].output[0, 0, 2, 1] += 0.5
        return recorded

    monkeypatch.setattr(model, "run_model", run_and_change)
    monkeypatch.chdir(tmp_path)
    assert record_first_head(folder) == 0
    said = capsys.readouterr().err
    assert (
        said == "attncli: warning: layer1.yaml does not give the output that was recorded: "
        "the first step that differs is output: 1 cell, by at most 0.5\n"
    )
    assert attncli.load("layer1.yaml").title == "layer 1, head 0"


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_without_an_output_the_calls_are_listed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["record", str(folder), "--text", "I love AI"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "h.1.attn" in out
    assert "cannot be saved" not in out
    assert 'The text has 3 tokens: "I", "love" and "AI".' in out


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--layer", "7", "-o", "x.yaml"], "there is no layer 7"),
        (["--layer", "0", "--head", "2", "-o", "x.yaml"], "there is no head 2"),
        (["--layer", "0", "-o", "x.json"], "x.json is not a YAML file"),
        (["--text", " "], "finds no token in --text\nhelp: give a text"),
        (["--text", "tea " * 9], "the text has 9 tokens, and the model reads at most 8"),
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


def changed_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-8])


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("damage", "messages"),
    [
        (lambda folder: cut_off(folder / "model.safetensors"), ["cannot read the model "]),
        (
            lambda folder: cut_off(folder / "config.json"),
            ["cannot read the model ", "not a valid JSON file"],
        ),
        (
            lambda folder: cut_off(folder / "tokenizer.json"),
            ["cannot read the tokenizer in ", "tokenizer.save_"],
        ),
        (
            lambda folder: changed_config(folder, n_embd=16),
            ["h.0.attn.c_attn.bias is 24, and config.json asks for 48"],
        ),
        (
            lambda folder: changed_config(
                folder, model_type="mine", auto_map={"AutoConfig": "mine.Mine"}
            ),
            ["it needs code from the folder, which attncli does not run", "recording()"],
        ),
    ],
)
def test_a_folder_that_is_damaged(
    damage: Callable[[Path], None], messages: list[str], folder: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    broken = shutil.copytree(folder, tmp_path / "broken")
    (broken / "mine.py").write_text("raise SystemExit('this must not run')")
    damage(broken)
    assert run(["record", str(broken), "--text", "I love AI"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    for message in messages:
        assert message in err


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_images(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import transformers

    images = shutil.copytree(
        folder, tmp_path / "images", ignore=shutil.ignore_patterns("config.json", "model*")
    )
    config = transformers.ViTConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        image_size=8,
        patch_size=4,
    )
    transformers.ViTModel(config).save_pretrained(images)
    assert run(["record", str(images), "--text", "I love AI"]) == 3
    assert "reads pixel_values, and no text" in capsys.readouterr().err


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_weights_that_are_not_in_the_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from safetensors.torch import load_file, save_file

    less = shutil.copytree(folder, tmp_path / "less")
    arrays = load_file(less / "model.safetensors")
    name = next(name for name in arrays if name.endswith("h.1.attn.c_proj.bias"))
    del arrays[name]
    save_file(arrays, less / "model.safetensors", metadata={"format": "pt"})
    assert run(["record", str(less), "--text", "I love AI"]) == 0
    assert (
        f"the folder lacks 1 array of weights, so these are as in an untrained model: {name}"
        in capsys.readouterr().err
    )


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("given", "start"), [({}, "[UNK]"), ({"decoder_start_token_id": 3}, "AI")])
def test_a_decoder_has_tokens_of_its_own(
    given: dict[str, int], start: str, folder: Path, tmp_path: Path
) -> None:
    import transformers

    both = shutil.copytree(
        folder, tmp_path / "both", ignore=shutil.ignore_patterns("config.json", "model*")
    )
    transformers.T5Model(
        transformers.T5Config(
            vocab_size=4, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, **given
        )
    ).save_pretrained(both)
    labels = []
    for layer in range(3):  # the encoder, and the decoder: of itself, and of the text
        saved = tmp_path / f"{layer}.yaml"
        assert (
            run(
                [
                    "record",
                    str(both),
                    "--text",
                    "I love AI",
                    "--layer",
                    str(layer),
                    "-o",
                    str(saved),
                ]
            )
            == 0
        )
        problem = attncli.load(saved, allow_outside=True)
        labels.append((problem.tokens, problem.context_tokens))
    words = ("I", "love", "AI")
    assert labels == [(words, words), ((start,), (start,)), ((start,), words)]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-o", "x.yaml"], "-o needs --layer"),
        (["--layer", "1"], "--layer and --head say what -o saves"),
        (["--head", "0"], "--layer and --head say what -o saves"),
    ],
)
def test_options_that_need_each_other(
    more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["record", "anywhere", "--text", "I love AI", *more]) == 2
    assert message in capsys.readouterr().err


FILES = ("config.json", "tokenizer.json", "model.safetensors")


@pytest.mark.parametrize(
    ("files", "message", "help"),
    [
        (
            FILES[1:],
            "there is no config.json in it",
            "give the folder that save_pretrained() wrote",
        ),
        (
            [FILES[0], FILES[2]],
            "there is no tokenizer in it",
            "add one with tokenizer.save_pretrained(",
        ),
        (FILES[:2], "there are no weights in it", "add them with model.save_pretrained("),
        (
            ["snapshots/1a2b/config.json"],
            "there is no config.json in it",
            "give {folder}/snapshots/1a2b",
        ),
    ],
)
def test_a_folder_without_a_model(
    files: list[str], message: str, help: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert run(["record", str(tmp_path), "--text", "I love AI"]) == 4
    err = capsys.readouterr().err
    assert f"cannot read the model {tmp_path}: {message}\n" in err
    assert f"help: {help.format(folder=tmp_path)}" in err


def test_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["record", str(tmp_path / "nowhere"), "--text", "I love AI"]) == 4
    assert "there is no such folder\nhelp: attncli downloads nothing" in capsys.readouterr().err
    (tmp_path / "config.json").write_text("{}")
    assert run(["record", str(tmp_path / "config.json"), "--text", "I love AI"]) == 4
    assert (
        f"this is a file\nhelp: give the folder that it is in: {tmp_path}\n"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_package_that_is_missing(
    package: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in FILES:
        (tmp_path / name).write_text("{}")
    monkeypatch.setitem(sys.modules, package, None)
    assert run(["record", str(tmp_path), "--text", "I love AI"]) == 5
    assert "pip install 'attncli[torch]' transformers" in capsys.readouterr().err


def test_a_torch_too_old_for_transformers(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    import transformers

    monkeypatch.setattr(transformers, "is_torch_available", lambda: False)
    assert run(["record", str(folder), "--text", "I love AI"]) == 5
    error = capsys.readouterr().err
    assert f"this version of Transformers needs a newer PyTorch than {torch.__version__}\n" in error
    assert error.endswith("help: pip install --upgrade torch\n")


@pytest.fixture(scope="module")
def port(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model, but its second layer has other keys."""
    import torch
    from safetensors.torch import load_file, save_file

    path = shutil.copytree(folder, tmp_path_factory.mktemp("ports") / "port")
    file = path / "model.safetensors"
    weights = load_file(file)
    weights["h.1.attn.c_attn.weight"][:, 8:16] += torch.ones(8, 8)
    save_file(weights, file, metadata={"format": "pt"})
    return path


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--against", "eager"], 0, "2 calls of attention agree"),
        (["--against", "port"], 1, "Call 1 (layer 1, h.1.attn) is the first that differs"),
        (["--against", "port", "--layer", "0"], 0, "1 call of attention agrees"),
        (["--against", "port", "--layer", "1", "--head", "1"], 1, "in the step W_K"),
        (["--against", "port", "--tolerance", "1000"], 0, "agree"),
        (["--attention", "eager", "--against", "sdpa"], 0, "(eager) against sdpa"),
    ],
)
def test_against_another_model(
    more: list[str], code: int, said: str, folder: Path, port: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    line = [str(port) if word == "port" else word for word in more]
    assert run(["record", str(folder), "--text", "I love AI", *line]) == code
    out, err = capsys.readouterr()
    assert said in " ".join(out.split())
    assert err == ""


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--layer", "7"], 2, "{folder}: no call was kept: there is no layer 7"),
        (["--against", "flex_attention"], 3, "help: choose another word for --against"),
        (["--latent"], 2, "no call of {folder} has latent keys and values"),
    ],
)
def test_what_one_of_two_models_lacks_is_said_of_it(
    more: list[str], code: int, said: str, folder: Path, port: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    against = [] if "--against" in more else ["--against", str(port)]
    assert run(["record", str(folder), "--text", "I love AI", *against, *more]) == code
    assert said.format(folder=folder) in capsys.readouterr().err


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_the_list_and_the_comparison_for_programs(
    folder: Path, port: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["record", str(folder), "--text", "I love AI"]
    assert run([*line, "--format", "json"]) == 0
    recorded = json.loads(capsys.readouterr().out)
    jsonschema.validate(recorded, json.loads(schemas()["recording"].read_text(encoding="utf-8")))
    assert [call["module"] for call in recorded["calls"]] == ["h.0.attn", "h.1.attn"]
    assert recorded["tokens"] == ["I", "love", "AI"]
    file = tmp_path / "against.json"
    assert run([*line, "--against", str(port), "-o", str(file)]) == 1
    data = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.validate(data, json.loads(schemas()["against"].read_text(encoding="utf-8")))
    assert data["first_difference"] == 1
    assert [call["same"] for call in data["calls"]] == [True, False]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_the_second_folder_needs_no_tokenizer(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = shutil.copytree(folder, tmp_path / "bare", ignore=shutil.ignore_patterns("*token*"))
    line = ["record", str(folder), "--text", "I love AI", "--against", str(bare)]
    assert run(line) == 0
    assert run(["record", str(bare), "--text", "I love AI", "--against", str(folder)]) == 4
    assert "there is no tokenizer in it" in capsys.readouterr().err


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_another_tokenizer_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = shutil.copytree(folder, tmp_path / "other")
    text = (other / "tokenizer.json").read_text(encoding="utf-8")
    words = json.loads(text)
    words["model"]["vocab"] = {"[UNK]": 0, "I": 2, "love": 1, "AI": 3}
    (other / "tokenizer.json").write_text(json.dumps(words), encoding="utf-8")
    line = ["record", str(folder), "--text", "I love AI", "--against", str(other)]
    assert run(line) == 0
    said = capsys.readouterr().err
    assert "makes other tokens of this text; both models read those of" in said


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--tolerance", "1"], "--tolerance cannot be used with one model"),
        (["--detail", "brief"], "--detail is for --against"),
        (["--against", "b", "-o", "x.yaml"], "--against cannot be used with -o x.yaml"),
        (["--attention", "fast"], "--attention"),
        (["--latent", "--absorbed"], "--latent cannot be used with --absorbed"),
        (["--layer", "1"], "--layer and --head say what -o saves"),
    ],
)
def test_options_that_do_not_go_together(
    more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["record", "nowhere", "--text", "I love AI", *more]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_what_comes_after_the_last_attention_is_compared(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from safetensors.torch import load_file, save_file

    path = shutil.copytree(folder, tmp_path / "after")
    file = path / "model.safetensors"
    weights = load_file(file)
    weights["h.1.attn.c_proj.weight"] *= 1.5
    save_file(weights, file, metadata={"format": "pt"})
    line = ["record", str(folder), "--text", "I love AI", "--against", str(path)]
    assert run(line) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "2 calls of attention agree" in said
    assert "So the cause is after the attention of the last layer: W_O" in said
    assert run([*line, "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["first_difference"] is None
    assert data["output_difference"] > 1e-4


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_weights_that_the_other_folder_lacks_stand_on_the_page(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from safetensors.torch import load_file, save_file

    path = shutil.copytree(folder, tmp_path / "lacks")
    file = path / "model.safetensors"
    weights = load_file(file)
    del weights["h.1.attn.c_attn.weight"]
    save_file(weights, file, metadata={"format": "pt"})
    assert run(["record", str(folder), "--text", "I love AI", "--against", str(path)]) == 1
    assert "h.1.attn.c_attn.weight" in capsys.readouterr().out
