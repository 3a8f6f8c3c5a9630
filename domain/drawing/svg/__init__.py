"""Drawings in SVG: one painter a game, one frame around them all."""
