"""Everything of `attncli example`; its `command.py` is where to begin."""
