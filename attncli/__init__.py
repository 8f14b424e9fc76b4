"""attncli: scaled dot-product attention, worked out step by step."""

__version__ = "0.1.0"
