"""What a live page needs to work itself out: a problem as data, and its blocks in every setting."""
