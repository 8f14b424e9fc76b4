"""The outputs of the heads, block by block, without all scores in memory; begin with
`outputs.fused_outputs`.

The numbers are those of the steps from `scores` to the output of the heads, but in another order of
work: exponentials are summed and multiplied by V as they come, and each row is divided by its sum
at the end. A block is some rows of one head, or several small heads. One thread alone computes a
block, so the result is the same to the last bit for any number of threads.
"""
