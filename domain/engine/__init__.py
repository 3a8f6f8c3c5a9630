"""The engine: search on the rules protocol alone, for robots and for analysis.

It is pure: the same position, level and seed lead to the same move. A game may add an evaluation.
"""
