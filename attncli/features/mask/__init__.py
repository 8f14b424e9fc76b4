"""Everything of `attncli mask`; its `command.py` is where to begin."""
