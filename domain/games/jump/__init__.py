"""Get a Jump On."""
