"""Gradients of functions, tested: what is asked (upstream.py, asking.py), whether gradients are
right and which mistakes give others (judgement.py), and what is wrong besides (findings.py).
"""
