"""Pages of webhooks and channels."""
