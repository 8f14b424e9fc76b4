"""Everything of `attncli record`; its `command.py` is where to begin."""
