"""One by One."""
