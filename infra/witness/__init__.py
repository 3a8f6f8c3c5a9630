"""Witnesses (C2SP tlog-witness): others who cosign a log's checkpoints, and refuse a fork.

A witness remembers the last checkpoint of each log that it knows. It cosigns a newer one only after a
proof that the newer log begins with the older one, so nobody can be shown two histories with its cosignature.
"""
