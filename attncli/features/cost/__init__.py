"""Everything of `attncli cost`; its `command.py` is where to begin."""
