"""Backups: what is copied of a server, how it is stored and encrypted, which ones are kept, and their restore."""
