"""Between the commands and the person: options, what is read, where a page goes, how errors
look.
"""
