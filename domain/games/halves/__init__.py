"""Halves."""
