"""The audit: stored matches, their draws and the logs, checked from their bytes up."""
