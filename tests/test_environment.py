"""What surrounds the tests: no oracle is skipped in silence, and a warning fails the tests whose
code causes it.

What ATTNCLI_REQUIRE="torch tex katex jq …" promises must be there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.cases import in_one_test
from tests.render import browsers

NODE_MODULES = Path(__file__).parents[1] / ".ci" / "node_modules"
PRESENT: dict[str, Callable[[], bool]] = {
    "torch": lambda: importlib.util.find_spec("torch") is not None,
    "onnx": lambda: importlib.util.find_spec("onnx") is not None,
    "jax": lambda: importlib.util.find_spec("jax") is not None,
    "keras": lambda: importlib.util.find_spec("keras") is not None,
    "transformers": lambda: importlib.util.find_spec("transformers") is not None,
    "cmarkgfm": lambda: importlib.util.find_spec("cmarkgfm") is not None,
    "text2qti": lambda: importlib.util.find_spec("text2qti") is not None,
    "distributed": lambda: (
        importlib.util.find_spec("distributed") is not None and shutil.which("openssl") is not None
    ),
    "gpu": lambda: importlib.util.find_spec("cupy") is not None,
    "tex": lambda: all(shutil.which(engine) for engine in ("pdflatex", "xelatex", "lualatex")),
    "shells": lambda: all(shutil.which(shell) for shell in ("bash", "zsh", "fish")),
    "man": lambda: all(shutil.which(program) for program in ("man", "groff")),
    "pandoc": lambda: shutil.which("pandoc") is not None,
    "libreoffice": lambda: shutil.which("soffice") is not None,
    "jq": lambda: shutil.which("jq") is not None,
    "pdftotext": lambda: shutil.which("pdftotext") is not None,
    "chromium": lambda: browsers.program_of("chromium") is not None,
    "firefox": lambda: browsers.program_of("firefox") is not None,
    "katex": lambda: shutil.which("node") is not None and (NODE_MODULES / "katex").is_dir(),
    "terser": lambda: shutil.which("node") is not None and (NODE_MODULES / "terser").is_dir(),
}


@pytest.mark.parametrize(
    "oracle", os.environ.get("ATTNCLI_REQUIRE", "").split() or ["none promised"]
)
def test_what_is_promised_is_there(oracle: str) -> None:
    assert oracle == "none promised" or PRESENT[oracle]()


@in_one_test("kind", [DeprecationWarning, PendingDeprecationWarning, FutureWarning])
@in_one_test(
    ("module", "is_ours"),
    [
        ("attncli", True),
        ("attncli.problem.text.yaml_parser", True),
        ("tests.problem.test_depth", True),
        ("numpy.lib._npyio_impl", False),
        ("yaml", False),
        ("pty", False),
        ("hypothesis.internal.entropy", False),
        ("importlib._bootstrap", False),
    ],
)
def test_whose_deprecations_are_failures(kind: type[Warning], module: str, is_ours: bool) -> None:
    assert fails(kind, module) is is_ours


@in_one_test(
    "kind", [UserWarning, RuntimeWarning, ResourceWarning, pytest.PytestUnraisableExceptionWarning]
)
@in_one_test(
    ("module", "is_failure"),
    [
        ("attncli.tracing.run", True),
        # How we call a library, and what we leave open, is told from inside of it.
        ("xlsxwriter.worksheet", True),
        ("numpy._core._methods", True),
        ("_pytest.unraisableexception", True),
        ("hypothesis.internal.entropy", False),
        ("coverage.core", False),
    ],
)
def test_whose_other_warnings_are_failures(
    kind: type[Warning], module: str, is_failure: bool
) -> None:
    assert fails(kind, module) is is_failure


def test_what_we_do_with_numbers_is_seen_inside_of_numpy() -> None:
    with pytest.raises(RuntimeWarning, match="invalid value"):
        np.array([np.inf, 1.0]).var()


def fails(kind: type[Warning], module: str) -> bool:
    """Whether such a warning about this module fails a test. One that does not is left out of
    pytest's summary.
    """
    with warnings.catch_warnings(record=True):
        try:
            warnings.warn_explicit("made up", kind, "some.py", 1, module=module, registry={})
        except kind:
            return True
    return False


@pytest.fixture
def tiers(pytestconfig: pytest.Config) -> Any:
    """What divides the tests: tests/conftest.py, as pytest has loaded it."""
    plugins = pytestconfig.pluginmanager.get_plugins()
    return next(each for each in plugins if hasattr(each, "leave_out_other_parts"))


def test_each_third_of_the_tests_is_about_a_third(tiers: Any) -> None:
    """As `.ci/run` plays the slow tier."""
    parts = Counter(
        tiers.part_of(f"tests/test_some.py::test_that[{number}-table]", 3) for number in range(3000)
    )
    assert sorted(parts) == [1, 2, 3]
    assert all(900 < size < 1100 for size in parts.values())


def kept_in(
    part: int, tiers: Any, tests: list[str], deselected: list[Any], besides: Path | None = None
) -> list[str]:
    """Those of these tests that are in a third."""
    items = [SimpleNamespace(nodeid=test, get_closest_marker=lambda _: None) for test in tests]
    config = SimpleNamespace(
        getoption={"part": [tiers.as_part(f"{part}/3")], "besides": besides}.get,
        hook=SimpleNamespace(pytest_deselected=lambda items: deselected.extend(items)),
    )
    tiers.leave_out_other_parts(config, items)
    return [item.nodeid for item in items]


def test_parts_are_all_of_the_tests(tiers: Any, request: pytest.FixtureRequest) -> None:
    """None is left out, and none comes twice."""
    deselected: list[Any] = []
    tests = [item.nodeid for item in request.session.items]
    parts = [kept_in(part, tiers, tests, deselected) for part in (1, 2, 3)]
    assert sorted(chain(*parts)) == sorted(tests)
    assert len(deselected) == 2 * len(tests)


def test_what_was_not_played_is_in_every_part(tiers: Any, tmp_path: Path) -> None:
    """As `.ci/run` plays again a part of what the newest Python has played."""
    played = [f"test_played[{number}]" for number in range(30)]
    new = [f"test_new[{number}]" for number in range(30)]
    file = tmp_path / "played.txt"
    file.write_text("".join(f"{test}\n" for test in played), encoding="utf-8")
    parts = [kept_in(part, tiers, played + new, [], file) for part in (1, 2, 3)]
    assert all(set(new) < set(part) < {*new, *played} for part in parts)
    assert sorted(chain(*parts)) == sorted(3 * new + played)


def test_a_mark_may_have_a_part_of_its_own(tiers: Any) -> None:
    """What has it is played in that part, even if it is new; the first mark decides."""
    parts = [tiers.as_part(text) for text in ("browser:1/3", "long:2/3", "1/2")]
    number_of = tiers.part_of("test_it", 3)
    for marks, decides in (({"browser"}, 1), ({"long"}, 2), ({"browser", "long"}, 1)):
        item = SimpleNamespace(nodeid="test_it", get_closest_marker=dict.fromkeys(marks, "").get)
        assert tiers.is_asked_for(item, parts, True) == (number_of == decides)
    plain = SimpleNamespace(nodeid="test_it", get_closest_marker={}.get)
    assert tiers.is_asked_for(plain, parts, True)
    assert tiers.is_asked_for(plain, parts, False) == (tiers.part_of("test_it", 2) == 1)


def test_what_passed_is_written_down(tiers: Any, tmp_path: Path) -> None:
    file = tmp_path / "played.txt"
    played = tiers.PlayedTests(file)
    for test, when, passed in (
        ("test_it", "setup", True),
        ("test_it", "call", True),
        ("test_it", "teardown", True),
        ("test_wrong", "call", False),
        ("test_skipped", "setup", False),
    ):
        played.pytest_runtest_logreport(SimpleNamespace(nodeid=test, when=when, passed=passed))
    played.pytest_unconfigure()
    assert file.read_text(encoding="utf-8") == "test_it\n"


@pytest.mark.parametrize("part", ["0/3", "4/3", "3", "x/3", "1/0", "long:", "1/3:long"])
def test_what_is_no_part_is_refused(part: str, tiers: Any) -> None:
    with pytest.raises(ValueError, match=r"part|values|literal"):
        tiers.as_part(part)


def test_no_mark_names_a_warning_of_a_package_that_may_not_be_there() -> None:
    """Where it is not installed, pytest would end there with a fault of its own, and not run the
    tests behind it.
    """
    named = set()
    for path in Path(__file__).parent.rglob("*.py"):
        for mark in re.findall(r'filterwarnings\(\s*"([^"]*)"', path.read_text(encoding="utf-8")):
            category = [*mark.split(":"), "", ""][2]
            if "." in category:
                named.add(category.partition(".")[0])
    assert named <= {"pytest", "numpy", "hypothesis"}
