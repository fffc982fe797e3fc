"""Forwarding tables: addresses, rules, how many a switch needs, and files for real switches.

`addresses` names hosts by where they stand, `fabric` says where the routing sends them, `compiler`
makes ordered rules of both, `ternary` merges rules, `sizes` counts them beside closed forms, and
`openflow`, `p4` and `rows` write them. Source: M. Benito's thesis (2020), sections 4.3 and 4.5.
"""
