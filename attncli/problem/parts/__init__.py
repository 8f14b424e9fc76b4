"""The parts of a problem besides its arrays: masks, positions, losses, heads and their axes."""
