"""What many tests share: the two tiers, problems built in a line, and the array namespaces that
everything runs on.

The fast tier is what `pytest` runs: every behaviour once. The slow tier, `pytest -m slow`, has all
that is marked slow: whole products of cases, many drawn examples, hostile inputs. These marks say
what is slow:

- `slow`: a test, a case (`pytest.param(…, marks=pytest.mark.slow)`) or a module (`pytestmark`).
- `long`: the same of what takes longer than a quarter of a second, as what starts programs does.
  `.ci/run` plays a larger part of these than of the others.
- `each_choice`: of a product of parameters, the cases that are not needed to play each value of
  each parameter once.
- `sampled(n)`: all cases but n of them, which are spread evenly over the values of all parameters.
  `sampled(n, "long")`: the same, where each case is a behaviour of its own: the others are long.
- A property (a test by hypothesis) is in both tiers: with 6 examples in the fast one, 40 in the
  slow one; with 6 and 120 where it has `settings.get_profile("many")`, with 3 and 20 where it has
  `settings.get_profile("few")`.

Cases that take a few milliseconds each and leave nothing behind are played in one test:
`in_one_test` in cases.py takes what `parametrize` takes. Around each test pytest works for as long.

A product of parameters whose cases are much alike has `at_most(n)`: so many of them, spread evenly
over the values of all parameters. The others are run only where HYPOTHESIS_PROFILE is explore.

Where the lines that tests reach are measured (`--cov`), properties are played unmeasured: they go
the same ways many times over, each at more than twice the time.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import hypothesis
import numpy as np
import pytest

from attncli.backend import CPU, Backend, backend_for
from attncli.errors import AttncliError
from attncli.problem.keys import ARRAYS
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.axes import sizes
from attncli.problem.parts.masks import Mask, MaskPart
from attncli.problem.parts.positions import Alibi, Position, Rope
from attncli.problem.text.numbers import as_float

LASTS = (
    "about 2 minutes on two cores, and 6 with browsers and frameworks; -m slow, the slow tier,"
    " three quarters of an hour"
)
EXAMPLES = {  # of a property, usually, where it has many, and where it has few
    "fast": (6, 6, 3),
    "thorough": (40, 120, 20),
    "explore": (2000, 8000, 400),
}


def slow_tier_is_asked_for(config: pytest.Config) -> bool:
    marks = config.getoption("markexpr")
    return "slow" in marks.replace("not slow", "") or "not slow" not in marks


def pytest_configure(config: pytest.Config) -> None:
    profile = os.environ.get("HYPOTHESIS_PROFILE") or (
        "thorough" if slow_tier_is_asked_for(config) else "fast"
    )
    repeatable = hypothesis.settings(deadline=None, database=None, derandomize=profile != "explore")
    for name, examples in zip(("usual", "many", "few"), EXAMPLES[profile], strict=True):
        hypothesis.settings.register_profile(name, repeatable, max_examples=examples)
    hypothesis.settings.load_profile("usual")
    played = config.getoption("played")
    # The workers of pytest-xdist report to one process, which writes.
    if played and not hasattr(config, "workerinput"):
        config.pluginmanager.register(PlayedTests(played))
    # In the background (nohup … &) these are ignored, and programs that tests start would inherit
    # that. A handler that does nothing keeps it so for this process, while each program that it
    # starts has the usual reaction again.
    for name in ("SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


class PlayedTests:
    """Writes down which tests passed, a line each, for `--besides`."""

    def __init__(self, file: Path) -> None:
        self.lines = file.open("w", encoding="utf-8", buffering=1)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.lines.write(f"{report.nodeid}\n")

    def pytest_unconfigure(self) -> None:
        self.lines.close()


def pytest_sessionstart(session: pytest.Session) -> None:
    # in the workers of pytest-xdist nobody would read it
    if not hasattr(session.config, "workerinput"):
        session.config.get_terminal_writer().line(f"attncli: the fast tier takes {LASTS}")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """More than ten thousand tests stay until the end: to look through them all for garbage would
    take seconds. What a test leaves in circles is small, and looked for seldom.
    """
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)
    return result


class FromTheEnd(pytest.Dir):
    """A folder whose files are collected from the last to the first."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        return reversed([*super().collect()])


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Every second worker of pytest-xdist collects from the end: in a new clone pytest compiles
    each test file, so that each worker finds half of them compiled by another one.
    """
    worker = getattr(parent.config, "workerinput", {"workerid": "gw0"})["workerid"]
    is_odd = int(worker.removeprefix("gw")) % 2
    if not is_odd or (path / "__init__.py").is_file():
        return None
    return FromTheEnd.from_parent(parent, path=path)


def in_order(item: pytest.Item) -> tuple[str, ...]:
    """Where its file stands among all. All workers of pytest-xdist need one order."""
    return item.path.parts


@pytest.hookimpl(tryfirst=True)  # before -m chooses by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=in_order)
    leave_out_what_is_alike(config, items)
    products: defaultdict[object, list[pytest.Function]] = defaultdict(list)
    for item in items:
        function = getattr(item, "function", None)
        if hypothesis.is_hypothesis_test(function):
            item.add_marker("no_cover")
        if hypothesis.is_hypothesis_test(function) and slow_tier_is_asked_for(config):
            item.add_marker("slow")
        if isinstance(item, pytest.Function) and (
            item.get_closest_marker("each_choice") or sample_size(item)
        ):
            products[function].append(item)
    for cases in products.values():
        fast = spread(case for case in cases if not {"gpu", "slow"}.intersection(case.keywords))
        size = sample_size(cases[0]) or len(fast)
        fast = [fast[place * len(fast) // size] for place in range(min(size, len(fast)))]
        for case in set(cases).difference(fast):
            case.add_marker(mark_of_the_rest(case))
    # Whoever writes the golden files anew wants all of them.
    for item in [] if config.getoption("update") else items:
        if item.get_closest_marker("long"):
            part_long_from_slow(item)
    leave_out_other_parts(config, items)


def part_long_from_slow(item: pytest.Item) -> None:
    """A case that would be fast if it did not take long is in the slow tier; one that is slow for
    another reason is not long.
    """
    if item.get_closest_marker("slow"):
        item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "long"]
    else:
        item.add_marker("slow")


def leave_out_what_is_alike(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("HYPOTHESIS_PROFILE") == "explore":
        return
    products: defaultdict[object, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("at_most"):
            products[item.function].append(item)
    gone: set[pytest.Item] = set()
    for cases in products.values():
        mark = cases[0].get_closest_marker("at_most")
        gone.update(set(cases).difference(spread(cases, mark.args[0])))
    if gone:
        config.hook.pytest_deselected(items=list(gone))
        items[:] = [item for item in items if item not in gone]


def sample_size(case: pytest.Item) -> int:
    """The n of `sampled(n)`, 0 without it."""
    mark = case.get_closest_marker("sampled")
    return mark.args[0] if mark else 0


def mark_of_the_rest(case: pytest.Item) -> str:
    """What the cases are that `sampled` and `each_choice` leave to the slow tier."""
    mark = case.get_closest_marker("sampled")
    return mark.args[1] if mark and len(mark.args) > 1 else "slow"


def spread(cases: Iterable[pytest.Function], most: int = 0) -> list[pytest.Function]:
    """So many of these cases of one test that have each value of each of its parameters, and each
    about as often; as few as have each of them, where none are asked for.
    """
    left = {
        case: [(name, id(value)) for name, value in case.callspec.params.items()] for case in cases
    }
    values = [value for own in left.values() for value in own]
    if len(set(values)) == len(left) == len(values):
        # Each has a value of its own, and none is better than the others.
        return [*left][: most or None]
    chosen: list[pytest.Function] = []
    uses: Counter[tuple[str, int]] = Counter()

    def gain(case: pytest.Function) -> tuple[int, int]:
        counts = [uses[value] for value in left[case]]
        return counts.count(0), -sum(counts)

    while left and (len(chosen) < most or not most):
        best = max(left, key=gain)
        if not (most or gain(best)[0]):
            break
        chosen.append(best)
        uses.update(left.pop(best))
    return chosen


def as_matrix(rows: Any) -> Matrix:
    """Nested numbers, or nested strings such as "1/3", which are kept as they were written."""
    array = np.asarray(rows)
    if array.dtype.kind != "U":
        return Matrix(array.astype(np.float64))
    values = np.vectorize(as_float, otypes=[np.float64])(array)
    return Matrix(values, array.astype(object))


def as_scalar(number: Any) -> Scalar:
    """A number, or a string such as "1/3", which is kept as it was written."""
    return Scalar(as_float(number), number) if isinstance(number, str) else Scalar.of(number)


def build_problem(
    *,
    mask: tuple[MaskPart, ...] = (),
    corner: Any = "top-left",
    title: str = "",
    tokens: Any = None,
    context_tokens: Any = None,
    score: Any = "scaled_dot",
    scale: Any = "default",
    softcap: Any = None,
    exp_base: Any = None,
    sink: Any = None,
    rope: Any = None,
    alibi: bool = False,
    slope: Any = None,
    joined: bool = False,
    **given: Any,
) -> Problem:
    """A problem from its arrays by name and its settings; tokens are t1, t2, … where none are
    given.

    `rope` is (theta, pairing), or a Rope; heads and batch entries are axes of the arrays, `slopes`
    and a `sink` per head too.
    """
    per_head = {} if np.ndim(sink) == 0 else {"sink": sink}
    given |= per_head
    matrices = {name: as_matrix(given[name]) for name in sorted(given, key=list(ARRAYS).index)}
    queries, keys = sizes(matrices)
    tokens = tuple(tokens or (f"t{place + 1}" for place in range(queries)))
    context = tuple(
        context_tokens
        or (tokens if keys == queries else (f"c{place + 1}" for place in range(keys)))
    )
    scale = scale if scale in ("default", "none") else as_scalar(scale)
    numbers = (softcap, exp_base, None if per_head else sink)
    cap, base, rest = (None if number is None else as_scalar(number) for number in numbers)
    positions: list[Position] = []
    if rope:
        positions.append(rope if isinstance(rope, Rope) else Rope(as_scalar(rope[0]), rope[1]))
    if alibi:
        positions.append(Alibi(None if slope is None else as_matrix([slope])))
    return Problem(
        title=title,
        tokens=tokens,
        context_tokens=context,
        given=matrices,
        mask=Mask(mask, corner),
        score=score,
        scale=scale,
        softcap=cap,
        exp_base=base,
        sink=rest,
        positions=tuple(positions),
        joined=joined,
    )


@pytest.fixture(scope="session")
def problem() -> Callable[..., Problem]:
    """`problem(Q=…, K=…, V=…, mask=(Causal(),), …)` builds one."""
    return build_problem


@pytest.fixture(scope="session")
def matrix() -> Callable[[Any], Matrix]:
    """`matrix(rows)` freezes numbers, or numbers as written."""
    return as_matrix


@pytest.fixture(scope="session")
def love() -> Problem:
    """The textbook example "I love AI": three tokens, four features, keys of length 3."""
    return build_problem(
        title="I love AI",
        tokens=("I", "love", "AI"),
        X=[[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]],
        W_Q=[[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]],
        W_K=[[0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]],
        W_V=[[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]],
    )


@pytest.fixture(
    scope="session",
    params=["numpy", "strict", "double", pytest.param("cupy", marks=pytest.mark.gpu)],
)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each array namespace in turn: NumPy, the bare standard, a double of CuPy, and CuPy where
    there is a GPU.
    """
    if request.param == "numpy":
        return CPU
    if request.param == "double":
        from tests.device.double import VERSIONS, Cupy

        double = Cupy([*VERSIONS][-1])
        return Backend(double, "gpu", double.asnumpy)
    if request.param == "strict":
        strict = pytest.importorskip("array_api_strict")
        return Backend(strict, "strict", np.asarray)
    try:
        return backend_for("gpu")
    except AttncliError as error:
        pytest.skip(error.message)


