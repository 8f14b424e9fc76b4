"""The output of the heads alone, tile by tile, without ever holding the scores."""
