"""A Transformers model in a folder: read it, and run it on a text while its attention is recorded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from attncli.english import count, listed, shorten
from attncli.errors import AttncliError, file_error, input_error, missing_error, usage_error

if TYPE_CHECKING:
    from attncli.torch import Call, Calls
    from attncli.torch.call import ProblemOptions

_MOST_NAMED = 3  # weights in a warning


class Loaded(NamedTuple):
    """A model and its tokenizer; `missing` are the weights that the folder lacks, and are as in an untrained model."""

    model: Any
    tokenizer: Any
    missing: tuple[str, ...]

    @property
    def warnings(self) -> list[str]:
        """What the user should know of the model."""
        if not self.missing:
            return []
        names = listed(self.missing, last="", most=_MOST_NAMED)
        lacks = f"the folder lacks {count(len(self.missing), 'array')} of weights"
        return [f"{lacks}, so these are as in an untrained model: {names}"]


class Recorded(NamedTuple):
    """The calls of one run of a model, and the tokens that it read: those of the text, and those of the decoder."""

    calls: Calls
    tokens: list[str]
    decoder_tokens: list[str]

    def options(self, call: Call, head: int | None) -> ProblemOptions:
        """What to save of a call, with its labels: a decoder has tokens of its own, and may attend to the text."""
        queries, keys = (
            self.tokens if shape[-2] == len(self.tokens) else self.decoder_tokens for shape in call.shapes[:2]
        )
        return {"head": head, "tokens": queries, "context_tokens": None if queries is keys else keys}


def read_model(folder: str) -> Loaded:
    """The model in a folder, in float32 and ready to be run; raises AttncliError where it cannot be read."""
    if not (Path(folder) / "config.json").is_file():
        why = "there is no config.json in it" if Path(folder).is_dir() else "there is no such folder"
        raise file_error(f"cannot read the model {folder}: {why}", help="give the folder that save_pretrained() wrote")
    os.environ["HF_HUB_OFFLINE"] = "1"  # before the import: Transformers asks its hub for what is missing
    try:
        import torch
        from transformers import AutoModel, AutoTokenizer, logging
    except ImportError as error:
        raise missing_error(
            f"attncli record needs {error.name or 'PyTorch'}, which is not installed",
            help="pip install 'attncli[torch]' transformers",
        ) from error
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model, found = AutoModel.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32, output_loading_info=True
        )
    except Exception as error:  # a folder may be wrong in more ways than Transformers and its readers have errors for
        raise input_error(
            f"cannot read the model {folder}: {_words(error)}", help="give the folder that save_pretrained() wrote"
        ) from error
    return Loaded(model.eval(), tokenizer, tuple(sorted(found["missing_keys"])))


def run_model(loaded: Loaded, text: str, layer: int | None) -> Recorded:
    """One run on a text, of which only this layer is kept; raises AttncliError where the model cannot run on it."""
    import torch

    from attncli.torch import recording

    config = loaded.model.config
    encoded = loaded.tokenizer(text, return_tensors="pt")
    tokens, decoder_tokens = encoded["input_ids"][0].tolist(), []
    if not tokens:
        raise usage_error("the tokenizer finds no token in --text", help="give a text, and a folder with its tokenizer")
    inputs = dict(encoded)
    if config.is_encoder_decoder:
        decoder_tokens = [config.decoder_start_token_id]
        inputs["decoder_input_ids"] = torch.tensor([decoder_tokens])
    try:
        with torch.no_grad(), recording(layers=[] if layer is None else [layer]) as calls:
            loaded.model(**inputs)
    except AttncliError:
        raise
    except Exception as error:  # models have errors of every kind for inputs that they were not made for
        most = getattr(config, "max_position_embeddings", None)
        if isinstance(most, int) and most < len(tokens):
            raise usage_error(
                f"the text has {count(len(tokens), 'token')}, and the model reads at most {most:,}",
                help="give a shorter --text",
            ) from error
        raise input_error(f"the model cannot run on a text: {_words(error)}") from error
    return Recorded(calls, _labels(loaded, tokens), _labels(loaded, decoder_tokens))


def _labels(loaded: Loaded, tokens: list[int]) -> list[str]:
    """The tokens as text; one that is only space by its name in the vocabulary."""
    names = loaded.tokenizer.convert_ids_to_tokens(tokens)
    return [loaded.tokenizer.decode([token]).strip() or str(name) for token, name in zip(tokens, names, strict=True)]


def _words(error: Exception) -> str:
    """What an error of another package says, on one line."""
    return shorten(" ".join(str(error).split()), 300) or type(error).__name__
