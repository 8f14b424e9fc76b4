"""The outputs of the heads alone, block by block, without ever holding the scores: `outputs.fused_outputs` is the door.

The same numbers as the steps from `scores` to the output of the heads give, in another order of work: exponentials are
summed and multiplied with V as they come, and each row is divided by its sum at the end. A block is some rows of one
head, or several small heads; each is worked by one thread alone, so that the result is the same to the last bit for
any number of threads.
"""
