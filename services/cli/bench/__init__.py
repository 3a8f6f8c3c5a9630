"""`matchpost bench NAME`: measurements side by side with their peers, in one run.

A benchmark gives one `Report`. It is printed as a table, or with `--json` as one object with the
fields `rate`, `unit`, `peers`, `ratios` and `details`.
"""
