"""Random walks over live pages: keys, clicks, drags and undo, in a browser.

    python tests/tools/walks/run.py --walks 500

No walk may bring an error of the console, or lose the focus where nobody asked for it, and undo
must lead back to the first numbers and the first address. Each fault is told with its seed;
`--seed` with `--walks 1` walks it again. The exit code is 1 where there was any.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# A script finds only what stands beside it.
sys.path.insert(0, str(Path(__file__).parents[3]))

from attncli.cli.main import run as attncli
from tests.render.browsers import MODULES, program_of

ROOT = Path(__file__).parents[3]
PAGES = ("i_love_ai", "causal", "multi_head", "batch", "kv_cache", "additive_mask")


def main() -> int:
    """Write the pages, walk, tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--walks", type=int, default=100)
    parser.add_argument("--steps", type=int, default=20, help="of each walk")
    parser.add_argument("--seed", type=int, default=0, help="of the first walk")
    parser.add_argument("--browser", choices=("chromium", "firefox"), default="chromium")
    parser.add_argument("--pages", nargs="*", default=PAGES, help="names of files in inputs/")
    asked = parser.parse_args()
    start = time.monotonic()
    seeds = range(asked.seed, asked.seed + asked.walks)
    faulty = 0
    with tempfile.TemporaryDirectory() as folder:
        pages = pages_of(asked.pages, Path(folder))
        for seed, page, answer in walks(asked.browser, pages, seeds, asked.steps):
            if not answer["faults"]:
                continue
            faulty += 1
            print(f"--seed {seed} --pages {page.stem}: {answer['faults'][0]}")
            print("    " + "; ".join(answer["done"]), flush=True)
    seconds = time.monotonic() - start
    print(f"{faulty} faulty walks of {asked.walks} in {asked.browser} ({seconds:.0f} s)")
    return 1 if faulty else 0


def pages_of(names: Sequence[str], folder: Path) -> list[Path]:
    """A live page of each of these examples."""
    pages = []
    for name in names:
        page = folder / f"{name}.html"
        problem = ROOT / "inputs" / f"{name}.yaml"
        assert attncli(["compute", str(problem), "-q", "-o", str(page)]) == 0
        pages.append(page)
    return pages


def walks(
    browser: str, pages: Sequence[Path], seeds: Sequence[int], steps: int
) -> Iterator[tuple[int, Path, dict[str, Any]]]:
    """What came of a walk for each seed, on each page in turn."""
    program = program_of(browser)
    if program is None:
        raise SystemExit("a browser, Node.js and playwright-core are needed")
    path = "/usr/local/bin:/usr/bin:/bin"
    with subprocess.Popen(
        ["node", str(Path(__file__).with_name("walk.cjs"))],
        env={"NODE_PATH": str(MODULES), "PATH": path, "BROWSER": browser, "PROGRAM": program},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as node:
        assert node.stdin
        assert node.stdout
        for at, seed in enumerate(seeds):
            page = pages[at % len(pages)]
            question = {"address": page.as_uri(), "seed": seed, "steps": steps}
            node.stdin.write(f"{json.dumps(question)}\n")
            yield seed, page, json.loads(node.stdout.readline())


if __name__ == "__main__":
    raise SystemExit(main())
