"""Two by Two."""
