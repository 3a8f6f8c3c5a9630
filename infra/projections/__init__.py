"""Projections: read models of the matches, such as lists, rankings and notices.

Each module has the stored form of one projection, its queries, and its fold, which is pure.
`workers.projections` runs the folds on the shard logs, and can rebuild a projection from them at any
time. Its data belong to a *generation*, and are divided into *buckets*, `{p:lists:b0}:3:...`. All keys of a
bucket have one tag, so that data and checkpoint change together. The pointer `{p:lists}:live` names the
generation that is read, and a rebuilt generation replaces it by moving the pointer.

Accounts are ids here; the front ends look the names up, and a deleted account has none.
"""
