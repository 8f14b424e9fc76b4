"""A Transformers model in a folder: read it, and run it on a text while its attention is recorded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from attncli.errors import file_error, input_error, missing_error

if TYPE_CHECKING:
    from attncli.torch import Calls


class Loaded(NamedTuple):
    """A model and its tokenizer."""

    model: Any
    tokenizer: Any


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
        model = AutoModel.from_pretrained(folder, local_files_only=True, dtype=torch.float32)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise input_error(f"cannot read the model {folder}: {(str(error).splitlines() or ['?'])[0]}") from error
    return Loaded(model.eval(), tokenizer)


def run_model(loaded: Loaded, text: str, layer: int | None) -> tuple[Calls, list[str]]:
    """The recorded calls of one run on a text, of which only this layer is kept, and the tokens of the text."""
    import torch

    from attncli.torch import recording

    encoded = loaded.tokenizer(text, return_tensors="pt")
    tokens = [loaded.tokenizer.decode([each]).strip() or each for each in encoded["input_ids"][0].tolist()]
    inputs = dict(encoded)
    if loaded.model.config.is_encoder_decoder:
        start = loaded.model.config.decoder_start_token_id
        inputs["decoder_input_ids"] = torch.tensor([[start]])
    with torch.no_grad(), recording(layers=[] if layer is None else [layer]) as calls:
        loaded.model(**inputs)
    return calls, [str(each) for each in tokens]
