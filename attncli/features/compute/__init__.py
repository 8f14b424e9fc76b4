"""Everything of `attncli compute`; its `command.py` is where to begin."""
