"""Studies: what a trace or a problem tells when it is looked at as a whole."""
