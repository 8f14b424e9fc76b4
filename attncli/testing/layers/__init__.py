"""Layers of attention, tested: objects with weights of their own, such as modules of PyTorch."""
