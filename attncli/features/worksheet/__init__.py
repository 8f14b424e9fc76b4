"""Everything of `attncli worksheet`; its `command.py` is where to begin."""
