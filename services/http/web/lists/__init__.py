"""Lists of matches."""
