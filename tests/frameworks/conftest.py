"""Lets the tests import `software` beside them, in whatever mode pytest imports."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
