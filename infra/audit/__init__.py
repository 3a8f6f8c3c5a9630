"""The audit: matches, draws and logs checked from their bytes up, in Redis, in a mirror or in a match document.

A match document is evidence that others can check: `build_document` makes one, `check_document` reads one
without a server.
"""
