"""Pages without a connection."""
