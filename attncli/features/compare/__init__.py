"""Everything of `attncli compare`; its `command.py` is where to begin."""
