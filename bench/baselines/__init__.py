"""Baselines that matchpost is measured against: other programs, and the bare minimum of work."""
