"""Everything of `attncli steps`; its `command.py` is where to begin."""
