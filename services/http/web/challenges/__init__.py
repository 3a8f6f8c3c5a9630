"""New matches, open challenges and robots."""
