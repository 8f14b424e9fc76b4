"""The capabilities, a folder for each: nothing below imports them, `cli/commands.py` finds them by listing."""
