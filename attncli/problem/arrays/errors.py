"""The error of an array in a file that cannot be read."""

from __future__ import annotations


class ArrayError(Exception):
    """An array in a file cannot be read: (message, help), and which key of the reference is to
    blame.
    """

    def __init__(self, message: str, help: str, *, key: str = "file") -> None:
        super().__init__(message, help)
        self.key = key


def pickled(file: str, how: str = "safetensors.torch.save_file or numpy.savez") -> ArrayError:
    """Why a file of PyTorch's own is not read, and with what to save it instead."""
    return ArrayError(
        f"{file} may be a pickle, which can run any program when it is read", f"save it with {how}"
    )
