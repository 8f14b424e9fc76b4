"""Everything of `attncli gradient`; its `command.py` is where to begin."""
