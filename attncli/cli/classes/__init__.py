"""What commands for a class share, whatever its students hand in: the manifest, the processes, the
pages of feedback, and the words of a summary.
"""
