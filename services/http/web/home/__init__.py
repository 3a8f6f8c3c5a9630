"""The first page, and news."""
