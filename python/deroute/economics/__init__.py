"""What a network costs: how far a topology scales, what cables it needs, what they cost.

`scaling` answers for a number of ports, `network` for a wired topology, `floor`, `rates` and
`prices` turn its links into cables, lengths and money, `drawing` shows a small one.
"""
