"""The files of the dump."""
