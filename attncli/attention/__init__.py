"""Attention: the rules of its steps, the masks, and the plan that picks the rules a problem
needs.
"""
