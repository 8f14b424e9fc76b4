"""Finds the file that holds an array of a model in several files, by the index beside them."""

from __future__ import annotations

from pathlib import PurePath
from typing import IO

from attncli.problem.stored import Refused, choose, strict_json

INDEX_SUFFIX = ".safetensors.index.json"
_SIZE_LIMIT = 2**24


def shard_of(stream: IO[bytes], file: str, name: str) -> str:
    """The name of the file beside `model.safetensors.index.json` that holds the array; Refused where it says none."""
    data = stream.read(_SIZE_LIMIT + 1)
    try:
        index = strict_json(data) if len(data) <= _SIZE_LIMIT else None
    except ValueError:
        index = None
    match index:
        case {"weight_map": dict(shards)} if all(isinstance(shard, str) for shard in shards.values()):
            shard: str = shards[choose(name, list(shards), file, lambda each: ())]
            if PurePath(shard).suffix == ".safetensors":
                return shard
    raise Refused(f"{file} is not a readable index", "name the .safetensors file that holds the array")
