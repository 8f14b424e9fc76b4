"""Pictures of a trace: each is a `Drawing`, which is written as SVG or TikZ by `render`."""

# Besides these, the name of a step is a picture, too: a heat map of its numbers.
KINDS = ("weights", "scores", "flow", "dimensions", "output", "softmax")
OF_ONE_QUERY = ("flow", "output", "softmax")
KINDS_WITHOUT_SHADES = (*OF_ONE_QUERY, "dimensions")
