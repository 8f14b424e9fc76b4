"""The capabilities, a folder for each: nothing below imports them, `cli/app.py` finds them by
listing.
"""
