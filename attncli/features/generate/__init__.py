"""Everything of `attncli generate`; its `command.py` is where to begin."""