@pytest.fixture(scope="session")
def torch() -> Any:
    """PyTorch, where it is installed."""
    with warnings.catch_warnings():
        # of what PyTorch itself imports
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        return pytest.importorskip("torch", reason="PyTorch is not installed", exc_type=ImportError)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update",
        action="store_true",
        help="write the golden files anew; read the difference before committing",
    )
    parser.addoption(
        "--part",
        metavar="[MARK:]N/M",
        type=as_part,
        action="append",
        default=[],
        help="only the Nth of M parts of the tests, or of those that have this mark",
    )
    parser.addoption(
        "--played", metavar="FILE", type=Path, help="write to this file which tests passed"
    )
    parser.addoption(
        "--besides",
        metavar="FILE",
        type=Path,
        help="all tests that --played did not write to this file, and of the others that --part",
    )


class Part(NamedTuple):
    """The Nth of M parts of the tests that have a mark, or of all."""

    mark: str
    number: int
    of: int

    def has(self, item: pytest.Item) -> bool:
        return part_of(item.nodeid, self.of) == self.number

    def is_for(self, item: pytest.Item) -> bool:
        return bool(self.mark) and item.get_closest_marker(self.mark) is not None


def as_part(text: str) -> Part:
    """What N/M means, or MARK:N/M."""
    mark, _, part = text.rpartition(":")
    number, of = map(int, part.split("/"))
    if not 1 <= number <= of:
        raise ValueError(f"there is no part {text}")
    return Part(mark, number, of)


