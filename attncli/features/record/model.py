"""A Transformers model in a folder: read it, and run it on a text while its attention is
recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from attncli.english import count, listed, shape_text, shorten
from attncli.errors import AttncliError, file_error, input_error, missing_error, usage_error
from attncli.page.document import Document, Paragraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.torch import Call, Calls
    from attncli.torch.call import ProblemOptions

# Weights that a warning names.
_MOST_WEIGHTS_NAMED = 3
# Tokens on the page; more would hide the table.
_MOST_TOKENS_SHOWN = 40
_GIVE_A_SAVED_FOLDER = "give the folder that save_pretrained() wrote"
_RUN_IT_IN_PYTHON = "run it in Python, inside attncli.torch.recording()"
# Characters of what another package says.
_LONGEST_MESSAGE = 300


class Loaded(NamedTuple):
    """A model and its tokenizer; `missing` are the weights that the folder lacks, and are as in an
    untrained model. `tokenizer` is None where the folder has none.
    """

    model: Any
    tokenizer: Any
    missing: tuple[str, ...]

    @property
    def warnings(self) -> list[str]:
        """What the user should know of the model."""
        if not self.missing:
            return []
        names = listed(self.missing, last="", most=_MOST_WEIGHTS_NAMED)
        lacks = f"the folder lacks {count(len(self.missing), 'array')} of weights"
        return [f"{lacks}, so these are as in an untrained model: {names}"]


class Recorded(NamedTuple):
    """The calls of one run of a model, the tokens that it read (those of the text, and those of the
    decoder), and what it gave: batch × n × d_model.
    """

    calls: Calls
    tokens: list[str]
    decoder_tokens: list[str]
    output: NDArray[Any]

    def call_of_layer(self, layer: int) -> Call:
        """The first call of a layer that was kept: a recording without it ends in an error."""
        return next(call for call in self.calls if call.layer == layer)

    def page(self) -> Document:
        """The table of all calls, and the tokens that the model read."""
        page = self.calls.page()
        said = [f"The text has {_in_quotes(self.tokens)}."]
        if self.decoder_tokens:
            said.append(f"The decoder has {_in_quotes(self.decoder_tokens)}.")
        tokens = Paragraph((" ".join(said),))
        return replace(page, blocks=(*page.blocks, tokens), data=self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        data = {**self.calls.to_dict(), "tokens": self.tokens}
        if self.decoder_tokens:
            data["decoder_tokens"] = self.decoder_tokens
        return data

    def options(self, call: Call, head: int | None) -> ProblemOptions:
        """What to save of a call, with its labels: a decoder has tokens of its own, and may attend
        to the text.
        """
        queries, keys = (
            self.tokens if shape[-2] == len(self.tokens) else self.decoder_tokens
            for shape in call.shapes[:2]
        )
        return {
            "head": head,
            "tokens": queries,
            "context_tokens": None if queries is keys else keys,
        }


def read_model(
    folder: str,
    *,
    attention: str | None = None,
    asked_by: str = "--attention",
    needs_tokenizer: bool = True,
) -> Loaded:
    """The model in a folder, in float32 and ready to be run, with this implementation of attention,
    which an option asked for.

    Its tokenizer may be missing where another one's is used. Raises AttncliError where the model
    cannot be read, and exit 2 where it has no such implementation.
    """
    _require_model(folder, needs_tokenizer=needs_tokenizer)
    # This comes before the import: Transformers asks its hub for what is missing.
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import torch
        from transformers import AutoConfig, AutoModel, AutoTokenizer, is_torch_available, logging
    except ImportError as error:
        raise missing_error(
            f"attncli record needs {error.name or 'PyTorch'}, which is not installed",
            help="pip install 'attncli[torch]' transformers",
        ) from error
    # Transformers makes no use of a PyTorch that it finds too old.
    if not is_torch_available():
        raise missing_error(
            f"this version of Transformers needs a newer PyTorch than {torch.__version__}",
            help="pip install --upgrade torch",
        )
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    # Without these it may ask whether to trust the folder.
    alone: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with _reading(f"the model {folder}", _GIVE_A_SAVED_FOLDER):
        config = AutoConfig.from_pretrained(folder, **alone)
    tokenizer = None
    if _has_tokenizer(Path(folder)):
        with _reading(
            f"the tokenizer in {folder}", "tokenizer.save_pretrained() writes one that can be read"
        ):
            tokenizer = AutoTokenizer.from_pretrained(folder, **alone)
    if attention is not None:
        alone["attn_implementation"] = attention
    help = _GIVE_A_SAVED_FOLDER if attention is None else f"choose another word for {asked_by}"
    with _reading(f"the model {folder}", help):
        model, found = AutoModel.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **alone,
        )
    if model.main_input_name != "input_ids":
        raise input_error(
            f"the model in {folder} reads {model.main_input_name}, and no text",
            help=_RUN_IT_IN_PYTHON,
        )
    for name, stored, expected in sorted(found["mismatched_keys"]):
        raise input_error(
            f"cannot read the model {folder}: {name} is {shape_text(stored)}, and config.json asks"
            f" for {shape_text(expected)}",
            help="config.json belongs to another model; save both with save_pretrained()",
        )
    return Loaded(model.eval(), tokenizer, tuple(sorted(found["missing_keys"])))


def _require_model(folder: str, *, needs_tokenizer: bool) -> None:
    """Raises AttncliError unless this is a folder with a model, and with a tokenizer where one is
    needed, by the names of its files.
    """
    place = Path(folder)
    if not place.exists():
        why, help = (
            "there is no such folder",
            f"attncli downloads nothing; run hf download NAME --local-dir {folder}",
        )
    elif not place.is_dir():
        why, help = "this is a file", f"give the folder that it is in: {place.parent}"
    elif not (place / "config.json").is_file():
        why, help = "there is no config.json in it", _GIVE_A_SAVED_FOLDER
        for config in sorted(place.glob("snapshots/*/config.json"))[:1]:
            # What is downloaded is kept in folders of this form.
            help = f"give {config.parent}"
    elif needs_tokenizer and not _has_tokenizer(place):
        why, help = (
            "there is no tokenizer in it",
            f'add one with tokenizer.save_pretrained("{folder}")',
        )
    elif not _has(place, "*.safetensors", "*.bin"):
        why, help = "there are no weights in it", f'add them with model.save_pretrained("{folder}")'
    else:
        return
    raise file_error(f"cannot read the model {folder}: {why}", help=help)


def _has_tokenizer(folder: Path) -> bool:
    return _has(folder, "*token*", "*vocab*", "*.model", "*.spm", "*bpe*")


def _has(folder: Path, *patterns: str) -> bool:
    return any(True for pattern in patterns for _ in folder.glob(pattern))


@contextmanager
def _reading(what: str, help: str) -> Iterator[None]:
    """Turns every error of Transformers into ours: a folder may be wrong in more ways than it has
    errors for.
    """
    try:
        yield
    except Exception as error:
        why = _words(error)
        if "trust_remote_code" in str(error):
            why, help = (
                "it needs code from the folder, which attncli does not run",
                _RUN_IT_IN_PYTHON,
            )
        raise input_error(f"cannot read {what}: {why}", help=help) from error


def run_model(
    loaded: Loaded, text: str, layers: Sequence[int] | None, *, tokenizer: Any = None
) -> Recorded:
    """One run on a text, of which only these layers are kept, or all where None; raises
    AttncliError where the model cannot run on it.

    `tokenizer` may be that of another model; None is the model's own.
    """
    import torch

    from attncli.torch import recording
    from attncli.torch.tensors import to_numpy

    config = loaded.model.config
    tokenizer = tokenizer or loaded.tokenizer
    encoded = tokenizer(text, return_tensors="pt")
    tokens, decoder_tokens = encoded["input_ids"][0].tolist(), []
    if not tokens:
        help = (
            "is its vocabulary in the folder? tokenizer.save_pretrained() writes it"
            if text.strip()
            else "give a text"
        )
        raise usage_error("the tokenizer finds no token in --text", help=help)
    inputs = dict(encoded)
    if config.is_encoder_decoder:
        starts = (
            getattr(config, name, None)
            for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id")
        )
        decoder_tokens = [next((start for start in starts if start is not None), 0)]
        inputs["decoder_input_ids"] = torch.tensor([decoder_tokens])
    try:
        with torch.no_grad(), recording(layers=layers) as calls:
            output = loaded.model(**inputs)[0]
    except AttncliError:
        raise
    except Exception as error:
        # Models have errors of every kind for inputs that they were not made for.
        most = getattr(config, "max_position_embeddings", None)
        if isinstance(most, int) and most < len(tokens):
            raise usage_error(
                f"the text has {count(len(tokens), 'token')}, and the model reads at most {most:,}",
                help="give a shorter --text",
            ) from error
        raise input_error(f"the model cannot run on a text: {_words(error)}") from error
    return Recorded(
        calls, _labels(tokenizer, tokens), _labels(tokenizer, decoder_tokens), to_numpy(output)
    )


def _in_quotes(tokens: Sequence[str]) -> str:
    """How many tokens there are, and the first ones: 2 tokens: "I" and "love"."""
    quoted = [f'"{token}"' for token in tokens]
    return f"{count(len(tokens), 'token')}: {listed(quoted, most=_MOST_TOKENS_SHOWN)}"


def _labels(tokenizer: Any, tokens: list[int]) -> list[str]:
    """The tokens as text; one that is only space by its name in the vocabulary."""
    labels = []
    for token, name in zip(tokens, tokenizer.convert_ids_to_tokens(tokens), strict=True):
        text = tokenizer.decode([token]).strip()
        labels.append(text or str(name))
    return labels


def _words(error: Exception) -> str:
    """What an error of another package says, on one line; of a long text the first sentences."""
    text = " ".join(str(error).split()) or type(error).__name__
    if len(text) <= _LONGEST_MESSAGE:
        return text.removesuffix(".")
    return text[:_LONGEST_MESSAGE].rpartition(". ")[0] or shorten(text, _LONGEST_MESSAGE)
