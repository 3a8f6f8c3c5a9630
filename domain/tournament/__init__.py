"""Tournaments: an aggregate beside matches, which starts and counts matches by ordinary commands."""
