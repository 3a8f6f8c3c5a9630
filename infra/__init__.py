"""Adapters: Redis keys, clients and scripts, the store, the embedded server, settings."""
