"""Arrays: written out as lists, kept in files, or drawn at random by a seed."""