def part_of(test: str, of: int) -> int:
    """Which of so many parts a test is in, from 1: always the same one, and each has about as many
    tests.
    """
    return crc32(test.encode()) % of + 1


def leave_out_other_parts(config: pytest.Config, items: list[pytest.Item]) -> None:
    parts = config.getoption("part")
    besides = config.getoption("besides")
    # Of all tests or, after another run, of those that were played there.
    divided = set(besides.read_text(encoding="utf-8").splitlines()) if besides else None
    kept, gone = [], []
    for item in items:
        is_new = divided is not None and item.nodeid not in divided
        (kept if is_asked_for(item, parts, is_new) else gone).append(item)
    if gone:
        config.hook.pytest_deselected(items=gone)
        items[:] = kept


def is_asked_for(item: pytest.Item, parts: list[Part], is_new: bool) -> bool:
    """Whether a test is in the part of the first mark that it has or, if it has none of them, is
    new or in the part of all.
    """
    for part in parts:
        if part.is_for(item):
            return part.has(item)
    return is_new or all(part.has(item) for part in parts if not part.mark)


@pytest.fixture(scope="session")
def katex_modules() -> Path:
    """Where npm put KaTeX (`npm install --prefix .ci katex`); skips without it or without
    Node.js.
    """
    modules = Path(__file__).parents[1] / ".ci" / "node_modules"
    if not (modules / "katex").is_dir() or shutil.which("node") is None:
        pytest.skip("needs Node.js and KaTeX: npm install --prefix .ci katex")
    return modules
