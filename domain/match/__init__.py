"""The match: commands, events, the state they add up to, and the decision between."""
