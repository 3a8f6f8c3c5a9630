"""The page of a match, and what it has beside the board."""
