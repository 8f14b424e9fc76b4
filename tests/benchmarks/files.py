"""Reading large problems and writing large traces, against PyYAML, json, f-strings and Rich (rows 3, 4, 12 to 14)."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import yaml
from attend import arrays, problem
from versus import Figure, Way, versus

from attncli.page import number_rows
from attncli.page.data import data_page
from attncli.page.derivation import derivation
from attncli.page.reading import reading as reading_in_words
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.render import pieces, render
from attncli.tracing import run
from attncli.tracing.model import Trace

SHAPES = {"X": (2048, 512), "W_Q": (512, 512), "W_K": (512, 512), "W_V": (512, 512)}


def figures(rounds: int) -> Iterator[Figure]:
    with TemporaryDirectory() as folder:
        yield from reading(Path(folder), rounds)
    yield from writing(rounds)


def reading(folder: Path, rounds: int) -> Iterator[Figure]:
    random = np.random.default_rng(0)
    data = {name: random.standard_normal(shape).round(9).tolist() for name, shape in SHAPES.items()}
    lines = [f"{name}:\n" + "".join(f"- {json.dumps(row)}\n" for row in rows) for name, rows in data.items()]
    as_yaml, as_json = folder / "large.yaml", folder / "large.json"
    as_yaml.write_text("".join(lines))
    as_json.write_text(json.dumps(data))
    size = as_yaml.stat().st_size / 2**20
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def by_pyyaml() -> object:
        return yaml.load(as_yaml.read_bytes(), Loader=loader)

    def by_json() -> object:
        return {name: np.array(rows) for name, rows in json.loads(as_json.read_bytes()).items()}

    def ours(path: Path) -> Way:
        return lambda: load(str(path))

    yield versus(
        3, f"YAML of {size:.0f} MiB against yaml.load(CSafeLoader)", ours(as_yaml), by_pyyaml, 10, rounds=1, least=True
    )
    yield Figure(3, "its peak memory against three times the file", _peak(ours(as_yaml)), 3 * size, 1, unit="MiB")
    yield versus(4, "the same in JSON against json.loads and np.array", ours(as_json), by_json, 0.5, rounds=rounds,
                 least=True)  # fmt: skip


@contextmanager
def without_orjson() -> Iterator[None]:
    """As where the extra `fast` is not installed."""
    known = sys.modules.get("orjson")
    sys.modules["orjson"] = None  # type: ignore[assignment]  # which makes its import fail
    _forget()
    try:
        yield
    finally:
        del sys.modules["orjson"]
        sys.modules.update({"orjson": known} if known else {})
        _forget()


def _forget() -> None:
    """What was found out about orjson."""
    number_rows._fast_writer.cache_clear()


def writing(rounds: int) -> Iterator[Figure]:
    large, small = run(problem(arrays(2048))), run(problem(arrays(256)))
    steps = ("scores", "scaled", "exp")
    document = data_page(large, View(detail="brief", steps=steps))

    def stream() -> int:
        return sum(map(len, pieces(document, "json")))

    def dumps() -> int:
        return len(json.dumps({name: large[name].tolist() for name in steps}))

    yield versus(12, "JSON of three steps, n = 2048, with orjson, against json.dumps(tolist())", stream, dumps, 20,
                 rounds=3, least=True)  # fmt: skip
    with without_orjson():
        yield versus(12, "the same without", stream, dumps, 3, rounds=3, least=True)
    yield Figure(12, "its peak memory against 16 MiB", _peak(stream), 16, 1, unit="MiB")
    for format in ("markdown", "latex"):
        yield versus(13, f"{format} of weights, n = 2048, against f-strings", _streamed(large, format),
                     _f_strings(large["weights"]), 8, rounds=rounds, least=True)  # fmt: skip
    yield versus(13, "the reading in words, n = 2048, against f-strings", lambda: reading_in_words(large),
                 _f_strings(large["weights"]), 1, rounds=2, least=True)  # fmt: skip
    yield versus(14, "table of weights, n = 256, on a pipe against Rich's Table", _page(small, "table"),
                 _rich(small["weights"]), 50, rounds=2, least=True)  # fmt: skip


def _page(trace: Trace, format: str) -> Way:
    view = View(detail="brief", steps=("weights",))
    return lambda: render(derivation(trace, view), format)


def _streamed(trace: Trace, format: str) -> Way:
    """Piece by piece, as it is written to a file or a pipe."""
    view = View(detail="brief", steps=("weights",))
    return lambda: sum(map(len, pieces(derivation(trace, view), format)))


def _f_strings(array: np.ndarray) -> Way:
    return lambda: "\n".join("| " + " | ".join(f"{number:.3f}" for number in row) + " |" for row in array.tolist())


def _rich(array: np.ndarray) -> Way:
    from rich.console import Console
    from rich.table import Table

    def print_it() -> None:
        table = Table(*(f"t{place + 1}" for place in range(array.shape[1])))
        for row in array.tolist():
            table.add_row(*(f"{number:.3f}" for number in row))
        Console(file=io.StringIO(), width=10**5).print(table)

    return print_it


def _peak(way: Way) -> float:
    """In MiB."""
    way()
    tracemalloc.start()
    way()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20
