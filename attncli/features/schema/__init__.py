"""Everything of `attncli schema`; its `command.py` is where to begin."""
