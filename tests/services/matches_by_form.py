"""Matches that are started and played by forms alone."""
