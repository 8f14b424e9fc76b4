"""A small model of Transformers in a folder for `record`, whole or damaged, if PyTorch and
Transformers are there.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from pathlib import Path
from random import Random

WORDS = ["[UNK]", "I", "love", "AI"]


def small_model() -> Path | None:
    """The folder of a GPT-2 with random weights and a tokenizer of four words; None where it cannot
    be made.
    """
    try:
        import torch
        import transformers
        from tokenizers import Tokenizer, models, pre_tokenizers
    except ImportError:
        return None
    folder = Path(tempfile.mkdtemp(prefix="attncli-sweep-model-"))
    torch.set_num_threads(1)  # a case is played in a fork, which must not wait for other threads
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tokenizer = Tokenizer(
            models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]")
        )
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        sizes = {"vocab_size": 4, "n_positions": 8, "n_embd": 8, "n_layer": 2, "n_head": 2}
        config = transformers.GPT2Config(**sizes, bos_token_id=0, eos_token_id=0)
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, unk_token="[UNK]"
        ).save_pretrained(folder)
        transformers.GPT2Model(config).save_pretrained(folder)
    return folder


def lay_out_model(model: Path | None, place: Path, choice: Random | None = None) -> None:
    """A copy of the model, now and then with a file missing or cut off; an empty folder where there
    is no model.
    """
    if model is None:
        place.mkdir()
        return
    shutil.copytree(model, place)
    if choice is not None and choice.random() < 0.3:
        damaged = choice.choice(sorted(place.iterdir()))
        data = damaged.read_bytes()
        damaged.unlink()
        if choice.random() < 0.7:
            damaged.write_bytes(data[: choice.randrange(len(data))])
