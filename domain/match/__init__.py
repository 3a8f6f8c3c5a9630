"""Matches: commands, events, the decision that turns one into the other, and the state."""
