"""The `matchpost` command."""
