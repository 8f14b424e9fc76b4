"""Everything of `attncli new`; its `command.py` is where to begin."""
