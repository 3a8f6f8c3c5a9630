"""Boards as pages show them."""
