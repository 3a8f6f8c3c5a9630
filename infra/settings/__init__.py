"""The settings: what can be set, where it is read, and what a value may be."""
