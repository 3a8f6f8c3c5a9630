"""Time to think: what was agreed, what has been used, and when a flag falls."""
