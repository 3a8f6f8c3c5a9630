"""What is kept beside the matches to be listed, ranked and told: stored forms, and how to read them.

A projection is made from the shard logs alone, by `workers.projections`, and can be made anew at any
time. All its keys have one tag, so that data and checkpoint change together. Its data belong to a
*generation*, `{p:lists}:3:...`; the pointer `{p:lists}:live` names the one that is read, and a rebuilt
one takes its place by moving the pointer.

Accounts are ids here; whoever shows them looks the names up, and a deleted account has none.
"""
