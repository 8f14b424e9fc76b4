"""Pages: a trace, a list of steps or a cost becomes a document of blocks that every renderer
understands.
"""
