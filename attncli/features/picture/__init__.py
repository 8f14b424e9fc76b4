"""Everything of `attncli picture`; its `command.py` is where to begin."""
