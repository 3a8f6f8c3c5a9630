"""The page of a player's own bots."""
