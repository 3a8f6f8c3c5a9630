"""What the page says of files that a test chooses on it."""
