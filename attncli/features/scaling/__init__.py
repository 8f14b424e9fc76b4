"""Everything of `attncli scaling`; its `command.py` is where to begin."""
