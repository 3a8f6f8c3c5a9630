"""The HTTP server: the API and the pages, and what both share."""
