"""The object store: bytes under names, outside Redis, in files or at S3, GCS or Azure.

The published log and the archive are there. Nearly all objects are immutable; the few that change are
replaced only by a writer that has seen what they were.
"""
