"""What gives many wrong numbers of a solution, and is no known mistake."""
