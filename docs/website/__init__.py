"""The parts of the web site; `build.py` is where to begin."""
