"""David and Goliath."""
