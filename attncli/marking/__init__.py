"""What sheets ask for, what it is worth, and the schemes that say how it is marked."""
