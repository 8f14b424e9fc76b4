"""Records the attention calls of a PyTorch model, and works each of them out: `pip install
'attncli[torch]'`.

    import attncli.torch

    with attncli.torch.recording() as calls:
        model(**inputs)
    print(calls)
    calls[3].save("layer3.yaml", head=5, tokens=tokens)  # then: attncli compute layer3.yaml

Only this package imports PyTorch; `import attncli` does not.
"""

from attncli.errors import missing_error

try:
    from attncli.torch.call import Call
    from attncli.torch.calls import Calls
    from attncli.torch.recording import recording
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise missing_error(
        "attncli.torch needs PyTorch, which is not installed", help="pip install 'attncli[torch]'"
    ) from None

__all__ = ["Call", "Calls", "recording"]
