"""Make a web site of the documentation and of all examples: `python docs/site.py site` writes it
into that folder. Names of examples behind it, inputs/i_love_ai.yaml the first, make it with these
alone, in a few seconds.

A link that leads nowhere is an error. The parts are in `website/`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from website.build import write
from website.examples import problems
from website.links import broken_links

if __name__ == "__main__":
    folder, *names = map(Path, sys.argv[1:])
    chosen = [name.resolve() for name in names]
    write(folder, chosen or problems())
    broken = broken_links(folder)
    if broken:
        sys.exit("\n".join(["These links lead nowhere:", *broken]))
