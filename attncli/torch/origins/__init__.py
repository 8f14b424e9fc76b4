"""Where queries, keys and values come from, if not from linear layers alone: what turns them, and
the latent vectors that they are made of.
"""
