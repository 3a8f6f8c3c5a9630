"""The boards that several games share: their places and lines, their rules, their drawings."""
