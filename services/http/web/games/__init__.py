"""The pages of games, and help."""
