"""Everything of `attncli test` but the judge, which `attncli.testing` is; its `command.py` is where
to begin.
"""
