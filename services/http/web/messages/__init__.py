"""Messages between players."""
