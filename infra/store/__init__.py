"""The store: a port with its guarantees, and its adapters in memory and on Redis."""
