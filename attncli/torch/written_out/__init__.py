"""Attention that is written out, as two products with a softmax between them; `follower.py` is
where to begin.
"""
