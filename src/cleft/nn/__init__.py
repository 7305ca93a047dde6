"""The network and its training: the only part of cleft that needs PyTorch.

Install it with `pip install cleft[train]`. Nothing here is imported by
`import cleft`.
"""
