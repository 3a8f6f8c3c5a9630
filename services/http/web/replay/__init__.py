"""Replays, variations and boards to try."""
