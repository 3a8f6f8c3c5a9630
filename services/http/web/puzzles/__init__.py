"""Puzzles and their scores."""
