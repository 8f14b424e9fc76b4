"""Commands on three words enter few files: whoever follows one through the code reads no more than
these.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COUNTING = """
import inspect, os, sys
import attncli
root = os.path.dirname(attncli.__file__) + os.sep
entered = set()

def follow(frame, event, argument):
    code = frame.f_code
    a_function = code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<")
    at_import = frame.f_back is not None and frame.f_back.f_code.co_name == "<module>"
    is_entered = event == "call" and a_function and not at_import
    if is_entered and code.co_filename.startswith(root):
        entered.add(code.co_filename.removeprefix(root))

from attncli.cli.main import run
sys.setprofile(follow)
code = run({arguments!r})
sys.setprofile(None)
assert code in {codes!r}, code
print(*sorted(entered), sep="\\n", file=sys.stderr)
"""


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("arguments", "codes", "most"),
    [
        (["compute", "inputs/i_love_ai.yaml"], (0,), 102),
        (["check", "inputs/i_love_ai.yaml", "inputs/answers/homework.yaml"], (1,), 129),
    ],
)
def test_a_command_enters_few_files(
    arguments: list[str], codes: tuple[int, ...], most: int
) -> None:
    """A file is entered when one of its functions is called; tables that it makes when it is
    imported do not count.
    """
    program = COUNTING.format(arguments=arguments, codes=codes)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    entered = done.stderr.splitlines()
    assert f"features/{arguments[0]}/command.py" in entered
    assert len(entered) <= most, entered
