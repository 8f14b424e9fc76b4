"""Pictures of a trace: each is a `Drawing`, which is written as SVG or TikZ by `render`."""

KINDS = ("weights", "scores", "flow", "dimensions", "output", "softmax")
OF_ONE_QUERY = ("flow", "output", "softmax")
