"""Cooperative That's My Line."""
