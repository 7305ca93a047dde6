"""The network and its training: the only part of cleft that needs PyTorch.

Install it with `pip install '.[train]'` in a clone of cleft. Nothing here is imported by
`import cleft`.
"""
