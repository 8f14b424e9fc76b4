"""What the person gave: bytes become a tree with positions, the tree a checked and frozen Problem."""
