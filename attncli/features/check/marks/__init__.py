"""The marks of a solution by a scheme: what each step is worth, and what a mistake costs."""
