"""Parses inbound mail: its parts, its character sets, its quotes."""
