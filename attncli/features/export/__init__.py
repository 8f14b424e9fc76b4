"""Everything of `attncli export`; its `command.py` is where to begin."""
