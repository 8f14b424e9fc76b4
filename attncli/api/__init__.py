"""The Python interface: `attncli/__init__.py` hands out what is here when it is first used."""
