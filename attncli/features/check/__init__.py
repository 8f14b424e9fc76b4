"""Everything of `attncli check`; its `command.py` is where to begin."""
